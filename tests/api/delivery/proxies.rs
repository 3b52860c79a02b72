//! Something between this machine and LINE answers in LINE's place: an attempt without a clear answer, whatever it says.

use std::time::Duration;

use serde_json::{Value, json};
use stamp_rally::{delivery::Outcome, domain::notice::NoticeStatus};

use crate::house::{House, Person};

const LOGIN_PAGE: &str = "<!DOCTYPE html><html><body>Log in to go on</body></html>";

/// A proxy answers pushes with this status, so often.
fn proxy(code: u16, times: u64) -> Value {
    json!({ "kind": "proxy", "code": code, "body": LOGIN_PAGE, "times": times })
}

async fn maybe_sent_at(person: &Person<'_>) -> Option<stamp_rally::domain::time::Timestamp> {
    match person.notice("001").await {
        NoticeStatus::Parked(parked) => parked.maybe_sent_at,
        NoticeStatus::Pending { maybe_sent_at } => maybe_sent_at,
        NoticeStatus::None | NoticeStatus::Sent { .. } => None,
    }
}

#[tokio::test]
async fn a_login_page_with_200_is_not_success_and_the_notice_is_sent_once_when_line_answers() {
    let house = House::for_delivery("a_login_page_with_200").await;
    house.pushes_fail(proxy(200, 3)).await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    assert_eq!(house.worker().run_until_idle().await.unwrap().of(Outcome::Sent), 1);
    let pushes = house.pushes().await;
    assert_eq!((pushes["proxy_200"], pushes["200"]), (3, 1));
    assert_eq!((hanako.state("001").await.as_str(), hanako.phone().len()), ("sent", 1));
    let NoticeStatus::Sent { request_id, .. } = hanako.notice("001").await else { panic!("it is sent") };
    assert!(request_id.is_some(), "LINE's own id of the request is kept");
}

#[tokio::test]
async fn no_status_of_a_proxy_makes_a_notice_fail_or_pauses_its_channel() {
    for code in [302, 400, 401, 403, 404, 407, 409, 413, 425, 429, 451, 502] {
        let house = House::for_delivery("no_status_of_a_proxy").await;
        house.pushes_fail(proxy(code, 2)).await;
        let (hanako, taro) = (house.person("Hanako"), house.person("Taro"));
        hanako.acquired("001").await;
        taro.acquired("001").await;
        let tally = house.worker().run_until_idle().await.unwrap();
        assert_eq!((tally.of(Outcome::Sent), tally.total()), (2, 2), "{code}: {tally:?}");
        let pushes = house.pushes().await;
        assert_eq!((pushes[&format!("proxy_{code}")], pushes["200"]), (2, 2), "{code}");
        assert_eq!((hanako.phone().len(), taro.phone().len()), (1, 1));
    }
}

#[tokio::test]
async fn a_message_that_line_accepted_behind_a_proxy_is_not_sent_twice() {
    let house = House::for_delivery("accepted_behind_a_proxy").await;
    house.pushes_fail(json!({ "kind": "proxy_after_accept", "code": 504, "times": 1 })).await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    assert_eq!(house.worker().run_until_idle().await.unwrap().of(Outcome::Sent), 1);
    assert_eq!((house.pushes().await["409"], hanako.phone().len()), (1, 1));
}

#[tokio::test]
async fn while_a_proxy_answers_for_long_notices_are_held_as_maybe_sent_and_go_out_when_line_answers() {
    let house = House::for_delivery("a_proxy_answers_for_long").await;
    house.pushes_fail(json!({ "kind": "proxy", "code": 403 })).await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    let mut worker = house.worker();
    worker.run_until_idle().await.unwrap();
    assert_eq!(hanako.state("001").await, "held line_unavailable", "not `not_authorized`: LINE has said nothing");
    assert!(maybe_sent_at(&hanako).await.is_some(), "maybe sent");
    house.heal().await;
    assert_eq!(worker.run_until_idle().await.unwrap().of(Outcome::Sent), 1, "the channel was not paused");
    assert_eq!(hanako.phone().len(), 1);
}

#[tokio::test]
async fn what_only_a_proxy_answered_for_a_day_is_unknown() {
    let house = House::for_delivery("only_a_proxy_answered").await;
    house.pushes_fail(json!({ "kind": "proxy", "code": 407 })).await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    let mut worker = house.worker();
    worker.run_until_idle().await.unwrap();
    house.pass(Duration::from_hours(24)).await;
    house.heal().await;
    worker.run_until_idle().await.unwrap();
    assert_eq!((hanako.state("001").await.as_str(), hanako.phone().len()), ("unknown retry_key_expired", 0));
}

