//! Components and the values of their members.

use super::*;

#[test]
fn each_layout_has_its_components() {
    let icon = json!({ "type": "icon", "url": "https://example.jp/i.png", "size": "sm" });
    accepts(json!({ "type": "box", "layout": "baseline", "contents": [icon, text("a"), { "type": "filler" }] }));
    refuses(icon, "/type", "must be one of box, button, image, text, separator, filler here");
    refuses(
        json!({ "type": "box", "layout": "baseline", "contents": [vertical(json!([]))] }),
        "/contents/0/type",
        "must be one of icon, text, filler here",
    );
    let gone = "must be one of box, button, image, text, separator, filler here";
    let spacer = "is spacer, which LINE took out of Flex Messages in 2020: give the box around it a padding \
                  (paddingTop, paddingBottom, …), or the component beside it a margin";
    refuses(json!({ "type": "spacer" }), "/type", spacer);
    refuses(json!({ "type": "span", "text": "a" }), "/type", gone);
    refuses(json!({}), "/type", gone);
    refuses(json!({ "type": 1 }), "/type", gone);
    refuses(json!("text"), "", "must be a component, an object");
}

#[test]
fn a_box_has_a_layout_and_contents_which_may_be_empty() {
    accepts(vertical(json!([])));
    refuses(json!({ "type": "box", "contents": [] }), "/layout", "is required here: horizontal, vertical or baseline");
    refuses(
        json!({ "type": "box", "layout": "vertical" }),
        "/contents",
        "is required here: a list, which may be empty",
    );
    refuses(and(vertical(json!([])), "layout", "diagonal"), "/layout", "must be one of horizontal, vertical, baseline");
    refuses(vertical(json!({})), "/contents", "must be a list of components");
}

#[test]
fn unknown_members_and_null_are_refused() {
    refuses(and(text_a(), "font_size", "md"), "/font_size", "is no member that LINE knows here: remove it");
    refuses(and(text_a(), "flex", Value::Null), "/flex", "is null: leave the member out instead");
    refuses(and(text_a(), "text", Value::Null), "/text", "is null: leave the member out instead");
    let odd = and(text_a(), "a/b~c", 1);
    refuses(odd, "/a~1b~0c", "is no member that LINE knows here: remove it");
    let bubble = json!({ "type": "bubble", "hero": null, "body": vertical(json!([])) });
    assert_eq!(shown(&message(bubble)), ["/contents/hero: is null: leave the member out instead"]);
}

#[test]
fn a_text_is_not_empty() {
    refuses(text(""), "/text", "must not be empty: give it text, a placeholder or spans");
    refuses(json!({ "type": "text" }), "/text", "is required here: give the component text, a placeholder or spans");
    refuses(json!({ "type": "text", "text": 1 }), "/text", "must be text, in quotation marks");
    accepts(text("{{stamp.name}}"));
    accepts(json!({ "type": "text", "contents": [{ "type": "span", "text": "a", "weight": "bold" }] }));
    refuses(
        json!({ "type": "text", "contents": [] }),
        "/text",
        "is required here: give the component text, a placeholder or spans",
    );
    refuses(
        json!({ "type": "text", "contents": [{ "type": "span", "text": "" }] }),
        "/contents/0/text",
        "must not be empty: give the span text, or remove it",
    );
    refuses(json!({ "type": "text", "contents": [text_a()] }), "/contents/0/type", "must be one of span here");
}

#[test]
fn keywords_that_line_does_not_list_are_refused() {
    let image = json!({ "type": "image", "url": "https://example.jp/a.png" });
    refuses(and(image, "aspectMode", "contain"), "/aspectMode", "must be one of cover, fit");
    refuses(and(text_a(), "weight", "heavy"), "/weight", "must be one of regular, bold");
    refuses(and(text_a(), "align", 1), "/align", "must be text, in quotation marks");
    refuses(
        and(vertical(json!([])), "justifyContent", "stretch"),
        "/justifyContent",
        "must be one of center, flex-start, flex-end, space-between, space-around, space-evenly",
    );
    refuses(
        and(vertical(json!([])), "alignItems", "stretch"),
        "/alignItems",
        "must be one of center, flex-start, flex-end",
    );
    let tiny = json!({ "type": "bubble", "size": "pico", "body": vertical(json!([])) });
    assert_eq!(shown(&message(tiny)), ["/contents/size: must be one of nano, micro, deca, hecto, kilo, mega, giga"]);
}

