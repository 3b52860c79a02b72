//! What a process may do on AWS is what docs/deploy.md says it needs: a role made by that table is enough.

use std::{collections::BTreeSet, fs};

use reqwest::Method;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use stamp_rally::store::client::{Clients, Timeouts};

use super::{
    Participant, client, eventually,
    site::{Site, address, engine},
};
use crate::{
    house::{Answer, PROOF_KEY, RALLY},
    proxy::Proxy,
    tables::make_the_articles_table,
};

/// The actions of one row of that page: for the main table, the consumers' table, the stream.
fn promised(what_runs: &str) -> [BTreeSet<String>; 3] {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/deploy.md")).unwrap();
    let rows = page.lines().filter_map(|line| line.strip_prefix(&format!("| `{what_runs}` | ")));
    let row = rows.into_iter().find(|row| row.starts_with("`DescribeTable`")).unwrap();
    let mut cells = row.split('|').map(|cell| cell.split('`').skip(1).step_by(2).map(ToOwned::to_owned).collect());
    [(); 3].map(|()| cells.next().unwrap())
}

/// What went over the wire since the last time, sorted into the same columns.
fn used(proxy: &Proxy) -> [BTreeSet<String>; 3] {
    let mut used = [(); 3].map(|()| BTreeSet::new());
    for call in proxy.forget_counts().into_keys() {
        let column = match call.table.as_deref() {
            Some("line-event") => 0,
            Some("line-event-consumers") => 1,
            // A transaction needs the permissions of what is in it.
            None if call.operation == "TransactWriteItems" => continue,
            // It names its table beside the keys, and ours is the main one.
            None if call.operation == "BatchGetItem" => 0,
            None => 2,
            Some(other) => panic!("{other} is no table of ours"),
        };
        used[column].insert(call.operation);
    }
    used
}

/// Whatever the API can do, once.
async fn use_everything(api: &str, hanako: &Participant) {
    hanako.register(api).await.is(201);
    hanako.acquire(api, "001").await.is(201);
    hanako.card(api).await.is(200);
    let ask = async |method: Method, path: &str| {
        let request = client().request(method, format!("{api}{path}")).bearer_auth("organiser");
        Answer::to(request.json(&json!({}))).await
    };
    let events = format!("/admin/api/events/{RALLY}");
    ask(Method::PUT, &events).await.is(200);
    ask(Method::PUT, &format!("{events}/stamps/001")).await.is(200);
    // A try of a passcode is counted.
    let change = async |stamp: Value| {
        let put = client().put(format!("{api}{events}/stamps/002")).bearer_auth("organiser");
        Answer::to(put.json(&stamp)).await.is(200)
    };
    change(json!({"proofs": [["passcode"]], "passcode": "himitsu"})).await;
    let guess = client().post(format!("{api}/api/events/{RALLY}/me/stamps/002")).bearer_auth(&hanako.token);
    Answer::to(guess.json(&json!({"proof": {"passcode": "wrong"}}))).await.refuses(422, "proof_rejected");
    change(json!({"proofs": [["open"]], "passcode": null})).await;
    let participant = format!("{events}/users/{}", hanako.id);
    let (holders, failed) = (format!("{events}/stamps/001/holders"), format!("{events}/deliveries?state=failed"));
    let lists = ["users", "users.csv", "stamps", "stats"].map(|list| format!("{events}/{list}"));
    let proofs = format!("{holders}?proofs=true");
    for path in lists.iter().chain([&participant, &holders, &proofs, &failed]) {
        ask(Method::GET, path).await.is(200);
    }
    ask(Method::GET, "/admin/api/events").await.is(200);
    ask(Method::GET, "/readyz").await.is(200);
    let resend = format!("{events}/deliveries/{}/001/resend", hanako.id);
    ask(Method::POST, &resend).await.refuses(409, "resend_pending");
}

#[tokio::test]
async fn a_role_as_documented_is_enough() {
    let engine = engine();
    let [servers, consumers] = [(); 2].map(|()| Proxy::start(&engine.endpoint_url()).unwrap());
    let mut site = Site::at(&servers.endpoint_url());
    let hash: Vec<String> = Sha256::digest("organiser").iter().map(|byte| format!("{byte:02x}")).collect();
    let tokens = json!([{"name": "organiser", "role": "admin", "sha256": hash.concat(), "events": ["*"]}]);
    site.variables.push(("STAMP_RALLY__ADMIN__TOKENS", tokens.to_string()));
    site.variables.push(("STAMP_RALLY__PROOFS__KEYS", PROOF_KEY.to_owned()));
    make_the_articles_table(&Clients::at(&engine.endpoint_url(), &Timeouts::request())).await;
    site.run(&["table", "create"]);
    let [main, consumers_table, _] = used(&servers);
    assert_eq!(&main | &consumers_table, promised("table create")[0]);
    site.set_up();
    used(&servers);

    let mut server = site.start(&["serve"]);
    let api = address(&mut server).await;
    let hanako = Participant::new(&site.line, "花子").await;
    use_everything(&api, &hanako).await;
    assert_eq!(used(&servers), promised("serve"));

    site.set("AWS_ENDPOINT_URL", &consumers.endpoint_url());
    let mut consumer = site.start(&["consume"]);
    consumer.logs("consuming").await;
    hanako.is_told_of(&api, &["001"]).await;
    hanako.acquire(&api, "002").await.is(201);
    eventually("the card is full", async || (site.line.accepted().await == 3).then_some(())).await;
    let taro = Participant::new(&site.line, "太郎").await;
    let refusal = json!([{"endpoint": "push", "kind": "status", "code": 400, "user": taro.id}]);
    site.line.faults(refusal).await;
    taro.acquire(&api, "001").await.is(201);
    eventually("a refused notice is put aside", async || {
        let path = format!("{api}/admin/api/events/{RALLY}/deliveries?state=failed");
        let failed = Answer::to(client().get(path).bearer_auth("organiser")).await.is(200);
        (failed.body["deliveries"].as_array()?.len() == 1).then_some(())
    })
    .await;
    consumer.stops().await;
    assert_eq!(used(&consumers), promised("consume"));
    server.stops().await;
}
