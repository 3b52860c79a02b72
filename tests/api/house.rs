//! A whole house: own table in an engine of its own, own stand-in LINE, own port, real routes, real SDKs, a clock that is
//! moved by hand, and workers. All of it is built as production builds it, from settings; what a story wants otherwise are
//! [`Fittings`]. Its stories are those of participants: `hanako.acquire("001")`.

mod answer;
pub mod described;
mod dynamo;
mod facts;
mod fittings;
mod line;
mod people;
mod rally;
mod server;
mod stream;

pub use answer::Answer;
pub use dynamo::{Dynamo, hurried, store_of, unhurried};
pub use fittings::{Fittings, Rally, Tables};
pub use people::{Organiser, Person};
pub use rally::flex;
pub use server::Neighbour;

use std::{
    net::TcpListener,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, SystemTime},
};

use metrics_exporter_prometheus::PrometheusBuilder;
use reqwest::{Method, RequestBuilder};
use serde_json::json;
use stamp_rally::{
    cli::{config::Settings, service::Builder},
    consumer::effect::Effect,
    delivery::{Delivery, DeliverySettings, RetrySettings, Tally},
    dev::{
        engine::Engine,
        line::{ChannelSettings, Memory, StandIn},
    },
    domain::{
        manual_clock::ManualClock,
        time::{MachineClock, TimeSource, Timestamp},
    },
    store::{Store, client::Clients, progress::WorkerId, unreadable::Reported},
};

use super::{
    consumers::{Function, Worker},
    proxy::Proxy,
    tables::make_the_articles_table,
};
use fittings::access_token;
use server::Server;

pub const RALLY: &str = "stamp-rally-202606";
pub const CHANNEL: &str = "main";
/// The channel secret of `main`: the one of LINE's published example of a signature.
pub const SECRET: &str = "8c570fa6dd201bb328f1c1eac23a96d8";
/// The Login channel secret of `main`, as LINE has it.
pub const LOGIN_SECRET: &str = "a-login-channel-secret";
/// The second Login channel of `main`: another stage of its MINI App.
pub const MINI_APP: &str = "1000000003";
/// The key of codes and passcodes: bytes 0 to 31, in base64url.
pub const PROOF_KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
/// The one origin whose pages may call the API.
pub const PAGE: &str = "https://rally.example";

/// Everything, for one story.
pub struct House {
    server: Server,
    pub line: StandIn,
    pub wire: Proxy,
    pub clients: Clients,
    pub store: Store,
    pub clock: Arc<ManualClock>,
    pub url: String,
    /// What workers and functions that are made from now on are set to.
    pub settings: Settings,
    pub retry: RetrySettings,
    client: reqwest::Client,
    workers: AtomicU32,
    /// What its server and its workers have logged, they don't log again, as in `serve --with-consumer`.
    reported: Reported,
    engine: Engine,
}

impl House {
    /// A house with the demo rally. Every story has a name of its own: with it comes the SDK's budget of repetitions.
    pub async fn open(story: &'static str) -> Self {
        Self::fitted(story, Fittings::default()).await
    }

    /// A house for a story of delivery: with the rally in the store, and workers that don't wait for long.
    pub async fn for_delivery(story: &'static str) -> Self {
        Self::fitted(story, Fittings::for_delivery()).await
    }

    /// A house without a rally.
    pub async fn empty(story: &'static str) -> Self {
        Self::fitted(story, Fittings { rally: Rally::None, ..Fittings::default() }).await
    }

    /// A house with the demo rally, over a table as the source article describes it.
    pub async fn over_the_articles_table(story: &'static str) -> Self {
        Self::fitted(story, Fittings { tables: Tables::OfTheArticle, ..Fittings::default() }).await
    }

    /// A house with other fittings.
    pub async fn fitted(story: &'static str, fittings: Fittings) -> Self {
        let rally = fittings.rally;
        let house = Self::built(story, fittings).await;
        match rally {
            Rally::None => return house,
            Rally::Demo => house.set_up_the_demo_rally().await,
            Rally::Stored => house.store_the_rally().await,
        }
        house.wire.forget_counts();
        house
    }

    async fn built(name: &'static str, fittings: Fittings) -> Self {
        let Dynamo { wire, clients, engine } = match fittings.tables {
            Tables::AsDefined => Dynamo::with_tables(&unhurried(name)).await,
            Tables::OfTheArticle => Dynamo::empty(&unhurried(name)),
        };
        if matches!(fittings.tables, Tables::OfTheArticle) {
            make_the_articles_table(&clients).await;
        }
        let line = start_line();
        let settings = fittings.settings(&line.base_url());
        let clock = ManualClock::at(fittings.begins.unwrap_or_else(|| MachineClock::start().now()));
        let listener = free_port();
        let url = format!("http://{}", listener.local_addr().unwrap());
        line.set_webhook_url(CHANNEL, &format!("{url}/webhook/{CHANNEL}")).unwrap();
        let reported = Reported::default();
        let app = process(&settings, &clock).reporting_with(reported.clone()).app(&clients);
        let server = Server::start(listener, app);
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let store = store_of(&clients).reporting_with(reported.clone());
        let (retry, workers) = (fittings.retry, AtomicU32::new(0));
        Self { server, line, wire, clients, store, clock, url, settings, retry, client, workers, reported, engine }
    }

    /// Another server of the same rally, with what it knows of its own.
    pub fn neighbour(&self) -> Neighbour {
        Neighbour::start(self.process(&self.settings).app(&self.clients))
    }

