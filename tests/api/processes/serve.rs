//! `serve` and `consume` against a DynamoDB and a LINE that are somewhere else.

use serde_json::json;
use stamp_rally::store::client::{Clients, Timeouts};

use super::{
    Participant, client, eventually,
    refusals::refusal,
    site::{Site, address, engine},
};
use crate::{
    house::Answer,
    proxy::{Fault, Often, Proxy},
    tables::{make_another_programs_table, make_the_articles_table},
};

#[tokio::test]
async fn server_and_consumer_in_one_process_serve_a_rally() {
    let engine = engine();
    let site = Site::at(&engine.endpoint_url());
    site.set_up();
    let mut server = site.start(&["serve", "--with-consumer"]);
    let api = address(&mut server).await;
    Answer::to(client().get(format!("{api}/readyz"))).await.is(200);
    let hanako = Participant::new(&site.line, "花子").await;
    hanako.acquire(&api, "001").await.is(201);
    hanako.acquire(&api, "002").await.is(201);
    hanako.is_told_of(&api, &["001", "002"]).await;
    eventually("the message of the full card", async || (site.line.accepted().await == 3).then_some(())).await;
    server.stops().await;
    site.line.doubled_nothing().await;
    assert_eq!(site.line.phone(&hanako.id).await.len(), 3);
}

#[tokio::test]
async fn server_and_consumer_in_two_processes_serve_a_rally_together() {
    let engine = engine();
    let site = Site::at(&engine.endpoint_url());
    site.set_up();
    let mut server = site.start(&["serve"]);
    let api = address(&mut server).await;
    let hanako = Participant::new(&site.line, "花子").await;
    hanako.acquire(&api, "001").await.is(201);
    assert_eq!(site.line.accepted().await, 0, "nothing consumes yet");

    let mut consumer = site.start(&["consume"]);
    consumer.logs("consuming").await;
    hanako.is_told_of(&api, &["001"]).await;
    // The server goes; what it stored is told all the same.
    let taro = Participant::new(&site.line, "太郎").await;
    consumer.kill();
    taro.acquire(&api, "001").await.is(201);
    server.stops().await;
    let mut consumer = site.start(&["consume"]);
    consumer.logs("consuming").await;
    eventually("太郎 is told", async || (site.line.phone(&taro.id).await.len() == 1).then_some(())).await;
    consumer.stops().await;
    site.line.doubled_nothing().await;
    assert_eq!(site.line.accepted().await, 2);
}

#[tokio::test]
async fn missing_tables_end_the_start_with_the_command_that_makes_them() {
    let engine = engine();
    let site = Site::at(&engine.endpoint_url());
    for arguments in [&["serve"][..], &["serve", "--with-consumer"], &["consume"]] {
        let mut process = site.start(arguments);
        let warned = process.logs("`line.api_base_url` is").await;
        assert!(warned.contains("WARN"), "{warned}");
        assert_eq!(refusal(process).await, "no table line-event, line-event-consumers: run `stamp-rally table create`");
    }
    site.run(&["table", "create"]);
    let mut server = site.start(&["serve"]);
    address(&mut server).await;
    server.stops().await;
}

#[tokio::test]
async fn the_table_of_another_program_ends_the_start() {
    let engine = engine();
    make_another_programs_table(&Clients::at(&engine.endpoint_url(), &Timeouts::request())).await;
    let mut site = Site::at(&engine.endpoint_url());
    // It makes the other table, and says that a person has to decide about this one.
    assert_eq!(site.start(&["table", "create"]).ends().await.0.code(), Some(1));
    let mut process = site.start(&["serve"]);
    process.logs("`line.api_base_url` is").await;
    let said = refusal(process).await;
    assert!(said.starts_with("table line-event: its keys are id (N), not PK (S), SK (S)"), "{said}");
    assert!(said.ends_with("Choose another name by `store.table` and `store.consumer_table`"), "{said}");
    site.variables.push(("STAMP_RALLY__STORE__TABLE", "our-line-event".to_owned()));
    site.run(&["table", "create"]);
    let mut server = site.start(&["serve"]);
    address(&mut server).await;
    server.stops().await;
}

