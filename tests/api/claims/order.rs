//! The order of checks: shape (400), event (404), token (401), stamp (404), held (200), window and activity (409).

use reqwest::Method;
use serde_json::json;
use stamp_rally::domain::{notice::NoticeStatus, time::TimeSource as _};

use super::HOUR;
use crate::house::{Answer, CHANNEL, House, Person, flex};

/// A rally that is over; the demo rally is open. Both have the stamps 001 and 003, which is inactive.
const OVER: &str = "rally-of-last-year";

/// What is wrong with a request, in the order in which it is found out.
const WRONGS: [&str; 6] = ["shape", "event", "token", "stamp", "window", "activity"];

async fn furnished(story: &'static str) -> House {
    let house = House::open(story).await;
    let now = house.clock.now();
    let over = json!({"name": "去年のラリー", "channel": CHANNEL, "startsAt": now.plus_millis(-2 * HOUR), "endsAt": now.plus_millis(-HOUR)});
    let organiser = house.organiser();
    organiser.put_event(OVER, &over).await.is(201);
    let asleep = json!({"name": "第3スタンプ", "order": 3, "isActive": false, "flexMessageContent": flex("三")});
    let awake = json!({"name": "第1スタンプ", "order": 1, "flexMessageContent": flex("一")});
    organiser.put_stamp(OVER, "001", &awake).await.is(201);
    for rally in [crate::house::RALLY, OVER] {
        organiser.put_stamp(rally, "003", &asleep).await.is(201);
    }
    house
}

/// Gives a participant both stamps of both rallies, as if they had got them in time.
async fn gets_everything(house: &House, who: &Person<'_>) {
    for rally in [crate::house::RALLY, OVER] {
        for stamp in ["001", "003"] {
            let event = house.store.event(&rally.parse().unwrap()).await.unwrap().unwrap();
            let stamp = stamp_rally::domain::fact::UserStamp {
                proof: None,
                event_id: rally.parse().unwrap(),
                line_user_id: who.id.parse().unwrap(),
                stamp_id: stamp.parse().unwrap(),
                acquired_at: event.window.starts_at(),
                request_id: None,
                notice: NoticeStatus::Pending { maybe_sent_at: None },
            };
            house.store.acquire(&stamp, event.index_shards).await.unwrap();
        }
    }
}

/// A claim with some things wrong.
async fn claim(house: &House, who: &Person<'_>, wrongs: &[&str], shape: Shape) -> Answer {
    let wrong = |name: &str| wrongs.contains(&name);
    let event = if wrong("event") {
        "no-such-rally"
    } else if wrong("window") {
        OVER
    } else {
        crate::house::RALLY
    };
    let stamp = match (wrong("stamp"), wrong("activity")) {
        (true, _) => "999",
        (false, true) => "003",
        (false, false) => "001",
    };
    let broken = wrong("shape").then_some(shape);
    let (event, stamp) = match broken {
        Some(Shape::EventId) => (format!("{event}%23"), stamp.to_owned()),
        Some(Shape::StampId) => (event.to_owned(), format!("{stamp}%23")),
        _ => (event.to_owned(), stamp.to_owned()),
    };
    let request = house.request(Method::POST, &format!("/api/events/{event}/me/stamps/{stamp}"));
    let request = match broken {
        Some(Shape::Body) => request.header("content-type", "application/json").body("{"),
        Some(Shape::Key) => request.header("idempotency-key", "a b"),
        _ => request,
    };
    Answer::to(request.bearer_auth(if wrong("token") { "nonsense" } else { &who.token })).await
}

/// In which way the shape is wrong.
#[derive(Clone, Copy, Debug)]
enum Shape {
    Body,
    EventId,
    Key,
    StampId,
}