/// The channel waits, for as long as it was asked to, and is neither paused nor tried meanwhile.
async fn waits(story: &'static str, retry_after: &str, seconds: u64) {
    let mut house = House::for_delivery(story).await;
    house.retry.longest_backoff = Duration::from_secs(10);
    let headers = json!({ "retry-after": retry_after });
    let rule =
        json!({ "kind": "status", "code": 429, "body": {"message": "Too many"}, "headers": headers, "times": 1 });
    house.pushes_fail(rule).await;
    let (hanako, taro) = (house.person("Hanako"), house.person("Taro"));
    let mut worker = house.worker();
    hanako.acquired("001").await;
    worker.run_until_idle().await.unwrap();
    taro.acquired("001").await;
    // A second has passed for Taro's stamp.
    house.pass(Duration::from_millis((seconds - 1) * 1000 - 1)).await;
    worker.run_until_idle().await.unwrap();
    assert_eq!(house.pushes().await.values().sum::<u64>(), 1, "{retry_after}: no push meanwhile");
    for person in [&hanako, &taro] {
        assert_eq!(
            person.state("001").await,
            "held line_unavailable",
            "{retry_after}: the shard does not wait so long"
        );
    }
    house.pass(Duration::from_millis(1)).await;
    worker.run_until_idle().await.unwrap();
    assert_eq!((hanako.phone().len(), taro.phone().len()), (1, 1), "{retry_after}");
}

#[tokio::test]
async fn a_retry_after_is_obeyed_and_one_of_a_day_for_ten_seconds() {
    waits("retry_after_in_seconds", "4", 4).await;
    waits("retry_after_as_a_date", "Sat, 23 May 2026 03:16:45 GMT", 4).await;
    for absurd in ["86400", "99999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT"] {
        waits("retry_after_absurd", absurd, 10).await;
    }
}

#[tokio::test]
async fn a_retry_after_of_nothing_or_of_nonsense_changes_nothing() {
    for retry_after in ["0", "Sun, 06 Nov 1994 08:49:37 GMT", "soon", "-5"] {
        let house = House::for_delivery("retry_after_of_nothing").await;
        let headers = json!({ "retry-after": retry_after });
        house.pushes_fail(json!({ "kind": "proxy", "code": 503, "headers": headers, "times": 2 })).await;
        let hanako = house.person("Hanako");
        hanako.acquired("001").await;
        assert_eq!(house.worker().run_until_idle().await.unwrap().of(Outcome::Sent), 1, "{retry_after}");
    }
}

#[tokio::test]
async fn a_wait_that_the_shard_can_bear_is_waited_for_on_the_ordinary_path() {
    let mut house = House::for_delivery("a_wait_that_the_shard_can_bear").await;
    house.clock.run();
    house.retry.ordinary_deadline = Duration::from_secs(30);
    house.retry.longest_backoff = Duration::from_secs(10);
    let headers = json!({ "retry-after": "1" });
    house.pushes_fail(json!({ "kind": "proxy", "code": 503, "headers": headers, "times": 1 })).await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    let began = std::time::Instant::now();
    assert_eq!(house.worker().run_until_idle().await.unwrap().of(Outcome::Sent), 1);
    assert!(began.elapsed() >= Duration::from_secs(1), "{:?}", began.elapsed());
    assert_eq!((house.pushes().await["proxy_503"], hanako.phone().len()), (1, 1));
}

#[tokio::test]
async fn a_proxy_that_answers_a_probe_does_not_resume_a_paused_channel() {
    let house = House::for_delivery("a_proxy_that_answers_a_probe").await;
    house.pushes_fail(json!({ "kind": "expired_token" })).await;
    let hanako = house.person("Hanako");
    hanako.acquired("001").await;
    let mut worker = house.worker();
    worker.run_until_idle().await.unwrap();
    assert_eq!(hanako.state("001").await, "held not_authorized");
    house.pushes_fail(proxy(200, 1)).await;
    house.pass(house.settings.delivery.probe_interval).await;
    worker.run_until_idle().await.unwrap();
    assert_eq!(house.pushes().await["proxy_200"], 1, "one probe");
    assert_eq!((hanako.state("001").await.as_str(), hanako.phone().len()), ("held line_unavailable", 0));
    assert_eq!(worker.run_until_idle().await.unwrap().total(), 0, "it is still paused");
    house.pass(house.settings.delivery.probe_interval).await;
    assert_eq!(worker.run_until_idle().await.unwrap().of(Outcome::Sent), 1);
    assert_eq!(hanako.phone().len(), 1);
}
