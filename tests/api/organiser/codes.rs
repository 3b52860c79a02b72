//! The codes of a stamp: listed, rotated, revoked, and what becomes of the posters meanwhile.

use serde_json::{Value, json};

use crate::house::{Answer, House, Organiser, Person, RALLY};

/// What the codes of a stamp are below.
const CODES: &str = "/stamp-rally-202606/stamps/001/codes";

/// A house whose first stamp takes a printed code, and whose event has a page in LINE.
async fn with_posters(story: &'static str) -> House {
    let house = House::open(story).await;
    house.change_the_rally(&json!({"liffId": "1234567890-AbcdEfgh"})).await;
    house.change_stamp("001", &json!({"proofs": [["qr_static"], ["staff"]]})).await;
    house
}

impl Organiser<'_> {
    async fn codes(&self) -> Vec<Value> {
        self.get(CODES).await.is(200).body["codes"].as_array().unwrap().clone()
    }

    async fn rotate(&self) -> Answer {
        self.post(&format!("{CODES}/qr_static/rotate")).await
    }

    async fn revoke(&self, generation: u8) -> Answer {
        self.post(&format!("{CODES}/qr_static/{generation}/revoke")).await
    }
}

impl Person<'_> {
    async fn claims_by(&self, code: &Value) -> Answer {
        let request = self.request(reqwest::Method::POST, "/me/stamps/001");
        Answer::to(request.json(&json!({"proof": {"code": code}}))).await
    }
}

#[tokio::test]
async fn the_first_generation_is_always_there_with_its_code_and_link() {
    let house = with_posters("first codes").await;
    assert_eq!(
        house.bearer("operator").codes().await,
        [json!({
            "kind": "qr_static", "generation": 1, "code": "SBJV9RZ43010QG3PKWJFQE5FNBP",
            "link": "https://liff.line.me/1234567890-AbcdEfgh/s/SBJV9RZ43010QG3PKWJFQE5FNBP",
        })]
    );
    house.change_the_rally(&json!({"liffId": null})).await;
    assert_eq!(house.bearer("operator").codes().await[0].get("link"), None);
    house.change_stamp("001", &json!({"proofs": [["qr_rotating"]], "proofSettings": {"qr_rotating": {}}})).await;
    assert_eq!(house.organiser().codes().await, [json!({"kind": "qr_rotating", "generation": 1})]);
    house.close().await;
}

#[tokio::test]
async fn an_old_poster_stays_good_until_it_is_revoked_and_no_stamp_is_lost() {
    let house = with_posters("posters").await;
    let (operator, hanako, taro, jiro) =
        (house.bearer("operator"), house.hanako(), house.person("太郎"), house.person("次郎"));
    let old = operator.codes().await[0]["code"].clone();

    let new = operator.rotate().await.is(201).body;
    assert_eq!((&new["generation"], &new["createdBy"]), (&json!(2), &json!("operator")));
    assert!(new["code"] != old && new["link"].as_str().unwrap().ends_with(new["code"].as_str().unwrap()));
    hanako.claims_by(&old).await.is(201);

    let revoked = operator.revoke(1).await.is(200).body;
    assert_eq!((&revoked["revokedBy"], revoked.get("code")), (&json!("operator"), None));
    let refused = taro.claims_by(&old).await.is(422).body;
    assert_eq!((&refused["code"], &refused["reason"]), (&json!("proof_rejected"), &json!("code_revoked")));
    taro.claims_by(&new["code"]).await.is(201);
    assert_eq!(hanako.claims_by(&old).await.is(200).body["acquired"], true, "what is acquired stays so");

    assert_eq!(house.organiser().revoke(1).await.is(200).body, revoked, "a repeat is answered as the first one");
    jiro.claims_by(&old).await.is(422);
    house.close().await;
}

#[tokio::test]
async fn what_is_no_generation_kind_or_stamp_is_refused_by_name() {
    let house = with_posters("no codes").await;
    let operator = house.bearer("operator");
    assert_eq!(operator.revoke(2).await.is(404).body["code"], "code_not_found");
    for (path, status, code) in [
        ("qr_static/0/revoke", 400, "invalid_request"),
        ("qr_static/100/revoke", 400, "invalid_request"),
        ("qr_static/one/revoke", 400, "invalid_request"),
        ("passcode/1/revoke", 400, "invalid_request"),
        ("passcode/rotate", 400, "invalid_request"),
    ] {
        operator.post(&format!("{CODES}/{path}")).await.refuses(status, code);
    }
    for (path, code) in
        [("/spring/stamps/001/codes", "event_not_found"), ("/stamp-rally-202606/stamps/009/codes", "stamp_not_found")]
    {
        assert_eq!(operator.get(path).await.is(404).body["code"], code);
        assert_eq!(operator.post(&format!("{path}/qr_static/rotate")).await.is(404).body["code"], code);
        assert_eq!(operator.post(&format!("{path}/qr_static/1/revoke")).await.is(404).body["code"], code);
    }
    let viewer = house.bearer("viewer");
    viewer.get(CODES).await.is(403);
    viewer.rotate().await.is(403);
    viewer.revoke(1).await.is(403);
    house.close().await;
}

