//! What strikes the processes and the stream, and when.

use std::collections::HashMap;

use serde_json::{Value, json};
use stamp_rally::store::progress::WorkerId;

use super::{
    TIMEOUT,
    crew::Crew,
    plan::{Strike, Wave},
    stage::Stage,
    until,
};

/// What LINE has accepted, by participant: read little by little.
#[derive(Default)]
pub struct Ledger {
    accepted: HashMap<String, usize>,
    after: i64,
}

impl Ledger {
    async fn catch_up(&mut self, stage: &Stage) {
        let path = format!("/pushes?messages=false&after={}", self.after);
        let news = stage.control("GET", &path, &json!({})).await;
        for push in news["pushes"].as_array().into_iter().flatten() {
            *self.accepted.entry(push["userId"].as_str().unwrap().to_owned()).or_default() += 1;
            self.after = push["ordinal"].as_i64().unwrap();
        }
    }

    /// Shards with notices that LINE hasn't accepted, the one with the most first.
    async fn busy(&mut self, stage: &Stage) -> Vec<String> {
        self.catch_up(stage).await;
        let mut unsent: HashMap<String, usize> = HashMap::new();
        let mut acquired = vec![0; stage.people.len()];
        stage.acquired.lock().unwrap().keys().for_each(|(person, _)| acquired[*person] += 1);
        for (person, acquired) in stage.people.iter().zip(acquired) {
            let accepted = self.accepted.get(person.id.as_str()).copied().unwrap_or_default();
            if acquired > accepted {
                *unsent.entry(stage.wire.shard_of(&person.partition)).or_default() += acquired - accepted;
            }
        }
        let mut shards: Vec<_> = unsent.into_iter().collect();
        shards.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        shards.into_iter().map(|(shard, _)| shard).collect()
    }
}

impl Crew<'_> {
    /// Waits for a wave's moment, and strikes; tells what was done.
    pub async fn strike(&mut self, wave: &Wave) -> String {
        self.waits_for_the_moment(wave).await;
        match wave.strike {
            Strike::Calm => "calm".to_owned(),
            Strike::ExpireIterators => {
                self.stage.wire.expire_iterators();
                self.did("iterators expired", "all iterators expire")
            }
            Strike::KillAny => {
                let slot = wave.choice % 2;
                self.consumer_dies(slot);
                self.did("consumers killed, any", &format!("consumer {slot} is killed"))
            }
            Strike::KillHolder => self.kill_holder().await,
            Strike::KillServer => {
                self.server_dies().await;
                self.did("servers killed", "the server is killed")
            }
            Strike::PauseHolder => self.pause_holder().await,
            Strike::RollOver => self.close(wave.choice, 1).await,
            Strike::Split => self.close(wave.choice, 2).await,
        }
    }

    /// So many pushes of the wave were asked for, or all that could be are accepted.
    async fn waits_for_the_moment(&mut self, wave: &Wave) {
        let Self { stage, ledger, .. } = self;
        let moment = pushes(stage).await + wave.after;
        let acquired = |step| stage.acquired.lock().unwrap().contains_key(step);
        until("the wave's moment", TIMEOUT, async || {
            let quiet = wave.steps.iter().all(acquired) && ledger.busy(stage).await.is_empty();
            (quiet || pushes(stage).await >= moment).then_some(())
        })
        .await;
    }

    async fn kill_holder(&mut self) -> String {
        let (slot, shard) = self.holder_of_a_busy_shard().await;
        self.consumer_dies(slot);
        match shard {
            Some(shard) => {
                self.did("consumers killed that held a busy shard", &format!("holder {slot} of {shard} is killed"))
            }
            None => self.did("consumers killed, any", &format!("consumer {slot} is killed, all was quiet")),
        }
    }

    /// Stopped in the middle of whatever it does, and woken when others have taken all it had.
    async fn pause_holder(&mut self) -> String {
        let (slot, _) = self.holder_of_a_busy_shard().await;
        let worker = self.consumers[slot].told(|told| told.worker.clone()).unwrap();
        self.consumers[slot].signal("STOP");
        let stage = self.stage;
        until("its shards move", TIMEOUT, async || {
            let board = stage.board().await;
            let holds = |owner: Option<&str>| owner == Some(&worker);
            let moved = board.shards.iter().all(|item| !holds(item.owner.as_ref().map(WorkerId::as_str)));
            moved.then_some(())
        })
        .await;
        self.consumers[slot].signal("CONT");
        self.did(
            "consumers paused past their lease",
            &format!("holder {slot} was paused until its shards were another's"),
        )
    }

    /// The consumer that holds the busiest shard, and that shard; if everything was sent meanwhile, one that holds any.
    async fn holder_of_a_busy_shard(&mut self) -> (usize, Option<String>) {
        let mut ledger = std::mem::take(&mut self.ledger);
        let crew = &*self;
        let found = until("a worker owns a busy shard", TIMEOUT, async || {
            let (busy, board) = (ledger.busy(crew.stage).await, crew.stage.board().await);
            let holder = |shard: &String| Some((crew.holder(&board, shard)?, Some(shard.clone())));
            let anybody =
                || board.shards.iter().find_map(|item| Some((crew.holder(&board, item.shard.as_str())?, None)));
            busy.iter().find_map(holder).or_else(|| if busy.is_empty() { anybody() } else { None })
        })
        .await;
        self.ledger = ledger;
        found
    }

    async fn close(&mut self, choice: usize, children: usize) -> String {
        let mut shards: Vec<_> = self.stage.people.iter().map(|one| self.stage.wire.shard_of(&one.partition)).collect();
        shards.sort();
        shards.dedup();
        let shard = &shards[choice % shards.len()];
        if children == 1 {
            self.stage.wire.roll_over(shard).await;
            self.did("shards rolled over", &format!("{shard} is rolled over"))
        } else {
            self.stage.wire.split(shard).await;
            self.did("shards split", &format!("{shard} is split"))
        }
    }

    fn did(&mut self, what: &'static str, words: &str) -> String {
        *self.done.entry(what).or_default() += 1;
        words.to_owned()
    }
}

/// How many pushes LINE was asked for.
async fn pushes(stage: &Stage) -> u64 {
    let requests = stage.control("GET", "/requests", &json!({})).await;
    let outcomes = requests["endpoints"]["push"].as_object();
    outcomes.into_iter().flat_map(|outcomes| outcomes.values()).filter_map(Value::as_u64).sum()
}
