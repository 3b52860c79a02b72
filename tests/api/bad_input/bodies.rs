//! Bodies: not JSON, not what was asked for, not small, not UTF-8.

use serde_json::{Value, json};

use super::{Operation, Request, all_well_mannered, operations};
use crate::house::{House, flex};

fn deep(depth: usize) -> String {
    format!("{{\"proof\":{}{}}}", "{\"a\":".repeat(depth), "1".to_owned() + &"}".repeat(depth))
}

/// Arrays in arrays, and in the innermost a text below a name that `serde_json` keeps for itself: a `Value` would read
/// it as JSON, the same again, until the stack of the server's thread ends.
fn nested_by_texts(size: usize) -> String {
    let escaped = |text: &str| text.replace('\\', "\\u005c").replace('"', "\\u0022");
    let around = |text: &str| format!("{}{{\"$serde_json::private::RawValue\":\"{}\"", "[".repeat(120), escaped(text));
    let mut nested = "[".repeat(120);
    while around(&nested).len() < size {
        nested = around(&nested);
    }
    nested
}

/// Bodies that say they are JSON.
fn bodies() -> Vec<Vec<u8>> {
    let texts = [
        "",
        " ",
        "{",
        "}",
        "{}{}",
        "{},",
        "[]",
        "[{}]",
        "null",
        "true",
        "0",
        "-",
        "1e999",
        "\"\"",
        "\"{}\"",
        "{\"a\"}",
        "{\"a\":}",
        "{'a':1}",
        "{a:1}",
        "{\"a\":1,}",
        "// x\n{}",
        "{\"a\":NaN}",
        "{\"a\":01}",
        "{\"\":1}",
        "{\"__proto__\":{}}",
        "{\"PK\":\"EVENT#x\"}",
        "{\"proof\":1}",
        "{\"proof\":null}",
        "{\"proof\":[]}",
        "{\"proof\":{\"a\":1e999}}",
        "{\"proof\":{\"a\":\"\\ud800\"}}",
        "{\"proof\":{},\"proof\":{}}",
        "{\"lineUserId\":\"U1\"}",
        "{\"name\":1}",
        "{\"name\":\"\"}",
        "{\"name\":\"\\u0000\"}",
        "{\"name\":{}}",
        "{\"name\":null}",
        "{\"order\":1.5}",
        "{\"order\":\"1\"}",
        "{\"order\":0}",
        "{\"order\":1e20}",
        "{\"order\":-1}",
        "{\"isActive\":\"true\"}",
        "{\"isActive\":1}",
        "{\"startsAt\":1}",
        "{\"startsAt\":\"\"}",
        "{\"startsAt\":\"2026-05-23\"}",
        "{\"startsAt\":\"9999-12-31T23:59:59Z\"}",
        "{\"endsAt\":\"0001-01-01T00:00:00Z\"}",
        "{\"endsAt\":\"99999-01-01T00:00:00Z\"}",
        "{\"timeZone\":\"\"}",
        "{\"timeZone\":\"Mars/Olympus\"}",
        "{\"channel\":\"#\"}",
        "{\"channel\":\"nowhere\"}",
        "{\"liffId\":\"<script>\"}",
        "{\"indexShards\":0}",
        "{\"indexShards\":1e9}",
        "{\"flexMessageContent\":null}",
        "{\"flexMessageContent\":{}}",
        "{\"flexMessageContent\":[]}",
        "{\"flexMessageContent\":\"x\"}",
        "{\"completionMessageContent\":{}}",
        "{\"completionMessageContent\":1}",
        "{\"flexMessageContent\":{\"type\":\"flex\",\"altText\":\"{{nobody}}\",\"contents\":{}}}",
        "{\"events\":1}",
    ];
    let mut bodies: Vec<Vec<u8>> = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    bodies.extend([
        b"\xff\xfe{\x00}\x00".to_vec(),
        b"{\"name\":\"\xff\"}".to_vec(),
        b"{\"name\":\"\xed\xa0\x80\"}".to_vec(),
        "\u{feff}{}".as_bytes().to_vec(),
        b"{\"name\":\"\x00\"}".to_vec(),
        b"\x00".to_vec(),
        deep(30).into_bytes(),
        deep(200).into_bytes(),
        deep(5_000).into_bytes(),
        "[".repeat(10_000).into_bytes(),
        format!("{{\"name\":\"{}\"}}", "a".repeat(10_000)).into_bytes(),
    ]);
    let nested = [("proof\":{\"a", 15_000), ("flexMessageContent", 60_000), ("completionMessageContent", 60_000)];
    bodies.extend(nested.map(|(member, size)| format!("{{\"{member}\":{}", nested_by_texts(size)).into_bytes()));
    bodies
}

#[tokio::test]
async fn what_isnt_the_json_that_was_asked_for_is_a_problem() {
    let house = House::open("bad bodies").await;
    let hanako = house.hanako();
    hanako.register().await.is(201);
    let before = house.organiser().get("/stamp-rally-202606").await.is(200).body;
    for operation in operations(&house, &hanako.token).await.iter().filter(|operation| operation.takes_a_body) {
        let requests =
            bodies().into_iter().map(|body| operation.request().header("content-type", "application/json").body(body));
        for (request, got) in all_well_mannered(&house, requests.collect()).await {
            let refused = [400, 401, 409, 412, 413, 415, 422];
            assert!(got.status < 300 || refused.contains(&got.status), "{}\n{got:?}", request.shown());
        }
    }
    let after = house.organiser().get("/stamp-rally-202606").await.is(200).body;
    for member in ["name", "channel", "timeZone", "indexShards", "liffId", "completionMessageContent"] {
        assert_eq!(after.get(member), before.get(member));
    }
    house.close().await;
}

