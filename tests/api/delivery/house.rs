//! A whole house for delivery: an engine, a stand-in LINE, a clock that is turned by hand, and workers.

use std::{
    borrow::Cow,
    collections::HashMap,
    net::TcpListener,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use stamp_rally::{
    consumer::effect::Effect,
    delivery::{Delivery, DeliveryParts, DeliverySettings, RetrySettings},
    dev::{
        engine::{Engine, Storage},
        line::{ChannelSettings, Memory, StandIn},
    },
    domain::{
        event::{Event, EventChange},
        fact::{Facts, User, UserStamp},
        ids::{ChannelName, EventId, LineUserId, RequestId},
        notice::{NoticeKey, NoticeStatus},
        stamp::{StampMaster, StampMasterChange, StampOrder},
        time::{Clock, TimeSource, Timestamp},
    },
    line::{Access, Platform, messaging::Messenger},
    store::{
        Store,
        client::{Clients, Pace},
        masters::Expected,
        progress::{Board, ShardProgress, WorkerId},
        rallies::Rallies,
        stream::{Record, Start, StreamReader},
        table,
    },
};

use crate::{
    consumers::{Function, Made, Worker},
    proxy::Proxy,
};

/// A clock that only moves when it is told to, or runs from when it is told to.
pub struct HandClock {
    began: Timestamp,
    uptime: Mutex<Duration>,
    runs_since: OnceLock<Instant>,
}

impl HandClock {
    /// From now on it runs by itself too.
    pub fn let_run(&self) {
        self.runs_since.get_or_init(Instant::now);
    }

    fn advance(&self, by: Duration) {
        *self.uptime.lock().unwrap() += by;
    }
}

impl TimeSource for HandClock {
    fn now(&self) -> Timestamp {
        self.began.plus_millis(i64::try_from(self.uptime().as_millis()).unwrap())
    }

    fn uptime(&self) -> Duration {
        *self.uptime.lock().unwrap() + self.runs_since.get().map(Instant::elapsed).unwrap_or_default()
    }
}

pub struct House {
    pub line: StandIn,
    pub proxy: Proxy,
    pub store: Store,
    pub clients: Clients,
    pub clock: Arc<HandClock>,
    pub settings: DeliverySettings,
    pub retry: RetrySettings,
    control: reqwest::Client,
    workers: AtomicU32,
    _engine: Engine,
}

pub const EVENT: &str = "stamp-rally-202606";

impl House {
    /// An event on the channel `main` with two stamps, and an empty channel `other`.
    pub async fn open(story: &'static str) -> Self {
        let engine = Engine::start(TcpListener::bind("127.0.0.1:0").unwrap(), Storage::Memory).unwrap();
        let proxy = Proxy::start(&engine.endpoint_url()).unwrap();
        let pace = Pace { first_pause: Duration::from_millis(1), budget: Cow::Borrowed(story), ..Pace::worker() };
        let clients = Clients::at(&proxy.endpoint_url(), &pace);
        let names = crate::house::defaults().store;
        table::create(&clients.table, &names).await.unwrap();
        let channel = |name: &str| ChannelSettings {
            access_token: Some(format!("token of {name}")),
            ..ChannelSettings::new(name, "1234567890", &format!("id of {name}"), "secret")
        };
        let mut channels = vec![channel("main"), channel("other")];
        channels[1].login_channel_ids = vec!["1234567891".to_owned()];
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let line = StandIn::start(listener, &Memory::InMemory, channels).unwrap();
        let house = Self {
            line,
            proxy,
            store: Store::new(clients.table.clone(), names),
            clients,
            clock: Arc::new(HandClock {
                began: "2026-05-23T03:00:00.000Z".parse().unwrap(),
                uptime: Mutex::new(Duration::from_secs(1000)),
                runs_since: OnceLock::new(),
            }),
            settings: DeliverySettings { pushes_per_second: 1000, ..crate::house::defaults().delivery },
            retry: RetrySettings {
                first_pause: Duration::from_millis(1),
                longest_pause: Duration::from_millis(1),
                ordinary_deadline: Duration::from_millis(300),
                held_deadline: Duration::from_millis(100),
                jitter: Arc::new(|| 1.0),
            },
            control: reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap(),
            workers: AtomicU32::new(0),
            _engine: engine,
        };
        house.put_event(EVENT, "main", Some(message("{{event.name}} complete with {{stamp.name}}"))).await;
        house.put_stamp(EVENT, "001", 1, message("{{stamp.name}} {{card.acquired}}/{{card.total}}")).await;
        house.put_stamp(EVENT, "002", 2, message("{{stamp.name}} {{card.acquired}}/{{card.total}}")).await;
        house
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Time passes.
    pub fn pass(&self, time: Duration) {
        self.clock.advance(time);
    }

    /// Longer than any lease: whoever died is known to be dead.
    pub fn pass_a_lease(&self) {
        self.pass(self.settings.lease * 2);
    }

    /// A function, at full pace.
    pub fn function(&self) -> Function {
        let delivery = self.handler(&self.store);
        delivery.set_share(self.settings.pushes_per_second, Duration::ZERO);
        Function::new(delivery, &self.store, self.clock.clone())
    }

    pub fn worker(&self) -> Worker {
        self.worker_over(&self.clients, Vec::new())
    }

    /// One with more effects than production has.
    pub fn worker_with(&self, more: Vec<Arc<dyn Effect>>) -> Worker {
        self.worker_over(&self.clients, more)
    }

    /// One with connections of its own, so that nobody else's wait when its thread is stopped.
    pub fn worker_elsewhere(&self) -> Worker {
        let name = format!("worker elsewhere {}", self.workers.load(Ordering::Relaxed));
        let pace = Pace { first_pause: Duration::from_millis(1), budget: Cow::Owned(name), ..Pace::worker() };
        self.worker_over(&Clients::at(&self.proxy.endpoint_url(), &pace), Vec::new())
    }

    fn worker_over(&self, clients: &Clients, more: Vec<Arc<dyn Effect>>) -> Worker {
        let store = Store::new(clients.table.clone(), crate::house::defaults().store);
        let n = self.workers.fetch_add(1, Ordering::Relaxed);
        let (clock, me) = (self.clock.clone(), WorkerId::from(format!("worker-{n}")));
        let delivery = self.handler(&store);
        Worker::with(Made { delivery, store: &store, clients, clock, me }, more)
    }

    fn handler(&self, store: &Store) -> Delivery {
        let clock: Clock = self.clock.clone();
        let base = self.line.base_url().parse().unwrap();
        let platform = Platform::new(&base, Duration::from_secs(3)).unwrap();
        let messenger = |name: &str| {
            let access = Access::LongLived(format!("token of {name}").into());
            (name.parse::<ChannelName>().unwrap(), Messenger::new(platform.clone(), access, clock.clone()))
        };
        Delivery::new(DeliveryParts {
            store: store.clone(),
            rallies: Rallies::new(store.clone(), clock.clone()),
            messengers: HashMap::from(["main", "other"].map(messenger)),
            clock: clock.clone(),
            settings: self.settings.clone(),
            retry: self.retry.clone(),
        })
    }

    pub async fn put_event(&self, id: &str, channel: &str, completion: Option<Value>) -> Event {
        let change = EventChange {
            name: Some("初夏のラリー".to_owned().try_into().unwrap()),
            starts_at: Some(self.now().plus_millis(-3_600_000)),
            ends_at: Some(self.now().plus_millis(100 * 3_600_000)),
            channel: Some(channel.parse().unwrap()),
            completion_message_content: Some(completion),
            ..EventChange::default()
        };
        let event = change.create(id.parse().unwrap(), self.now()).unwrap();
        self.store.put_event(&event, Expected::Absent).await.unwrap();
        event
    }

    pub async fn put_stamp(&self, event: &str, id: &str, order: i64, message: Value) -> StampMaster {
        let change = StampMasterChange {
            name: Some(format!("Stamp {id}").try_into().unwrap()),
            order: Some(StampOrder::try_from(order).unwrap()),
            flex_message_content: Some(message),
            ..StampMasterChange::default()
        };
        let master = change.create(event.parse().unwrap(), id.parse().unwrap(), self.now()).unwrap();
        self.store.put_master(&master, Expected::Absent).await.unwrap();
        master
    }

    /// Somebody who is a friend of every channel.
    pub fn somebody(&self, name: &str) -> Person<'_> {
        Person { house: self, id: self.line.make_user(name).unwrap().parse().unwrap(), event: EVENT }
    }

    pub async fn control(&self, method: &str, path: &str, body: Value) -> Value {
        let url = format!("{}/control/{path}", self.line.base_url());
        let request = self.control.request(method.parse().unwrap(), url).json(&body);
        let answer = request.send().await.unwrap();
        assert!(answer.status().is_success(), "{path}: {}", answer.text().await.unwrap());
        answer.json().await.unwrap()
    }

    /// From now on this goes wrong with pushes, and nothing else.
    pub async fn pushes_fail(&self, rule: Value) {
        let mut rule = rule;
        rule["endpoint"] = json!("push");
        self.control("PUT", "faults", json!({ "rules": [rule] })).await;
    }

    pub async fn heal(&self) {
        self.control("DELETE", "faults", json!({})).await;
    }

    /// How many pushes were asked for, by their outcomes.
    pub async fn pushes(&self) -> HashMap<String, u64> {
        let requests = self.control("GET", "requests", json!({})).await;
        serde_json::from_value(requests["endpoints"]["push"].clone()).unwrap_or_default()
    }

    pub async fn progress(&self) -> Vec<ShardProgress> {
        self.board().await.shards
    }

    /// How many workers wait for a shard.
    pub async fn candidates(&self) -> usize {
        self.board().await.candidates.len()
    }

    pub async fn board(&self) -> Board {
        let arn = self.store.stream_arn().await.unwrap().unwrap();
        self.store.consumers("delivery", &arn).board().await.unwrap()
    }

    /// All records of the stream, as somebody hands them over who reads it for us.
    pub async fn records(&self) -> Vec<Record> {
        let arn = self.store.stream_arn().await.unwrap().unwrap();
        let reader = StreamReader::new(self.clients.streams.clone(), arn);
        let mut records = Vec::new();
        for shard in reader.shards(None).await.unwrap().shards {
            let from = reader.iterator(&shard.id, &Start::TrimHorizon).await.unwrap();
            records.extend(reader.records(&from, 1000).await.unwrap().records);
        }
        records
    }

    /// Writes an item as it is.
    pub async fn put_raw(&self, item: &[(&str, AttributeValue)]) {
        let item = item.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        let put = self.clients.table.put_item().table_name("line-event").set_item(Some(item));
        put.send().await.unwrap();
    }
}

pub struct Person<'h> {
    house: &'h House,
    pub id: LineUserId,
    event: &'static str,
}

