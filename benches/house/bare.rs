//! The same work without the house: the bare requests, by the same clients, at the same concurrency.

use std::{
    fs,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::Context;
use aws_sdk_dynamodb::{
    Client,
    config::{BehaviorVersion, Credentials, Region},
    operation::{put_item::PutItemError, update_item::UpdateItemError},
    types::{AttributeValue, ReturnValuesOnConditionCheckFailure::AllOld},
};
use jsonwebtoken::{Algorithm, DecodingKey, jwk::JwkSet};
use serde_json::json;
use stamp_rally::{
    cli::config::Settings,
    domain::time::MachineClock,
    line::{
        Platform,
        id_token::{LoginChannels, TokenVerifier},
    },
    store::client::{Clients, Timeouts},
};
use tokio::runtime::Runtime;
use uuid::Uuid;

use super::{
    items,
    scene::{self, ACCESS_TOKEN, LOGIN_CHANNEL, TABLE},
};

/// How often a notice is tried.
const TRIES: usize = 10;

/// Only for `new_v5`: any will do.
const NAMESPACE: Uuid = Uuid::NAMESPACE_URL;

fn runtime() -> anyhow::Result<Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}

/// Conditional Puts of stamps that are not there yet, by the SDK as it comes.
pub struct Puts {
    runtime: Runtime,
    table: Client,
    /// How many people have one so far.
    done: AtomicUsize,
}

impl Puts {
    pub fn new(engine: &str) -> anyhow::Result<Self> {
        let credentials = Credentials::new("local", "local", None, None, "bench");
        let config = aws_sdk_dynamodb::Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::from_static("us-east-1"))
            .credentials_provider(credentials)
            .endpoint_url(engine);
        Ok(Self { runtime: runtime()?, table: Client::from_conf(config.build()), done: AtomicUsize::new(0) })
    }

    /// `count at_once`: so many Puts, each for a new participant.
    pub fn carry_out(&self, order: &str) -> anyhow::Result<String> {
        let numbers = order.split(' ').map(str::parse).collect::<Result<Vec<usize>, _>>()?;
        let &[count, at_once] = numbers.as_slice() else { anyhow::bail!("not an order: {order}") };
        let (table, from) = (self.table.clone(), self.done.fetch_add(count, Ordering::Relaxed));
        self.runtime.block_on(scene::all(count, at_once, move |n| put(table.clone(), from + n)))?;
        Ok("done".to_owned())
    }
}

async fn put(table: Client, n: usize) -> anyhow::Result<()> {
    let stamp = items::user_stamp(&items::user_id(n), "001", &items::now());
    let put = table.put_item().table_name(TABLE).set_item(Some(stamp));
    let put = put.condition_expression("attribute_not_exists(PK)").return_values_on_condition_check_failure(AllOld);
    let put = put.send();
    match put.await {
        // A machine that has too much else to do: a repeated attempt met its own success.
        Err(error) if error.as_service_error().is_some_and(PutItemError::is_conditional_check_failed_exception) => {
            Ok(())
        }
        answer => answer.map(drop).context("a bare Put"),
    }
}

/// Signatures of ID tokens, checked by a library for them with the house's cryptography, and nothing else of a token.
pub struct Signatures {
    keys: JwkSet,
}

impl Signatures {
    pub fn new(line: &str) -> anyhow::Result<Self> {
        let certs = format!("{line}/oauth2/v2.1/certs");
        let keys = runtime()?.block_on(async {
            let http = reqwest::Client::builder().no_proxy().tls_certs_only([]).build()?;
            anyhow::Ok(http.get(certs).send().await?.json().await?)
        })?;
        Ok(Self { keys })
    }

    /// A file of tokens, one a line, all signed with one key.
    pub fn carry_out(&self, file: &str) -> anyhow::Result<String> {
        let tokens = fs::read_to_string(file)?;
        let kid = jsonwebtoken::decode_header(tokens.lines().next().context("no token")?)?.kid.context("no kid")?;
        let key = DecodingKey::from_jwk(self.keys.find(&kid).context("no such key")?)?;
        for token in tokens.lines() {
            let (message, signature) = token.rsplit_once('.').context("not a token")?;
            let good = jsonwebtoken::crypto::verify(signature, message.as_bytes(), &key, Algorithm::ES256)?;
            anyhow::ensure!(good, "a signature is wrong");
        }
        Ok("done".to_owned())
    }
}

/// ID tokens checked by the house's own verifier, and nothing else of a request.
pub struct Verifications {
    runtime: Runtime,
    verifier: TokenVerifier,
    accepted: LoginChannels,
}

impl Verifications {
    pub fn new(line: &str) -> anyhow::Result<Self> {
        let settings = Settings::load(None, [])?.line.verifier();
        let platform = Platform::new(&line.parse()?, Duration::from_secs(10))?;
        Ok(Self {
            runtime: runtime()?,
            verifier: TokenVerifier::new(platform, settings, MachineClock::start()),
            accepted: LoginChannels { ids: vec![LOGIN_CHANNEL.to_owned()], hs256_secret: None },
        })
    }

