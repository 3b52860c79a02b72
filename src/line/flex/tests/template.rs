//! Placeholders, and what a template becomes.

use proptest::prelude::*;

use super::*;

#[test]
fn an_unknown_placeholder_is_refused_and_other_braces_are_text() {
    for text in ["{{stamp.title}}", "{{ stamp.name }}", "{{}}", "{{{stamp.name}}}"] {
        let faults = shown(&with_body(json!([self::text(text)])));
        assert_eq!(faults.len(), 1, "{text}");
        assert!(faults[0].starts_with("/contents/body/contents/0/text: has the unknown placeholder {{"), "{faults:?}");
        assert!(
            faults[0].ends_with("{{stamp.name}}, {{stamp.order}}, {{acquired.at}}, {{card.acquired}}, {{card.total}}")
        );
    }
    for text in ["{{", "}}", "{stamp.title}", "{{stamp.title", "a } b { c", "{{stamp.name}}{{"] {
        accepts(self::text(text));
    }
}

/// The article's own example: it was stored before there were checks.
#[test]
fn a_message_stored_before_the_checks_is_an_error_and_no_panic() {
    let stored = json!({
        "type": "flex", "altText": "スタンプを獲得しました！",
        "contents": { "//": "LINE Messaging API の Flex Message JSON をそのまま格納" },
    });
    let faults = Template::parse(stored).unwrap_err();
    assert_eq!(faults[0].to_string(), "/contents/type: must be bubble or carousel");
}

fn hanako() -> Values<'static> {
    Values {
        event_name: "港さんぽ",
        stamp_name: "灯台",
        stamp_order: 2,
        acquired_at: "2026/05/23 20:30",
        card_acquired: 1,
        card_total: 3,
    }
}