#[tokio::test]
async fn whatever_else_is_wrong_the_first_check_of_the_contracts_order_answers() {
    let house = furnished("order of checks").await;
    let (holder, newcomer) = (house.hanako(), house.person("太郎"));
    gets_everything(&house, &holder).await;
    for bits in 0..1_u32 << WRONGS.len() {
        let wrongs: Vec<&str> = (0..WRONGS.len()).filter(|n| bits & (1 << n) != 0).map(|n| WRONGS[n]).collect();
        let shapes = [Shape::Body, Shape::EventId, Shape::Key, Shape::StampId];
        for shape in if wrongs.contains(&"shape") { &shapes[..] } else { &shapes[..1] } {
            for (who, holds) in [(&holder, true), (&newcomer, false)] {
                let answer = claim(&house, who, &wrongs, *shape).await;
                let (status, code) = match wrongs.first() {
                    Some(&"shape") => (400, "invalid_request"),
                    Some(&"event") => (404, "event_not_found"),
                    Some(&"token") => (401, "token_invalid"),
                    Some(&"stamp") => (404, "stamp_not_found"),
                    _ if holds => (200, ""),
                    Some(&"window") => (409, "event_ended"),
                    Some(&"activity") => (409, "stamp_inactive"),
                    // The first time; a stamp is nothing that one could give back.
                    _ => (201, ""),
                };
                assert_eq!(answer.status, status, "{wrongs:?} {shape:?} holds: {holds}: {answer:?}");
                if status >= 400 {
                    answer.refuses(status, code);
                }
            }
        }
    }
    house.close().await;
}

#[tokio::test]
async fn cards_are_checked_in_the_same_order() {
    let house = furnished("order of checks of cards").await;
    let hanako = house.hanako();
    let stranger = hanako.with("nonsense");
    let ask = async |who: &Person<'_>, method: Method, path: &str| {
        Answer::to(house.request(method, &format!("/api/events/{path}")).bearer_auth(&who.token)).await
    };
    for (method, path) in [
        (Method::PUT, "a%23/me"),
        (Method::GET, "a%23/me"),
        (Method::GET, "a%23/me/stamps/999"),
        (Method::GET, "no-such-rally/me/stamps/a%23"),
    ] {
        ask(&stranger, method, path).await.refuses(400, "invalid_request");
    }
    for (method, path) in [
        (Method::PUT, "no-such-rally/me"),
        (Method::GET, "no-such-rally/me"),
        (Method::GET, "no-such-rally/me/stamps/999"),
        (Method::GET, "no-such-rally/stamps"),
    ] {
        ask(&stranger, method, path).await.refuses(404, "event_not_found");
    }
    for (method, path) in [
        (Method::PUT, OVER.to_owned() + "/me"),
        (Method::GET, OVER.to_owned() + "/me"),
        (Method::GET, OVER.to_owned() + "/me/stamps/999"),
    ] {
        ask(&stranger, method, &path).await.refuses(401, "token_invalid");
    }
    ask(&hanako, Method::GET, &format!("{OVER}/me/stamps/999")).await.refuses(404, "stamp_not_found");
    ask(&hanako, Method::GET, &format!("{OVER}/me")).await.refuses(404, "not_registered");
    ask(&hanako, Method::PUT, &format!("{OVER}/me")).await.refuses(409, "event_ended");
    house.close().await;
}

#[tokio::test]
async fn a_body_that_cant_be_read_is_refused_before_the_event_is_looked_for() {
    let house = furnished("bodies come first").await;
    let hanako = house.hanako();
    let put = |path: &str| house.request(Method::PUT, path).bearer_auth(&hanako.token);
    let path = "/api/events/no-such-rally/me";
    let text = put(path).header("content-type", "text/plain").body("{}");
    Answer::to(text).await.refuses(415, "unsupported_media_type");
    let large = put(path).header("content-type", "application/json").body(" ".repeat(1024 * 1024));
    Answer::to(large).await.refuses(413, "payload_too_large");
    Answer::to(put(path).json(&json!({"lineUserId": hanako.id}))).await.refuses(400, "invalid_request");
    Answer::to(put(path).json(&json!({}))).await.refuses(404, "event_not_found");
    house.close().await;
}