    /// Hanako, a friend of the Official Account.
    pub fn hanako(&self) -> Person<'_> {
        self.person("花子")
    }

    /// A new participant, a friend of the Official Accounts.
    pub fn person(&self, name: &str) -> Person<'_> {
        let id = self.line.make_user(name).unwrap();
        let token = self.line.id_token_of(&id, CHANNEL, self.second()).unwrap();
        Person { house: self, id, token, event: RALLY }
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The second it is, for tokens: LINE's clock runs, this house's doesn't.
    fn second(&self) -> i64 {
        self.now().as_millis() / 1000
    }

    /// The organiser, who may everything.
    pub fn organiser(&self) -> Organiser<'_> {
        Organiser { house: self, token: "organiser".to_owned() }
    }

    /// A caller with an admin token of this text: `viewer`, `operator`, `organiser`, `stranger`…
    pub fn bearer(&self, token: &str) -> Organiser<'_> {
        Organiser { house: self, token: token.to_owned() }
    }

    /// A consumer of the stream, as a process of its own would have it.
    pub fn worker(&self) -> Worker {
        self.worker_with(Vec::new())
    }

    /// One with more effects than production has.
    pub fn worker_with(&self, more: Vec<Arc<dyn Effect>>) -> Worker {
        Worker::of(&self.process(&self.settings), &self.clients, self.next_worker(), more)
    }

    /// One with connections of its own, so that the others' don't wait when its thread is stopped.
    pub fn worker_elsewhere(&self) -> Worker {
        let clients = Clients::at(&self.wire.endpoint_url(), &unhurried("a worker elsewhere"));
        Worker::of(&self.process(&self.settings), &clients, self.next_worker(), Vec::new())
    }

    /// One with other settings.
    pub fn worker_at(&self, settings: DeliverySettings) -> Worker {
        Worker::of(&self.process(&self.set_to(settings)), &self.clients, self.next_worker(), Vec::new())
    }

    /// A function, as AWS Lambda would run it.
    pub fn function(&self) -> Function {
        Function::of(&self.process(&self.settings), &self.clients)
    }

    /// What brings notices to LINE, as a process of its own has it.
    pub fn delivery_at(&self, settings: DeliverySettings) -> Delivery {
        self.process(&self.set_to(settings)).notices(&self.store).unwrap().delivery().clone()
    }

    fn set_to(&self, delivery: DeliverySettings) -> Settings {
        Settings { delivery, ..self.settings.clone() }
    }

    fn process<'s>(&self, settings: &'s Settings) -> Builder<'s> {
        process(settings, &self.clock).with_retry(self.retry.clone()).reporting_with(self.reported.clone())
    }

    /// `worker-0`, `worker-1`…
    fn next_worker(&self) -> WorkerId {
        WorkerId::from(format!("worker-{}", self.workers.fetch_add(1, Ordering::Relaxed)))
    }

    /// Delivers all that is due, by a worker that comes and goes.
    pub async fn deliver(&self) -> Tally {
        let mut worker = self.worker();
        let tally = worker.run_until_idle().await.unwrap();
        worker.stop().await;
        tally
    }

    /// Lets time pass, here and at LINE.
    pub async fn pass(&self, time: Duration) {
        self.clock.advance(time);
        self.control(Method::PATCH, "/settings", &json!({"advanceMs": time.as_millis()})).await.is(200);
    }

    /// Longer than any lease: a worker that died is known to be dead.
    pub async fn pass_a_lease(&self) {
        self.pass(self.settings.delivery.lease * 2).await;
    }

    /// More than a day passes, and the stream forgets what it has.
    pub async fn pass_a_day(&self) {
        let day = Duration::from_hours(25);
        self.pass(day).await;
        self.engine.sweep(SystemTime::now() + day).unwrap();
    }

    /// Another server on the same tables, with its own caches, and its address. It ends when it is dropped.
    pub fn another_server(&self) -> (Server, String) {
        let listener = free_port();
        let url = format!("http://{}", listener.local_addr().unwrap());
        (Server::start(listener, self.process(&self.settings).app(&self.clients)), url)
    }

    /// A request to the API.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{path}", self.url))
    }

    /// What went over the wire to the store since the last time: `2 × PutItem line-event`.
    pub fn wire(&self) -> Vec<String> {
        self.wire.forget_counts().iter().map(|(call, count)| format!("{count} × {call}")).collect()
    }

    /// Closes it: what runs is finished.
    pub async fn close(self) {
        tokio::task::spawn_blocking(|| drop(self.server)).await.unwrap();
    }
}

/// A process with these settings, its metrics its own.
fn process<'s>(settings: &'s Settings, clock: &Arc<ManualClock>) -> Builder<'s> {
    Builder::new(settings, clock.clone(), PrometheusBuilder::new().build_recorder().handle()).unwrap()
}

/// A LINE with the channels `main` and `other`.
fn start_line() -> StandIn {
    let channel = |name: &str, login_channel, messaging_channel, secret| ChannelSettings {
        access_token: Some(access_token(name)),
        ..ChannelSettings::new(name, login_channel, messaging_channel, secret)
    };
    let mut main = channel(CHANNEL, "1000000001", "2000000001", SECRET);
    main.login_channel_ids.push(MINI_APP.to_owned());
    main.login_channel_secret = Some(LOGIN_SECRET.to_owned());
    let channels = vec![main, channel("other", "1000000002", "2000000002", "another-secret")];
    StandIn::start(free_port(), &Memory::InMemory, channels).unwrap()
}

/// What the program is set to by itself.
pub fn defaults() -> Settings {
    Settings::load(None, []).unwrap()
}

pub fn free_port() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").unwrap()
}
