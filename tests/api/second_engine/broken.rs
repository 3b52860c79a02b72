//! Items that can't be read, put by hand into the other engine's table.

use std::{fs, path::Path};

use aws_sdk_dynamodb::{Client, types::AttributeValue};
use stamp_rally::store::client::{Clients, Timeouts};

use super::*;
use crate::house::RALLY;

const TABLE: &str = "broken-items";

fn text(text: &str) -> AttributeValue {
    AttributeValue::S(text.to_owned())
}

/// The site on tables of its own, with the demo rally, and one of the same stamps in winter.
fn site() -> Site {
    let mut site = Site::at(&engine());
    site.set("AWS_REGION", "us-east-1");
    site.set("STAMP_RALLY__STORE__TABLE", TABLE);
    site.set("STAMP_RALLY__STORE__CONSUMER_TABLE", "broken-items-consumers");
    site.set("STAMP_RALLY__DELIVERY__HOLD_PROBE_MS", "1000");
    site.set_up();
    let rally = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("config/events/{RALLY}.toml"));
    let winter = fs::read_to_string(rally).unwrap().replace(RALLY, "winter");
    fs::write(site.folder.path().join("winter.toml"), winter).unwrap();
    apply(&site, "winter.toml");
    site
}

fn apply(site: &Site, file: &str) {
    let templates = Path::new(env!("CARGO_MANIFEST_DIR")).join("flex_templates");
    site.run(&["event", "apply", "--templates", templates.to_str().unwrap(), file]);
}

async fn set(table: &Client, pk: &str, sk: &str, attribute: &str, value: AttributeValue) {
    let update = table.update_item().table_name(TABLE).key("PK", text(pk)).key("SK", text(sk));
    let update = update.expression_attribute_names("#a", attribute).expression_attribute_values(":v", value);
    update.update_expression("SET #a = :v").send().await.unwrap();
}

/// An item of an entity that this program doesn't know, in the index partitions of a rally's participants.
async fn put_foreign(table: &Client) {
    let put = table.put_item().table_name(TABLE).item("PK", text("LOTTERY#1")).item("SK", text("TICKET#1"));
    let put = put.item("entityType", text("LOTTERY_TICKET")).item("GSI1PK", text(&format!("EVENT#{RALLY}#USERS#0")));
    put.item("GSI1SK", text("CREATED#1779535800000#U1")).send().await.unwrap();
}

#[tokio::test]
#[ignore = "needs another DynamoDB engine at STAMP_RALLY_TEST_SECOND_ENGINE"]
async fn items_that_cannot_be_read_stand_alone_on_a_second_engine() {
    let (site, table) = (site(), Clients::at(&engine(), &Timeouts::request()).table);
    // A stamp is acquired while no consumer runs, and broken before one does; so is an event that is no one's rally.
    let mut server = site.start(&["serve"]);
    let api = address(&mut server).await;
    let (hanako, taro) = (Participant::new(&site.line, "花子").await, Participant::new(&site.line, "太郎").await);
    hanako.acquire(&api, "001").await.is(201);
    server.stops().await;
    let (master, event) = (format!("EVENT#{RALLY}#STAMP#001"), "EVENT#winter");
    set(&table, &master, "MASTER", "isActive", text("yes")).await;
    set(&table, event, "METADATA", "startsAt", text("2026-05-01")).await;
    put_foreign(&table).await;

    let mut server = site.start(&["serve", "--with-consumer"]);
    let api = address(&mut server).await;
    let card = hanako.card(&api).await.is(200);
    assert_eq!((card.body["stamps"].as_array().unwrap().len(), &card.body["totalCount"]), (1, &json!(2)), "{card:?}");
    taro.acquire(&api, "002").await.is(201);
    taro.is_told_of(&api, &["002"]).await;
    assert_eq!(site.line.phone(&hanako.id).await.len(), 0);
    site.run(&["users", "export", RALLY, "--output", "people.csv"]);
    let rows = fs::read_to_string(site.folder.path().join("people.csv")).unwrap();
    assert_eq!(rows.lines().count(), 3, "a header, Hanako and Taro: {rows}");

    // Each is mended as an operator mends it, and what waited for it goes out by itself.
    site.set_up();
    apply(&site, "winter.toml");
    hanako.is_told_of(&api, &["001"]).await;
    assert_eq!(hanako.card(&api).await.is(200).body["stamps"].as_array().unwrap().len(), 2);
    site.line.doubled_nothing().await;
    server.ask_to_stop();
    let (status, log) = server.ends().await;
    assert_eq!(status.code(), Some(0), "{log}");
    for key in [&master, event] {
        let named = |line: &&str| line.contains(" ERROR ") && line.contains(&format!("item.pk=\"{key}\""));
        assert_eq!(log.lines().filter(named).count(), 1, "{key}: {log}");
    }
}