    /// A file of tokens, one a line, none of them seen before.
    pub fn carry_out(&self, file: &str) -> anyhow::Result<String> {
        let tokens = fs::read_to_string(file)?;
        self.runtime.block_on(async {
            for token in tokens.lines() {
                self.verifier.verify(token, &self.accepted).await?;
            }
            Ok("done".to_owned())
        })
    }
}

/// The three requests of a notice: Query, push, `UpdateItem`.
pub struct Notices {
    runtime: Runtime,
    work: Work,
    people: Arc<Vec<String>>,
}

#[derive(Clone)]
struct Work {
    table: Client,
    http: reqwest::Client,
    push: String,
    /// The message, as it will be for all.
    message: Arc<str>,
}

impl Notices {
    /// `people` is a file of user ids, one a line.
    pub fn new(engine: &str, line: &str, people: &str) -> anyhow::Result<Self> {
        let template = concat!(env!("CARGO_MANIFEST_DIR"), "/flex_templates/stamp-acquired.json");
        let message: serde_json::Value = serde_json::from_str(&fs::read_to_string(template)?)?;
        let message = message.to_string();
        let filled = [
            ("{{event.name}}", "スタンプラリー"),
            ("{{stamp.name}}", "第1スタンプ"),
            ("{{stamp.order}}", "1"),
            ("{{acquired.at}}", "2026/05/23 20:30"),
            ("{{card.acquired}}", "1"),
            ("{{card.total}}", "2"),
        ];
        let message = filled.iter().fold(message, |message, (name, value)| message.replace(name, value));
        let work = Work {
            table: Clients::at(engine, &Timeouts::worker()).table,
            http: reqwest::Client::builder()
                .no_proxy()
                .timeout(Duration::from_secs(10))
                .tcp_nodelay(true)
                .tls_certs_only([])
                .build()?,
            push: format!("{line}/v2/bot/message/push"),
            message: message.into(),
        };
        let people = fs::read_to_string(people)?.lines().map(str::to_owned).collect();
        Ok(Self { runtime: runtime()?, work, people: Arc::new(people) })
    }

    /// `at_once`: a notice of stamp 001 for each participant.
    pub fn carry_out(&self, order: &str) -> anyhow::Result<String> {
        let (work, people) = (self.work.clone(), self.people.clone());
        let at_once = order.parse()?;
        self.runtime.block_on(scene::all(people.len(), at_once, move |n| {
            let (work, people) = (work.clone(), people.clone());
            async move { work.until_done(&people[n]).await }
        }))?;
        Ok("done".to_owned())
    }
}

impl Work {
    /// A machine that has too much else to do lets requests run out of time: the house repeats them, too.
    async fn until_done(&self, user_id: &str) -> anyhow::Result<()> {
        for _ in 1..TRIES {
            if self.notice(user_id).await.is_ok() {
                return Ok(());
            }
        }
        self.notice(user_id).await
    }

    async fn notice(&self, user_id: &str) -> anyhow::Result<()> {
        let partition = items::partition(user_id);
        let query = self.table.query().table_name(TABLE).consistent_read(true).key_condition_expression("PK = :pk");
        let facts = query.expression_attribute_values(":pk", AttributeValue::S(partition.clone())).send().await?;
        anyhow::ensure!(facts.count() == 2, "a USER and a stamp should be there");
        let request_id = self.push(user_id).await?;
        let mark = self.table.update_item().table_name(TABLE);
        let mark = mark
            .key("PK", AttributeValue::S(partition))
            .key("SK", AttributeValue::S("STAMP#001".to_owned()))
            .update_expression("SET flexMessageSent = :sent, flexMessageSentAt = :now, flexMessageRequestId = :id")
            .condition_expression("attribute_exists(PK) AND flexMessageSent = :unsent")
            .expression_attribute_values(":sent", AttributeValue::Bool(true))
            .expression_attribute_values(":unsent", AttributeValue::Bool(false))
            .expression_attribute_values(":now", AttributeValue::S(items::now()))
            .expression_attribute_values(":id", AttributeValue::S(request_id))
            .return_values_on_condition_check_failure(AllOld);
        match mark.send().await {
            Err(error)
                if error.as_service_error().is_some_and(UpdateItemError::is_conditional_check_failed_exception) =>
            {
                Ok(())
            }
            answer => answer.map(drop).context("a bare mark"),
        }
    }

    /// LINE's request id.
    async fn push(&self, user_id: &str) -> anyhow::Result<String> {
        let to = json!(user_id);
        let request = self.http.post(&self.push).bearer_auth(ACCESS_TOKEN);
        let request = request.header("x-line-retry-key", Uuid::new_v5(&NAMESPACE, user_id.as_bytes()).to_string());
        let request = request.header("content-type", "application/json");
        let answer = request.body(format!("{{\"to\":{to},\"messages\":[{}]}}", self.message)).send().await?;
        // 409: an attempt before was accepted.
        let answer = if answer.status() == 409 { answer } else { answer.error_for_status()? };
        let id = answer.headers().get("x-line-request-id").context("no request id")?.to_str()?.to_owned();
        answer.bytes().await?;
        Ok(id)
    }
}