/// It has no stream yet, and no index of holders: participants are served, and told as soon as there is a stream.
#[tokio::test]
async fn a_table_of_the_article_is_served_and_completed_while_it_is() {
    let engine = engine();
    let site = Site::at(&engine.endpoint_url());
    site.set_up();
    let clients = Clients::at(&engine.endpoint_url(), &Timeouts::request());
    clients.table.delete_table().table_name("line-event").send().await.unwrap();
    make_the_articles_table(&clients).await;
    let mut server = site.start(&["serve", "--with-consumer"]);
    let warned = server.logs("table.difference=it has no stream").await;
    assert!(warned.contains("`stamp-rally table create` completes this"), "{warned}");
    let api = address(&mut server).await;
    server.logs("the table has no stream: run `stamp-rally table create`").await;
    site.set_up();
    let hanako = Participant::new(&site.line, "花子").await;
    hanako.acquire(&api, "001").await.is(201);
    hanako.is_told_of(&api, &["001"]).await;
    server.ask_to_stop();
    assert_eq!(server.ends().await.0.code(), Some(0));
}

#[tokio::test]
async fn a_store_out_of_reach_is_waited_for() {
    let engine = engine();
    let proxy = Proxy::start(&engine.endpoint_url()).unwrap();
    let site = Site::at(&proxy.endpoint_url());
    site.set_up();
    proxy.down();
    let mut server = site.start(&["serve", "--with-consumer"]);
    server.logs("the store can't be reached; waiting for it").await;
    let api = address(&mut server).await;
    Answer::to(client().get(format!("{api}/healthz"))).await.is(200);
    Answer::to(client().get(format!("{api}/readyz"))).await.refuses(503, "store_unavailable");
    proxy.up();
    let hanako = Participant::new(&site.line, "花子").await;
    hanako.acquire(&api, "001").await.is(201);
    hanako.is_told_of(&api, &["001"]).await;

    // Out of reach later on: it says so, and continues when the store is back.
    proxy.down();
    let refused = hanako.acquire(&api, "002").await.refuses(503, "store_unavailable");
    assert_eq!(refused.header("retry-after"), "2");
    Answer::to(client().get(format!("{api}/readyz"))).await.refuses(503, "store_unavailable");
    Answer::to(client().get(format!("{api}/healthz"))).await.is(200);
    proxy.up();
    hanako.acquire(&api, "002").await.is(201);
    hanako.is_told_of(&api, &["001", "002"]).await;
    site.line.doubled_nothing().await;
    server.stops().await;
}

