//! Participants by registration time: days and instants, pages and cursors.

use chrono::{DateTime, Days, NaiveTime};
use serde_json::json;
use stamp_rally::domain::time::{TimeSource, Timestamp};

use super::{at, event, number, numbers};
use crate::house::{House, RALLY};

/// 19:00 on the 23rd of May in Tokyo, and so many milliseconds.
fn evening(millis: i64) -> Timestamp {
    at("2026-05-23T10:00:00.000Z").plus_millis(millis)
}

#[tokio::test]
async fn who_registers_at_half_past_midnight_in_tokyo_is_on_the_new_day() {
    let house = House::open("half past midnight").await;
    let now = DateTime::parse_from_rfc3339(&house.clock.now().to_string()).unwrap().to_utc();
    // The next 15:30 UTC is 00:30 of the day after in Tokyo.
    let today = now.date_naive().and_time(NaiveTime::from_hms_opt(15, 30, 0).unwrap()).and_utc();
    let half_past = if today > now { today } else { today + Days::new(1) };
    house.pass((half_past - now).to_std().unwrap()).await;
    let hanako = house.hanako();
    let card = hanako.register().await.is(201);
    assert_eq!(at(card.body["createdAt"].as_str().unwrap()).as_millis(), half_past.timestamp_millis());

    let organiser = house.organiser();
    let (day, next) = (half_past.date_naive(), half_past.date_naive() + Days::new(1));
    assert_eq!(organiser.people(&format!("from={day}&to={day}")).await, [] as [u32; 0]);
    let found = organiser.get(&format!("/{RALLY}/users?from={next}&to={next}")).await.is(200);
    assert_eq!(
        found.body,
        json!({"users": [{
            "eventId": RALLY, "lineUserId": hanako.id, "createdAt": card.body["createdAt"],
            "updatedAt": card.body["createdAt"], "requestId": found.body["users"][0]["requestId"],
        }]})
    );
}

#[tokio::test]
async fn days_are_those_of_the_events_zone_and_instants_any_offset() {
    let house = House::open("days").await;
    let organiser = house.organiser();
    let people = [
        (1, "2026-05-22T14:59:59.999Z"),
        (2, "2026-05-22T15:00:00.000Z"),
        (3, "2026-05-23T14:59:59.999Z"),
        (4, "2026-05-23T15:00:00.000Z"),
    ];
    house.registered(people.map(|(number, time)| (number, at(time)))).await;
    for (query, expected) in [
        ("from=2026-05-23&to=2026-05-23", vec![2, 3]),
        ("from=2026-05-22&to=2026-05-24", vec![1, 2, 3, 4]),
        ("to=2026-05-22", vec![1]),
        ("from=2026-05-24", vec![4]),
        ("from=2026-05-23&to=2026-05-23&order=desc", vec![3, 2]),
        ("from=2026-05-23T00:00:00%2B09:00&to=2026-05-24T00:00:00%2B09:00", vec![2, 3]),
        ("from=2026-05-22T14:59:59.999Z&to=2026-05-22T10:00:00-05:00", vec![1]),
        ("from=2026-05-23T14:59:59.999Z&to=2026-05-24", vec![3, 4]),
        ("from=2026-06-01", vec![]),
        ("", vec![1, 2, 3, 4]),
    ] {
        assert_eq!(organiser.people(query).await, expected, "{query}");
    }
    // In Berlin the same people came on other days.
    organiser.put_event(RALLY, &json!({"timeZone": "Europe/Berlin"})).await.is(200);
    assert_eq!(organiser.people("from=2026-05-22&to=2026-05-22").await, [1, 2]);
    assert_eq!(organiser.people("from=2026-05-23&to=2026-05-23").await, [3, 4]);
}

#[tokio::test]
async fn a_day_with_23_or_25_hours_has_all_of_them() {
    let house = House::open("clock change").await;
    let organiser = house.organiser();
    organiser.put_event(RALLY, &json!({"timeZone": "America/New_York"})).await.is(200);
    let people = [
        // 8 March 2026: the clock is put forward.
        (1, "2026-03-08T04:59:59.999Z"),
        (2, "2026-03-08T05:00:00.000Z"),
        (3, "2026-03-09T03:59:59.999Z"),
        (4, "2026-03-09T04:00:00.000Z"),
        // 1 November 2026: it is put back.
        (5, "2026-11-01T04:00:00.000Z"),
        (6, "2026-11-02T04:59:59.999Z"),
        (7, "2026-11-02T05:00:00.000Z"),
    ];
    house.registered(people.map(|(number, time)| (number, at(time)))).await;
    assert_eq!(organiser.people("from=2026-03-08&to=2026-03-08").await, [2, 3]);
    assert_eq!(organiser.people("to=2026-03-07").await, [1]);
    assert_eq!(organiser.people("from=2026-11-01&to=2026-11-01").await, [5, 6]);
    assert_eq!(organiser.people("from=2026-11-02").await, [7]);
}

#[tokio::test]
async fn what_a_list_can_not_mean_is_refused() {
    let house = House::open("wrong lists").await;
    let organiser = house.organiser();
    for query in [
        "limit=0",
        "limit=1001",
        "limit=-1",
        "limit=1e3",
        "order=newest",
        "from=2026-05-24&to=2026-05-23",
        "from=2026-02-30",
        "from=2026-05-24T00:00:00",
        "to=",
        "since=2026-05-24",
        "limit=1&limit=1",
    ] {
        organiser.get(&format!("/{RALLY}/users?{query}")).await.refuses(400, "invalid_request");
    }
    // Whatever else isn't there either.
    let absent = format!("/users/{}", super::user(1));
    for path in [
        "",
        "/users",
        "/users.csv",
        &absent,
        "/stamps",
        "/stamps/999",
        "/stamps/999/holders",
        "/deliveries?state=held",
        "/stats",
    ] {
        organiser.get(&format!("/no-such-rally{path}")).await.refuses(404, "event_not_found");
    }
    organiser.get("/a%23b/users").await.refuses(400, "invalid_request");
}

