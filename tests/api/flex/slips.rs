//! A message with one of everything, and what a mistaken hand writes into it.

use serde_json::{Value, json};

/// A message with one of everything.
pub fn rich() -> Value {
    let icon = json!({"type": "icon", "url": "https://example.jp/i.png", "size": "3xl", "aspectRatio": "2:1", "scaling": true});
    let gradient = json!({"type": "linearGradient", "angle": "90deg", "startColor": "#ffffff", "endColor": "#00000080",
                          "centerColor": "#FF0000", "centerPosition": "50%"});
    let postback = json!({"type": "postback", "label": "a", "data": "d", "displayText": "a",
                          "inputOption": "openKeyboard", "fillInText": "a"});
    let picker = json!({"type": "datetimepicker", "label": "a", "data": "d", "mode": "date", "initial": "2026-05-23",
                        "min": "2026-05-01", "max": "2026-06-01"});
    let open =
        json!({"type": "uri", "label": "a", "uri": "https://example.jp/", "altUri": {"desktop": "http://example.jp/"}});
    let body = json!([
        {"type": "text", "text": "花", "size": "xl", "weight": "bold", "style": "italic", "decoration": "underline",
         "wrap": true, "maxLines": 2, "flex": 0, "lineSpacing": "2px", "align": "center", "gravity": "top",
         "color": "#123456", "adjustMode": "shrink-to-fit", "margin": "md", "offsetTop": "-2px", "action": postback},
        {"type": "text", "contents": [{"type": "span", "text": "a", "size": "12px", "color": "#AABBCC"}]},
        {"type": "separator", "margin": "xxl", "color": "#AABBCC"},
        {"type": "box", "layout": "baseline", "position": "absolute", "offsetStart": "10%",
         "contents": [icon, {"type": "text", "text": "x"}, {"type": "filler", "flex": 1}]},
        {"type": "image", "url": "https://example.jp/a.png", "size": "full", "aspectRatio": "20:13",
         "aspectMode": "cover", "animated": true, "backgroundColor": "#ffffff", "action": picker},
        {"type": "button", "style": "primary", "height": "sm", "color": "#06C755", "action": open},
        {"type": "button", "action": {"type": "clipboard", "label": "a", "clipboardText": "a"}},
        {"type": "box", "layout": "horizontal", "contents": [], "justifyContent": "space-evenly",
         "alignItems": "center", "width": "30px", "maxHeight": "50%", "borderWidth": "light", "borderColor": "#000000",
         "cornerRadius": "10px", "paddingStart": "5%", "spacing": "md", "background": gradient,
         "action": {"type": "message", "text": "a"}},
    ]);
    let video = json!({"type": "video", "url": "https://example.jp/v.mp4", "previewUrl": "https://example.jp/p.png",
                       "altContent": {"type": "image", "url": "https://example.jp/p.png"}, "aspectRatio": "16:9",
                       "action": {"type": "uri", "label": "a", "uri": "tel:110"}});
    let bubble = json!({
        "type": "bubble", "size": "giga", "direction": "rtl", "hero": video,
        "body": {"type": "box", "layout": "vertical", "contents": body},
        "footer": {"type": "box", "layout": "vertical", "contents": []},
        "styles": {"footer": {"separator": true, "separatorColor": "#000000"}},
        "action": {"type": "uri", "uri": "line://app/1-a"},
    });
    let item =
        json!({"type": "action", "imageUrl": "https://example.jp/q.png", "action": {"type": "camera", "label": "a"}});
    json!({
        "type": "flex", "altText": "a", "contents": bubble,
        "sender": {"name": "観光協会", "iconUrl": "https://example.jp/s.png"}, "quickReply": {"items": [item]},
    })
}

