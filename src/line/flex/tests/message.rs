//! The message, its bubbles, and what is around them.

use super::*;

#[test]
fn a_message_has_a_type_an_alt_text_and_contents() {
    assert_eq!(
        shown(&json!({})),
        [
            "/type: is required here: \"flex\"",
            "/altText: is required here: the text of notifications and of the list of chats",
            "/contents: is required here: a bubble or a carousel",
        ]
    );
    assert_eq!(shown(&json!("hello")), ["/: must be a Flex message, an object"]);
    let wrong = and(with_body(json!([text("a")])), "type", "text");
    assert_eq!(shown(&wrong), ["/type: must be one of flex"]);
}

#[test]
fn what_lines_simulator_exports_has_one_fault_that_asks_to_wrap_it() {
    let bubble = json!({ "type": "bubble", "body": { "type": "box", "contents": [text("{{stamp.nmae}}")] } });
    let carousel = json!({ "type": "carousel", "contents": [bubble, bubble] });
    for (what, bare) in [("bubble", bubble), ("carousel", carousel)] {
        let wrapped = r#"{"type":"flex","altText":"…","contents":<this>}"#;
        let rule = format!("/type: is a bare {what}, as LINE's simulator makes it: wrap it as {wrapped}");
        assert_eq!(shown(&bare), [rule]);
    }
    let mistaken = and(with_body(json!([text("a")])), "type", "bubble");
    assert_eq!(shown(&mistaken), ["/type: must be one of flex"], "it is wrapped already");
}

#[test]
fn the_alt_text_has_1_to_1500_utf_16_units() {
    let alt = |text: String| shown(&and(with_body(json!([text_a()])), "altText", text));
    assert!(alt("あ".repeat(1500)).is_empty());
    assert!(alt("😀".repeat(750)).is_empty());
    assert_eq!(alt("😀".repeat(751)), ["/altText: is 1502 UTF-16 units long, 1500 at most: shorten it"]);
    assert_eq!(alt(String::new()), ["/altText: must not be empty: give it text"]);
}

#[test]
fn a_bubble_needs_a_block() {
    assert_eq!(
        shown(&message(json!({ "type": "bubble" }))),
        ["/contents: has no block: give the bubble a header, hero, body or footer"]
    );
    assert_eq!(shown(&message(json!({}))), ["/contents/type: must be bubble or carousel"]);
}

#[test]
fn blocks_are_boxes_and_the_hero_may_be_a_picture() {
    let image = json!({ "type": "image", "url": "https://example.jp/a.png" });
    assert!(shown(&message(json!({ "type": "bubble", "hero": image }))).is_empty());
    let faults_of = |block: &str| shown(&message(json!({ "type": "bubble", (block): image })));
    for block in ["header", "body", "footer"] {
        assert_eq!(faults_of(block), [format!("/contents/{block}/type: must be one of box here")]);
    }
    assert_eq!(
        shown(&message(json!({ "type": "bubble", "hero": text("a") }))),
        ["/contents/hero/type: must be one of box, image, video here"]
    );
}

#[test]
fn a_bubble_has_30000_bytes_and_a_carousel_50000() {
    let filled = |bytes: usize| {
        let empty = json!({ "type": "bubble", "body": vertical(json!([text("")])) });
        let letters = bytes - empty.to_string().len();
        json!({ "type": "bubble", "body": vertical(json!([text(&"x".repeat(letters))])) })
    };
    assert!(shown(&message(filled(30_000))).is_empty());
    assert_eq!(
        shown(&message(filled(30_001))),
        ["/contents: is 30001 bytes of JSON, a bubble has 30000 at most: shorten or split it"]
    );
    let carousel =
        |last: usize| json!({ "type": "carousel", "contents": [filled(20_000), filled(20_000), filled(last)] });
    let around = carousel(5_000).to_string().len() - 45_000;
    assert!(shown(&message(carousel(10_000 - around))).is_empty());
    assert_eq!(
        shown(&message(carousel(10_001 - around))),
        ["/contents: is 50001 bytes of JSON, a carousel has 50000 at most: shorten or split it"]
    );
}

