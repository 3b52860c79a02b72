//! Actions.

use super::*;

#[test]
fn a_button_has_an_action_with_a_label_of_40_characters() {
    let button = |action: Value| json!({ "type": "button", "action": action });
    // A family is one character to a reader: seven code points.
    accepts(button(uri(&"👨‍👩‍👧‍👦".repeat(40))));
    refuses(button(uri(&"あ".repeat(41))), "/action/label", "is 41 characters long, 40 at most: shorten it");
    refuses(button(uri("")), "/action/label", "must not be empty: give it text");
    refuses(
        button(json!({ "type": "uri", "uri": "https://example.jp/" })),
        "/action/label",
        "is required here: a button shows it",
    );
    refuses(json!({ "type": "button" }), "/action", "is required here: what a tap does");
    accepts(and(text_a(), "action", json!({ "type": "uri", "uri": "tel:0312345678" })));
}

#[test]
fn a_tap_opens_http_https_line_or_tel() {
    let opens = |uri: &str| tapped(json!({ "type": "uri", "uri": uri }));
    for uri in ["http://example.jp/", "https://liff.line.me/1-a", "line://app/1-a", "tel:110"] {
        accepts(opens(uri));
    }
    for uri in ["javascript:alert(1)", "mailto:a@example.jp", "example.jp", "https://", "tel:", ""] {
        refuses(opens(uri), "/action/uri", "must be a whole address with scheme http, https, line or tel");
    }
    let long = format!("https://example.jp/{}", "a".repeat(982));
    refuses(opens(&long), "/action/uri", "is longer than 1000 characters: shorten the address");
    refuses(
        tapped(json!({ "type": "uri", "uri": "tel:110", "altUri": { "desktop": "about:blank" } })),
        "/action/altUri/desktop",
        "must be a whole address with scheme http, https, line or tel",
    );
}

#[test]
fn actions_keep_their_lengths() {
    let postback = |name: &str, letters: usize| {
        tapped(and(json!({ "type": "postback", "data": "d" }), name, "あ".repeat(letters)))
    };
    accepts(postback("data", 300));
    refuses(postback("data", 301), "/action/data", "is 301 UTF-16 units long, 300 at most: shorten it");
    accepts(postback("displayText", 300));
    refuses(postback("displayText", 301), "/action/displayText", "is 301 characters long, 300 at most: shorten it");
    refuses(
        tapped(json!({ "type": "message", "text": "a".repeat(301) })),
        "/action/text",
        "is 301 characters long, 300 at most: shorten it",
    );
    refuses(
        tapped(json!({ "type": "clipboard", "clipboardText": "a".repeat(1001) })),
        "/action/clipboardText",
        "is 1001 UTF-16 units long, 1000 at most: shorten it",
    );
    refuses(
        tapped(json!({ "type": "clipboard", "clipboardText": "" })),
        "/action/clipboardText",
        "must not be empty: give it a value",
    );
}

#[test]
fn a_postback_says_one_text_and_fills_in_only_at_the_keyboard() {
    refuses(
        tapped(json!({ "type": "postback", "data": "d", "displayText": "a", "text": "a" })),
        "/action/text",
        "can't stand beside displayText: remove it, it is deprecated",
    );
    refuses(
        tapped(json!({ "type": "postback", "data": "d", "fillInText": "a" })),
        "/action/fillInText",
        "only works with inputOption openKeyboard: set that, or remove it",
    );
    accepts(tapped(json!({ "type": "postback", "data": "d", "fillInText": "a", "inputOption": "openKeyboard" })));
}

#[test]
fn a_date_is_picked_as_the_mode_says() {
    let picker = |mode: &str, initial: &str| {
        tapped(json!({ "type": "datetimepicker", "data": "d", "mode": mode, "initial": initial }))
    };
    accepts(picker("date", "2026-05-23"));
    accepts(picker("time", "23:59"));
    accepts(picker("datetime", "2026-05-23t11:30"));
    let wanted = "must be written as the mode says: 2026-05-23, 11:30 or 2026-05-23T11:30";
    for (mode, initial) in [("date", "11:30"), ("date", "2026-02-30"), ("time", "24:00"), ("datetime", "2026-05-23")] {
        refuses(picker(mode, initial), "/action/initial", wanted);
    }
    refuses(
        tapped(json!({ "type": "datetimepicker", "data": "d", "mode": "time", "min": "12:00", "max": "11:00" })),
        "/action/min",
        "must be before max",
    );
}

#[test]
fn actions_of_other_places_are_refused() {
    for kind in ["camera", "cameraRoll", "location"] {
        refuses(
            tapped(json!({ "type": kind, "label": "a" })),
            "/action/type",
            "belongs to quick replies alone: take uri, message or postback here",
        );
    }
    refuses(
        tapped(json!({ "type": "richmenuswitch", "richMenuAliasId": "a", "data": "d" })),
        "/action/type",
        "belongs to rich menus alone: take uri, message or postback here",
    );
    refuses(tapped(json!({})), "/action/type", "must be one of uri, message, postback, datetimepicker, clipboard");
}
