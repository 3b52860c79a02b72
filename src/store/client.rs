//! Both clients of the SDK: where DynamoDB is, and how long one waits for it.

use std::{borrow::Cow, time::Duration};

use aws_config::{BehaviorVersion, Region, SdkConfig, retry::RetryConfig, timeout::TimeoutConfig};
use aws_sdk_dynamodb::config::{
    Credentials, SharedCredentialsProvider, SharedHttpClient, StalledStreamProtectionConfig, retry::RetryPartition,
};
use aws_types::service_config::ServiceConfigKey;

const TABLE_ENDPOINT: &str = "AWS_ENDPOINT_URL_DYNAMODB";
const STREAMS_ENDPOINT: &str = "AWS_ENDPOINT_URL_DYNAMODB_STREAMS";

/// A client for the tables and one for their streams. Clones are cheap and share connections.
#[derive(Clone, Debug)]
pub struct Clients {
    /// Items, and the tables themselves.
    pub table: aws_sdk_dynamodb::Client,
    /// Shards and records.
    pub streams: aws_sdk_dynamodbstreams::Client,
}

/// How long to wait for DynamoDB, and how often to ask again.
///
/// The SDK sets no timeout but that of the connection by itself: a server that accepts and never answers would hold a
/// request for ever.
#[derive(Clone, Debug)]
pub struct Timeouts {
    /// Until a connection is made.
    pub connect: Duration,
    /// One attempt of a call of the table client.
    pub item_attempt: Duration,
    /// One attempt of a call of the streams client: a page holds up to 1 MB.
    pub stream_attempt: Duration,
    /// A whole call, its repetitions and pauses included.
    pub operation: Duration,
    /// The longest first pause between two attempts. The SDK doubles it each time and takes a random part of it.
    pub first_backoff: Duration,
    /// Attempts of one call, the first included.
    pub attempts: u32,
    /// Whose budget of repetitions this is: after many failures the SDK stops repeating for all clients with the same
    /// name (in the whole process), so those that answer requests have another one than those that read the stream, and
    /// each test has its own.
    pub budget: Cow<'static, str>,
}

impl Timeouts {
    /// For clients that answer a request: a participant is in front of a poster and waits.
    #[must_use]
    pub const fn request() -> Self {
        Self {
            connect: Duration::from_secs(1),
            item_attempt: Duration::from_secs(1),
            stream_attempt: Duration::from_secs(2),
            operation: Duration::from_secs(4),
            first_backoff: Duration::from_millis(50),
            attempts: 3,
            budget: Cow::Borrowed("stamp-rally-requests"),
        }
    }

    /// For the worker behind the stream: the same waits, its own budget of repetitions.
    #[must_use]
    pub fn worker() -> Self {
        Self { budget: Cow::Borrowed("stamp-rally-worker"), ..Self::request() }
    }

    fn retries(&self) -> RetryConfig {
        RetryConfig::standard().with_max_attempts(self.attempts).with_initial_backoff(self.first_backoff)
    }

    fn timeouts(&self, attempt: Duration) -> TimeoutConfig {
        TimeoutConfig::builder()
            .connect_timeout(self.connect)
            .operation_attempt_timeout(attempt)
            .operation_timeout(self.operation)
            .build()
    }
}

/// The AWS settings of this machine can't be used.
#[derive(Debug, thiserror::Error)]
pub enum AwsSettingsError {
    /// Tables and streams would be read from two different places.
    #[error(
        "{set} is set and {missing} is not: the table and its stream would come from two different places; set both (in a profile: the services dynamodb and dynamodb-streams), or only AWS_ENDPOINT_URL"
    )]
    HalfAnEndpoint {
        /// The setting that is there.
        set: &'static str,
        /// The one that is not.
        missing: &'static str,
    },
    /// No region in the environment, the profile or the machine's metadata.
    #[error("no AWS region is set: set AWS_REGION")]
    NoRegion,
}

