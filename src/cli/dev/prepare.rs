//! Tables and the demo rally in the embedded engine, which may be slow to answer at first.

use std::{
    borrow::Cow,
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use tokio_util::sync::CancellationToken;

use crate::cli::{config::Settings, event, event_file};
use crate::dev::engine::Engine;
use crate::domain::{causes::Causes, mode::Mode, time::MachineClock};
use crate::store::{
    Store, StoreError,
    client::{Clients, Timeouts},
    table,
};

use super::demo::{self, DEMO_EVENT};

/// Between two attempts at an engine that can't answer yet.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);

/// How the preparation ended, if it did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prepared {
    /// Before its end the process was asked to stop.
    AskedToStop,
    /// The tables are there, and the demo rally is in them.
    Done,
}

/// Makes the tables and writes the demo rally, each unless it is there.
///
/// Waits for the engine as `serve` waits for a store: without a limit, until the process is asked to stop. The first
/// answer may take long, because the engine's `DescribeTable` reads the whole table to count it: many seconds for a
/// file of 250 MB that the machine has not read yet.
///
/// # Errors
///
/// Anything but an engine that can't answer now; an engine that has ended.
pub(super) async fn prepare(
    engine: &Engine,
    data: &Path,
    settings: &Settings,
    shutdown: &CancellationToken,
) -> anyhow::Result<Prepared> {
    let runs = || engine.is_running();
    let start = Start { clients: Clients::at(&engine.endpoint_url(), &unhurried()), runs: &runs, data, settings };
    tokio::select! {
        () = shutdown.cancelled() => Ok(Prepared::AskedToStop),
        prepared = start.prepare() => prepared.map(|()| Prepared::Done),
    }
}

/// Longer than the engine's first look at a large file takes: one that is given up only begins anew.
fn unhurried() -> Timeouts {
    Timeouts {
        item_attempt: Duration::from_secs(30),
        operation: Duration::from_mins(1),
        attempts: 2,
        budget: Cow::Borrowed("stamp-rally-start"),
        ..Timeouts::request()
    }
}

/// The start, as far as it needs the engine.
struct Start<'a> {
    clients: Clients,
    /// Whether the engine is there to be waited for.
    runs: &'a dyn Fn() -> bool,
    data: &'a Path,
    settings: &'a Settings,
}

impl Start<'_> {
    async fn prepare(&self) -> anyhow::Result<()> {
        let names = self.settings.store.clone();
        self.until_answered(async || Ok(table::create(&self.clients.table, &names).await?)).await?;
        let store = Store::new(self.clients.table.clone(), names);
        if self.until_answered(async || has_demo_event(&store).await).await? {
            // What was changed since stays, and no file is looked at.
            return Ok(());
        }
        // From here on it is written to its end, however often that is begun.
        self.until_answered(async || self.seed(&store).await).await
    }

    async fn seed(&self, store: &Store) -> anyhow::Result<()> {
        let ([proofs, demo], templates) = demo::files(self.data)?;
        let (keys, now) = (&self.settings.proofs.keys, MachineClock::start().now());
        // The demo's own comes last: where it is, all of them are. A rally of proofs can't do without a key.
        let proofs = Some(proofs).filter(|_| !keys.is_empty());
        let read = |file: PathBuf| event_file::read(&file, &templates);
        let files = proofs.into_iter().chain([demo]).map(read).collect::<anyhow::Result<Vec<_>>>()?;
        let application = event::Application { channels: &["main"], files: &files, keys, now, mode: Mode::ForReal };
        event::apply(store, &application, &mut io::sink()).await
    }

    /// Does the work, again and again while the engine can't answer.
    async fn until_answered<T>(&self, work: impl AsyncFn() -> anyhow::Result<T>) -> anyhow::Result<T> {
        loop {
            match work().await {
                Err(error) if !is_unavailable(&error) => return Err(error),
                Err(error) if !(self.runs)() => return Err(error.context("the embedded engine has ended by itself")),
                Err(error) => {
                    let error = Causes(error.as_ref());
                    tracing::warn!(dev.data = %self.data.display(), %error, "the embedded engine can't answer yet; waiting for it");
                }
                done => return done,
            }
            tokio::time::sleep(RETRY_INTERVAL).await;
        }
    }
}

