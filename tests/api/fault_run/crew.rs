//! The processes: one server and two consumers, which are started anew whenever one of them dies.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use stamp_rally::store::progress::Board;

use crate::bad_items::{items::string, story::hashed};

use super::{TIMEOUT, process::Process, stage::Stage, strikes::Ledger, until};

/// So long a process that is asked to stop may take.
const STOPS_WITHIN: Duration = Duration::from_secs(20);

pub struct Crew<'s> {
    pub stage: &'s Stage,
    pub server: Process,
    pub consumers: [Process; 2],
    pub ledger: Ledger,
    /// What was done, by name.
    pub done: BTreeMap<&'static str, u64>,
    /// Of processes that are gone.
    complaints: BTreeMap<String, u64>,
    unreadable: BTreeSet<(String, String)>,
}

impl<'s> Crew<'s> {
    pub async fn start(stage: &'s Stage) -> Self {
        let mut crew = Self {
            stage,
            server: serve(stage),
            consumers: [consume(stage, 0), consume(stage, 1)],
            ledger: Ledger::default(),
            done: BTreeMap::new(),
            complaints: BTreeMap::new(),
            unreadable: BTreeSet::new(),
        };
        crew.finds_the_server().await;
        crew
    }

    /// The server says where it listens.
    pub async fn finds_the_server(&mut self) {
        let server = &self.server;
        let address = until("the server listens", TIMEOUT, async || server.told(|told| told.address.clone())).await;
        *self.stage.api.lock().unwrap() = Some(address);
    }

    pub async fn server_dies(&mut self) {
        self.server.kill();
        *self.stage.api.lock().unwrap() = None;
        let gone = std::mem::replace(&mut self.server, serve(self.stage));
        self.note_complaints(&gone);
        self.finds_the_server().await;
    }

    pub fn consumer_dies(&mut self, slot: usize) {
        self.consumers[slot].kill();
        let gone = std::mem::replace(&mut self.consumers[slot], consume(self.stage, slot));
        self.note_complaints(&gone);
    }

    /// Which of our consumers holds a shard, or what must be read before it.
    pub fn holder(&self, board: &Board, shard: &str) -> Option<usize> {
        let item = |id: &str| board.shards.iter().find(|item| item.shard.as_str() == id);
        let mut read = item(shard)?;
        while let Some(parent) = read.parent.as_ref().and_then(|parent| item(parent.as_str())) {
            if parent.reached.finished {
                break;
            }
            read = parent;
        }
        self.slot_of(read.owner.as_ref()?.as_str())
    }

    fn slot_of(&self, worker: &str) -> Option<usize> {
        self.consumers.iter().position(|consumer| consumer.told(|told| told.worker.as_deref() == Some(worker)))
    }

    /// SIGTERM for all: they finish what runs, hand their shards over, and end well.
    pub async fn stop(&mut self) {
        let Self { server, consumers, .. } = self;
        let [first, second] = consumers;
        for process in [server, first, second] {
            process.signal("TERM");
            let ended = until("a process stops when it is asked to", STOPS_WITHIN, async || process.ended()).await;
            assert!(ended.success(), "it ended with {ended}");
        }
        let board = self.stage.board().await;
        assert!(board.shards.iter().all(|item| item.owner.is_none()), "handed over: {board:#?}");
        assert!(board.candidates.is_empty(), "no worker waits any more: {board:#?}");
    }

    fn note_complaints(&mut self, process: &Process) {
        process.told(|told| {
            self.unreadable.extend(told.unreadable.iter().cloned());
            for (text, times) in &told.complaints {
                *self.complaints.entry(text.clone()).or_default() += times;
            }
        });
    }

    /// What a consumer reads all the time and can't read is named in a log by its key.
    pub fn has_reported_what_was_planted(&self) {
        let mut reported = self.unreadable.clone();
        for process in [&self.server, &self.consumers[0], &self.consumers[1]] {
            process.told(|told| reported.extend(told.unreadable.iter().cloned()));
        }
        let planted = self.stage.planted.lock().unwrap();
        // Lists of participants are for organisers, batches and runs for `reconcile`: neither asks here.
        let is_read = |sk: &str| !["BATCH#", "RUN#", "PRIZE#4"].iter().any(|unread| sk.starts_with(unread));
        for key in planted.iter().map(|key| (hashed(string(key, "PK")), hashed(string(key, "SK")))) {
            assert!(!is_read(&key.1) || reported.contains(&key), "{key:?} was not reported: {reported:?}");
        }
    }

    /// Everything that was logged as a warning or an error, by its text.
    pub fn complaints(&self) -> BTreeMap<String, u64> {
        let mut all = self.complaints.clone();
        for process in [&self.server, &self.consumers[0], &self.consumers[1]] {
            process.told(|told| {
                told.complaints.iter().for_each(|(text, times)| *all.entry(text.clone()).or_default() += times);
            });
        }
        all
    }
}

fn serve(stage: &Stage) -> Process {
    Process::start("serve", &["serve"], &stage.variables())
}

fn consume(stage: &Stage, slot: usize) -> Process {
    Process::start(&format!("consume-{slot}"), &["consume"], &stage.variables())
}