impl Clients {
    /// Clients by the SDK's own chain: environment, profile, the machine's role; `AWS_REGION`, `AWS_ENDPOINT_URL`,
    /// `AWS_ENDPOINT_URL_DYNAMODB` with `AWS_ENDPOINT_URL_DYNAMODB_STREAMS`.
    ///
    /// Nothing is asked of DynamoDB yet; credentials are looked for at the first call.
    pub async fn from_environment(timeouts: &Timeouts) -> Result<Self, AwsSettingsError> {
        refuse_half_an_endpoint(is_set)?;
        let mut chain = aws_config::defaults(BehaviorVersion::latest());
        if let Some(plain) = plain_machine() {
            chain = chain.http_client(plain);
        }
        let machine = chain.load().await;
        if machine.region().is_none() {
            return Err(AwsSettingsError::NoRegion);
        }
        let table = endpoint_of(&machine, "DynamoDB");
        let streams = endpoint_of(&machine, "DynamoDB Streams");
        let everything = machine.endpoint_url();
        // The same once more for endpoints out of a profile's `services` section.
        let is_own = |name: &str| (if name == TABLE_ENDPOINT { &table } else { &streams }).as_deref() != everything;
        refuse_half_an_endpoint(is_own)?;
        Ok(Self::over(&machine, table.as_deref(), streams.as_deref(), timeouts))
    }

    /// Clients for the embedded engine (or another emulator) at `endpoint`, for example `http://127.0.0.1:8000`.
    ///
    /// Ignores every AWS setting of the machine, so nothing can reach a real account by mistake.
    #[must_use]
    pub fn at(endpoint: &str, timeouts: &Timeouts) -> Self {
        let anonymous = Credentials::new("local", "local", None, None, "embedded engine");
        let local = SdkConfig::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::from_static("us-east-1"))
            .credentials_provider(SharedCredentialsProvider::new(anonymous))
            .build();
        Self::over(&local, Some(endpoint), Some(endpoint), timeouts)
    }

    fn over(sdk: &SdkConfig, table: Option<&str>, streams: Option<&str>, timeouts: &Timeouts) -> Self {
        let mut table_config = aws_sdk_dynamodb::config::Builder::from(sdk)
            .retry_config(timeouts.retries())
            .retry_partition(RetryPartition::new(timeouts.budget.clone()))
            .timeout_config(timeouts.timeouts(timeouts.item_attempt))
            // It ends slow transfers of large bodies after seconds, and takes time of each call; ours end by their attempt.
            .stalled_stream_protection(StalledStreamProtectionConfig::disabled());
        table_config.set_endpoint_url(table.map(str::to_owned)).set_http_client(plain_http(table));
        let mut streams_config = aws_sdk_dynamodbstreams::config::Builder::from(sdk)
            .retry_config(timeouts.retries())
            .retry_partition(RetryPartition::new(timeouts.budget.clone()))
            .timeout_config(timeouts.timeouts(timeouts.stream_attempt));
        streams_config.set_endpoint_url(streams.map(str::to_owned)).set_http_client(plain_http(streams));
        Self {
            table: aws_sdk_dynamodb::Client::from_conf(table_config.build()),
            streams: aws_sdk_dynamodbstreams::Client::from_conf(streams_config.build()),
        }
    }
}

/// The same client over connections of its own: what answers on a thread's own connection needn't wake another thread.
pub(super) fn apart(client: &aws_sdk_dynamodb::Client) -> aws_sdk_dynamodb::Client {
    let mut own = client.config().to_builder();
    // Only plain ones were put in by us (`plain_http`); the SDK makes another one of its own for each client.
    own.set_http_client(client.config().http_client().map(|_| aws_smithy_http_client::Builder::new().build_http()));
    aws_sdk_dynamodb::Client::from_conf(own.build())
}

/// Returns a client without TLS where none is spoken: the SDK's own one wants the machine's CA files even for
/// `http://`, and a slim container has none.
fn plain_http(endpoint: Option<&str>) -> Option<SharedHttpClient> {
    endpoint?.starts_with("http://").then(|| aws_smithy_http_client::Builder::new().build_http())
}

