//! `stamp-rally staff new|list|revoke`, and what `table check` says of their items.

use serde_json::json;

use super::{check::MAIN, *};

#[tokio::test]
async fn a_token_is_made_listed_and_revoked() {
    let desk = Desk::with_rally();
    let made = desk.run(&["staff", "new", ID, "駅の受付", "--stamp", "001", "002"]);
    assert_eq!(made.code, 0, "{made:?}");
    let token = made.out.trim_end();
    let (id, _) = token.split_once('.').unwrap();
    assert!(made.err.contains(&format!("staff revoke {ID} {id}")) && !made.err.contains(token), "{}", made.err);
    assert_eq!(desk.run(&["staff", "list", ID]).done(), format!("{id}  staff   駅の受付  stamps 001,002  good\n"));
    let revoked = desk.run(&["staff", "revoke", ID, id]).done();
    assert!(revoked.starts_with(&format!("{id} (駅の受付) revoked at ")), "{revoked}");
    assert!(desk.run(&["staff", "list", ID]).done().contains("  revoked at "));
    assert_eq!(desk.run(&["staff", "revoke", ID, id]).done(), revoked, "the first time counts");
    let stored = desk.store().staff(&event_id()).await.unwrap();
    assert!(stored[0].sha256.is_of(token) && stored[0].revoked_at.is_some());
}

#[tokio::test]
async fn a_screens_token_comes_with_the_addresses_to_open() {
    let desk = Desk::with_rally();
    let until = ["--until", "2099-01-01T00:00:00+09:00"];
    let made = desk.run(&[&["staff", "new", ID, "港の画面", "--stamp", "001", "--screen"][..], &until].concat());
    let token = made.out.trim_end().to_owned();
    let address = format!("http://127.0.0.1:8080/spot/{ID}/001#t={token}\n");
    assert!(made.err.ends_with(&address), "{}", made.err);
    let listed = desk.run(&["staff", "list", ID]).done();
    assert!(listed.contains("  screen  港の画面  stamps 001  good until 2099/01/01 00:00"), "{listed}");
}

#[tokio::test]
async fn an_order_that_can_not_be_carried_out_is_refused_in_one_line() {
    let desk = Desk::with_rally();
    let new = |more: &[&str]| desk.run(&[&["staff", "new", ID, "受付"], more].concat());
    assert!(new(&["--stamp", "009"]).refused().contains("stamps[0]: the event has no stamp 009: make it first"));
    assert!(new(&["--stamp", "001", "001"]).refused().contains("stamps[1]: 001 stands twice"));
    let past = new(&["--stamp", "*", "--until", "2020-01-01T00:00:00+09:00"]).refused();
    assert!(past.contains("expiresAt: must be later than now"), "{past}");
    assert!(
        desk.run(&["staff", "new", "nowhere", "受付", "--stamp", "*"]).refused().contains("\"nowhere\" does not exist")
    );
    assert!(desk.run(&["staff", "revoke", ID, "0a1b2c3d4e5f"]).refused().contains("has no staff \"0a1b2c3d4e5f\""));
    assert_eq!(desk.run(&["staff", "list", ID]).done(), "");
}

#[tokio::test]
async fn staff_that_can_not_be_read_or_is_of_no_event_is_found_by_its_key() {
    let desk = Desk::with_rally();
    let made = desk.run(&["staff", "new", ID, "受付", "--stamp", "*"]).done();
    let (id, _) = made.split_once('.').unwrap();
    let partition = format!("EVENT#{ID}#STAFF");
    assert_eq!(desk.findings(None).await, []);
    for (patch, attribute) in [
        (json!({"sha256": "short"}), "sha256"),
        (json!({"stamps": []}), "stamps"),
        (json!({"role": "owner"}), "role"),
        (json!({"staffId": "other"}), "SK"),
        (json!({"GSI1PK": "EVENTS", "GSI1SK": "1"}), "GSI1PK"),
    ] {
        let before = desk.stored(MAIN, [&partition, id]).await.unwrap();
        desk.patch(MAIN, [&partition, id], &patch).await;
        let found = desk.findings(None).await;
        let names: Vec<_> = found.iter().map(|found| (found.sk.as_str(), found.attribute.as_str())).collect();
        assert_eq!(names, [(id, attribute)], "{patch}: {found:#?}");
        desk.put(MAIN, before).await;
    }
    let lost = json!({
        "entityType": "STAFF", "eventId": "lost", "staffId": "a", "name": "受付", "role": "staff", "stamps": ["*"],
        "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "createdAt": "2026-05-23T10:00:00.000Z",
    });
    desk.patch(MAIN, ["EVENT#lost#STAFF", "a"], &lost).await;
    let found = desk.findings(None).await;
    assert_eq!(found.iter().map(|found| found.attribute.as_str()).collect::<Vec<_>>(), ["eventId"], "{found:#?}");
}