#[tokio::test]
async fn a_megabyte_is_too_much_for_anybody() {
    let house = House::open("a megabyte").await;
    let hanako = house.hanako();
    hanako.register().await.is(201);
    let mut all = operations(&house, &hanako.token).await;
    for (method, path) in
        [("POST", "/nowhere"), ("POST", "/healthz"), ("DELETE", "/api/events/x/me"), ("POST", "/webhook/nowhere")]
    {
        all.push(Operation {
            method: method.to_owned(),
            path: path.to_owned(),
            token: None,
            takes_a_body: false,
            good_body: "{}".to_owned(),
        });
    }
    for operation in all {
        let large = || operation.request().header("content-type", "application/json");
        let chunk = format!("{:x}\r\n{}\r\n0\r\n\r\n", 1_100_000, " ".repeat(1_100_000));
        let requests = vec![
            large().body(vec![b' '; 1_100_000]),
            large().body(format!("{{\"name\":\"{}\"}}", "a".repeat(1_100_000))),
            large().header("transfer-encoding", "chunked").bytes(chunk.as_bytes()),
        ];
        for (request, got) in all_well_mannered(&house, requests).await {
            // What takes no body doesn't look at one, and closes the door all the same.
            assert!(!operation.takes_a_body || got.status == 413, "{}\n{got:?}", request.shown());
        }
    }
    house.close().await;
}

#[tokio::test]
async fn a_body_that_doesnt_say_it_is_json_is_refused() {
    let house = House::open("content types").await;
    let hanako = house.hanako();
    hanako.register().await.is(201);
    let operations = operations(&house, &hanako.token).await;
    let closed = operations.iter().filter(|operation| operation.takes_a_body && operation.path != "/webhook/{channel}");
    for operation in closed {
        let types = [
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "application/jsonp",
            "application/json; charset=shift_jis",
            "application/json, text/plain",
            "json",
            "",
            ";",
            "application/xml",
            "application/*",
            "*/*",
        ];
        let mut requests: Vec<Request> =
            types.iter().map(|said| operation.request().header("content-type", said).body("{}")).collect();
        requests.extend([
            operation.request().body("{}"),
            operation.request().raw_header("content-type", b"application/json\xff").body("{}"),
            operation.request().json("{}").header("content-encoding", "gzip"),
            operation.request().json("{}").header("content-encoding", "br"),
            operation.request().header("content-type", "application/json").json("{}"),
        ]);
        for (request, got) in all_well_mannered(&house, requests).await {
            assert_eq!(
                (got.status, got.code().as_str()),
                (415, "unsupported_media_type"),
                "{}\n{got:?}",
                request.shown()
            );
        }
        let none = ["application/x-www-form-urlencoded", "text/plain", "application/json"];
        let requests = none.iter().map(|said| operation.request().header("content-type", said).body(""));
        for (request, got) in all_well_mannered(&house, requests.collect()).await {
            // No body is no body, whatever it is said to be; a setting needs one.
            let is_enough = operation.path.starts_with("/api/") && !operation.needs_a_body();
            assert!(if is_enough { got.status < 300 } else { got.status == 400 }, "{}\n{got:?}", request.shown());
        }
        let good = [
            "application/json",
            "Application/JSON",
            "application/json;charset=utf-8",
            "application/json; charset=\"UTF-8\"; x=y",
        ];
        let body = &operation.good_body;
        let requests = good.iter().map(|said| operation.request().header("content-type", said).body(body.as_str()));
        for (request, got) in all_well_mannered(&house, requests.collect()).await {
            assert!(got.status < 300, "{}\n{got:?}", request.shown());
        }
    }
    house.close().await;
}

/// Everything a setting has, each member in turn replaced by what it can't be.
#[tokio::test]
async fn a_setting_with_one_wrong_member_is_refused_and_nothing_changes() {
    let house = House::open("wrong members").await;
    let organiser = house.organiser();
    let wrongs = [
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(1.5),
        json!(1e300),
        json!(""),
        json!("x".repeat(5000)),
        json!("\u{0}"),
        json!("花\n"),
        json!([]),
        json!({}),
        json!({"type": "flex"}),
        json!([[[]]]),
    ];
    for (path, readable) in [("/stamp-rally-202606", "event"), ("/stamp-rally-202606/stamps/001", "stamp")] {
        let before = organiser.get(path).await.is(200).body;
        let members: Vec<String> = before.as_object().unwrap().keys().cloned().collect();
        let mut requests = Vec::new();
        for member in members.iter().filter(|member| !["createdAt", "updatedAt"].contains(&member.as_str())) {
            for wrong in &wrongs {
                let mut body = before.clone();
                body[member] = wrong.clone();
                let request = Request::new("PUT", &format!("/admin/api/events{path}"))
                    .header("authorization", "Bearer organiser");
                requests.push(request.json(&body.to_string()));
            }
        }
        for (request, got) in all_well_mannered(&house, requests).await {
            let told = || format!("{readable}: {}\n{got:?}", request.shown());
            assert!([200, 400, 422].contains(&got.status), "{}", told());
        }
        let after: Value = organiser.get(path).await.is(200).body;
        for member in ["eventId", "stampId", "channel", "startsAt", "endsAt", "timeZone", "flexMessageContent"] {
            assert_eq!(after.get(member), before.get(member), "{readable}");
        }
    }
    organiser.put_stamp("stamp-rally-202606", "001", &json!({"flexMessageContent": flex("よい")})).await.is(200);
    house.close().await;
}