/// Whether it is stored. One that can't be read is mended with the commands, for which this process must run.
async fn has_demo_event(store: &Store) -> anyhow::Result<bool> {
    match store.event(&DEMO_EVENT.parse()?).await {
        Ok(event) => Ok(event.is_some()),
        Err(StoreError::Unreadable(_)) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

fn is_unavailable(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref());
    causes.any(|error| matches!(error, StoreError::Unavailable(_)))
}

#[cfg(test)]
mod tests {
    use std::{net::TcpListener, sync::atomic::AtomicBool, sync::atomic::Ordering::SeqCst, thread};

    use aws_sdk_dynamodb::types::AttributeValue;

    use super::{super::DevArgs, *};
    use crate::dev::engine::Storage;

    /// Gives up early, so that a story sees it.
    fn hasty() -> Timeouts {
        Timeouts { item_attempt: Duration::from_millis(200), attempts: 1, budget: Cow::Borrowed("late"), ..unhurried() }
    }

    struct Story {
        folder: tempfile::TempDir,
        settings: Settings,
        listener: TcpListener,
        runs: AtomicBool,
    }

    impl Story {
        fn begins() -> Self {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let settings = super::super::settings(&DevArgs::alone(None)).unwrap();
            Self { folder: tempfile::tempdir().unwrap(), settings, listener, runs: AtomicBool::new(true) }
        }

        fn endpoint(&self) -> String {
            format!("http://{}", self.listener.local_addr().unwrap())
        }

        async fn prepares(&self) -> anyhow::Result<()> {
            let runs = || self.runs.load(SeqCst);
            let (clients, data) = (Clients::at(&self.endpoint(), &hasty()), self.folder.path());
            Start { clients, runs: &runs, data, settings: &self.settings }.prepare().await
        }
    }

    #[tokio::test]
    async fn an_engine_that_answers_late_is_waited_for_and_the_demo_rally_is_whole() {
        let story = Story::begins();
        let listener = story.listener.try_clone().unwrap();
        // Two calls get no answer at all; then the engine is there.
        let late = thread::spawn(move || {
            for _ in 0..2 {
                drop(listener.accept().unwrap());
            }
            Engine::start(listener, Storage::Memory).unwrap()
        });
        story.prepares().await.unwrap();
        let engine = late.join().unwrap();
        let table = Clients::at(&engine.endpoint_url(), &unhurried()).table;
        let seeded = Store::new(table, story.settings.store.clone());
        let demo = DEMO_EVENT.parse().unwrap();
        assert!(seeded.event(&demo).await.unwrap().is_some());
        assert_eq!(seeded.masters(&demo).await.unwrap().readable.len(), 2);
    }

    #[tokio::test]
    async fn a_demo_event_that_cannot_be_read_keeps_nothing_from_starting() {
        let story = Story::begins();
        let engine = Engine::start(story.listener.try_clone().unwrap(), Storage::Memory).unwrap();
        story.prepares().await.unwrap();
        let table = Clients::at(&engine.endpoint_url(), &unhurried()).table;
        let text = |text: &str| AttributeValue::S(text.to_owned());
        let update = table.update_item().table_name("line-event").key("PK", text(&format!("EVENT#{DEMO_EVENT}")));
        let update = update.key("SK", text("METADATA")).update_expression("SET startsAt = :day");
        update.expression_attribute_values(":day", text("2026-05-01")).send().await.unwrap();
        story.prepares().await.unwrap();
    }

    #[tokio::test]
    async fn an_engine_that_has_ended_is_not_waited_for() {
        let story = Story::begins();
        story.runs.store(false, SeqCst);
        let error = story.prepares().await.unwrap_err();
        assert!(format!("{error:#}").starts_with("the embedded engine has ended by itself: "), "{error:#}");
    }

    #[tokio::test]
    async fn who_stops_it_while_it_waits_does_not_wait() {
        let story = Story::begins();
        let engine = Engine::start(story.listener.try_clone().unwrap(), Storage::Memory).unwrap();
        let shutdown = CancellationToken::new();
        shutdown.cancel();
        let prepared = prepare(&engine, story.folder.path(), &story.settings, &shutdown).await.unwrap();
        assert_eq!(prepared, Prepared::AskedToStop);
    }
}
