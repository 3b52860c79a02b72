//! Hanako shows her code, and a member of the staff grants the stamp.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;

use super::{Bearer, code_of, hired, takes_staff};
use crate::house::{Answer, House, RALLY};

/// The proof that the fact of a stamp keeps.
async fn kept(house: &House, who: &str, stamp: &str) -> serde_json::Value {
    let seen = house.organiser().get(&format!("/{RALLY}/users/{who}")).await.is(200).body;
    let facts = seen["facts"].as_array().unwrap().iter();
    let mut stamps = facts.filter(|fact| fact["entityType"] == "USER_STAMP" && fact["stampId"] == stamp);
    stamps.next().unwrap()["proof"].clone()
}

#[tokio::test]
async fn hanako_shows_her_code_and_a_member_of_the_staff_grants_the_stamp() {
    let house = House::open("a grant").await;
    takes_staff(&house, "001").await;
    let reception = hired(&house, "staff", &["001"]).await;
    let (staff, hanako) = (Bearer::of(&house, &reception), house.hanako());
    hanako.register().await.is(201);
    hanako.acquire("001").await.refuses(422, "proof_required");
    let code = code_of(&hanako).await;
    let granted = staff.grants("001", &code.to_lowercase()).await.is(201);
    assert_eq!((&granted.body["stampId"], &granted.body["acquired"]), (&json!("001"), &json!(true)));
    assert_eq!(staff.grants("001", &code).await.is(200).body, granted.body, "acquired before");
    assert_eq!(hanako.look_at("001").await.is(200).body, granted.body);
    let proof = json!({"kinds": ["staff"], "trust": 3, "staff": reception["staffId"]});
    assert_eq!(kept(&house, &hanako.id, "001").await, proof);
    house.deliver().await;
    assert_eq!(hanako.phone(), ["第1スタンプ 1/2"]);
    house.close().await;
}

#[tokio::test]
async fn an_operator_grants_by_the_name_of_their_token_and_a_viewer_does_not() {
    let house = House::open("an operator grants").await;
    takes_staff(&house, "001").await;
    let hanako = house.hanako();
    hanako.register().await.is(201);
    let code = code_of(&hanako).await;
    for (token, status, refusal) in [
        ("viewer", 403, "forbidden"),
        ("neighbour", 403, "forbidden"),
        ("stranger", 401, "staff_token_invalid"),
        (&*hanako.token, 401, "staff_token_invalid"),
    ] {
        Bearer::with(&house, token).grants("001", &code).await.refuses(status, refusal);
    }
    Bearer::with(&house, "operator").grants("001", &code).await.is(201);
    assert_eq!(kept(&house, &hanako.id, "001").await["staff"], "admin:operator");
    house.close().await;
}

#[tokio::test]
async fn a_copied_code_of_yesterday_is_refused() {
    let house = House::open("a copied code").await;
    takes_staff(&house, "001").await;
    let reception = hired(&house, "staff", &["*"]).await;
    let (staff, hanako) = (Bearer::of(&house, &reception), house.hanako());
    hanako.register().await.is(201);
    let copied = code_of(&hanako).await;
    house.pass(Duration::from_mins(3)).await;
    let refused = staff.grants("001", &copied).await.refuses(422, "proof_rejected");
    assert_eq!(refused.body["reason"], "code_expired");
    house.pass(Duration::from_hours(24)).await;
    assert_eq!(staff.grants("001", &copied).await.refuses(422, "proof_rejected").body["reason"], "code_expired");
    for other in ["", "SBJV9RZ43010QG3PKWJFQE5FNBP", "🗼", "https://liff.line.me/x", &copied[..48]] {
        let refused = staff.grants("001", other).await.refuses(422, "proof_rejected");
        assert_eq!(refused.body["reason"], "code_unknown", "{other}");
    }
    staff.grants("001", &"P".repeat(129)).await.refuses(400, "invalid_request");
    let hanako = hanako.again();
    assert_eq!(hanako.look_at("001").await.is(200).body["acquired"], false);
    staff.grants("001", &code_of(&hanako).await).await.is(201);
    house.close().await;
}

