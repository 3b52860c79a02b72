//! What `event apply` finds in a setting's item beside the attributes of its file.

use serde_json::{Value, json};

use super::*;
use crate::commands::check::MAIN;

const EVENT: [&str; 2] = ["EVENT#stamp-rally-202606", "METADATA"];
const FIRST: [&str; 2] = ["EVENT#stamp-rally-202606#STAMP#001", "MASTER"];
const SECOND: [&str; 2] = ["EVENT#stamp-rally-202606#STAMP#002", "MASTER"];

#[tokio::test]
async fn what_a_newer_version_keeps_of_a_setting_stays_when_an_older_one_applies_a_file() {
    let desk = Desk::with_rally();
    let proof = json!({"proof": {"kind": "gps", "radii": [50, 80]}});
    desk.patch(MAIN, EVENT, &json!({"pageTheme": {"colour": "青"}})).await;
    desk.patch(MAIN, FIRST, &proof).await;
    // The second one can't be read besides.
    desk.patch(MAIN, SECOND, &proof).await;
    desk.patch(MAIN, SECOND, &json!({"isActive": null})).await;
    let [theme, proof] = [desk.stored(MAIN, EVENT).await.unwrap(), desk.stored(MAIN, FIRST).await.unwrap()];

    let told = desk.apply(&desk.rally(&[
        ("スタンプラリー 2026", "夏のラリー"),
        ("name = \"第1スタンプ\"", "name = \"灯台\""),
        ("name = \"第2スタンプ\"", "name = \"港\""),
    ]));
    let told = told.done();
    assert!(told.ends_with("3 written\n"), "{told}");
    assert_eq!(desk.stored_event().await.name.as_str(), "夏のラリー");
    assert_eq!(desk.stored(MAIN, EVENT).await.unwrap().get("pageTheme"), theme.get("pageTheme"));
    for stamp in [FIRST, SECOND] {
        assert_eq!(desk.stored(MAIN, stamp).await.unwrap().get("proof"), proof.get("proof"), "{stamp:?}");
    }
    assert_eq!(desk.findings(None).await, []);
}

#[tokio::test]
async fn a_rally_that_no_list_shows_is_listed_again_by_its_file() {
    let desk = Desk::with_rally();
    let (event, first) = (desk.stored(MAIN, EVENT).await, desk.stored(MAIN, FIRST).await);
    desk.patch(MAIN, EVENT, &json!({"GSI1PK": Value::Null, "GSI1SK": Value::Null})).await;
    desk.patch(MAIN, FIRST, &json!({"GSI1PK": "EVENT#lost#STAMP_MASTERS"})).await;
    assert_eq!(desk.run(&["event", "list"]).done(), "");
    assert_eq!(desk.store().masters(&event_id()).await.unwrap().readable.len(), 1);
    let remedies: Vec<_> = desk.findings(None).await.into_iter().map(|finding| finding.remedy).collect();
    let by_hand = |path| {
        format!(
            "`PUT /admin/api/events/{path}` with the body `{{}}`, or `event apply` of a file that names it: it is listed again"
        )
    };
    assert_eq!(remedies.len(), 2, "{remedies:?}");
    for path in [ID.to_owned(), format!("{ID}/stamps/001")] {
        assert!(remedies.contains(&by_hand(path)), "{remedies:?}");
    }

    let rally = desk.rally(&[]);
    let line = "GSI1PK, GSI1SK: missing or not those of its attributes, is listed again";
    let changed = format!(
        "event {ID}: changed\n  {line}\n  stamp 001: changed\n    {line}\n  stamp 002: unchanged\nevent {ID}: 2 "
    );
    let dry = told({
        let mut looking = desk.application(&[&rally]);
        looking.arg("--dry-run");
        looking
    });
    assert_eq!(dry.done(), format!("{changed}would be written\n"));
    assert_eq!(desk.run(&["event", "list"]).done(), "", "nothing is written yet");
    assert_eq!(desk.apply(&rally).done(), format!("{changed}written\n"));

    assert!(desk.run(&["event", "list"]).done().starts_with(ID));
    assert_eq!(desk.store().masters(&event_id()).await.unwrap().readable.len(), 2);
    assert_eq!(desk.findings(None).await, []);
    for (key, before) in [(EVENT, event.unwrap()), (FIRST, first.unwrap())] {
        let mut item = desk.stored(MAIN, key).await.unwrap();
        assert_ne!(item.insert("updatedAt".to_owned(), before["updatedAt"].clone()).as_ref(), before.get("updatedAt"));
        assert_eq!(item, before, "but for its version it is what it was");
    }
    assert!(desk.apply(&rally).done().ends_with("nothing to write\n"));
}
