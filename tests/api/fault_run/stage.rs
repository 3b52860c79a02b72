//! Everything that stays up: the engine, the dealing proxy, LINE, the rally, and the ways past them.

use std::{
    borrow::Cow,
    collections::{BTreeMap, HashMap},
    sync::Mutex,
    time::Duration,
};

use serde_json::{Value, json};
use stamp_rally::{
    consumer::CONSUMER,
    dev::{
        engine::Engine,
        line::{ChannelSettings, Memory, StandIn},
    },
    domain::{
        event::EventChange,
        ids::{EventId, LineUserId, StampId},
        stamp::{StampMasterChange, StampOrder},
        time::{MachineClock, Timestamp},
    },
    store::{
        Store,
        client::{Clients, Timeouts},
        masters::Expected,
        progress::Board,
    },
};

use super::plan::Form;
use crate::bad_items::items::Item;
use crate::house::{CHANNEL, Dynamo, RALLY, SECRET, flex, free_port, hurried, store_of};
use crate::proxy::{Calls, Fault, Often, Proxy};

/// So many shards the stream has at first.
const SHARDS: usize = 4;

/// LINE's faults: of all requests 20 % end in a 500, 10 % meet the rate limit, 5 % are accepted and time out, 5 % are
/// accepted and lose their connection, 3 % get a login page of a proxy's with 200, 2 % are accepted and get a proxy's 404.
/// A rule is asked where no earlier one hit, so its percentage is of the rest.
const LINE_FAULTS: [(&str, Option<u16>, f64); 6] = [
    ("status", Some(500), 20.0),
    ("rate_limited", None, 10.0 / 0.8),
    ("timeout_after_accept", None, 5.0 / 0.7),
    ("drop_after_accept", None, 5.0 / 0.65),
    ("proxy", Some(200), 3.0 / 0.6),
    ("proxy_after_accept", Some(404), 2.0 / 0.57),
];

/// Of a hundred requests to the store, so many are throttled.
const THROTTLED: u8 = 10;

pub struct Stage {
    pub line: StandIn,
    pub wire: Proxy,
    /// Past the proxy.
    pub store: Store,
    pub people: Vec<Person>,
    /// Where the server is, while it is.
    pub api: Mutex<Option<String>>,
    /// What the server has answered with 2xx: the stored time, by participant and stamp.
    pub acquired: Mutex<HashMap<(usize, usize), String>>,
    /// Requests of participants, by what came of them.
    pub requests: Mutex<BTreeMap<String, u64>>,
    pub stamps: usize,
    pub http: reqwest::Client,
    /// Keys of items that were planted and can't be read, or couldn't for a while.
    pub planted: Mutex<Vec<Item>>,
    /// Past the proxy too.
    pub table: aws_sdk_dynamodb::Client,
    pub arn: String,
    _engine: Engine,
}

pub struct Person {
    pub id: LineUserId,
    pub token: String,
    /// Of their items.
    pub partition: String,
}