#[tokio::test]
async fn a_grant_is_refused_where_staff_is_not_taken_or_the_stamp_is_closed_or_the_person_unknown() {
    let house = House::open("refused grants").await;
    house
        .change_stamp(
            "001",
            &json!({"proofs": [["location"]], "proofSettings": {"location": {"latitude": 35, "longitude": 139}}}),
        )
        .await;
    house.change_stamp("002", &json!({"proofs": [["staff"]], "availableFrom": house.now().plus_millis(60_000)})).await;
    let reception = hired(&house, "staff", &["*"]).await;
    let (staff, hanako) = (Bearer::of(&house, &reception), house.hanako());
    let code = code_of(&hanako).await;
    let unknown = staff.grants("001", &code).await.refuses(404, "participant_not_found");
    assert!(unknown.body["detail"].as_str().unwrap().contains("participant"));
    hanako.register().await.is(201);
    assert_eq!(staff.grants("001", &code).await.refuses(422, "proof_rejected").body["reason"], "kind_not_taken");
    assert_eq!(staff.grants("002", &code).await.refuses(409, "stamp_closed").body["reason"], "not_yet");
    house.pass(Duration::from_mins(1)).await;
    staff.grants("002", &code).await.is(201);
    house.close().await;
}

#[tokio::test]
async fn a_grant_keeps_to_other_stamps_first_and_to_the_interval() {
    let house = House::open("grants in order").await;
    house.change_the_rally(&json!({"minIntervalSeconds": 60})).await;
    takes_staff(&house, "001").await;
    house.change_stamp("002", &json!({"proofs": [["staff"]], "after": ["001"]})).await;
    let reception = hired(&house, "staff", &["*"]).await;
    let (staff, hanako) = (Bearer::of(&house, &reception), house.hanako());
    hanako.register().await.is(201);
    let code = code_of(&hanako).await;
    assert_eq!(staff.grants("002", &code).await.refuses(409, "claim_refused").body["missing"], json!(["001"]));
    staff.grants("001", &code).await.is(201);
    assert_eq!(staff.grants("002", &code).await.refuses(409, "claim_refused").body["retryAfterSeconds"], 60);
    house.pass(Duration::from_mins(1)).await;
    staff.grants("002", &code).await.is(201);
    house.close().await;
}

#[tokio::test]
async fn checks_come_in_the_contracts_order() {
    let house = House::open("order of a grant").await;
    takes_staff(&house, "001").await;
    let reception = hired(&house, "staff", &["001"]).await;
    let everywhere = hired(&house, "staff", &["*"]).await;
    let grant = async |token: &str, event: &str, stamp: &str, body: serde_json::Value| {
        let path = format!("/staff/api/events/{event}/stamps/{stamp}/grants");
        Answer::to(Bearer::with(&house, token).request(Method::POST, &path).json(&body)).await
    };
    let (one, all) = (reception["token"].as_str().unwrap(), everywhere["token"].as_str().unwrap());
    grant("x", "nowhere", "a%23b", json!({"code": ""})).await.refuses(400, "invalid_request");
    let shapeless = grant("x", "nowhere", "999", json!({"code": 1})).await.refuses(400, "invalid_request");
    assert!(shapeless.body["detail"].as_str().unwrap().starts_with("code: "), "{:#}", shapeless.body);
    grant("x", "nowhere", "999", json!({"code": ""})).await.refuses(404, "event_not_found");
    grant("x", RALLY, "999", json!({"code": ""})).await.refuses(401, "staff_token_invalid");
    grant(one, RALLY, "999", json!({"code": ""})).await.refuses(403, "forbidden");
    grant(all, RALLY, "999", json!({"code": ""})).await.refuses(404, "stamp_not_found");
    grant(all, RALLY, "001", json!({"code": ""})).await.refuses(422, "proof_rejected");
    house.close().await;
}

#[tokio::test]
async fn a_grant_costs_one_put_where_event_staff_and_participant_are_known() {
    let house = House::open("costs of a grant").await;
    takes_staff(&house, "001").await;
    takes_staff(&house, "002").await;
    let reception = hired(&house, "staff", &["*"]).await;
    let (staff, hanako) = (Bearer::of(&house, &reception), house.hanako());
    hanako.register().await.is(201);
    let code = code_of(&hanako).await;
    staff.grants("001", &code).await.is(201);
    house.wire();
    staff.grants("002", &code).await.is(201);
    assert_eq!(house.wire(), ["1 × PutItem line-event"]);
    house.close().await;
}
