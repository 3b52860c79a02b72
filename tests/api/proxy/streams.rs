//! The calls of the stream's API, answered out of the engine's one shard as though it were several.

use std::collections::BTreeMap;

use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, StatusCode, body::Bytes, header};
use serde::de::DeserializeOwned;
use serde_json::{Value, json, value::RawValue};

use super::{
    call::Call,
    deal::{Asked, Deal, Listing, Refused, Sequence},
    wire::{Broken, Wire, own, refusal},
};

/// The engine wants a signature to be there, and does not look at it.
const SIGNATURE: &str = "AWS4-HMAC-SHA256 Credential=local/20260523/us-east-1/dynamodb/aws4_request, \
                         SignedHeaders=host;x-amz-date, Signature=0";

/// Records a page at most.
const PAGE: usize = 1000;

/// The engine's stream and its one shard.
#[derive(Clone, Debug)]
pub(super) struct Source {
    arn: String,
    shard: String,
}

/// The engine's own answer of `GetRecords`.
#[derive(serde::Deserialize)]
#[serde(rename_all = "PascalCase")]
struct EnginePage {
    records: Vec<Box<RawValue>>,
    next_shard_iterator: String,
}

/// Why there is no answer of ours.
enum Failure {
    Broken(Broken),
    /// The engine's own refusal, as it is.
    Engine(StatusCode, Bytes),
    Refused(Refused),
}

impl From<Broken> for Failure {
    fn from(broken: Broken) -> Self {
        Self::Broken(broken)
    }
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

impl Wire {
    /// Answers a call of the stream's API, if the stream is dealt and it is one.
    pub(super) async fn answer_dealt(&self, call: &Call, body: &[u8]) -> Option<Result<Response<Full<Bytes>>, Broken>> {
        own(&self.deal).as_ref()?;
        let asked: Value = serde_json::from_slice(body).unwrap_or_default();
        let answer = match call.operation.as_str() {
            "DescribeStream" => self.describe(&asked).await,
            "GetRecords" => self.records(&asked).await,
            "GetShardIterator" => self.iterator(&asked).await,
            _ => return None,
        };
        Some(match answer {
            Ok(answer) => Ok(response(StatusCode::OK, answer)),
            Err(Failure::Broken(broken)) => Err(broken),
            Err(Failure::Engine(status, answer)) => Ok(response(status, answer)),
            Err(Failure::Refused(refused)) => {
                let (code, message) = refused.words();
                Ok(refusal(400, code, message))
            }
        })
    }

    async fn describe(&self, asked: &Value) -> Result<Bytes, Failure> {
        let filter = &asked["ShardFilter"];
        let listing = Listing {
            after: asked["ExclusiveStartShardId"].as_str(),
            limit: asked["Limit"].as_u64().and_then(|limit| usize::try_from(limit).ok()),
            children_of: filter["ShardId"].as_str().filter(|_| filter["Type"] == "CHILD_SHARDS"),
        };
        let mut answer: Value = self.engine("DescribeStream", &json!({ "StreamArn": asked["StreamArn"] })).await?;
        let (shards, next) = self.dealt(|deal| deal.list(listing));
        let stream = &mut answer["StreamDescription"];
        stream["Shards"] = Value::Array(shards);
        if let Some(next) = next {
            stream["LastEvaluatedShardId"] = json!(next);
        }
        Ok(written(&answer))
    }

    async fn iterator(&self, asked: &Value) -> Result<Bytes, Failure> {
        let (shard, kind) = (text(&asked["ShardId"]), text(&asked["ShardIteratorType"]));
        let sequence = asked["SequenceNumber"].as_str().map(|digits| digits.parse().map_err(|_| Refused::Invalid));
        let sequence: Option<Sequence> = sequence.transpose()?;
        let latest = if kind == "LATEST" { self.latest().await? } else { 0 };
        let iterator = self.dealt(|deal| deal.iterator(shard, kind, sequence, latest))?;
        Ok(written(&json!({ "ShardIterator": iterator })))
    }

    async fn records(&self, asked: &Value) -> Result<Bytes, Failure> {
        let limit = asked["Limit"].as_u64().map_or(Some(PAGE), |limit| usize::try_from(limit).ok());
        let limit = limit.filter(|limit| (1..=PAGE).contains(limit)).ok_or(Refused::Invalid)?;
        let place: Asked = self.dealt(|deal| deal.ask(text(&asked["ShardIterator"])))?;
        self.catch_up().await?;
        let dealings = self.dealt(|deal| deal.deal(&place, limit))?;
        Ok(written(&dealings))
    }

