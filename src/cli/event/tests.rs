//! What a file comes to, without a store.

use std::path::Path;

use super::{
    plan::{Plan, Stored, Write},
    *,
};
use crate::domain::{event::Event, proof::ProofKeys, stamp::StampMasters, time::Timestamp};
use crate::store::masters;

const OLD: &str = "2026-05-01T00:00:00.000Z";
const NOW: &str = "2026-05-02T00:00:00.000Z";

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// The demo rally's file, with these words replaced.
fn file(replace: &[(&str, &str)]) -> EventFile {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("config/events/stamp-rally-202606.toml")).unwrap();
    let text = replace.iter().fold(text, |text, (old, new)| {
        assert!(text.contains(old), "{old}");
        text.replace(old, new)
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rally.toml");
    std::fs::write(&path, text).unwrap();
    event_file::read(&path, &root.join("flex_templates")).unwrap()
}

fn plan(file: &EventFile, stored: Stored) -> Plan {
    Plan::new(file, stored, at(NOW), &ProofKeys::default()).unwrap()
}

/// What is in the table after this file was applied.
fn applied(file: &EventFile) -> Stored {
    let plan = Plan::new(file, Stored::default(), at(OLD), &ProofKeys::default()).unwrap();
    let stamps =
        plan.stamps.into_iter().map(|step| (step.new.stamp_id.clone(), masters::Stored::Readable(step.new.into())));
    Stored {
        event: masters::Stored::Readable(plan.event.new.into()),
        stamps: stamps.collect(),
        others: StampMasters::default(),
    }
}

fn order(plan: &Plan) -> Vec<String> {
    plan.writes().iter().map(ToString::to_string).collect()
}

/// Makes a stored stamp inactive.
fn deactivate(stored: &mut Stored, stamp_id: &str) {
    let Some(masters::Stored::Readable(master)) = stored.stamps.get_mut(&stamp_id.parse().unwrap()) else { panic!() };
    master.setting.is_active = false;
}

#[test]
fn a_new_event_is_written_after_its_stamps_which_cannot_be_reached_without_it() {
    let plan = plan(&file(&[]), Stored::default());
    assert_eq!(order(&plan), ["stamp 001", "stamp 002", "the event itself"]);
    assert_eq!(plan.added().len(), 2);
}

#[test]
fn a_file_applied_again_writes_nothing() {
    let plan = plan(&file(&[]), applied(&file(&[])));
    assert_eq!(order(&plan), Vec::<String>::new());
    assert_eq!(
        plan.to_string(),
        "event stamp-rally-202606: unchanged\n  stamp 001: unchanged\n  stamp 002: unchanged\n"
    );
}

#[test]
fn places_are_added_before_everything_else_and_taken_away_after_it() {
    // 001 goes, 002 comes back, 003 is new, and the event opens.
    let mut stored = applied(&file(&[]));
    deactivate(&mut stored, "002");
    let third = "[[stamps]]\nstampId = \"003\"\nname = \"第3\"\norder = 3\ntemplate = \"stamp-acquired.json\"\n\n";
    let first = "[[stamps]]\nstampId = \"001\"";
    let wanted = file(&[
        ("order = 1\nisActive = true", "order = 1\nisActive = false"),
        ("startsAt = 2026-05-01", "startsAt = 2026-04-01"),
        (first, &format!("{third}{first}")),
    ]);
    let plan = plan(&wanted, stored);
    assert_eq!(order(&plan), ["stamp 003", "stamp 002", "the event itself", "stamp 001"]);
    let relies: Vec<_> = plan.writes().iter().map(Write::comes_after_new_places).collect();
    assert_eq!(relies, [false, false, true, true]);
}

#[test]
fn a_stamp_that_no_list_shows_is_listed_again_before_everything_else() {
    let mut stored = applied(&file(&[]));
    let Some(masters::Stored::Readable(master)) = stored.stamps.get_mut(&"002".parse().unwrap()) else { panic!() };
    master.is_listed = false;
    let wanted = file(&[("name = \"スタンプラリー 2026\"", "name = \"夏のラリー\"")]);
    let plan = plan(&wanted, stored);
    assert_eq!(order(&plan), ["stamp 002", "the event itself"]);
    assert_eq!(plan.added().len(), 1, "the card has a place more");
    let shown = plan.to_string();
    let line = "  stamp 002: changed\n    GSI1PK, GSI1SK: missing or not those of its attributes, is listed again\n";
    assert!(shown.ends_with(line), "{shown}");
}

#[test]
fn what_changes_is_shown_old_and_new() {
    let stored = applied(&file(&[]));
    let wanted = file(&[
        ("name = \"スタンプラリー 2026\"", "name = \"夏のラリー\""),
        ("name = \"第2スタンプ\"\norder = 2", "name = \"港\"\norder = 3"),
    ]);
    let plan = plan(&wanted, stored);
    assert_eq!(
        plan.to_string(),
        "event stamp-rally-202606: changed\n  name: スタンプラリー 2026 → 夏のラリー\n  stamp 001: unchanged\n  \
         stamp 002: changed\n    name: 第2スタンプ → 港\n    order: 2 → 3\n"
    );
    assert_eq!(plan.event.new.updated_at, at(NOW));
}

#[test]
fn a_changed_message_is_shown_by_its_places() {
    let wanted = file(&[("template = \"stamp-acquired-last.json\"", "template = \"stamp-acquired.json\"")]);
    let shown = plan(&wanted, applied(&file(&[]))).to_string();
    assert!(shown.contains("  stamp 002: changed\n    flexMessageContent /"), "{shown}");
    assert!(shown.contains(": changed\n"), "{shown}");
}

#[test]
fn what_the_file_does_not_name_keeps_its_value() {
    let stored = applied(&file(&[(
        "channel = \"main\"",
        "channel = \"main\"\nliffId = \"1234567890-AbcdEfgh\"\nindexShards = 4",
    )]));
    let silent = file(&[("completionTemplate = \"rally-completed.json\"", ""), ("timeZone = \"Asia/Tokyo\"", "")]);
    let plan = plan(&silent, stored);
    assert_eq!(order(&plan), Vec::<String>::new());
    let Event { liff_id, index_shards, completion_message_content, .. } = &plan.event.new;
    assert_eq!(liff_id.as_ref().unwrap().as_str(), "1234567890-AbcdEfgh");
    assert_eq!(index_shards.count(), 4);
    assert!(completion_message_content.is_some());
}

#[test]
fn an_inactive_stamp_stays_inactive_if_the_file_does_not_name_it() {
    let mut stored = applied(&file(&[]));
    deactivate(&mut stored, "001");
    let silent = file(&[("order = 1\nisActive = true", "order = 1")]);
    assert_eq!(order(&plan(&silent, stored)), Vec::<String>::new());
}

#[test]
fn a_stamp_that_is_not_in_the_file_is_listed_and_left() {
    let mut stored = applied(&file(&[]));
    stored.others.unreadable.insert("999".parse().unwrap());
    let plan = plan(&file(&[]), stored);
    assert_eq!(order(&plan), Vec::<String>::new());
    assert!(plan.to_string().ends_with(
        "  stamp 999: in the table, not in the file: left as it is (to take it off the card: name it with isActive = false)\n"
    ));
}
