//! A whole house: own table in an engine of its own, own stand-in LINE, own port, real routes, real SDKs.
//! Its stories are told by people: `hanako.acquire("001")`.

mod answer;
mod clock;
pub mod described;
mod fittings;
mod people;

pub use answer::Answer;
pub use clock::HandClock;
pub use fittings::{Fittings, Tables};
pub use people::{Organiser, Person};

use std::{
    collections::HashMap,
    net::TcpListener,
    sync::Arc,
    time::{Duration, SystemTime},
};

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use stamp_rally::{
    cli::config::Settings,
    delivery::{Delivery, DeliveryParts, DeliverySettings, RetrySettings, Tally},
    dev::{
        engine::{Engine, Storage},
        line::{ChannelSettings, Memory, StandIn},
    },
    domain::time::TimeSource,
    http,
    line::{Access, Platform, messaging::Messenger},
    store::{Store, client::Clients, progress::WorkerId, rallies::Rallies, table::create},
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{
    consumers::{Made, Worker},
    proxy::Proxy,
    tables::make_the_articles_table,
};
use fittings::{app, unhurried};

pub const RALLY: &str = "stamp-rally-202606";
pub const CHANNEL: &str = "main";
/// The channel secret of `main`: the one of LINE's published example of a signature.
pub const SECRET: &str = "8c570fa6dd201bb328f1c1eac23a96d8";
/// The Login channel secret of `main`, as LINE has it.
pub const LOGIN_SECRET: &str = "a-login-channel-secret";
/// The second Login channel of `main`: another stage of its MINI App.
pub const MINI_APP: &str = "1000000003";
/// The one origin whose pages may call the API.
pub const PAGE: &str = "https://rally.example";

/// Everything, for one story.
pub struct House {
    pub line: StandIn,
    pub wire: Proxy,
    pub clients: Clients,
    pub store: Store,
    pub clock: Arc<HandClock>,
    pub url: String,
    client: reqwest::Client,
    platform: Platform,
    stop: CancellationToken,
    server: JoinHandle<std::io::Result<()>>,
    engine: Engine,
}

impl House {
    /// A house with the demo rally: two stamps, a completion message, open from yesterday to next month. Every story
    /// has a name of its own: with it comes the SDK's budget of repetitions.
    pub async fn open(story: &'static str) -> Self {
        Self::fitted(story, Fittings::default()).await
    }

    /// The same, with other fittings.
    pub async fn fitted(story: &'static str, fittings: Fittings) -> Self {
        let house = Self::built(story, fittings).await;
        house.set_up_the_rally().await;
        house.wire.forget_counts();
        house
    }

    /// A house without a rally.
    pub async fn empty(story: &'static str) -> Self {
        Self::built(story, Fittings::default()).await
    }

    /// A house with the demo rally, over a table as the source article describes it.
    pub async fn over_the_articles_table(story: &'static str) -> Self {
        Self::fitted(story, Fittings { tables: Tables::OfTheArticle, ..Fittings::default() }).await
    }

    async fn built(story: &'static str, fittings: Fittings) -> Self {
        let engine = Engine::start(free_port(), Storage::Memory).unwrap();
        let wire = Proxy::start(&engine.endpoint_url()).unwrap();
        let mut main = ChannelSettings::new(CHANNEL, "1000000001", "2000000001", SECRET);
        main.login_channel_ids.push(MINI_APP.to_owned());
        main.login_channel_secret = Some(LOGIN_SECRET.to_owned());
        let channels = vec![main, ChannelSettings::new("other", "1000000002", "2000000002", "another-secret")];
        let line = StandIn::start(free_port(), &Memory::InMemory, channels).unwrap();
        let pace = unhurried(story);
        let clients = Clients::at(&wire.endpoint_url(), &pace);
        let tables = defaults().store;
        match fittings.tables {
            Tables::AsDefined => drop(create(&clients.table, &tables).await.unwrap()),
            Tables::OfTheArticle => make_the_articles_table(&clients).await,
        }
        let records = Store::new(clients.table.clone(), tables);
        let clock = Arc::new(HandClock::at_now());
        let platform = Platform::new(&line.base_url().parse().unwrap(), Duration::from_secs(5)).unwrap();
        let listener = free_port();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let stop = CancellationToken::new();
        let app = app(&records, &platform, &clock, fittings);
        #[expect(clippy::disallowed_methods, reason = "the house ends it")]
        let server = tokio::spawn(http::serve(listener, app, stop.clone()));
        line.set_webhook_url(CHANNEL, &format!("{url}/webhook/{CHANNEL}")).unwrap();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { line, wire, clients, store: records, clock, url, client, platform, stop, server, engine }
    }

    async fn set_up_the_rally(&self) {
        let now = self.clock.now();
        let day = 24 * 3600 * 1000;
        let event = json!({
            "name": "初夏のラリー", "channel": CHANNEL,
            "startsAt": now.plus_millis(-day), "endsAt": now.plus_millis(30 * day),
            "completionMessageContent": flex("{{event.name}}、{{card.total}}個そろいました"),
        });
        let organiser = self.organiser();
        organiser.put_event(RALLY, &event).await.is(201);
        for (id, name, order) in [("001", "第1スタンプ", 1), ("002", "第2スタンプ", 2)] {
            let stamp = json!({"name": name, "order": order, "flexMessageContent": flex("{{stamp.name}} {{card.acquired}}/{{card.total}}")});
            organiser.put_stamp(RALLY, id, &stamp).await.is(201);
        }
    }

    /// Hanako, a friend of the Official Account.
    pub fn hanako(&self) -> Person<'_> {
        self.person("花子")
    }

    /// Somebody new, a friend of the Official Account.
    pub fn person(&self, name: &str) -> Person<'_> {
        let id = self.line.make_user(name).unwrap();
        let token = self.line.id_token_of(&id, CHANNEL, self.second()).unwrap();
        Person { house: self, id, token }
    }

    /// The second it is, for tokens: this house's clock stands while LINE's goes on.
    fn second(&self) -> i64 {
        self.clock.now().as_millis() / 1000
    }

    /// The organiser, who may everything.
    pub fn organiser(&self) -> Organiser<'_> {
        Organiser { house: self, token: "organiser".to_owned() }
    }

    /// Somebody with an admin token of this text: `viewer`, `operator`, `organiser`, `stranger`…
    pub fn bearer(&self, token: &str) -> Organiser<'_> {
        Organiser { house: self, token: token.to_owned() }
    }

    /// A consumer of the stream, as a process of its own would be.
    pub fn worker(&self) -> Worker {
        self.worker_at(DeliverySettings { pushes_per_second: 100_000, ..defaults().delivery })
    }

    /// The same, at a pace.
    pub fn worker_at(&self, settings: DeliverySettings) -> Worker {
        Worker::new(Made {
            delivery: self.delivery_at(settings),
            store: &self.store,
            clients: &self.clients,
            clock: self.clock.clone(),
            me: WorkerId::made(),
        })
    }

    /// What brings notices to LINE, as a process of its own has it.
    pub fn delivery_at(&self, settings: DeliverySettings) -> Delivery {
        let stateless = Access::Stateless {
            messaging_channel_id: "2000000001".to_owned(),
            channel_secret: SECRET.to_owned().into(),
        };
        let clock = self.clock.clone() as stamp_rally::domain::time::Clock;
        let messenger = Messenger::new(self.platform.clone(), stateless, clock.clone());
        Delivery::new(DeliveryParts {
            store: self.store.clone(),
            rallies: Rallies::new(self.store.clone(), clock.clone()),
            messengers: HashMap::from([(CHANNEL.parse().unwrap(), messenger)]),
            clock,
            settings,
            retry: RetrySettings { first_pause: Duration::from_millis(1), ..RetrySettings::default() },
        })
    }

    /// The secret of the channel's Messaging API.
    #[cfg(feature = "lambda")]
    pub const CHANNEL_SECRET: &'static str = SECRET;

    /// Delivers all that is due, by a worker that comes and goes.
    pub async fn deliver(&self) -> Tally {
        let mut worker = self.worker();
        let tally = worker.run_until_idle().await.unwrap();
        worker.stop().await;
        tally
    }

    /// Lets time pass, here and at LINE.
    pub async fn pass(&self, time: Duration) {
        self.clock.turn(time);
        self.control(Method::PATCH, "/settings", &json!({"advanceMs": time.as_millis()})).await.is(200);
    }

    /// More than a day passes, and the stream forgets what it has.
    pub async fn pass_a_day(&self) {
        let day = Duration::from_hours(25);
        self.pass(day).await;
        self.engine.sweep(SystemTime::now() + day).unwrap();
    }

    /// Says something to the stand-in's control API.
    pub async fn control(&self, method: Method, path: &str, body: &Value) -> Answer {
        let url = format!("{}/control{path}", self.line.base_url());
        Answer::to(self.client.request(method, url).json(body)).await
    }

    /// Faults that LINE has from now on.
    pub async fn line_faults(&self, rules: Value) {
        self.control(Method::PUT, "/faults", &json!({ "rules": rules })).await.is(200);
    }

    /// Changes the demo rally, as its organiser does.
    pub async fn change_the_rally(&self, change: &Value) {
        self.organiser().put_event(RALLY, change).await.is(200);
    }

    /// Changes one of its stamps.
    pub async fn change_stamp(&self, id: &str, change: &Value) {
        self.organiser().put_stamp(RALLY, id, change).await.is(200);
    }

    /// How often LINE was asked at an endpoint (`push`, `certs`, `verify`…), whatever it answered.
    pub async fn asked_of_line(&self, endpoint: &str) -> u64 {
        let counts = self.control(Method::GET, "/requests", &Value::Null).await.is(200);
        let answers = counts.body["endpoints"][endpoint].as_object().cloned().unwrap_or_default();
        answers.values().filter_map(Value::as_u64).sum()
    }

    /// A request to the API.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.url))
    }

    /// What went over the wire to the store since the last time: `2 × PutItem line-event`.
    pub fn wire(&self) -> Vec<String> {
        self.wire.forget_counts().iter().map(|(call, count)| format!("{count} × {call}")).collect()
    }

    /// Shuts the door: what runs is finished.
    pub async fn close(self) {
        self.stop.cancel();
        self.server.await.unwrap().unwrap();
    }
}

/// What the program is set to by itself.
pub fn defaults() -> Settings {
    Settings::load(None, []).unwrap()
}

fn free_port() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").unwrap()
}

/// A small Flex message with one text.
pub fn flex(text: &str) -> Value {
    json!({
        "type": "flex", "altText": text,
        "contents": {"type": "bubble", "body": {"type": "box", "layout": "vertical", "contents": [{"type": "text", "text": text}]}}
    })
}