    /// Closes a shard after everything that has happened so far; the names of its children.
    pub(super) async fn close(&self, shard: &str, children: usize) -> Result<Vec<String>, Broken> {
        let latest = self.latest().await.map_err(|_| Broken)?;
        Ok(self.dealt(|deal| deal.close(shard, latest, children)))
    }

    /// Forgets everything that has happened so far on a shard.
    pub(super) async fn trim(&self, shard: &str) -> Result<(), Broken> {
        let latest = self.latest().await.map_err(|_| Broken)?;
        self.dealt(|deal| deal.trim(shard, latest));
        Ok(())
    }

    /// The last record of each shard.
    pub(super) async fn tails(&self) -> Result<BTreeMap<String, Option<Sequence>>, Broken> {
        self.catch_up().await.map_err(|_| Broken)?;
        Ok(self.dealt(|deal| deal.tails()))
    }

    /// Takes in what the engine has and we don't know yet; one at a time.
    async fn catch_up(&self) -> Result<(), Failure> {
        let mut next = self.next.lock().await;
        loop {
            let iterator = match next.take() {
                Some(iterator) => iterator,
                None => self.beginning().await?,
            };
            let read = json!({ "ShardIterator": iterator, "Limit": PAGE });
            let page: EnginePage = self.engine("GetRecords", &read).await?;
            *next = Some(page.next_shard_iterator);
            let is_all = page.records.len() < PAGE;
            self.dealt(|deal| deal.take_in(page.records));
            if is_all {
                return Ok(());
            }
        }
    }

    async fn beginning(&self) -> Result<String, Failure> {
        let Source { arn, shard } = self.source().await?;
        let place = json!({ "StreamArn": arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON" });
        let begin: Value = self.engine("GetShardIterator", &place).await?;
        Ok(text(&begin["ShardIterator"]).to_owned())
    }

    /// The engine tells it as the end of its open shard.
    async fn latest(&self) -> Result<Sequence, Failure> {
        let Source { arn, .. } = self.source().await?;
        let told: Value = self.engine("DescribeStream", &json!({ "StreamArn": arn })).await?;
        let range = &told["StreamDescription"]["Shards"][0]["SequenceNumberRange"];
        Ok(text(&range["EndingSequenceNumber"]).parse().unwrap_or_default())
    }

    async fn source(&self) -> Result<Source, Failure> {
        if let Some(source) = own(&self.source).clone() {
            return Ok(source);
        }
        let streams: Value = self.engine("ListStreams", &json!({})).await?;
        let arn = text(&streams["Streams"][0]["StreamArn"]).to_owned();
        let told: Value = self.engine("DescribeStream", &json!({ "StreamArn": arn })).await?;
        let shard = text(&told["StreamDescription"]["Shards"][0]["ShardId"]).to_owned();
        let source = Source { arn, shard };
        *own(&self.source) = Some(source.clone());
        Ok(source)
    }

    /// Asks the engine something of our own.
    async fn engine<T: DeserializeOwned>(&self, operation: &str, body: &Value) -> Result<T, Failure> {
        let request = Request::post(&self.upstream)
            .header(header::CONTENT_TYPE, "application/x-amz-json-1.0")
            .header(header::AUTHORIZATION, SIGNATURE)
            .header("x-amz-date", "20260523T100000Z")
            .header("x-amz-target", format!("DynamoDBStreams_20120810.{operation}"))
            .body(Full::new(Bytes::from(body.to_string())));
        let answer = self.client.request(request.map_err(|_| Broken)?).await.map_err(|_| Broken)?;
        let status = answer.status();
        let body = answer.into_body().collect().await.map_err(|_| Broken)?.to_bytes();
        if status.is_success() {
            Ok(serde_json::from_slice(&body).map_err(|_| Broken)?)
        } else {
            Err(Failure::Engine(status, body))
        }
    }

    /// Only called when the stream is dealt; else it is dealt into one.
    pub(super) fn dealt<T>(&self, ask: impl FnOnce(&mut Deal) -> T) -> T {
        ask(own(&self.deal).get_or_insert_with(|| Deal::into(1)))
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn written(answer: &impl serde::Serialize) -> Bytes {
    serde_json::to_vec(answer).unwrap_or_default().into()
}

fn response(status: StatusCode, body: Bytes) -> Response<Full<Bytes>> {
    let mut answer = Response::new(Full::new(body));
    *answer.status_mut() = status;
    let json = header::HeaderValue::from_static("application/x-amz-json-1.0");
    answer.headers_mut().insert(header::CONTENT_TYPE, json);
    answer
}