/// With an emulator and keys in the environment nothing speaks TLS, not even those who look for credentials; and a debug
/// build of the SDK's own client panics without CA files.
fn plain_machine() -> Option<SharedHttpClient> {
    let endpoint = [TABLE_ENDPOINT, "AWS_ENDPOINT_URL"].into_iter().find_map(|name| std::env::var(name).ok());
    plain_http(endpoint.as_deref()).filter(|_| is_set("AWS_ACCESS_KEY_ID"))
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

fn refuse_half_an_endpoint(is_set: impl Fn(&str) -> bool) -> Result<(), AwsSettingsError> {
    match [TABLE_ENDPOINT, STREAMS_ENDPOINT].map(is_set) {
        [true, false] => Err(AwsSettingsError::HalfAnEndpoint { set: TABLE_ENDPOINT, missing: STREAMS_ENDPOINT }),
        [false, true] => Err(AwsSettingsError::HalfAnEndpoint { set: STREAMS_ENDPOINT, missing: TABLE_ENDPOINT }),
        [false, false] | [true, true] => Ok(()),
    }
}

/// Where the SDK would send the calls of a service: its own endpoint, else the one for everything, else AWS (`None`).
fn endpoint_of(machine: &SdkConfig, service: &str) -> Option<String> {
    let key = ServiceConfigKey::builder().service_id(service).env("AWS_ENDPOINT_URL").profile("endpoint_url").build();
    let own = machine.service_config().zip(key.ok()).and_then(|(settings, key)| settings.load_config(key));
    own.or_else(|| machine.endpoint_url().map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::store::StoreError;
    use crate::stub::{Reply, Stub};

    /// As in production, but without pauses.
    fn hasty(budget: &'static str) -> Timeouts {
        Timeouts { first_backoff: Duration::from_millis(1), budget: Cow::Borrowed(budget), ..Timeouts::request() }
    }

    async fn ask(clients: &Clients) -> Result<(), StoreError> {
        clients.table.describe_table().table_name("line-event").send().await?;
        Ok(())
    }

    #[tokio::test]
    async fn a_server_that_accepts_and_never_answers_holds_no_caller_beyond_the_limit() {
        let deaf = Stub::start(|_| Reply::Hang);
        let timeouts = Timeouts {
            item_attempt: Duration::from_millis(80),
            stream_attempt: Duration::from_millis(80),
            operation: Duration::from_millis(200),
            ..hasty("deaf")
        };
        let clients = Clients::at(deaf.url(), &timeouts);
        let begin = Instant::now();

        let table = ask(&clients).await.unwrap_err();
        let streams = StoreError::from(clients.streams.list_streams().send().await.unwrap_err());

        assert!(begin.elapsed() < Duration::from_secs(2), "took {:?}", begin.elapsed());
        assert!(matches!(table, StoreError::Unavailable(_)), "{table:?}");
        assert!(matches!(streams, StoreError::Unavailable(_)), "{streams:?}");
    }

    #[tokio::test]
    async fn a_passing_failure_is_repeated_until_the_answer_comes() {
        let ill = Stub::in_order(&[(500, "{}"), (500, "{}"), (200, "{}")]);
        ask(&Clients::at(ill.url(), &hasty("passing"))).await.unwrap();
        assert_eq!(ill.requests().len(), 3);
    }

    #[tokio::test]
    async fn a_worker_that_fails_for_long_leaves_the_requests_their_repetitions() {
        let ill = Stub::in_order(&[(500, "{}")]);
        let worker = Clients::at(ill.url(), &hasty("long-failing-worker"));
        for _ in 0..100 {
            ask(&worker).await.unwrap_err();
        }
        let before = ill.requests().len();
        ask(&worker).await.unwrap_err();
        assert_eq!(ill.requests().len() - before, 1, "the worker's budget is spent");

        let before = ill.requests().len();
        ask(&Clients::at(ill.url(), &hasty("untouched-requests"))).await.unwrap_err();
        assert_eq!(ill.requests().len() - before, 3);
        assert_ne!(Timeouts::request().budget, Timeouts::worker().budget);
    }

    #[test]
    fn an_endpoint_for_tables_or_streams_alone_is_refused_naming_both() {
        for set in [TABLE_ENDPOINT, STREAMS_ENDPOINT] {
            let refused = refuse_half_an_endpoint(|name| name == set).unwrap_err().to_string();
            assert!(refused.contains("AWS_ENDPOINT_URL_DYNAMODB "), "{refused}");
            assert!(refused.contains("AWS_ENDPOINT_URL_DYNAMODB_STREAMS "), "{refused}");
        }
        refuse_half_an_endpoint(|_| true).unwrap();
        refuse_half_an_endpoint(|_| false).unwrap();
    }
}
