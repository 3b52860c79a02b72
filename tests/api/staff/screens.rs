//! A screen at a spot: the page, and the codes that it shows.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use super::{Bearer, code_of, hired, takes_staff};
use crate::house::{Answer, House, RALLY};

/// What the screen of a stamp is answered.
async fn codes(screen: &Bearer<'_>, stamp: &str) -> Answer {
    Answer::to(screen.request(Method::GET, &format!("/spot/{RALLY}/{stamp}/codes"))).await
}

/// The stamp takes the code of a screen, and the event has a page.
async fn takes_the_screen(house: &House, stamp: &str) {
    house.change_the_rally(&json!({"liffId": "1234567890-AbcdEfgh"})).await;
    house.change_stamp(stamp, &json!({"proofs": [["qr_rotating"]]})).await;
}

fn list(answer: &Answer) -> &Vec<Value> {
    answer.body["codes"].as_array().unwrap()
}

#[tokio::test]
async fn hanako_scans_the_screen_and_each_code_that_it_has_is_good_in_its_time() {
    let house = House::open("a screen").await;
    takes_the_screen(&house, "001").await;
    let token = hired(&house, "screen", &["001"]).await;
    let (screen, hanako) = (Bearer::of(&house, &token), house.hanako());
    let shown = codes(&screen, "001").await.is(200);
    assert_eq!(shown.body["now"], json!(house.now()));
    assert_eq!(shown.header("cache-control"), "no-store");
    let (first, last) = (&list(&shown)[0], list(&shown).last().unwrap());
    let code = first["code"].as_str().unwrap();
    assert_eq!(first["link"], format!("https://liff.line.me/1234567890-AbcdEfgh/s/{code}"));
    assert!(first["svg"].as_str().unwrap().starts_with("<svg xmlns="));
    assert!(
        first["from"].as_str() <= shown.body["now"].as_str() && shown.body["now"].as_str() < first["until"].as_str()
    );
    hanako.scan(json!({"code": last["code"]})).await.refuses(422, "proof_rejected");
    hanako.scan(json!({"code": code})).await.is(201);
    house.pass(Duration::from_millis(599_999)).await;
    let taro = house.person("太郎");
    taro.scan(json!({"code": code})).await.refuses(422, "proof_rejected");
    let present = list(&shown).iter().find(|code| code["until"].as_str() > Some(&house.now().to_string()));
    taro.scan(json!({"code": present.unwrap()["code"]})).await.is(201);
    house.close().await;
}

#[tokio::test]
async fn a_screens_token_grants_nothing_and_a_staff_token_shows_no_codes() {
    let house = House::open("screen and staff").await;
    takes_the_screen(&house, "001").await;
    takes_staff(&house, "002").await;
    let (screen, staff) = (hired(&house, "screen", &["*"]).await, hired(&house, "staff", &["*"]).await);
    let (screen, staff, hanako) = (Bearer::of(&house, &screen), Bearer::of(&house, &staff), house.hanako());
    hanako.register().await.is(201);
    screen.grants("002", &code_of(&hanako).await).await.refuses(403, "forbidden");
    codes(&staff, "001").await.refuses(403, "forbidden");
    for token in ["organiser", "operator", "x.y", &hanako.token] {
        codes(&Bearer::with(&house, token), "001").await.refuses(401, "staff_token_invalid");
    }
    codes(&screen, "001").await.is(200);
    assert_eq!(list(&codes(&screen, "002").await.is(200)), &[] as &[Value], "it takes no code of a screen");
    codes(&screen, "999").await.refuses(404, "stamp_not_found");
    let one = hired(&house, "screen", &["002"]).await;
    codes(&Bearer::of(&house, &one), "001").await.refuses(403, "forbidden");
    house.close().await;
}

#[tokio::test]
async fn a_screen_whose_token_is_revoked_gets_no_codes() {
    let house = House::open("a revoked screen").await;
    takes_the_screen(&house, "001").await;
    let token = hired(&house, "screen", &["001"]).await;
    let screen = Bearer::of(&house, &token);
    codes(&screen, "001").await.is(200);
    let path = format!("/{RALLY}/staff/{}/revoke", token["staffId"].as_str().unwrap());
    house.bearer("operator").post(&path).await.is(200);
    codes(&screen, "001").await.refuses(401, "staff_token_invalid");
    house.close().await;
}

#[tokio::test]
async fn an_event_without_a_page_has_codes_without_links() {
    let house = House::open("no page").await;
    house
        .change_stamp(
            "001",
            &json!({"proofs": [["qr_rotating"]], "proofSettings": {"qr_rotating": {"stepSeconds": 300}}}),
        )
        .await;
    let token = hired(&house, "screen", &["001"]).await;
    let shown = codes(&Bearer::of(&house, &token), "001").await.is(200);
    assert!(list(&shown).len() <= 3 && list(&shown).iter().all(|code| code["link"].is_null()), "{:#}", shown.body);
    house.hanako().scan(json!({"code": list(&shown)[0]["code"]})).await.is(201);
    house.close().await;
}

#[tokio::test]
async fn the_page_loads_its_own_files_alone_and_browsers_keep_them() {
    let house = House::open("the page").await;
    let get = async |path: &str| Answer::to(house.request(Method::GET, path)).await;
    let page = get(&format!("/spot/{RALLY}/001")).await.is(200);
    let policy = page.header("content-security-policy");
    assert!(policy.contains("script-src 'self'; style-src 'self'; img-src 'self' data:"), "{policy}");
    assert!(policy.ends_with("require-trusted-types-for 'script'; trusted-types 'none'"), "{policy}");
    for (name, value) in [
        ("content-type", "text/html; charset=utf-8"),
        ("cache-control", "no-cache"),
        ("referrer-policy", "strict-origin-when-cross-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("permissions-policy", "camera=(self), geolocation=(self)"),
        ("x-content-type-options", "nosniff"),
        ("strict-transport-security", ""),
    ] {
        assert_eq!(page.header(name), value, "{name}");
    }
    let html = page.body.as_str().unwrap();
    assert!(!html.contains("{{") && !html.contains("style=") && !html.contains(" on"), "{html}");
    let files: Vec<&str> = html.split('"').filter(|part| part.starts_with("/assets/")).collect();
    assert_eq!(files.len(), 2, "{html}");
    for file in files {
        let (kept, name) = (get(file).await.is(200), file.rsplit('/').next().unwrap());
        assert_eq!(kept.header("cache-control"), "public, max-age=31536000, immutable");
        let old = get(&format!("/assets/0123456789abcdef/{name}")).await.is(200);
        assert_eq!((old.header("cache-control"), &old.body), ("no-store", &kept.body));
    }
    get("/assets/0123456789abcdef/secret.js").await.refuses(404, "not_found");
    get(&format!("/spot/{RALLY}/a%23b")).await.refuses(400, "invalid_request");
    house.close().await;
}
