//! Tokens of staff and screens: made, listed, revoked by operators.

use std::time::Duration;

use reqwest::Method;
use serde_json::json;

use super::{Bearer, code_of, hired, hiring, takes_staff};
use crate::house::{Answer, House, RALLY};

#[tokio::test]
async fn an_operator_makes_a_token_that_is_shown_once_and_listed_without_it() {
    let house = House::open("a token once").await;
    let ends = house.now().plus_millis(3_600_000);
    let order = json!({"name": "港の画面", "role": "screen", "stamps": ["001", "002"], "expiresAt": ends});
    let made = hiring(&house, &order).await.is(201).body;
    let (staff_id, token) = (made["staffId"].as_str().unwrap(), made["token"].as_str().unwrap());
    assert_eq!(token.split_once('.').unwrap().0, staff_id);
    let listed = house.bearer("operator").get(&format!("/{RALLY}/staff")).await.is(200);
    let row =
        json!({"staffId": staff_id, "name": "港の画面", "role": "screen", "stamps": ["001", "002"], "expiresAt": ends});
    assert_eq!(listed.body, json!({"staff": [row]}));
    house.bearer("viewer").get(&format!("/{RALLY}/staff")).await.refuses(403, "forbidden");
    house.bearer("operator").get("/nowhere/staff").await.refuses(404, "event_not_found");
    house.close().await;
}

#[tokio::test]
async fn an_order_that_can_not_be_carried_out_is_refused_with_its_path() {
    let house = House::open("refused orders").await;
    let ended = house.now().plus_millis(-1);
    for (change, detail) in [
        (json!({"stamps": ["001", "009"]}), "stamps[1]: the event has no stamp 009"),
        (json!({"stamps": []}), "stamps: must be 1 to 999 stamp ids"),
        (json!({"stamps": ["*", "001"]}), "stamps[0]: \"*\" stands alone"),
        (json!({"stamps": ["a#b"]}), "stamps[0]: a stampId must match"),
        (json!({"stamps": [1]}), "stamps[0]: invalid type"),
        (json!({"name": "あ".repeat(65)}), "name: must be 1 to 64 characters"),
        (json!({"name": ""}), "name: must be 1 to 64 characters"),
        (json!({"role": "admin"}), "role: unknown variant `admin`"),
        (json!({"expiresAt": ended}), "expiresAt: must be later than now"),
        (json!({"expiresAt": "tomorrow"}), "expiresAt: must be an instant"),
        (json!({"expiresAt": null}), "expiresAt: invalid type: null"),
        (json!({"sha256": "00"}), "sha256: unknown field"),
    ] {
        let mut order = json!({"name": "受付", "role": "staff", "stamps": ["001"]});
        order.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let refused = hiring(&house, &order).await.refuses(400, "invalid_request");
        assert!(refused.body["detail"].as_str().unwrap().starts_with(detail), "{change}: {:#}", refused.body);
    }
    let listed = house.bearer("operator").get(&format!("/{RALLY}/staff")).await.is(200);
    assert_eq!(listed.body, json!({"staff": []}));
    house.close().await;
}

#[tokio::test]
async fn a_revoked_member_is_refused_here_at_once_and_by_another_server_within_five_seconds() {
    let house = House::open("a revoked member").await;
    takes_staff(&house, "001").await;
    let (server, other) = house.another_server();
    let reception = hired(&house, "staff", &["001"]).await;
    let (staff, hanako) = (Bearer::of(&house, &reception), house.hanako());
    hanako.register().await.is(201);
    let code = code_of(&hanako).await;
    staff.at(&other).grants("001", &code).await.is(201);
    let path = format!("/{RALLY}/staff/{}/revoke", reception["staffId"].as_str().unwrap());
    let revoked = house.bearer("operator").post(&path).await.is(200);
    assert_eq!(revoked.body["revokedAt"], json!(house.now()));
    staff.grants("001", &code).await.refuses(401, "staff_token_invalid");
    house.pass(Duration::from_millis(5001)).await;
    staff.at(&other).grants("001", &code).await.refuses(401, "staff_token_invalid");
    assert_eq!(house.bearer("operator").post(&path).await.is(200).body, revoked.body, "the first time counts");
    tokio::task::spawn_blocking(|| drop(server)).await.unwrap();
    house.close().await;
}

#[tokio::test]
async fn a_token_that_has_expired_or_is_of_another_event_is_refused() {
    let house = House::open("expired tokens").await;
    takes_staff(&house, "001").await;
    let ends = house.now().plus_millis(60_000);
    let order = json!({"name": "受付", "role": "staff", "stamps": ["*"], "expiresAt": ends});
    let reception = hiring(&house, &order).await.is(201).body;
    let (staff, hanako) = (Bearer::of(&house, &reception), house.hanako());
    hanako.register().await.is(201);
    house.put_event("winter", "main", None).await;
    let path = "/staff/api/events/winter/stamps/001/grants";
    let elsewhere = staff.request(Method::POST, path).json(&json!({"code": ""}));
    Answer::to(elsewhere).await.refuses(401, "staff_token_invalid");
    house.pass(Duration::from_millis(59_999)).await;
    staff.grants("001", &code_of(&hanako).await).await.is(201);
    house.pass(Duration::from_millis(1)).await;
    staff.grants("001", &code_of(&hanako).await).await.refuses(401, "staff_token_invalid");
    house.close().await;
}

#[tokio::test]
async fn staff_that_is_not_there_can_not_be_revoked() {
    let house = House::open("no such staff").await;
    let operator = house.bearer("operator");
    operator.post(&format!("/{RALLY}/staff/0a1b2c3d4e5f/revoke")).await.refuses(404, "staff_not_found");
    operator.post(&format!("/{RALLY}/staff/a%23b/revoke")).await.refuses(400, "invalid_request");
    operator.post("/nowhere/staff/0a1b2c3d4e5f/revoke").await.refuses(404, "event_not_found");
    house.bearer("viewer").post(&format!("/{RALLY}/staff/0a1b2c3d4e5f/revoke")).await.refuses(403, "forbidden");
    house.close().await;
}

#[tokio::test]
async fn no_token_is_stored_only_its_hash() {
    let house = House::open("hashes alone").await;
    let reception = hired(&house, "staff", &["001"]).await;
    let items = house.clients.table.scan().table_name("line-event").send().await.unwrap();
    let stored = format!("{:?}", items.items());
    let (id, secret) = reception["token"].as_str().unwrap().split_once('.').unwrap();
    assert!(stored.contains(id) && !stored.contains(secret));
    house.close().await;
}
