//! A consumer whose table has no stream, or another one than before: operators see it.

use stamp_rally::store::client::{Clients, Timeouts};

use super::{
    Participant, client, eventually,
    site::{Site, address, engine},
};
use crate::{house::Answer, tables::turn_the_stream};

#[tokio::test]
async fn a_consumer_is_ready_only_while_its_table_has_the_stream_that_it_reads() {
    let engine = engine();
    let mut site = Site::at(&engine.endpoint_url());
    site.set_up();
    site.variables.push(("STAMP_RALLY__OPS__BIND", "127.0.0.1:0".to_owned()));
    site.variables.push(("STAMP_RALLY__DELIVERY__POLL_INTERVAL_MS", "20".to_owned()));
    let clients = Clients::at(&engine.endpoint_url(), &Timeouts::request());
    let (mut server, mut consumer) = (site.start(&["serve"]), site.start(&["consume"]));
    let line = consumer.logs("answering operators").await;
    let ops = format!("http://{}", line.split_once("ops.bind=").unwrap().1.trim());
    let ask = async |path: &str| Answer::to(client().get(format!("{ops}{path}"))).await;
    let is_ready = async || (ask("/readyz").await.status == 200).then_some(());
    let shows =
        async |metric: &str| ask("/metrics").await.body.as_str()?.contains(&format!("{metric}\n")).then_some(());
    eventually("it reads the stream", is_ready).await;
    eventually("that is the table's", async || shows("stamp_rally_stream_unread 0").await).await;

    turn_the_stream(&clients, false).await;
    consumer.logs("the table has no stream: run `stamp-rally table create`").await;
    let refused = ask("/readyz").await.refuses(503, "store_unavailable");
    let detail = "The table has no stream: run `stamp-rally table create`, then `stamp-rally reconcile`.";
    assert_eq!(refused.body["detail"], detail);
    shows("stamp_rally_stream_unread 1").await.unwrap();
    let api = address(&mut server).await;
    let [hanako, taro] = [Participant::new(&site.line, "花子").await, Participant::new(&site.line, "太郎").await];
    hanako.acquire(&api, "001").await.is(201);

    site.run(&["table", "create"]);
    consumer.logs("the table has another stream than the one that was followed").await;
    eventually("it reads the other stream", is_ready).await;
    shows("stamp_rally_stream_replaced_total 1").await.unwrap();
    taro.acquire(&api, "001").await.is(201);
    eventually("what is acquired now", async || (site.line.phone(&taro.id).await.len() == 1).then_some(())).await;
    assert_eq!(site.line.phone(&hanako.id).await.len(), 0);
    site.run(&["reconcile"]);
    assert_eq!(site.line.phone(&hanako.id).await.len(), 1, "what neither stream has");
    consumer.stops().await;
    server.stops().await;
    site.line.doubled_nothing().await;
}