fn rendered(text: &str, values: Values<'_>) -> String {
    let template = Template::parse(with_body(json!([self::text(text)]))).unwrap();
    let message = template.render(&values).unwrap();
    message["contents"]["body"]["contents"][0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn every_placeholder_is_filled() {
    let text = "{{event.name}}|{{stamp.name}}|{{stamp.order}}|{{acquired.at}}|{{card.acquired}}/{{card.total}}|{{|{x}";
    assert_eq!(rendered(text, hanako()), "港さんぽ|灯台|2|2026/05/23 20:30|1/3|{{|{x}");
}

#[test]
fn a_name_that_looks_like_a_placeholder_or_like_json_stays_a_name() {
    let name = r#"{{stamp.order}}", "x": {"#;
    assert_eq!(rendered("{{stamp.name}}", Values { stamp_name: name, ..hanako() }), name);
    let name = "{{unknown}}";
    assert_eq!(rendered("{{stamp.name}}", Values { stamp_name: name, ..hanako() }), name);
}

#[test]
fn an_empty_value_falls_back_to_a_word() {
    let blank = Values { event_name: "", stamp_name: " \u{3000}\n", acquired_at: "", ..hanako() };
    assert_eq!(rendered("{{event.name}}", blank), "スタンプラリー");
    assert_eq!(rendered("{{stamp.name}}", blank), "スタンプ");
    assert_eq!(rendered("{{acquired.at}}", blank), "—");
    assert_eq!(rendered("{{stamp.name}}", Values { stamp_name: "灯\n台\u{0}", ..hanako() }), "灯 台 ");
}

#[test]
fn a_label_that_becomes_too_long_is_cut_between_characters() {
    let button = json!({ "type": "button", "action": uri("「{{stamp.name}}」を見る") });
    let template = Template::parse(with_body(json!([button]))).unwrap();
    let name = "👨‍👩‍👧‍👦".repeat(60);
    let message = template.render(&Values { stamp_name: &name, ..hanako() }).unwrap();
    let label = message["contents"]["body"]["contents"][0]["action"]["label"].as_str().unwrap();
    assert_eq!(label, format!("「{}…", "👨‍👩‍👧‍👦".repeat(38)));
}

#[test]
fn an_address_is_percent_encoded_and_never_cut() {
    let opens = json!({ "type": "uri", "uri": "https://example.jp/?spot={{stamp.name}}" });
    let template = Template::parse(with_body(json!([tapped(opens)]))).unwrap();
    let message = template.render(&Values { stamp_name: "灯台 &1", ..hanako() }).unwrap();
    assert_eq!(
        message["contents"]["body"]["contents"][0]["action"]["uri"],
        "https://example.jp/?spot=%E7%81%AF%E5%8F%B0%20%261"
    );
    // Half a name would lead elsewhere: the address is too long, and the notice isn't sent.
    let name = "灯".repeat(120);
    let faults = template.render(&Values { stamp_name: &name, ..hanako() }).unwrap_err();
    assert_eq!(
        faults[0].to_string(),
        "/contents/body/contents/0/action/uri: is longer than 1000 characters: shorten the address"
    );
    let opens = json!({ "type": "uri", "uri": "https://example.jp/{{stamp.name}}/{{event.name}}" });
    let template = Template::parse(with_body(json!([tapped(opens)]))).unwrap();
    let half = "灯".repeat(60);
    let faults = template.render(&Values { stamp_name: &half, event_name: &half, ..hanako() }).unwrap_err();
    assert_eq!(
        faults[0].to_string(),
        "/contents/body/contents/0/action/uri: is longer than 1000 characters: shorten the address"
    );
    assert!(template.render(&Values { stamp_name: &half, ..hanako() }).is_ok());
}

/// As many places as faults are found at once, and more.
#[test]
fn every_text_that_becomes_too_long_is_cut_however_many_there_are() {
    let button = json!({ "type": "button", "action": uri("「{{stamp.name}}」を見る") });
    let template = Template::parse(with_body(json!(vec![button; 120]))).unwrap();
    let message = template.render(&Values { stamp_name: &"あ".repeat(60), ..hanako() }).unwrap();
    assert_eq!(check_finished(&message), vec![]);
}

#[test]
fn a_whole_number_is_sent_and_stored_without_a_point() {
    let text = and(and(text_a(), "flex", 1.0), "maxLines", 2.0);
    let template = Template::parse(with_body(json!([text]))).unwrap();
    let text = &template.message()["contents"]["body"]["contents"][0];
    assert_eq!((&text["flex"], &text["maxLines"]), (&json!(1), &json!(2)));
}

#[test]
fn a_message_that_becomes_too_large_has_its_values_cut() {
    let name = "あ".repeat(20_000);
    assert_eq!(rendered("{{stamp.name}}", Values { stamp_name: &name, ..hanako() }), format!("{}…", "あ".repeat(99)));
    let many = json!(vec![text("{{stamp.name}}"); 110]);
    let template = Template::parse(with_body(many)).unwrap();
    let faults = template.render(&Values { stamp_name: &name, ..hanako() }).unwrap_err();
    assert!(faults[0].to_string().starts_with("/contents: is "), "{faults:?}");
}

fn shipped() -> Vec<Template> {
    [
        include_str!("../../../../flex_templates/stamp-acquired.json"),
        include_str!("../../../../flex_templates/stamp-acquired-last.json"),
        include_str!("../../../../flex_templates/rally-completed.json"),
    ]
    .map(|text| Template::parse(serde_json::from_str(text).unwrap()).unwrap())
    .into()
}

/// A message without its texts: what must not change by filling.
fn bones(value: &Value) -> Value {
    match value {
        Value::String(_) => Value::Null,
        Value::Array(values) => values.iter().map(bones).collect(),
        Value::Object(object) => object.iter().map(|(name, value)| (name.clone(), bones(value))).collect(),
        other => other.clone(),
    }
}

/// Names as organisers, mistakes and attackers write them.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "\\PC{0,40}",
        "[ \\t\\n\u{3000}]{0,3}",
        "[{}\"\\\\a-z.]{0,40}",
        Just("{{stamp.name}}\"}]".to_owned()),
        (1..4_000_usize).prop_map(|letters| "長".repeat(letters)),
        (1..2_000_usize).prop_map(|marks| format!("e{}", "\u{301}".repeat(marks))),
        (1..600_usize).prop_map(|families| "👨‍👩‍👧‍👦".repeat(families)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_names_are_line_takes_the_message(
        event_name in name(),
        stamp_name in name(),
        acquired_at in name(),
        stamp_order: u16,
        card_acquired: usize,
        card_total: usize,
    ) {
        let values = Values {
            event_name: &event_name,
            stamp_name: &stamp_name,
            stamp_order,
            acquired_at: &acquired_at,
            card_acquired,
            card_total,
        };
        for template in shipped() {
            let message = template.render(&values).unwrap();
            prop_assert_eq!(check_finished(&message), vec![]);
            prop_assert_eq!(bones(&message), bones(template.message()));
            let sent = serde_json::from_str::<Value>(&message.to_string()).unwrap();
            prop_assert_eq!(sent, message);
        }
    }

    #[test]
    fn a_cut_text_keeps_its_limit(text in name(), most in 1..60_usize) {
        for unit in [length::Unit::Graphemes, length::Unit::Utf16] {
            let length = length::Length { most, unit };
            let cut = length.cut(&text);
            prop_assert!(length.of(&cut) <= most);
            prop_assert!(text.is_empty() || !cut.is_empty());
            prop_assert!(text.starts_with(cut.trim_end_matches('…')) || text == cut);
        }
    }
}