#[tokio::test]
async fn a_hundredth_generation_is_refused() {
    let house = with_posters("a hundred codes").await;
    let operator = house.bearer("operator");
    for generation in 2..=99 {
        assert_eq!(operator.rotate().await.is(201).body["generation"], generation);
    }
    let refused = operator.rotate().await.is(409).body;
    assert_eq!(refused["code"], "setting_fixed");
    assert!(refused["detail"].as_str().unwrap().contains("99 generations"), "{refused}");
    assert_eq!(operator.codes().await.len(), 99);
    house.close().await;
}

#[tokio::test]
async fn two_operators_who_rotate_at_once_get_two_generations() {
    let house = with_posters("two rotate").await;
    let (operator, organiser) = (house.bearer("operator"), house.organiser());
    let gate = house.wire.hold("PutItem");
    let both_wait = async {
        gate.has_waiting(2).await;
        gate.release();
    };
    let (one, two, ()) = tokio::join!(operator.rotate(), organiser.rotate(), both_wait);
    let mut generations = [one, two].map(|made| made.is(201).body["generation"].as_i64().unwrap());
    generations.sort_unstable();
    assert_eq!(generations, [2, 3]);
    assert_eq!(operator.codes().await.len(), 3);
    house.close().await;
}

#[tokio::test]
async fn a_put_beside_a_revocation_loses_neither() {
    let house = with_posters("put beside revoke").await;
    let (operator, organiser) = (house.bearer("operator"), house.organiser());
    for (generation, name) in [(1, "駅前"), (2, "灯台"), (3, "港"), (4, "公園")] {
        operator.rotate().await.is(201);
        let gate = house.wire.hold("PutItem");
        let both_wait = async {
            gate.has_waiting(2).await;
            gate.release();
        };
        let renamed = json!({"name": name});
        let (put, revoked, ()) =
            tokio::join!(organiser.put_stamp(RALLY, "001", &renamed), operator.revoke(generation), both_wait);
        assert_eq!((put.status, revoked.status), (200, 200), "{put:?} {revoked:?}");
        let stored = organiser.get(&format!("/{RALLY}/stamps/001")).await.is(200).body;
        assert_eq!(stored["name"], name);
        assert!(operator.codes().await[usize::from(generation) - 1]["revokedAt"].is_string(), "{stored}");
    }
    house.close().await;
}

#[tokio::test]
async fn a_put_of_a_stamps_settings_changes_no_codes() {
    let house = with_posters("put of codes").await;
    let organiser = house.organiser();
    let version = organiser.get(&format!("/{RALLY}/stamps/001")).await.header("etag").to_owned();
    organiser.revoke(1).await.is(200);
    let read = organiser.get(&format!("/{RALLY}/stamps/001")).await;
    assert_ne!(read.header("etag"), version, "the stamp's version grows");
    let mut whole = read.body.clone();
    whole["codes"] = json!([]);
    organiser.put_stamp(RALLY, "001", &whole).await.is(200);
    assert_eq!(organiser.get(&format!("/{RALLY}/stamps/001")).await.body["codes"], read.body["codes"]);
    house.close().await;
}

#[tokio::test]
async fn a_generation_that_another_server_has_just_made_is_good_here() {
    let house = with_posters("new elsewhere").await;
    let (operator, hanako, neighbour) = (house.bearer("operator"), house.hanako(), house.neighbour());
    // This server knows the rally, and only the first generation.
    hanako.card().await.is(404);
    let made = neighbour.answers(operator.request(reqwest::Method::POST, &format!("{CODES}/qr_static/rotate"))).await;
    hanako.claims_by(&made.is(201).body["code"]).await.is(201);
    house.close().await;
}

#[tokio::test]
async fn holders_are_listed_with_their_proofs_if_that_is_asked_for() {
    let house = with_posters("holders proofs").await;
    let (viewer, hanako, taro) = (house.bearer("viewer"), house.hanako(), house.person("太郎"));
    hanako.claims_by(&json!("SBJV9RZ43010QG3PKWJFQE5FNBP")).await.is(201);
    house.change_stamp("001", &json!({"proofs": [["open"]]})).await;
    house.pass(std::time::Duration::from_secs(6)).await;
    taro.acquire("001").await.is(201);

    house.wire();
    let holders = format!("/{RALLY}/stamps/001/holders");
    let plain = viewer.get(&holders).await.is(200).body["holders"].clone();
    assert!(plain.as_array().unwrap().iter().all(|row| row.get("proof").is_none()), "{plain}");
    assert!(house.wire().iter().all(|call| !call.contains("BatchGetItem")));

    let rows = viewer.get(&format!("{holders}?proofs=true")).await.is(200).body["holders"].clone();
    assert_eq!(rows[0]["lineUserId"], hanako.id);
    assert_eq!(rows[0]["proof"], json!({"kinds": ["qr_static"], "trust": 1, "generation": 1}));
    assert_eq!((&rows[1]["lineUserId"], rows[1].get("proof")), (&json!(taro.id), None));
    assert!(house.wire().contains(&"1 × BatchGetItem".to_owned()), "one for up to 100 rows");
    for other in ["false", "1", ""] {
        viewer.get(&format!("{holders}?proofs={other}")).await.refuses(400, "invalid_request");
    }
    house.close().await;
}
