//! Items of the consumers' table: leases and progress of shards, workers, what was handed out, counts, cards that may be
//! full. A broken one concerns no participant: its shard, if it is one's, is read again within two leases.

use aws_sdk_dynamodb::types::AttributeValue;
use proptest::{prelude::*, sample::select};
use serde_json::json;
use stamp_rally::{
    consumer::CONSUMER,
    delivery::DeliverySettings,
    domain::{mode::Mode, time::TimeSource},
};
use tokio_util::sync::CancellationToken;

use super::{
    damage::newer,
    ears::Ears,
    items::{Item, key_of, string, text},
    plan::{Concern, Type},
    rallies::{LAST, Rallies},
    story::hashed,
};
use crate::house::House;

const TABLE: &str = "line-event-consumers";

/// What an item of the table is an item of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entity {
    Batch,
    Counts,
    PendingCompletion,
    Run,
    Shard,
    Worker,
}

/// One case.
#[derive(Clone, Debug)]
pub struct Plan {
    entity: Entity,
    rally: usize,
    damage: Damage,
    restart: bool,
}

/// What is wrong with it. The attributes are numbered as they are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Damage {
    /// Only the key is there.
    Bare,
    Missing(usize),
    Mistyped(usize, Type),
    Newer,
}

pub fn plans(entity: Entity) -> impl Strategy<Value = Plan> {
    let damage = prop_oneof![
        2 => Just(Damage::Bare),
        2 => (0..20usize).prop_map(Damage::Missing),
        4 => (0..20usize, select(Type::ALL.to_vec())).prop_map(|(which, wrong)| Damage::Mistyped(which, wrong)),
        1 => Just(Damage::Newer),
    ];
    let all = (0..3usize, damage, any::<bool>());
    all.prop_map(move |(rally, damage, restart)| Plan { entity, rally, damage, restart })
}

/// Plays a case; panics where a promise is broken.
pub async fn play(plan: &Plan) {
    let ears = Ears::here();
    let house = House::empty("bad progress").await;
    let mut rallies = Rallies::open(&house).await;
    let (settings, met_before) = (settings(), ears.met());
    rallies.restart_at(settings.clone()).await;
    rallies.all_acquire("002", Concern::Nothing).await;
    rallies.deliver().await;
    let planted = rallies.plant_progress(plan).await;
    if plan.restart {
        rallies.restart_at(settings.clone()).await;
    }

    rallies.all_acquire(LAST, Concern::Nothing).await;
    // An owner that can't write any more stops when its lease ends, and then its silence must last for one.
    for _ in 0..4 {
        rallies.deliver().await;
        house.pass(settings.lease).await;
    }
    rallies.deliver().await;
    rallies.others_are_answered(Concern::Nothing).await;
    rallies.others_have_their_notices(Concern::Nothing);
    rallies.no_shard_stands_still().await;
    rallies.progress_is_reported(ears, plan, &planted, met_before).await;

    rallies.take_away(&planted).await;
    house.pass(settings.lease).await;
    rallies.deliver().await;
    rallies.others_have_their_notices(Concern::Nothing);
    rallies.line_took_no_key_twice().await;
    // What these count anew, `stats rebuild` corrects.
    if !matches!(plan.entity, Entity::Counts | Entity::Shard) {
        for rally in 0..3 {
            rallies.counts_are_what_the_facts_say(rally).await;
        }
    }
    house.close().await;
}

fn settings() -> DeliverySettings {
    DeliverySettings { pushes_per_second: 100_000, ..crate::house::defaults().delivery }
}

impl Plan {
    /// The item with this wrong with it.
    fn broken(&self, whole: &Item) -> Item {
        let mut names: Vec<&String> = whole.keys().filter(|name| !matches!(name.as_str(), "PK" | "SK")).collect();
        names.sort();
        let mut broken = whole.clone();
        match self.damage {
            Damage::Bare => broken = key_of(whole),
            Damage::Missing(which) => drop(broken.remove(names[which % names.len()])),
            Damage::Mistyped(which, wrong) => drop(broken.insert(names[which % names.len()].clone(), wrong.value())),
            Damage::Newer => broken.extend(newer()),
        }
        broken
    }
}

