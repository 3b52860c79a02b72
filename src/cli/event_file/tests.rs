//! What an event file may say, and the line that says what is wrong with one.

use std::path::PathBuf;

use super::*;
use crate::line::flex::tests::verdicts;

const RALLY: &str = r#"eventId = "harbour-walk"
name = "港さんぽ"
startsAt = 2026-05-23T10:00:00+09:00
endsAt = "2026-06-01T00:00:00+09:00"
channel = "main"
"#;

const STAMP: &str = r#"
[[stamps]]
stampId = "001"
name = "灯台"
order = 1
template = "stamp.json"
"#;

/// A folder of its own with one good template, gone with the test.
struct Desk(PathBuf);

impl Desk {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("stamp-rally-{}", uuid::Uuid::new_v4()));
        fs::create_dir_all(folder.join("templates")).unwrap();
        let desk = Self(folder);
        desk.template("stamp.json", "{{stamp.name}}");
        desk
    }

    fn template(&self, name: &str, text: &str) {
        let text = serde_json::json!({ "type": "text", "text": text });
        let body = serde_json::json!({ "type": "box", "layout": "vertical", "contents": [text] });
        let message = serde_json::json!({ "type": "flex", "altText": "スタンプ", "contents": { "type": "bubble", "body": body } });
        fs::write(self.0.join("templates").join(name), message.to_string()).unwrap();
    }

    fn read(&self, text: &str) -> Result<EventFile, String> {
        let file = self.0.join("rally.toml");
        fs::write(&file, text).unwrap();
        let said = |error: anyhow::Error| self.without_folder(&format!("{error:#}"));
        let mut event = read(&file, &self.0.join("templates")).map_err(said)?;
        event.channel.place = self.without_folder(&event.channel.place);
        Ok(event)
    }

    fn without_folder(&self, text: &str) -> String {
        text.replace(&self.0.display().to_string(), "~")
    }

    fn refusal(&self, text: &str) -> String {
        self.read(text).unwrap_err()
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn an_event_and_its_stamps_are_read_with_their_messages() {
    let event = Desk::new().read(&format!("{RALLY}{STAMP}")).unwrap();
    assert_eq!(event.event_id.value.as_str(), "harbour-walk");
    assert_eq!(event.window.starts_at().to_string(), "2026-05-23T01:00:00.000Z");
    assert_eq!(event.window.ends_at().to_string(), "2026-05-31T15:00:00.000Z");
    assert_eq!((event.time_zone, event.liff_id, event.index_shards), (None, None, None));
    assert_eq!(event.channel.place, "event file ~/rally.toml, line 5, `channel`");
    let [stamp] = event.stamps.as_slice() else { panic!("one stamp") };
    assert_eq!((stamp.stamp_id.as_str(), stamp.order.number(), stamp.is_active), ("001", 1, None));
    assert_eq!(stamp.message.value.message()["contents"]["body"]["contents"][0]["text"], "{{stamp.name}}");
}

#[test]
fn the_rally_that_ships_is_readable() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = root.join("config/events/stamp-rally-202606.toml");
    let event = read(&file, &root.join("flex_templates")).unwrap();
    assert_eq!(event.event_id.value.as_str(), "stamp-rally-202606");
    let names: Vec<_> = event.stamps.iter().map(|stamp| (stamp.stamp_id.as_str(), stamp.name.as_str())).collect();
    assert_eq!(names, [("001", "第1スタンプ"), ("002", "第2スタンプ")]);
    assert!(event.completion_message.is_some());
}

#[test]
fn an_unknown_key_is_refused_with_its_line() {
    let refusal = Desk::new().refusal(&format!("{RALLY}colour = \"red\"\n"));
    assert!(refusal.starts_with("event file ~/rally.toml, line 6, `colour`: unknown field `colour`"), "{refusal}");
    let refusal = Desk::new().refusal(&format!("{RALLY}{STAMP}colour = \"red\"\n"));
    assert!(
        refusal.starts_with("event file ~/rally.toml, line 12, `stamps[0].colour`: unknown field `colour`"),
        "{refusal}"
    );
}

#[test]
fn a_value_of_the_wrong_type_is_refused_with_its_line() {
    let refusal = Desk::new().refusal(&format!("{RALLY}{}", STAMP.replace("order = 1", "order = \"one\"")));
    assert_eq!(
        refusal,
        "event file ~/rally.toml, line 10, `stamps[0].order`: invalid type: string \"one\", expected i64"
    );
    let refusal = Desk::new().refusal(&RALLY.replace("\"2026-06-01T00:00:00+09:00\"", "20260601"));
    assert_eq!(
        refusal,
        "event file ~/rally.toml, line 4, `endsAt`: must be an instant with an offset, like 2026-05-23T10:00:00+09:00"
    );
}

