//! A stream that is turned off, and on again: another one.

use aws_sdk_dynamodb::types::AttributeValue;
use metrics_exporter_prometheus::PrometheusHandle;
use stamp_rally::{consumer::stream_state::StreamState, store::progress::Followed};

use super::*;
use crate::tables::turn_the_stream;

/// A house whose workers look at the table's stream, and read it, often.
async fn quick(story: &'static str) -> House {
    let mut house = House::for_delivery(story).await;
    house.settings.delivery.lease = Duration::from_millis(200);
    house.settings.delivery.poll_interval = Duration::from_millis(1);
    house.clock.run();
    house
}

fn gauge(metrics: &PrometheusHandle, line: &str) {
    let shown = metrics.render();
    assert!(shown.contains(&format!("{line}\n")), "no {line} in {shown}");
}

#[tokio::test]
async fn a_worker_reports_that_the_stream_is_off_and_follows_the_one_that_is_turned_on_instead() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let metrics = recorder.handle();
    let _here = metrics::set_default_local_recorder(&recorder);
    let house = quick("the_stream_is_off").await;
    let [hanako, taro, jiro] = ["Hanako", "Taro", "Jiro"].map(|name| house.person(name));
    let (mut worker, stop) = (house.worker(), CancellationToken::new());
    let watch = worker.watch();
    let becomes = async |state| until("the worker knows", LIMIT, async || (watch.state() == state).then_some(())).await;
    let story = async {
        hanako.acquired("001").await;
        until("the first notice", LIMIT, async || (hanako.state("001").await == "sent").then_some(())).await;
        gauge(&metrics, "stamp_rally_stream_unread 0");
        let former = house.store.followed("delivery").await.unwrap().unwrap();
        turn_the_stream(&house.clients, false).await;
        becomes(StreamState::Missing).await;
        gauge(&metrics, "stamp_rally_stream_unread 1");
        taro.acquired("001").await;

        turn_the_stream(&house.clients, true).await;
        let present = house.store.stream_arn().await.unwrap().unwrap();
        assert_ne!(present, former);
        let follows = async || (house.store.followed("delivery").await.unwrap()? == present).then_some(());
        until("it follows the other stream", LIMIT, follows).await;
        becomes(StreamState::Present).await;
        jiro.acquired("001").await;
        until("what is acquired now", LIMIT, async || (jiro.state("001").await == "sent").then_some(())).await;
        stop.cancel();
    };
    tokio::join!(worker.run(stop.clone()), story);
    gauge(&metrics, "stamp_rally_stream_unread 0");
    gauge(&metrics, "stamp_rally_stream_replaced_total 1");
    assert_eq!(taro.state("001").await, "waiting", "`reconcile` finds it");
    assert_eq!([hanako.phone().len(), taro.phone().len(), jiro.phone().len()], [1, 0, 1]);
}

#[tokio::test]
async fn a_worker_that_begins_reports_another_stream_than_the_one_that_was_followed_and_only_the_first_does() {
    let recorder = PrometheusBuilder::new().build_recorder();
    let metrics = recorder.handle();
    let _here = metrics::set_default_local_recorder(&recorder);
    let house = House::for_delivery("another_stream_at_the_start").await;
    house.worker().run_until_idle().await.unwrap();
    gauge(&metrics, "stamp_rally_stream_replaced_total 0");
    turn_the_stream(&house.clients, false).await;
    let mut waits = house.worker();
    waits.run_until_idle().await.unwrap();
    assert_eq!(waits.watch().state(), StreamState::Missing);

    turn_the_stream(&house.clients, true).await;
    for mut worker in [waits, house.worker()] {
        worker.run_until_idle().await.unwrap();
        assert_eq!(worker.watch().state(), StreamState::Present);
    }
    gauge(&metrics, "stamp_rally_stream_replaced_total 1");
}

#[tokio::test]
async fn a_change_of_stream_is_noted_once_also_when_the_answer_is_lost() {
    let house = House::for_delivery("a_change_of_stream_is_noted_once").await;
    let (store, now) = (&house.store, house.now());
    assert_eq!(store.followed("delivery").await.unwrap(), None);
    assert_eq!(store.follow("delivery", "a", now).await.unwrap(), Followed::Nothing);
    assert_eq!(store.follow("delivery", "a", now).await.unwrap(), Followed::This);
    assert_eq!(store.follow("another", "b", now).await.unwrap(), Followed::Nothing, "each consumer by itself");
    house.wire.inject("PutItem", Fault::LostAnswer, Often::Next(1));
    assert_eq!(store.follow("delivery", "b", now).await.unwrap(), Followed::Other { arn: "a".to_owned() });
    assert_eq!(store.followed("delivery").await.unwrap().as_deref(), Some("b"));
}

#[tokio::test]
async fn a_note_of_the_stream_that_cannot_be_read_stops_no_worker_and_is_replaced() {
    let house = House::for_delivery("a_note_of_the_stream_that_cannot_be_read").await;
    let hanako = house.person("Hanako");
    house.store.follow("delivery", "a", house.now()).await.unwrap();
    let text = |text: &str| AttributeValue::S(text.to_owned());
    let broken = house.clients.table.put_item().table_name("line-event-consumers");
    let broken = broken.item("PK", text("CONSUMER#delivery")).item("SK", text("STREAM"));
    broken.item("streamArn", AttributeValue::Bool(true)).send().await.unwrap();
    hanako.acquired("001").await;
    assert_eq!(house.worker().run_until_idle().await.unwrap().total(), 1);
    assert_eq!(house.store.followed("delivery").await.unwrap(), house.store.stream_arn().await.unwrap());
}

#[tokio::test]
async fn of_workers_that_find_the_change_at_once_one_reports_it() {
    let house = House::for_delivery("of_workers_that_find_the_change").await;
    house.store.follow("delivery", "a", house.now()).await.unwrap();
    let gate = house.wire.hold(Calls::OperationOn("PutItem", "line-event-consumers"));
    let (one, other) = (house.now(), house.now().plus_millis(1));
    let (first, second, ()) =
        tokio::join!(house.store.follow("delivery", "b", one), house.store.follow("delivery", "b", other), async {
            gate.has_waiting(2).await;
            gate.release();
        });
    let mut found = [first.unwrap(), second.unwrap()];
    found.sort_by_key(|found| *found == Followed::This);
    assert_eq!(found, [Followed::Other { arn: "a".to_owned() }, Followed::This]);
}