#[tokio::test]
async fn a_page_has_100_rows_unless_it_says_otherwise_and_1000_at_most() {
    let house = House::open("limits").await;
    let organiser = house.organiser();
    house.registered((0..1003).map(|n| (n, evening(i64::from(n))))).await;
    assert_eq!(organiser.people("").await, (0..100).collect::<Vec<_>>());
    assert_eq!(organiser.people("limit=1").await, [0]);
    let pages = organiser.pages("limit=1000&order=desc").await;
    assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [1000, 3]);
    assert_eq!(pages.concat(), (0..1003).rev().collect::<Vec<_>>());
}

/// All who were there when the first page was read is listed once, in order; who comes meanwhile is listed
/// where they belong, or not at all if that place was read already.
#[tokio::test]
async fn a_list_continues_exactly_after_its_last_row_while_participants_register() {
    for shards in [1, 4] {
        for (order, later) in [("asc", 1), ("desc", -1)] {
            let house = House::open("goes on").await;
            let organiser = house.organiser();
            organiser.put_event(RALLY, &json!({"indexShards": shards})).await.is(200);
            // Three at each moment.
            house.registered((0..30).map(|n| (n, evening(i64::from(n / 3) * 10)))).await;
            let says = format!("{order}, {shards} shards");

            let (mut seen, mut cursor) = (Vec::new(), String::new());
            for round in 0.. {
                let page = organiser.get(&format!("/{RALLY}/users?order={order}&limit=4{cursor}")).await.is(200);
                seen.extend(numbers(&page));
                let Some(next) = page.body.get("nextCursor") else { break };
                cursor = format!("&cursor={}", next.as_str().unwrap());
                let rows = page.body["users"].as_array().unwrap();
                let last = &rows[rows.len() - 1];
                let (at, id) = (at(last["createdAt"].as_str().unwrap()), number(last["lineUserId"].as_str().unwrap()));
                // One at the last row's moment and before it, one far behind, one just ahead, one at the end.
                let new = 1000 + 100 * round;
                let before_it = if later == 1 { (new, at.plus_millis(-1)) } else { (new, at.plus_millis(1)) };
                house.registered([before_it, (new + 1, evening(-later * 100_000))]).await;
                if round < 3 {
                    house.registered([(new + 2, at.plus_millis(later)), (new + 3, evening(later * 100_000))]).await;
                }
                assert!(seen.contains(&id));
            }
            let expected_of = |round: u32| [1002 + 100 * round, 1003 + 100 * round];
            let mut expected: Vec<u32> = (0..30).chain((0..3).flat_map(expected_of)).collect();
            expected.sort_unstable();
            let mut sorted = seen.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, expected, "{says}: each of them once");
            // And in the order that one long list has.
            let all = organiser.pages(&format!("order={order}&limit=1000")).await.concat();
            let all: Vec<u32> = all.into_iter().filter(|number| seen.contains(number)).collect();
            assert_eq!(seen, all, "{says}");
        }
    }
}

#[tokio::test]
async fn a_cursor_is_good_for_its_own_list_alone() {
    let house = House::open("cursors").await;
    let organiser = house.organiser();
    organiser.put_event("autumn", &event()).await.is(201);
    house.registered((0..9).map(|n| (n, evening(i64::from(n))))).await;
    let page = organiser.get(&format!("/{RALLY}/users?limit=2")).await.is(200);
    let cursor = page.body["nextCursor"].as_str().unwrap().to_owned();
    assert!(!cursor.contains(RALLY) && !cursor.contains('#'), "opaque");

    // Another page size is the same list.
    assert_eq!(organiser.people(&format!("limit=3&cursor={cursor}")).await, [2, 3, 4]);
    for path in [
        format!("/{RALLY}/users?order=desc&cursor={cursor}"),
        format!("/{RALLY}/users?from=2026-05-23&cursor={cursor}"),
        format!("/{RALLY}/users?to=2026-05-23&cursor={cursor}"),
        format!("/autumn/users?cursor={cursor}"),
        format!("/{RALLY}/stamps?cursor={cursor}"),
        format!("/{RALLY}/stamps/001/holders?cursor={cursor}"),
        format!("/{RALLY}/deliveries?state=failed&cursor={cursor}"),
        format!("?cursor={cursor}"),
        format!("/{RALLY}/users?cursor="),
        format!("/{RALLY}/users?cursor=%00"),
        format!("/{RALLY}/users?cursor=2"),
        format!("/{RALLY}/users?cursor={}", "A".repeat(4000)),
        format!("/{RALLY}/users?cursor={cursor}A"),
        format!("/{RALLY}/users?cursor={}", &cursor[1..]),
        format!("/{RALLY}/users?cursor={}", cursor.to_uppercase()),
    ] {
        organiser.get(&path).await.refuses(400, "cursor_invalid");
    }
    for place in 0..cursor.len() {
        let mut changed = cursor.clone().into_bytes();
        changed[place] = if changed[place] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(changed).unwrap();
        organiser.get(&format!("/{RALLY}/users?cursor={changed}")).await.refuses(400, "cursor_invalid");
    }
}