#[test]
fn a_value_the_domain_refuses_is_refused_with_line_key_and_rule() {
    for (good, bad, said) in [
        ("harbour-walk", "harbour#walk", "line 1, `eventId`: must match [A-Za-z0-9][A-Za-z0-9_-]{0,63}"),
        ("港さんぽ", " ", "line 2, `name`: must be 1 to 200 characters without control characters"),
        ("2026-06-01", "2026-05-01", "line 4, `endsAt`: must be later than startsAt"),
        (
            "+09:00\nends",
            "\nends",
            "line 3, `startsAt`: must be an instant with an offset, like 2026-05-23T10:00:00+09:00",
        ),
        ("\"main\"", "\"Main\"", "line 5, `channel`: must match [a-z0-9][a-z0-9-]{0,31}"),
        (
            "\"main\"",
            "\"main\"\ntimeZone = \"Tokyo\"",
            "line 6, `timeZone`: must be an IANA time zone, like Asia/Tokyo",
        ),
        ("\"main\"", "\"main\"\nliffId = \"x\"", "line 6, `liffId`: must look like 1234567890-AbcdEfgh"),
        ("\"main\"", "\"main\"\nindexShards = 33", "line 6, `indexShards`: must be a whole number from 1 to 32"),
        ("order = 1", "order = 1000", "line 10, `stamps[0].order`: must be a whole number from 1 to 999"),
        ("\"001\"", "\"\"", "line 8, `stamps[0].stampId`: must match [A-Za-z0-9][A-Za-z0-9_-]{0,63}"),
    ] {
        let refusal = Desk::new().refusal(&format!("{RALLY}{STAMP}").replacen(good, bad, 1));
        assert_eq!(refusal, format!("event file ~/rally.toml, {said}"));
    }
}

#[test]
fn a_missing_key_and_broken_toml_are_refused() {
    let refusal = Desk::new().refusal(&RALLY.replace("channel = \"main\"\n", ""));
    assert_eq!(refusal, "event file ~/rally.toml, line 1: missing field `channel`");
    let refusal = Desk::new().refusal(&RALLY.replace("\"main\"", "\"main"));
    assert!(refusal.starts_with("event file ~/rally.toml, line 5: invalid basic string"), "{refusal}");
}

#[test]
fn a_stamp_id_stands_only_once() {
    let refusal = Desk::new().refusal(&format!("{RALLY}{STAMP}{STAMP}"));
    assert_eq!(
        refusal,
        "event file ~/rally.toml, line 13, `stamps.stampId`: `001` stands twice: give each stamp its own"
    );
}

#[test]
fn a_template_outside_the_folder_is_refused() {
    let desk = Desk::new();
    fs::write(desk.0.join("secret.json"), "{}").unwrap();
    for name in ["../secret.json", "/etc/hostname", "", "./stamp.json/../../secret.json"] {
        let refusal = desk.refusal(&format!("{RALLY}{}", STAMP.replace("stamp.json", name)));
        assert_eq!(
            refusal,
            format!(
                "event file ~/rally.toml, line 11, `stamps.template`: `{name}` leads out of the templates' folder: name a file inside it"
            )
        );
    }
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_folder_is_refused() {
    let desk = Desk::new();
    fs::write(desk.0.join("secret.json"), "{}").unwrap();
    std::os::unix::fs::symlink(desk.0.join("secret.json"), desk.0.join("templates/link.json")).unwrap();
    let refusal = desk.refusal(&format!("{RALLY}{}", STAMP.replace("stamp.json", "link.json")));
    assert!(refusal.ends_with("`link.json` leads out of the templates' folder: name a file inside it"), "{refusal}");
}

#[test]
fn a_missing_or_refused_template_is_named() {
    let desk = Desk::new();
    let refusal = desk.refusal(&format!("{RALLY}{}", STAMP.replace("stamp.json", "gone.json")));
    assert!(
        refusal.starts_with("event file ~/rally.toml, line 11, `stamps.template`: ~/templates/gone.json: No such file"),
        "{refusal}"
    );
    desk.template("empty.json", "");
    let refusal = desk.refusal(&format!("{RALLY}completionTemplate = \"empty.json\"\n"));
    assert_eq!(
        refusal,
        "event file ~/rally.toml, line 6, `completionTemplate`: ~/templates/empty.json: /contents/body/contents/0/text: must not be empty: give it text, a placeholder or spans"
    );
}

#[test]
fn every_row_of_the_table_of_verdicts_is_refused_with_line_key_file_and_path() {
    let desk = Desk::new();
    for row in verdicts::all() {
        fs::write(desk.0.join("templates/row.json"), row.message().to_string()).unwrap();
        let of_stamp = desk.read(&format!("{RALLY}{}", STAMP.replace("stamp.json", "row.json")));
        let of_card = desk.read(&format!("{RALLY}completionTemplate = \"row.json\"\n"));
        let Some(refused) = row.refused else {
            assert!(of_stamp.is_ok() && of_card.is_ok(), "{}: {of_stamp:?} {of_card:?}", row.rule);
            continue;
        };
        let at = if refused.at.is_empty() { "/" } else { &refused.at };
        let file = format!("~/templates/row.json: {at}: {}", refused.limit);
        let place = "event file ~/rally.toml, line";
        assert_eq!(of_stamp.unwrap_err(), format!("{place} 11, `stamps.template`: {file}"));
        assert_eq!(of_card.unwrap_err(), format!("{place} 6, `completionTemplate`: {file}"));
    }
}

#[test]
fn an_event_file_in_another_encoding_is_named() {
    let desk = Desk::new();
    let file = desk.0.join("rally.toml");
    fs::write(&file, b"eventId = \"a\"\nname = \"\x93\x94\x91\xE4\"\n").unwrap();
    let refusal = format!("{:#}", read(&file, &desk.0).unwrap_err());
    let shown = "is not UTF-8 (byte 93 at offset 22, line 2), it looks like Shift_JIS: save it as UTF-8";
    assert!(desk.without_folder(&refusal).starts_with(&format!("event file ~/rally.toml: {shown}")), "{refusal}");
    fs::write(&file, format!("\u{feff}{RALLY}")).unwrap();
    assert!(read(&file, &desk.0).is_ok());
}
