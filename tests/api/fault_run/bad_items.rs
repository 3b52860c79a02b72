//! Items that can't be read, planted while everything else goes wrong: a participant's fact in each wave, mended when their
//! next notice is held for it, and items that concern no participant, which stay.

use aws_sdk_dynamodb::types::AttributeValue;
use fastrand::Rng;
use serde_json::{Value, json};

use super::{
    TIMEOUT,
    stage::{Stage, stamp},
    until,
};
use crate::bad_items::{
    attributes::Entity,
    items::{Item, key_of, text},
    plan::Type,
};
use crate::house::RALLY;

const MAIN: &str = "line-event";
const CONSUMERS: &str = "line-event-consumers";

/// A fact with a wrong attribute.
pub struct DamagedFact {
    key: Item,
    attribute: &'static str,
    was: AttributeValue,
    /// The stamp that the same participant acquires meanwhile.
    next: Item,
}

impl Stage {
    /// Plants what the wave with this number gets; the same for the same seed and the same acquisitions.
    pub async fn plant(&self, seed: u64, wave: usize, steps: &[(usize, usize)]) -> Option<DamagedFact> {
        let mut chance = Rng::with_seed(seed.wrapping_add(1_000_003 * wave as u64));
        if let Some((table, item)) = self.of_no_participant().into_iter().nth(wave) {
            let item: Item = serde_dynamo::to_item::<_, Item>(&item).unwrap();
            self.planted.lock().unwrap().push(key_of(&item));
            self.table.put_item().table_name(table).set_item(Some(item)).send().await.unwrap();
        }
        let acquired: Vec<(usize, usize)> = self.acquired.lock().unwrap().keys().copied().collect();
        let of_both =
            steps.iter().flat_map(|step| acquired.iter().filter(|one| one.0 == step.0).map(|one| (*one, *step)));
        let mut of_both: Vec<_> = of_both.collect();
        of_both.sort_unstable();
        let (had, next) = chance.choice(of_both)?;
        Some(self.damage(had, next, &mut chance).await)
    }

    /// One item a wave: in lists that they don't belong to, of an event that there isn't, of progress that there isn't.
    fn of_no_participant(&self) -> Vec<(&'static str, Value)> {
        let stream = format!("CONSUMER#delivery#STREAM#{}", self.arn);
        let at = "2026-05-23T10:00:00.000Z";
        let foreign = |n: u8, pk: String| {
            json!({
                "PK": "TOMBOLA#1", "SK": format!("PRIZE#{n}"), "entityType": "TOMBOLA", "GSI1PK": pk,
                "GSI1SK": format!("{at}#U1"),
            })
        };
        vec![
            (MAIN, foreign(1, "EVENTS".to_owned())),
            (
                MAIN,
                json!({
                    "PK": "EVENT#another", "SK": "METADATA", "entityType": "EVENT", "eventId": "another",
                    "GSI1PK": "EVENTS", "GSI1SK": "2026-05-01#another", "startsAt": "2026-05-01",
                }),
            ),
            (MAIN, foreign(2, format!("EVENT#{RALLY}#PUSH_HELD"))),
            (CONSUMERS, json!({ "PK": stream, "SK": "WORKER#bare" })),
            (MAIN, foreign(3, format!("EVENT#{RALLY}#STAMP_MASTERS"))),
            (CONSUMERS, json!({ "PK": stream, "SK": "BATCH#bare" })),
            (MAIN, foreign(4, format!("EVENT#{RALLY}#USERS"))),
            (CONSUMERS, json!({ "PK": "PENDING_COMPLETIONS", "SK": "bare" })),
            (CONSUMERS, json!({ "PK": "CONSUMER#delivery#RECONCILE", "SK": "RUN#bare" })),
        ]
    }

    async fn damage(&self, had: (usize, usize), next: (usize, usize), chance: &mut Rng) -> DamagedFact {
        let [key, next] = [had, next].map(|(person, number)| {
            let (pk, sk) = (&self.people[person].partition, format!("STAMP#{}", stamp(number)));
            Item::from([("PK", pk), ("SK", &sk)].map(|(name, part)| (name.to_owned(), text(part))))
        });
        let item = self.item(&key).await.unwrap();
        let required = Entity::UserStamp.attributes().iter().filter(|attribute| attribute.required);
        let names: Vec<&str> = required.map(|attribute| attribute.name).chain(["entityType"]).collect();
        let attribute = chance.choice(names).unwrap();
        let wrong = chance.choice([None, Some(Type::Binary), Some(Type::Map), Some(Type::Number), Some(Type::Null)]);
        self.set(&key, attribute, wrong.unwrap().map(Type::value)).await;
        self.planted.lock().unwrap().push(key.clone());
        DamagedFact { key, attribute, was: item[attribute].clone(), next }
    }

    /// Waits until the participant's next notice is held for it, and writes the attribute as it was, and nothing else:
    /// delivery may have written others meanwhile.
    pub async fn mend(&self, DamagedFact { key, attribute, was, next }: DamagedFact) {
        let reason = Some(text("unreadable"));
        until("a notice is held for an item that can't be read", TIMEOUT, async || {
            self.item(&next).await.filter(|item| item.get("noticeReason") == reason.as_ref())
        })
        .await;
        self.set(&key, attribute, Some(was)).await;
    }

    async fn item(&self, key: &Item) -> Option<Item> {
        let get = self.table.get_item().table_name(MAIN).consistent_read(true).set_key(Some(key.clone()));
        get.send().await.unwrap().item
    }

    async fn set(&self, key: &Item, attribute: &str, value: Option<AttributeValue>) {
        let update = self.table.update_item().table_name(MAIN).set_key(Some(key.clone()));
        let update = update.expression_attribute_names("#a", attribute);
        let update = match value {
            Some(value) => update.update_expression("SET #a = :v").expression_attribute_values(":v", value),
            None => update.update_expression("REMOVE #a"),
        };
        update.send().await.unwrap();
    }
}