impl Person<'_> {
    pub fn at(self, event: &'static str) -> Self {
        Self { event, ..self }
    }

    fn event_id(&self) -> EventId {
        self.event.parse().unwrap()
    }

    /// Acquires a stamp, a second after whatever was before.
    pub async fn acquires(&self, stamp: &str) -> &Self {
        self.house.pass(Duration::from_secs(1));
        let event = self.house.store.event(&self.event_id()).await.unwrap().unwrap();
        let user = User::registers(self.event_id(), self.id.clone(), RequestId::made(), self.house.now());
        self.house.store.register(&user, event.index_shards).await.unwrap();
        let stamp = UserStamp {
            event_id: self.event_id(),
            line_user_id: self.id.clone(),
            stamp_id: stamp.parse().unwrap(),
            acquired_at: self.house.now(),
            request_id: Some(RequestId::made()),
            notice: NoticeStatus::Pending { tried_at: None },
        };
        self.house.store.acquire(&stamp, event.index_shards).await.unwrap();
        self
    }

    /// An operator asks for a stamp's notice again.
    pub async fn is_resent(&self, stamp: &str, number: u16) {
        let text = |text: &str| AttributeValue::S(text.to_owned());
        self.house
            .put_raw(&[
                ("PK", text(&format!("EVENT#{}#USER#{}", self.event, self.id))),
                ("SK", text(&format!("RESEND#{stamp}#{number:03}"))),
                ("entityType", text("RESEND")),
                ("eventId", text(self.event)),
                ("lineUserId", text(self.id.as_str())),
                ("stampId", text(stamp)),
                ("number", AttributeValue::N(number.to_string())),
                ("requestedBy", text("office")),
                ("requestedAt", text(&self.house.now().to_string())),
                ("flexMessageSent", AttributeValue::Bool(false)),
            ])
            .await;
    }

    /// One attribute of a stamp's item is changed by hand.
    pub async fn stamp_has(&self, stamp: &str, name: &str, value: AttributeValue) {
        let text = |text: String| AttributeValue::S(text);
        let update = self.house.clients.table.update_item().table_name("line-event");
        let update = update.key("PK", text(format!("EVENT#{}#USER#{}", self.event, self.id)));
        let update = update.key("SK", text(format!("STAMP#{stamp}"))).update_expression("SET #name = :value");
        let update = update.expression_attribute_names("#name", name).expression_attribute_values(":value", value);
        update.send().await.unwrap();
    }

    pub async fn relation(&self, relation: &str) {
        let path = format!("users/{}/relation", self.id);
        for channel in ["main", "other"] {
            self.house.control("PUT", &path, json!({ "relation": relation, "channel": channel })).await;
        }
    }

    pub async fn facts(&self) -> Facts {
        self.house.store.facts(&self.event_id(), &self.id).await.unwrap()
    }

    pub async fn notice(&self, stamp: &str) -> NoticeStatus {
        let key = NoticeKey::Stamp(stamp.parse().unwrap());
        self.facts().await.notice(&key).cloned().unwrap()
    }

    /// The state of a stamp's notice, in a word: `waiting`, `sent`, or the special state and its reason.
    pub async fn state(&self, stamp: &str) -> String {
        match self.notice(stamp).await {
            NoticeStatus::None => "none".to_owned(),
            NoticeStatus::Parked(parked) => format!("{} {}", parked.state, parked.reason.unwrap_or_default()),
            NoticeStatus::Sent { .. } => "sent".to_owned(),
            NoticeStatus::Pending { .. } => "waiting".to_owned(),
        }
    }

    /// What their phone shows: the alternative texts, in order.
    pub fn phone(&self) -> Vec<String> {
        let text = |message: &Value| message["message"]["altText"].as_str().unwrap_or_default().to_owned();
        self.house.line.phone(self.id.as_str()).unwrap().iter().map(text).collect()
    }
}

/// A Flex message that says this.
pub fn message(text: &str) -> Value {
    let text = json!({ "type": "text", "text": text });
    json!({
        "type": "flex",
        "altText": text["text"],
        "contents": { "type": "bubble", "body": { "type": "box", "layout": "vertical", "contents": [text] } }
    })
}