#[test]
fn colours_are_hexadecimal() {
    for colour in ["#06c755", "#06C755CC"] {
        accepts(and(text_a(), "color", colour));
    }
    for colour in ["red", "#fff", "06c755", "#06c7551", "#gggggg", "#06c755ccc"] {
        refuses(and(text_a(), "color", colour), "/color", "must be a colour written #RRGGBB (or #RRGGBBAA)");
    }
    let styled =
        json!({ "type": "bubble", "body": vertical(json!([])), "styles": { "body": { "backgroundColor": "white" } } });
    assert_eq!(
        shown(&message(styled)),
        ["/contents/styles/body/backgroundColor: must be a colour written #RRGGBB (or #RRGGBBAA)"]
    );
}

#[test]
fn sizes_are_words_or_texts_with_a_unit() {
    for size in ["xxs", "5xl", "14px", "14.5px"] {
        accepts(and(text_a(), "size", size));
    }
    let wanted = "must be pixels (\"10px\"), or one of xxs, xs, sm, md, lg, xl, xxl, 3xl, 4xl, 5xl";
    for size in ["huge", "14", "50%", "px", "-1px", "1e3px", ".5px", "full", ""] {
        refuses(and(text_a(), "size", size), "/size", wanted);
    }
    refuses(and(text_a(), "size", 14), "/size", "must be text, in quotation marks");
    accepts(and(vertical(json!([])), "paddingAll", "5%"));
    refuses(
        and(vertical(json!([])), "spacing", "5%"),
        "/spacing",
        "must be pixels (\"10px\"), or one of none, xs, sm, md, lg, xl, xxl",
    );
    refuses(and(vertical(json!([])), "width", "wide"), "/width", "must be pixels (\"10px\") or percent (\"50%\")");
    accepts(and(text_a(), "offsetTop", "-2px"));
    refuses(
        and(text_a(), "margin", "-2px"),
        "/margin",
        "must be pixels (\"10px\"), or one of none, xs, sm, md, lg, xl, xxl",
    );
}

#[test]
fn numbers_and_switches_are_no_texts() {
    accepts(and(text_a(), "flex", 0));
    accepts(and(text_a(), "flex", 1.0));
    for flex in [json!("1"), json!(-1), json!(1.5), json!(3_000_000_000_u64)] {
        refuses(and(text_a(), "flex", flex), "/flex", "must be a whole number, 0 or more, without quotation marks");
    }
    refuses(and(text_a(), "wrap", "true"), "/wrap", "must be true or false, without quotation marks");
}

#[test]
fn a_ratio_is_not_taller_than_three_times_its_width() {
    let image = |ratio: &str| json!({ "type": "image", "url": "https://example.jp/a.png", "aspectRatio": ratio });
    for ratio in ["1:1", "1.91:1", "1:3", "100000:1"] {
        accepts(image(ratio));
    }
    let wanted =
        "must be width:height, each from 1 to 100000, the height at most three times the width: for example \"20:13\"";
    for ratio in ["1:4", "0:1", "100001:1", "1", "1:1:1", "a:b", "16/9"] {
        refuses(image(ratio), "/aspectRatio", wanted);
    }
}

#[test]
fn files_come_by_https_with_an_encoded_address_of_2000_characters() {
    let image = |url: &str| json!({ "type": "image", "url": url });
    let long = |letters: usize| format!("https://example.jp/{}", "a".repeat(letters - 19));
    accepts(image(&long(2_000)));
    refuses(image(&long(2_001)), "/url", "is longer than 2000 characters: shorten the address");
    let https = "must be an https address: LINE fetches files by https alone";
    for url in ["http://example.jp/a.png", "", "example.jp/a.png", "https://", "data:image/png;base64,AA"] {
        refuses(image(url), "/url", https);
    }
    refuses(
        image("https://example.jp/印.png"),
        "/url",
        "must be percent-encoded: no spaces, control characters or letters beyond ASCII",
    );
    refuses(json!({ "type": "image" }), "/url", "is required here: the address of a JPEG or PNG");
}

#[test]
fn a_gradient_has_an_angle_and_two_colours() {
    let with = |background: Value| and(vertical(json!([])), "background", background);
    let gradient =
        json!({ "type": "linearGradient", "angle": "359.5deg", "startColor": "#ffffff", "endColor": "#00000080" });
    accepts(with(and(gradient.clone(), "centerPosition", "12.5%")));
    let angle = "must be an angle from 0deg to below 360deg, for example \"90deg\"";
    for wrong in ["360deg", "-1deg", "90", "deg"] {
        refuses(with(and(gradient.clone(), "angle", wrong)), "/background/angle", angle);
    }
    refuses(
        with(and(gradient.clone(), "centerPosition", "101%")),
        "/background/centerPosition",
        "must be a place from 0% to 100%, for example \"50%\"",
    );
    refuses(
        with(json!({ "type": "linearGradient", "angle": "0deg", "startColor": "#ffffff" })),
        "/background/endColor",
        "is required here: the colour at its end",
    );
    refuses(with(and(gradient, "type", "radialGradient")), "/background/type", "must be one of linearGradient");
}