#[tokio::test]
async fn a_consumer_answers_operators_how_it_is() {
    let engine = engine();
    let proxy = Proxy::start(&engine.endpoint_url()).unwrap();
    let mut site = Site::at(&proxy.endpoint_url());
    site.set_up();
    site.variables.push(("STAMP_RALLY__OPS__BIND", "127.0.0.1:0".to_owned()));
    site.variables.push(("STAMP_RALLY__DELIVERY__LEASE_MS", "1000".to_owned()));
    proxy.down();
    let mut consumer = site.start(&["consume"]);
    let line = consumer.logs("answering operators").await;
    let (_, address) = line.split_once("ops.bind=").unwrap();
    let ops = format!("http://{}", address.trim());
    let ask = async |path: &str| Answer::to(client().get(format!("{ops}{path}"))).await;
    ask("/healthz").await.is(200);
    ask("/readyz").await.refuses(503, "store_unavailable");
    // Not what `openapi.json` describes for this path: this process serves no participants.
    let stamps = client().get(format!("{ops}/api/events/stamp-rally-202606/stamps")).send().await.unwrap();
    assert_eq!(stamps.status(), 404);
    assert!(stamps.text().await.unwrap().contains(r#""code":"not_found""#));

    proxy.up();
    eventually("it looks at the workers' progress", async || (ask("/readyz").await.status == 200).then_some(())).await;
    let said = eventually("the quota is told", async || {
        let said = ask("/metrics").await.body.as_str().unwrap().to_owned();
        said.contains("stamp_rally_line_quota_left").then_some(said)
    });
    let said = said.await;
    for told in [
        "# HELP stamp_rally_channel_paused 1: this process can't send",
        "stamp_rally_channel_paused{channel=\"main\"} 0",
        "stamp_rally_line_quota_left{channel=\"main\"} ",
        "stamp_rally_worker_round_timestamp_seconds ",
    ] {
        assert!(said.contains(told), "no {told} in {said}");
    }
    proxy.down();
    eventually("it is not ready", async || (ask("/readyz").await.status == 503).then_some(())).await;
    ask("/healthz").await.is(200);
    consumer.stops().await;
}

#[tokio::test]
async fn a_line_that_does_not_answer_the_quota_delays_no_stop() {
    let engine = engine();
    let mut site = Site::at(&engine.endpoint_url());
    site.set_up();
    site.variables.push(("STAMP_RALLY__LINE__TIMEOUT_MS", "20000".to_owned()));
    site.line.faults(json!([{"endpoint": "quota", "kind": "delay", "ms": 20_000}])).await;
    let mut consumer = site.start(&["consume"]);
    consumer.logs("reading a shard").await;
    let hanako = Participant::new(&site.line, "花子").await;
    let mut server = site.start(&["serve"]);
    let api = address(&mut server).await;
    hanako.acquire(&api, "001").await.is(201);
    // By the time that a whole notice took, the quota has been asked for.
    hanako.is_told_of(&api, &["001"]).await;
    consumer.ask_to_stop();
    let (status, said) = consumer.ends().await;
    assert_eq!(status.code(), Some(0), "{said}");
    assert!(!said.contains("the quota can't be read"), "it waited for LINE: {said}");
    server.stops().await;
}

#[tokio::test]
async fn who_waits_for_the_store_can_be_asked_to_stop() {
    let engine = engine();
    let proxy = Proxy::start(&engine.endpoint_url()).unwrap();
    proxy.down();
    let site = Site::at(&proxy.endpoint_url());
    for arguments in [&["serve", "--with-consumer"][..], &["consume"]] {
        let mut process = site.start(arguments);
        process.logs("waiting for it").await;
        process.stops().await;
    }
}

#[tokio::test]
async fn asked_to_stop_it_finishes_what_runs() {
    let engine = engine();
    let proxy = Proxy::start(&engine.endpoint_url()).unwrap();
    let site = Site::at(&proxy.endpoint_url());
    site.set_up();
    let mut server = site.start(&["serve"]);
    let api = address(&mut server).await;
    let hanako = Participant::new(&site.line, "花子").await;
    let gate = proxy.hold("PutItem");
    let stopping = async {
        gate.has_waiting(1).await;
        server.ask_to_stop();
        server.logs("asked to stop").await;
        // No new guests, while the one who is in is served.
        eventually("the door is shut", async || client().get(format!("{api}/healthz")).send().await.err()).await;
        gate.release();
        server.ends().await
    };
    let (answer, (status, _)) = tokio::join!(hanako.acquire(&api, "001"), stopping);
    answer.is(201);
    assert_eq!(status.code(), Some(0));
}

#[tokio::test]
async fn an_endpoint_for_the_table_alone_or_its_stream_alone_is_refused() {
    let engine = engine();
    let mut site = Site::at(&engine.endpoint_url());
    site.set_up();
    let whole = site.variables.clone();
    for (set, missing) in [
        ("AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_DYNAMODB_STREAMS"),
        ("AWS_ENDPOINT_URL_DYNAMODB_STREAMS", "AWS_ENDPOINT_URL_DYNAMODB"),
    ] {
        site.variables = whole.clone();
        site.variables.push((set, engine.endpoint_url()));
        for arguments in [&["serve", "--with-consumer"][..], &["consume"], &["table", "status"]] {
            let mut process = site.start(arguments);
            // A command that never talks to LINE has nothing to say about it.
            if arguments[0] != "table" {
                process.logs("`line.api_base_url` is").await;
            }
            let said = refusal(process).await;
            assert!(said.starts_with(&format!("{set} is set and {missing} is not")), "{said}");
        }
    }
    // Both are as good as one for everything.
    site.variables = whole.into_iter().filter(|(name, _)| *name != "AWS_ENDPOINT_URL").collect();
    for name in ["AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_DYNAMODB_STREAMS"] {
        site.variables.push((name, engine.endpoint_url()));
    }
    let mut server = site.start(&["serve", "--with-consumer"]);
    let api = address(&mut server).await;
    let hanako = Participant::new(&site.line, "花子").await;
    hanako.acquire(&api, "001").await.is(201);
    hanako.is_told_of(&api, &["001"]).await;
    server.stops().await;
}

#[tokio::test]
async fn what_a_production_start_lacks_is_reported_in_one_line() {
    let engine = engine();
    let mut site = Site::at(&engine.endpoint_url());
    site.set_up();
    let whole = site.variables.clone();
    let without = |names: &[&str]| {
        whole.iter().filter(|(name, _)| !names.iter().any(|left| name.contains(left))).cloned().collect()
    };
    for (left_out, says) in [
        (&["CHANNELS"][..], "`line.channels` is empty"),
        (&["CHANNEL_SECRETS"], "`line.channels.main.channel_secrets` "),
        (&["LOGIN_CHANNEL_IDS"], "`line.channels.main.login_channel_ids` "),
        (&["AWS_REGION"], "no AWS region is set"),
    ] {
        site.variables = without(left_out);
        let (status, said) = site.start(&["serve"]).ends().await;
        assert_eq!(status.code(), Some(1), "{said}");
        let errors: Vec<&str> = said.lines().filter(|line| !line.contains("`line.api_base_url` is")).collect();
        assert_eq!(errors.len(), 1, "{said}");
        assert!(errors[0].contains(says), "{said}");
    }
}

/// A store that throttles for a while makes requests wait or fail; it never loses what was answered.
#[tokio::test]
async fn a_store_that_throttles_loses_nothing_that_was_answered() {
    let engine = engine();
    let proxy = Proxy::start(&engine.endpoint_url()).unwrap();
    let site = Site::at(&proxy.endpoint_url());
    site.set_up();
    let mut server = site.start(&["serve", "--with-consumer"]);
    let api = address(&mut server).await;
    proxy.inject("PutItem", Fault::Throttled, Often::Percent { percent: 40, seed: 1 });
    proxy.inject("UpdateItem", Fault::LostAnswer, Often::Percent { percent: 30, seed: 2 });
    proxy.inject("GetRecords", Fault::LostRequest, Often::Percent { percent: 30, seed: 3 });
    let mut people = Vec::new();
    for number in 0..10 {
        let person = Participant::new(&site.line, &format!("参加者{number}")).await;
        eventually("it is stored in the end", async || {
            let status = person.tries_to_acquire(&api, "001", "k").await.unwrap();
            assert!([201, 503].contains(&status), "{status}");
            (status == 201).then_some(())
        })
        .await;
        people.push(person);
    }
    for person in &people {
        person.is_told_of(&api, &["001"]).await;
        assert_eq!(site.line.phone(&person.id).await.len(), 1);
    }
    assert_eq!(site.line.accepted().await, 10);
    site.line.doubled_nothing().await;
    server.stops().await;
}
