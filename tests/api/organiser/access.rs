//! Who may use the organisers' API.

use reqwest::Method;
use serde_json::{Value, json};

use super::event;
use crate::house::{Answer, House, RALLY};

/// Every operation of the organisers' API that the description tells of: method and path.
async fn operations(house: &House) -> Vec<(Method, String)> {
    let description = Answer::to(house.request(Method::GET, "/openapi.json")).await.is(200).body;
    let mut operations = Vec::new();
    for (path, item) in description["paths"].as_object().unwrap() {
        let Some(path) = path.strip_prefix("/admin/api/events") else { continue };
        let ids = [
            ("{eventId}", RALLY),
            ("{stampId}", "001"),
            ("{lineUserId}", "U00000000000000000000000000000001"),
            ("{staffId}", "0a1b2c3d4e5f"),
            ("{kind}", "qr_static"),
            ("{generation}", "1"),
        ];
        let path = ids.iter().fold(path.to_owned(), |path, (name, id)| path.replace(name, id));
        let methods = item.as_object().unwrap().keys().filter_map(|name| match name.as_str() {
            "get" => Some(Method::GET),
            "post" => Some(Method::POST),
            "put" => Some(Method::PUT),
            _ => None,
        });
        operations.extend(methods.map(|method| (method, path.clone())));
    }
    operations
}

async fn ask(house: &House, token: &str, method: &Method, path: &str) -> Answer {
    let query = if path.ends_with("/deliveries") { "?state=failed" } else { "" };
    let request = house.bearer(token).request(method.clone(), &format!("{path}{query}"));
    Answer::to(if *method == Method::GET { request } else { request.json(&json!({})) }).await
}

#[tokio::test]
async fn every_operation_asks_who_is_there_and_what_they_may() {
    let house = House::open("who may").await;
    house.registered([(1, stamp_rally::domain::time::Timestamp::EPOCH)]).await;
    let operations = operations(&house).await;
    assert!(operations.len() >= 11, "{operations:?}");
    for (method, path) in &operations {
        let says = format!("{method} {path}");
        for stranger in ["stranger", "", "ORGANISER", &"x".repeat(5000)] {
            let refused = ask(&house, stranger, method, path).await.refuses(401, "admin_token_invalid");
            assert!(refused.header("www-authenticate").starts_with("Bearer"), "{says}");
        }
        let without = house.request(method.clone(), &format!("/admin/api/events{path}"));
        Answer::to(without).await.refuses(401, "admin_token_invalid");

        let least = match *method {
            // Who grants, and which screens there are, is for those who make the tokens.
            Method::GET if path.ends_with("/staff") => 1,
            // Whoever sees a code can acquire the stamp from anywhere.
            Method::GET if path.ends_with("/codes") => 1,
            Method::GET => 0,
            Method::POST => 1,
            _ => 2,
        };
        for (power, token) in ["viewer", "operator", "organiser"].into_iter().enumerate() {
            let answer = ask(&house, token, method, path).await;
            if power < least {
                answer.refuses(403, "forbidden");
            } else {
                assert!(![401, 403].contains(&answer.status) && answer.status < 500, "{says} by {token}: {answer:?}");
                assert_eq!(answer.header("cache-control"), "no-store", "{says}");
            }
        }
        if !path.is_empty() {
            ask(&house, "neighbour", method, path).await.refuses(403, "forbidden");
        }
    }
}

#[tokio::test]
async fn a_token_opens_its_own_events_and_no_others() {
    let house = House::open("own events").await;
    let (organiser, neighbour) = (house.organiser(), house.bearer("neighbour"));
    neighbour.put_event("another-rally", &event()).await.is(201);
    neighbour.put_event("third-rally", &event()).await.refuses(403, "forbidden");
    neighbour.get("/another-rally/users").await.is(200);
    // Whether another organiser's event exists is not for them to know.
    neighbour.get("/no-such-rally").await.refuses(403, "forbidden");
    for number in 0..4 {
        organiser.put_event(&format!("rally-{number}"), &event()).await.is(201);
    }

    let ids = |list: &Answer| -> Vec<Value> {
        list.body["events"].as_array().unwrap().iter().map(|event| event["eventId"].clone()).collect()
    };
    let mine = neighbour.get("?limit=1").await.is(200);
    assert_eq!(ids(&mine), ["another-rally"]);
    if let Some(next) = mine.body.get("nextCursor") {
        let rest = neighbour.get(&format!("?limit=1&cursor={}", next.as_str().unwrap())).await.is(200);
        assert_eq!((ids(&rest), rest.body.get("nextCursor")), (vec![], None));
    }
    let all = organiser.get("?order=desc").await.is(200);
    assert_eq!(ids(&all), ["rally-3", "rally-2", "rally-1", "rally-0", "another-rally", RALLY]);
    let page = organiser.get("?limit=4").await.is(200);
    assert_eq!(ids(&page), [RALLY, "another-rally", "rally-0", "rally-1"]);
    let rest = organiser.get(&format!("?cursor={}", page.body["nextCursor"].as_str().unwrap())).await.is(200);
    assert_eq!((ids(&rest), rest.body.get("nextCursor")), (vec![json!("rally-2"), json!("rally-3")], None));
}

#[tokio::test]
async fn participants_and_organisers_have_different_tokens() {
    let house = House::open("two kinds").await;
    let hanako = house.hanako();
    let as_organiser = house.bearer(&hanako.token).get(&format!("/{RALLY}/users")).await;
    as_organiser.refuses(401, "admin_token_invalid");
    let me = house.request(Method::GET, &format!("/api/events/{RALLY}/me")).bearer_auth("organiser");
    Answer::to(me).await.refuses(401, "token_invalid");
    // Neither a query nor a cookie nor another scheme opens anything.
    let path = format!("/admin/api/events/{RALLY}/users");
    for request in [
        house.request(Method::GET, &format!("{path}?access_token=organiser")),
        house.request(Method::GET, &path).header("Cookie", "token=organiser"),
        house.request(Method::GET, &path).basic_auth("organiser", Some("organiser")),
        house.request(Method::GET, &path).header("X-Admin-Token", "organiser"),
    ] {
        Answer::to(request).await.refuses(401, "admin_token_invalid");
    }
}