#[test]
fn a_carousel_has_1_to_12_bubbles_of_one_size() {
    let bubble = |size: &str| json!({ "type": "bubble", "size": size, "body": vertical(json!([])) });
    let carousel = |bubbles: Vec<Value>| shown(&message(json!({ "type": "carousel", "contents": bubbles })));
    assert!(carousel(vec![bubble("kilo"); 12]).is_empty());
    assert_eq!(carousel(vec![bubble("kilo"); 13]), ["/contents/contents: holds 13 bubbles: a carousel has 1 to 12"]);
    assert_eq!(carousel(vec![]), ["/contents/contents: holds 0 bubbles: a carousel has 1 to 12"]);
    let differs = "differs from the first bubble's (kilo): all of a carousel have one size";
    assert_eq!(carousel(vec![bubble("kilo"), bubble("mega")]), [format!("/contents/contents/1/size: {differs}")]);
    let unsaid = json!({ "type": "bubble", "body": vertical(json!([])) });
    assert_eq!(carousel(vec![bubble("kilo"), unsaid.clone()]), [format!("/contents/contents/1/size: {differs}")]);
    assert!(carousel(vec![bubble("mega"), unsaid]).is_empty());
    let nested = json!({ "type": "carousel", "contents": [] });
    assert_eq!(
        carousel(vec![nested])[0],
        "/contents/contents/0/contents: is no member that LINE knows here: remove it"
    );
}

#[test]
fn a_video_is_the_hero_of_a_large_enough_bubble_outside_a_carousel() {
    let video = json!({
        "type": "video", "url": "https://example.jp/v.mp4", "previewUrl": "https://example.jp/v.png",
        "altContent": { "type": "image", "url": "https://example.jp/v.png" }, "aspectRatio": "20:13",
    });
    let bubble = |size: &str| json!({ "type": "bubble", "size": size, "hero": video });
    assert!(shown(&message(bubble("giga"))).is_empty());
    assert!(shown(&message(json!({ "type": "bubble", "hero": video }))).is_empty());
    assert_eq!(
        shown(&message(bubble("hecto"))),
        ["/contents/hero: is a video, which only bubbles of size kilo, mega or giga show: take one, or an image"]
    );
    assert_eq!(
        shown(&message(json!({ "type": "carousel", "contents": [bubble("mega")] }))),
        ["/contents/contents/0/hero: is a video, which a carousel can't hold: take an image"]
    );
    refuses(video.clone(), "/type", "must be one of box, button, image, text, separator, filler here");
    let speaking = and(video.clone(), "action", json!({ "type": "message", "text": "hi" }));
    assert_eq!(
        shown(&message(json!({ "type": "bubble", "hero": speaking }))),
        ["/contents/hero/action/type: must be uri: a video opens an address"]
    );
    let bare = json!({ "type": "bubble", "hero": { "type": "video" } });
    assert_eq!(shown(&message(bare)).len(), 3);
}

#[test]
fn at_most_ten_images_move() {
    let image = json!({ "type": "image", "url": "https://example.jp/a.png", "animated": true });
    assert!(shown(&with_body(json!(vec![image.clone(); 10]))).is_empty());
    assert_eq!(
        shown(&with_body(json!(vec![image; 11]))),
        ["/contents: has more than 10 animated images: LINE refuses such a message"]
    );
}

#[test]
fn quick_replies_and_sender_have_limits_of_their_own() {
    let item = json!({ "type": "action", "action": { "type": "camera", "label": "写真" } });
    let replies = |items: Value| shown(&and(with_body(json!([text_a()])), "quickReply", json!({ "items": items })));
    assert!(replies(json!(vec![item.clone(); 13])).is_empty());
    assert_eq!(replies(json!(vec![item; 14])), ["/quickReply/items: holds 14 buttons: 1 to 13 are allowed"]);
    assert_eq!(
        replies(json!([{ "type": "action", "action": uri(&"a".repeat(21)) }])),
        ["/quickReply/items/0/action/label: is 21 characters long, 20 at most: shorten it"]
    );
    let sent_by = |name: &str| shown(&and(with_body(json!([text_a()])), "sender", json!({ "name": name })));
    assert!(sent_by("観光協会").is_empty());
    assert_eq!(sent_by(&"a".repeat(21)), ["/sender/name: is 21 UTF-16 units long, 20 at most: shorten it"]);
}

#[test]
fn a_hostile_message_is_answered_with_50_faults_at_most() {
    let wrong = json!({ "type": "text", "text": "" });
    assert_eq!(check(&with_body(json!(vec![wrong; 500]))).len(), 50);
}