/// Values of all kinds of members.
#[rustfmt::skip] // One a line they are longer than all the rest.
const TEXTS: &[&str] = &[
    "", "a", "LINE", "line", "Online", "0px", "-1px", "1px", "0.5px", "1.px", ".5px", "1..2px", "1e2px", "+1px",
    "10", "0%", "50%", "101%", "none", "md", "full", "3xl", "light", "normal", "#fff", "#ffffff", "#ffffff80",
    "red", "1:1", "1.91:1", "1:4", "0:1", "1:1:1", "90deg", "360deg", "-0deg", "1e1deg", "5deg",
    "https://example.jp/", "HTTPS://example.jp/", "http://example.jp/a", "https://example.jp/a b",
    "https://example.jp/{a}", "https://example.jp/%", "https://example.jp/%4", "https://example.jp/%41",
    "https://example.jp/?a[]=1", "https://example.jp/#a#b", "https://[::1]/", "https://[::1/", "https://a@b/",
    "https://a@b@c/", "https://example.jp:/", "https://example.jp:8443/", "https://example.jp:x/",
    "https://example.jp:99999/", "https:example.jp", "https:/example.jp", "https:///example.jp", "https://",
    "https://?a", "//a", "line://app", "line:", "line:a", "tel:110", "tel:1 1", "tel:", "mailto:a@b",
    "javascript:1", "灯台", "https://灯台.jp/", "2026-05-23", "2026-02-30", "11:30", "24:00", "2026-05-23T11:30",
    "date", "time", "datetime", "uri", "message", "postback", "camera", "richmenuswitch", "clipboard",
    "datetimepicker", "text", "span", "box", "spacer", "filler", "icon", "image", "separator", "button", "video",
    "horizontal", "vertical", "baseline", "bubble", "carousel", "kilo", "nano", "openVoice",
    "aaaaaaaaaaaaaaaaaaaaa",
];

/// What a mistaken hand writes.
pub fn values() -> Vec<Value> {
    let others = [
        json!(0),
        json!(1),
        json!(1.0),
        json!(1.5),
        json!(-1),
        json!(-1.0),
        json!(3_000_000_000_u64),
        json!(1e300),
        json!(true),
        json!(false),
        Value::Null,
        json!([]),
        json!({}),
        json!([{}]),
        json!([{"type": "span"}]),
        json!("あ".repeat(41)),
        json!("a".repeat(301)),
        json!("a".repeat(1001)),
        json!("👨‍👩‍👧‍👦".repeat(20)),
    ];
    TEXTS.iter().copied().map(Value::from).chain(others).collect()
}

/// An address put together from parts that belong into one, and some that don't.
pub fn address(chance: &mut fastrand::Rng) -> String {
    const SCHEMES: [&str; 8] = ["https:", "https:", "http:", "HTTPS:", "line:", "tel:", "mailto:", ""];
    const HOSTS: [&str; 16] = [
        "//example.jp",
        "//example.jp/",
        "//user@example.jp:8443/",
        "//user:pw@example.jp:/",
        "//[::1]/",
        "//[2001:db8::1]:8443",
        "//1.2.3.4",
        "//[::1/",
        "//[example.jp]/",
        "//a@b@c/",
        "//a@@c/",
        "//a@",
        "//example.jp:x/",
        "//",
        "///a",
        "",
    ];
    const REST: [&str; 36] = [
        "a",
        "/",
        "?",
        "#",
        ":",
        "@",
        "-",
        ".",
        "_",
        "~",
        "!",
        "$",
        "&",
        "'",
        "(",
        ")",
        "*",
        "+",
        ",",
        ";",
        "=",
        "%41",
        "%e7%81%af",
        "%",
        "%4",
        "[",
        "]",
        "{",
        "}",
        "|",
        "\\",
        "^",
        "`",
        "\"",
        "<",
        "灯",
    ];
    let (scheme, host) = (SCHEMES[chance.usize(..8)], HOSTS[chance.usize(..16)]);
    // A host ends where the rest begins.
    let between = if host.ends_with('/') || !host.starts_with("//") { "" } else { ["/", "?", "#"][chance.usize(..3)] };
    let rest: String = (0..chance.usize(..5)).map(|_| REST[chance.usize(..36)]).collect();
    if rest.is_empty() { format!("{scheme}{host}") } else { format!("{scheme}{host}{between}{rest}") }
}