impl Stage {
    pub async fn open(form: &Form, seed: u64) -> Self {
        let Dynamo { wire, engine, .. } = Dynamo::with_tables(&hurried("the tables of the fault run")).await;
        let channel = ChannelSettings::new(CHANNEL, "1000000001", "2000000001", SECRET);
        let line = StandIn::start(free_port(), &Memory::InMemory, vec![channel]).unwrap();
        let timeouts = Timeouts { budget: Cow::Borrowed("fault run"), ..Timeouts::request() };
        let clients = Clients::at(&engine.endpoint_url(), &timeouts);
        let store = store_of(&clients);
        let people = (0..form.participants).map(|n| Person::new(&line, n)).collect();
        let stage = Self {
            arn: store.stream_arn().await.unwrap().unwrap(),
            line,
            wire,
            store,
            people,
            api: Mutex::default(),
            planted: Mutex::default(),
            table: clients.table,
            acquired: Mutex::default(),
            requests: Mutex::default(),
            stamps: form.stamps,
            http: reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(5)).build().unwrap(),
            _engine: engine,
        };
        stage.set_up_the_rally().await;
        stage.let_things_go_wrong(seed).await;
        stage
    }

    async fn set_up_the_rally(&self) {
        let now = MachineClock::start().now();
        let change = EventChange {
            name: Some("初夏のラリー".to_owned().try_into().unwrap()),
            starts_at: Some(now.plus_millis(-3_600_000)),
            ends_at: Some(now.plus_millis(100 * 3_600_000)),
            channel: Some(CHANNEL.parse().unwrap()),
            completion_message_content: Some(Some(flex("complete"))),
            ..EventChange::default()
        };
        self.store.put_event(&change.create(event(), now).unwrap(), Expected::Absent).await.unwrap();
        for n in 0..self.stamps {
            self.put_stamp(n, now).await;
        }
    }

    async fn put_stamp(&self, n: usize, now: Timestamp) {
        let change = StampMasterChange {
            name: Some(stamp(n).to_string().try_into().unwrap()),
            order: Some(StampOrder::try_from(i64::try_from(n + 1).unwrap()).unwrap()),
            flex_message_content: Some(flex("{{stamp.name}} {{card.acquired}}/{{card.total}}")),
            ..StampMasterChange::default()
        };
        self.store.put_master(&change.create(event(), stamp(n), now).unwrap(), Expected::Absent).await.unwrap();
    }

    async fn let_things_go_wrong(&self, seed: u64) {
        self.wire.deal(SHARDS);
        self.wire.inject(Calls::All, Fault::Throttled, Often::Percent { percent: THROTTLED, seed });
        let rules = LINE_FAULTS
            .map(|(kind, code, percent)| json!({ "kind": kind, "code": code, "percent": percent, "seed": seed }));
        self.control("PUT", "/faults", &json!({ "rules": rules })).await;
        self.control("PATCH", "/settings", &json!({ "latencyMs": { "push": 20 } })).await;
    }

    /// What the processes are given: everything is where the stage is, and little is waited for. They do little at once, so
    /// that a store on a busy machine still renews leases of a second.
    pub fn variables(&self) -> BTreeMap<&'static str, String> {
        let channels = json!({ CHANNEL: {
            "login_channel_ids": ["1000000001"], "messaging_channel_id": "2000000001", "channel_secrets": [SECRET],
        }});
        BTreeMap::from([
            ("AWS_ENDPOINT_URL", self.wire.endpoint_url()),
            ("AWS_REGION", "ap-northeast-1".to_owned()),
            ("AWS_ACCESS_KEY_ID", "local".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "local".to_owned()),
            ("STAMP_RALLY__HTTP__BIND", "127.0.0.1:0".to_owned()),
            ("STAMP_RALLY__LINE__API_BASE_URL", self.line.base_url()),
            ("STAMP_RALLY__LINE__CHANNELS", channels.to_string()),
            ("STAMP_RALLY__LINE__TIMEOUT_MS", "500".to_owned()),
            ("STAMP_RALLY__DELIVERY__CONCURRENCY", "8".to_owned()),
            ("STAMP_RALLY__DELIVERY__LEASE_MS", "1000".to_owned()),
            ("STAMP_RALLY__DELIVERY__HOLD_PROBE_MS", "500".to_owned()),
            ("STAMP_RALLY__DELIVERY__POLL_INTERVAL_MS", "100".to_owned()),
            ("STAMP_RALLY__DELIVERY__PUSHES_PER_SECOND", "1000".to_owned()),
            ("STAMP_RALLY__LOG__FORMAT", "json".to_owned()),
        ])
    }

    /// Asks LINE's control API.
    pub async fn control(&self, method: &str, path: &str, body: &Value) -> Value {
        let url = format!("{}/control{path}", self.line.base_url());
        let answer = self.http.request(method.parse().unwrap(), url).json(body).send().await.unwrap();
        let (status, body) = (answer.status(), answer.text().await.unwrap());
        assert!(status.is_success(), "{method} {path}: {body}");
        serde_json::from_str(&body).unwrap()
    }

    /// Who reads what, and how far.
    pub async fn board(&self) -> Board {
        self.store.consumers(CONSUMER, &self.arn).board().await.unwrap()
    }
}

impl Person {
    fn new(line: &StandIn, n: usize) -> Self {
        let id = line.make_user(&format!("Participant {n}")).unwrap();
        let token = line.id_token(&id, CHANNEL).unwrap();
        Self { partition: format!("EVENT#{RALLY}#USER#{id}"), id: id.parse().unwrap(), token }
    }
}

pub fn event() -> EventId {
    RALLY.parse().unwrap()
}

pub fn stamp(n: usize) -> StampId {
    format!("{:03}", n + 1).parse().unwrap()
}