impl Rallies<'_> {
    async fn plant_progress(&self, plan: &Plan) -> Item {
        let broken = plan.broken(&self.whole_progress(plan).await);
        let put = self.house.clients.table.put_item().table_name(TABLE).set_item(Some(broken.clone()));
        put.send().await.unwrap();
        broken
    }

    async fn whole_progress(&self, plan: &Plan) -> Item {
        let arn = self.house.store.stream_arn().await.unwrap().unwrap();
        let stream = format!("CONSUMER#{CONSUMER}#STREAM#{arn}");
        let (rally, now) = (&self.ids[plan.rally], self.house.clock.now());
        // No two cases share a key: all speak to the same ears.
        let case = rally.rsplit('-').next().unwrap();
        let json = match plan.entity {
            Entity::Counts => return self.first_of(&format!("COUNTS#{rally}"), "HOUR#").await,
            Entity::Shard => return self.first_of(&stream, "SHARD#").await,
            Entity::Batch => json!({
                "PK": stream, "SK": format!("BATCH#10000000000000000{case:0>4}"), "entityType": "BATCH_PROGRESS",
                "uncoveredFrom": now, "handedOutThrough": now, "updatedAt": now,
            }),
            Entity::PendingCompletion => json!({
                "PK": "PENDING_COMPLETIONS", "SK": format!("{rally}#{}", self.people[0].id),
                "entityType": "PENDING_COMPLETION", "id": "x-1", "updatedAt": now,
            }),
            Entity::Run => json!({
                "PK": format!("CONSUMER#{CONSUMER}#RECONCILE"), "SK": format!("RUN#r-{case}"), "entityType": "RECONCILE_RUN",
                "runId": format!("r-{case}"), "eventId": rally, "uncoveredFrom": now, "handedOutThrough": now, "since": now,
            }),
            Entity::Worker => json!({
                "PK": stream, "SK": format!("WORKER#w-{case}"), "entityType": "WORKER", "beat": 1, "errand": "wait", "updatedAt": now,
            }),
        };
        serde_dynamo::to_item::<_, Item>(&json).unwrap()
    }

    async fn first_of(&self, partition: &str, begins: &str) -> Item {
        let query = self.house.clients.table.query().table_name(TABLE).consistent_read(true);
        let query = query.key_condition_expression("PK = :pk AND begins_with(SK, :sk)");
        let query = query.expression_attribute_values(":pk", text(partition));
        let found =
            query.expression_attribute_values(":sk", AttributeValue::S(begins.to_owned())).send().await.unwrap();
        found.items.unwrap().remove(0)
    }

    /// One of which nothing but its key is left is found by that in the log, and in the metric; one with more than is known
    /// is as good as any.
    async fn progress_is_reported(&self, ears: &Ears, plan: &Plan, planted: &Item, met_before: u64) {
        // What only this reads.
        let delivery = self.house.delivery_at(settings());
        delivery.reconcile(None, Mode::DryRun, &|_, _| {}, &CancellationToken::new()).await.unwrap();
        let event = self.ids[plan.rally].parse().unwrap();
        self.house.store.counts(&event).await.unwrap();
        let heard = ears.heard_of(&hashed(string(planted, "PK")), &hashed(string(planted, "SK")));
        match plan.damage {
            Damage::Bare => assert!(!heard.is_empty() && ears.met() > met_before, "{planted:?} is not reported"),
            Damage::Newer => assert!(heard.is_empty(), "nothing is wrong with it: {heard:?}"),
            Damage::Missing(_) | Damage::Mistyped(..) => {}
        }
        for person in &self.people {
            assert_eq!(ears.mentions(&person.id), Vec::<String>::new());
        }
    }

    /// A person takes the item away, unless the program itself has put it right since.
    async fn take_away(&self, planted: &Item) {
        if !string(planted, "SK").starts_with("SHARD#") {
            let delete = self.house.clients.table.delete_item().table_name(TABLE).set_key(Some(key_of(planted)));
            delete.send().await.unwrap();
        }
    }
}
