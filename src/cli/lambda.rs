//! `lambda`: the delivery as an AWS Lambda function (AWS Lambda developer guide: "Using AWS Lambda with Amazon DynamoDB").
//!
//! One function, asked in two ways. An event source mapping of the table's stream hands over batches of records and is
//! answered with the first one that isn't finished (`ReportBatchItemFailures`). A schedule says `{"drain": true}`: no function
//! lives long enough to see its channel resumed, so held notices are tried when a schedule asks for it.

use std::{
    env,
    num::NonZeroU32,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use anyhow::{Context as _, anyhow, bail};
use aws_lambda_events::streams::{DynamoDbBatchItemFailure, DynamoDbEventResponse};
use lambda_runtime::{Diagnostic, LambdaEvent, service_fn};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use crate::consumer::{CONSUMER, WorkerParts, batch::BatchConsumer, limits::Limits};
use crate::delivery::{
    NoticeEffect, RetrySettings,
    in_time::{DrainEnd, Drained},
    rate::Share,
};
use crate::domain::{
    causes::Causes,
    time::{Clock, Timestamp},
};
use crate::store::{
    Store,
    client::{Clients, Timeouts},
    stream::{Record, SequenceNumber, lambda},
};

use super::{
    options::{SettingsArgs, from_one},
    service,
};

/// What AWS Lambda sets for every function, and the runtime can't do without.
const VARIABLES: [&str; 4] = [
    "AWS_LAMBDA_RUNTIME_API",
    "AWS_LAMBDA_FUNCTION_NAME",
    "AWS_LAMBDA_FUNCTION_MEMORY_SIZE",
    "AWS_LAMBDA_FUNCTION_VERSION",
];

/// That this function runs is written down so often.
const NOTED_FOR: Duration = Duration::from_hours(1);

/// `lambda`.
#[derive(Clone, Debug, clap::Args)]
pub struct LambdaArgs {
    #[command(flatten)]
    settings: SettingsArgs,
    /// How many of this function may run at once (its reserved concurrency): they share `delivery.pushes_per_second`
    #[arg(long, env = "STAMP_RALLY_LAMBDA_INSTANCES", value_name = "N", default_value = "1", value_parser = from_one(NonZeroU32::MAX))]
    instances: NonZeroU32,
}

/// Answers invocations for as long as AWS Lambda lets the process live.
pub async fn execute(args: LambdaArgs) -> anyhow::Result<()> {
    let settings = args.settings.start_with_line()?;
    refuse_elsewhere()?;
    // Pauses short enough for the last seconds of an invocation to be of use.
    let retry = RetrySettings { longest_backoff: Duration::from_secs(2), ..RetrySettings::default() };
    let parts = service::Builder::of_this_process(&settings)?.with_retry(retry);
    let clients = Clients::from_environment(&Timeouts::worker()).await?;
    let store = parts.store(&clients);
    let notices = parts.notices(&store)?;
    let share = Share::among(settings.delivery.pushes_per_second, args.instances);
    notices.delivery().set_share(share, share.first_wait(fastrand::f64()));
    let WorkerParts { effects, clock, .. } = parts.worker_parts(&clients, &notices);
    let function = Function {
        batches: BatchConsumer::new(effects, store.clone(), clock.clone()),
        notices,
        clock,
        longest_push: settings.line.timeout,
        warned_tight: AtomicBool::new(false),
        store,
        noted: Mutex::default(),
    };
    let answer = service_fn(|event: LambdaEvent<Asked>| {
        let (asked, context) = event.into_parts();
        function.answer(asked, context.deadline)
    });
    Box::pin(lambda_runtime::run(answer)).await.map_err(|error| anyhow!(error)).context("the Lambda runtime")
}

fn refuse_elsewhere() -> anyhow::Result<()> {
    match VARIABLES.iter().find(|name| env::var_os(name).is_none_or(|value| value.is_empty())) {
        Some(missing) => bail!("`lambda` runs inside AWS Lambda only: {missing} is not set"),
        None => Ok(()),
    }
}

/// What the function may be asked.
#[derive(Debug, Deserialize)]
struct Asked {
    /// By a schedule.
    #[serde(default)]
    drain: bool,
    /// By an event source mapping.
    #[serde(rename = "Records")]
    records: Option<Vec<Value>>,
}

/// What it answers.
#[derive(Debug, PartialEq, Serialize)]
#[serde(untagged)]
enum Answer {
    Batch(DynamoDbEventResponse),
    Drained { drained: usize },
}

struct Function {
    batches: BatchConsumer,
    notices: NoticeEffect,
    clock: Clock,
    longest_push: Duration,
    warned_tight: AtomicBool,
    store: Store,
    noted: Mutex<Option<Noted>>,
}

/// That this function runs was written down.
struct Noted {
    stream: String,
    at: Instant,
}

impl Function {
    /// `deadline`: milliseconds since 1970.
    async fn answer(&self, asked: Asked, deadline: u64) -> Result<Answer, Diagnostic> {
        let limits = self.limits(deadline);
        let answer = match asked {
            Asked { records: Some(records), drain: false } => self.deliver(records, limits).await,
            Asked { records: None, drain: true } => self.drain(limits).await,
            Asked { .. } => Err(anyhow!("neither `Records` of a DynamoDB stream nor `\"drain\": true`")),
        };
        answer.map_err(|error| {
            let error_message = format!("{error:#}");
            tracing::error!(error = error_message, "an invocation has failed");
            Diagnostic { error_type: "stamp-rally".to_owned(), error_message }
        })
    }

    fn limits(&self, deadline: u64) -> Limits {
        let deadline = i64::try_from(deadline).ok().and_then(Timestamp::from_millis).unwrap_or(Timestamp::EPOCH);
        let left = deadline.since(self.clock.now());
        let limits = Limits::within(left, self.longest_push);
        if limits.are_tight(self.longest_push) && !self.warned_tight.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                deadline.left_ms = left.as_millis(),
                push.timeout_ms = self.longest_push.as_millis(),
                "the function's time-out leaves too little time for a push that LINE answers late: make it longer"
            );
        }
        limits
    }

    async fn deliver(&self, entries: Vec<Value>, limits: Limits) -> anyhow::Result<Answer> {
        if entries.is_empty() {
            return Ok(Answer::Batch(DynamoDbEventResponse::default()));
        }
        let stream = lambda::stream_of(&entries).context("no record is of a DynamoDB stream")?;
        let (stream, count) = (stream.to_owned(), entries.len());
        // Side by side: a note that comes late takes none of the batch's time.
        let (unfinished, ()) = tokio::join!(
            Box::pin(self.batches.handle(records(entries), &stream, limits)),
            self.note_that_it_runs(&stream, Instant::now() + limits.hurry)
        );
        let tally = self.notices.take_tally();
        tracing::info!(
            records.count = count,
            notices.count = tally.total(),
            sequence = unfinished.as_ref().map(tracing::field::display),
            outcomes = ?tally,
            "a batch is handled"
        );
        Ok(Answer::Batch(response(unfinished)))
    }

    async fn drain(&self, limits: Limits) -> anyhow::Result<Answer> {
        let began = Instant::now();
        self.batches.forget_notes(began + limits.hurry).await;
        let Drained { tally, end } = self.notices.delivery().drain_within(began, limits).await;
        let drained = tally.total();
        tracing::info!(notices.count = drained, outcomes = ?tally, "tried what is held");
        if end? == DrainEnd::OutOfTime {
            tracing::warn!("there was no time to try everything that is held");
        }
        Ok(Answer::Drained { drained })
    }

    /// Notes once in an hour that a function is handed the stream's records, for `reconcile`: it must not leave to workers
    /// what nothing but the event source mapping brings. Where that fails the next batch does it.
    async fn note_that_it_runs(&self, stream: &str, until: Instant) {
        let is_due = |noted: &Option<Noted>| {
            noted.as_ref().is_none_or(|noted| noted.stream != stream || noted.at.elapsed() >= NOTED_FOR)
        };
        if !is_due(&self.noted.lock()) {
            return;
        }
        let consumers = self.store.consumers(CONSUMER, stream);
        match timeout_at(until, consumers.note_function(self.clock.now())).await {
            Ok(Ok(())) => {
                let noted = Noted { stream: stream.to_owned(), at: Instant::now() };
                *self.noted.lock() = Some(noted);
            }
            Ok(Err(error)) => {
                tracing::warn!(error = %Causes(&error), "that this function runs can't be written down now");
            }
            Err(_) => tracing::warn!("that this function runs can't be written down in time"),
        }
    }
}

fn records(entries: Vec<Value>) -> Vec<Record> {
    let read = |entry| match Record::of_lambda(entry) {
        Ok(record) => Some(record),
        Err(error) => {
            tracing::error!(error = %Causes(&error), "a record is passed over");
            None
        }
    };
    entries.into_iter().filter_map(read).collect()
}

/// The first record that isn't finished is enough: everything from there on is handed over again.
fn response(unfinished: Option<SequenceNumber>) -> DynamoDbEventResponse {
    let mut response = DynamoDbEventResponse::default();
    response.batch_item_failures.extend(unfinished.map(|sequence| {
        let mut failure = DynamoDbBatchItemFailure::default();
        failure.item_identifier = Some(sequence.as_str().to_owned());
        failure
    }));
    response
}
