//! Messages that `event apply` refuses because of the names that are filled in.

use serde_json::{Value, json};

use super::*;

/// The demo rally's file with a folder of templates: that of stamp 001 opens an address of this length with these
/// characters for its placeholder.
fn with_address(desk: &Desk, placeholder: &str, filled: usize, length: usize) {
    let start = "https://example.jp/";
    let address = format!("{start}{}{placeholder}", "a".repeat(length - filled - start.len()));
    let opens = json!({"type": "text", "text": "a", "action": {"type": "uri", "uri": address}});
    let plain = json!({"type": "text", "text": "{{stamp.name}}"});
    let message = |text: &Value| {
        let body = json!({"type": "box", "layout": "vertical", "contents": [text]});
        json!({"type": "flex", "altText": "a", "contents": {"type": "bubble", "body": body}}).to_string()
    };
    let _ = fs::create_dir(desk.path("flex"));
    for (name, text) in
        [("stamp-acquired.json", &opens), ("stamp-acquired-last.json", &plain), ("rally-completed.json", &plain)]
    {
        fs::write(desk.path("flex").join(name), message(text)).unwrap();
    }
}

#[tokio::test]
async fn a_name_that_breaks_a_message_is_refused_with_file_line_and_key_before_anything_is_written() {
    let desk = Desk::with_tables();
    // 第1スタンプ and スタンプラリー 2026, percent-encoded.
    let (stamp, event) = ((5 * 9) + 1, (7 * 9) + 7);
    let long = "/contents/body/contents/0/action/uri: is longer than 1000 characters: shorten the address (with the names \
                of the event and the stamp filled in; another name helps, too)";
    let rally = desk.rally(&[]);
    with_address(&desk, "{{stamp.name}}", stamp, 1001);
    for more in [&[][..], &["--dry-run"]] {
        let line = desk.run(&[&["event", "apply", &rally, "--templates", "flex"], more].concat()).refused();
        assert_eq!(
            line,
            format!("stamp-rally: event file {rally}, line 19, `stamps.template`: flex/stamp-acquired.json: {long}")
        );
    }
    assert_eq!(desk.store().event(&event_id()).await.unwrap(), None);

    with_address(&desk, "{{event.name}}", event, 1000);
    desk.run(&["event", "apply", &rally, "--templates", "flex"]).done();
    // The stamp isn't named any more, and the event gets a longer name.
    let text = fs::read_to_string(desk.path(&rally)).unwrap();
    let (first, _) = text.split_once("[[stamps]]").unwrap();
    fs::write(desk.path("renamed.toml"), first.replace("ラリー 2026", "ラリー 二〇二六")).unwrap();
    let line = desk.run(&["event", "apply", "renamed.toml", "--templates", "flex"]).refused();
    let place = "event file renamed.toml, line 4, `name`: message of stamp 001, in the table";
    assert_eq!(line, format!("stamp-rally: {place}: {long}"));
    assert_eq!(desk.stored_event().await.name.as_str(), "スタンプラリー 2026");
}

/// What a rally at the desk says about its messages when it is applied with its own folder of templates.
fn apply_with_address(desk: &Desk, file: &str) -> Output {
    desk.run(&["event", "apply", file, "--templates", "flex"])
}

#[tokio::test]
async fn settings_that_cannot_be_read_do_not_stop_the_check_of_names() {
    let desk = Desk::with_tables();
    let rally = desk.rally(&[]);
    with_address(&desk, "{{event.name}}", (7 * 9) + 7, 1000);
    apply_with_address(&desk, &rally).done();
    let spoil = async |pk: &str, sk: &str, attribute: &str| {
        let client = Clients::at(&desk.engine_url, &Timeouts::request()).table;
        let text = |text: &str| AttributeValue::S(text.to_owned());
        let update = client.update_item().table_name("line-event").key("PK", text(pk)).key("SK", text(sk));
        let update = update.update_expression("SET #a = :v").expression_attribute_names("#a", attribute);
        update.expression_attribute_values(":v", text("?")).send().await.unwrap();
    };
    // Neither can be read: the file's names and the file's messages count.
    spoil(&format!("EVENT#{ID}"), "METADATA", "startsAt").await;
    spoil(&format!("EVENT#{ID}#STAMP#001"), "MASTER", "isActive").await;
    let longer = desk.rally(&[("ラリー 2026", "ラリー 二〇二六")]);
    let refused = apply_with_address(&desk, &longer);
    assert_eq!(refused.code, 1);
    let line = refused.err.lines().last().unwrap();
    assert!(
        line.contains("`stamps.template`: flex/stamp-acquired.json: /contents/body/contents/0/action/uri"),
        "{line}"
    );
    // The stamp isn't named: nothing can be said about its message.
    let text = fs::read_to_string(desk.path(&longer)).unwrap();
    fs::write(desk.path("renamed.toml"), text.split_once("[[stamps]]").unwrap().0).unwrap();
    let shown = apply_with_address(&desk, "renamed.toml").done();
    assert!(shown.contains("stamp 001: in the table, not in the file"), "{shown}");
    assert_eq!(desk.stored_event().await.name.as_str(), "スタンプラリー 二〇二六");
    let shown = apply_with_address(&desk, &rally).done();
    assert!(shown.contains("stamp 001: can't be read (isActive"), "{shown}");
}

#[tokio::test]
async fn a_stored_completion_message_is_checked_with_the_names_of_new_stamps() {
    let desk = Desk::with_tables();
    let (stamp, rally) = ((5 * 9) + 1, desk.rally(&[]));
    with_address(&desk, "{{stamp.name}}", stamp, 1000);
    fs::copy(desk.path("flex/stamp-acquired.json"), desk.path("flex/rally-completed.json")).unwrap();
    apply_with_address(&desk, &rally).done();
    let unnamed = [("completionTemplate = \"rally-completed.json\"", "")];
    apply_with_address(&desk, &desk.rally(&unnamed)).done();
    let longer = desk.rally(&[unnamed[0], ("name = \"第2スタンプ\"", "name = \"第2スタンプ。\"")]);
    let line = apply_with_address(&desk, &longer).refused();
    let place = format!("event file {longer}, line 4, `name`: completion message, in the table: /contents/body");
    assert!(line.starts_with(&format!("stamp-rally: {place}")), "{line}");
}
