//! Lists: in order, page by page, over any number of index shards, while people come.

use aws_sdk_dynamodb::types::AttributeValue;
use stamp_rally::{
    domain::{
        event::{Event, EventChange, IndexShards},
        fact::User,
        notice::{NoticeId, NoticeKey, Parked, ParkedState},
        time::{Span, TimeZone, Timestamp},
    },
    store::{
        StoreError,
        listing::{Direction, Page, Position, Wanted},
        masters::Expected,
    },
};

use super::{Desk, at, claim, evening, item, rally, registration, text, user_id};

fn wanted(direction: Direction, limit: usize, after: Option<Position>) -> Wanted {
    Wanted { direction, limit, after }
}

impl Desk {
    async fn registers(&self, event: &Event, number: u32, now: Timestamp) {
        let user = registration(&user_id(number), "r", now);
        self.store.register(&user, event.index_shards).await.unwrap();
    }

    /// One page of participants, by number.
    async fn page(&self, event: &Event, span: Span, wanted: &Wanted) -> (Vec<u32>, Option<Position>) {
        let Page { rows, next, .. } = self.store.users(event, span, wanted).await.unwrap();
        (rows.iter().map(|user| number(user.line_user_id.as_str())).collect(), next)
    }

    /// All pages of participants.
    async fn pages(&self, event: &Event, direction: Direction, limit: usize) -> Vec<Vec<u32>> {
        let (mut pages, mut after) = (Vec::new(), None);
        loop {
            let (page, next) = self.page(event, Span::default(), &wanted(direction, limit, after)).await;
            pages.push(page);
            if next.is_none() {
                return pages;
            }
            after = next;
        }
    }
}

fn number(line_user_id: &str) -> u32 {
    u32::from_str_radix(&line_user_id[1..], 16).unwrap()
}

#[tokio::test]
async fn participants_come_in_pages_by_registration_time_from_either_end() {
    let desk = Desk::open("pages").await;
    let event = rally(1);
    for number in [3, 1, 5, 2, 4] {
        desk.registers(&event, number, evening(i64::from(number))).await;
    }
    assert_eq!(desk.pages(&event, Direction::Asc, 2).await, [vec![1, 2], vec![3, 4], vec![5]]);
    assert_eq!(desk.pages(&event, Direction::Desc, 2).await, [vec![5, 4], vec![3, 2], vec![1]]);
    assert_eq!(desk.pages(&event, Direction::Asc, 5).await, [vec![1, 2, 3, 4, 5]], "a full last page has no next one");
    desk.wire();
    desk.page(&event, Span::default(), &wanted(Direction::Asc, 2, None)).await;
    assert_eq!(desk.wire(), ["1 × Query line-event/GSI1"]);
}

#[tokio::test]
async fn a_list_continues_exactly_after_the_last_row_while_participants_register() {
    let desk = Desk::open("while registering").await;
    let event = rally(1);
    for number in [10, 20, 30] {
        desk.registers(&event, number, evening(i64::from(number))).await;
    }
    let (first, next) = desk.page(&event, Span::default(), &wanted(Direction::Asc, 2, None)).await;
    assert_eq!(first, [10, 20]);
    // One behind the page that was read, one of the same moment as its last row, one at the end.
    desk.registers(&event, 15, evening(15)).await;
    desk.registers(&event, 21, evening(20)).await;
    desk.registers(&event, 40, evening(40)).await;
    let (second, next) = desk.page(&event, Span::default(), &wanted(Direction::Asc, 2, next)).await;
    assert_eq!(second, [21, 30]);
    let (third, next) = desk.page(&event, Span::default(), &wanted(Direction::Asc, 2, next)).await;
    assert_eq!((third, next), (vec![40], None));
}

#[tokio::test]
async fn a_list_continues_where_its_last_row_was_also_after_that_participant_was_erased() {
    let desk = Desk::open("erased").await;
    let event = rally(1);
    for number in 1..=3 {
        desk.registers(&event, number, evening(i64::from(number))).await;
    }
    let (_, next) = desk.page(&event, Span::default(), &wanted(Direction::Asc, 1, None)).await;
    let delete = desk.clients.table.delete_item().table_name("line-event");
    let pk = format!("EVENT#rally#USER#{}", user_id(1));
    delete.key("PK", text(&pk)).key("SK", text("PROFILE")).send().await.unwrap();
    let (rest, next) = desk.page(&event, Span::default(), &wanted(Direction::Asc, 2, next)).await;
    assert_eq!((rest, next), (vec![2, 3], None));
}

#[tokio::test]
async fn half_past_midnight_in_tokyo_is_the_new_day() {
    let desk = Desk::open("midnight").await;
    let event = rally(1);
    for (number, time) in [
        (1, "2026-05-22T14:59:59.999Z"),
        (2, "2026-05-22T15:00:00.000Z"),
        (3, "2026-05-23T14:59:59.999Z"),
        (4, "2026-05-23T15:00:00.000Z"),
        (5, "2026-05-23T15:30:00.000Z"),
    ] {
        desk.registers(&event, number, at(time)).await;
    }
    let days = async |from, to| {
        let parse = |from, to| Span::parse(from, to, TimeZone::TOKYO).unwrap();
        let span = Span { from: parse(from, None).from, to: parse(None, to).to };
        desk.page(&event, span, &wanted(Direction::Asc, 10, None)).await.0
    };
    assert_eq!(days(Some("2026-05-23"), Some("2026-05-23")).await, [2, 3]);
    assert_eq!(days(Some("2026-05-24"), None).await, [4, 5]);
    assert_eq!(days(None, Some("2026-05-22")).await, [1]);
    assert_eq!(days(Some("2026-05-23"), Some("2026-05-24")).await, [2, 3, 4, 5]);
    assert_eq!(days(Some("2026-05-24"), Some("2026-05-23")).await, [0; 0]);
    let instants = days(Some("2026-05-22T15:00:00.000Z"), Some("2026-05-23T15:00:00.000Z")).await;
    assert_eq!(instants, [2, 3], "`to` is exclusive");
}

#[tokio::test]
async fn a_position_outside_the_span_does_not_widen_it() {
    let desk = Desk::open("outside").await;
    let event = rally(1);
    for number in 1..=4 {
        desk.registers(&event, number, evening(i64::from(number))).await;
    }
    let (_, early) = desk.page(&event, Span::default(), &wanted(Direction::Asc, 1, None)).await;
    let (_, late) = desk.page(&event, Span::default(), &wanted(Direction::Desc, 1, None)).await;
    let span = Span { from: Some(evening(2)), to: Some(evening(4)) };
    assert_eq!(desk.page(&event, span, &wanted(Direction::Asc, 9, early.clone())).await.0, [2, 3]);
    assert_eq!(desk.page(&event, span, &wanted(Direction::Desc, 9, late.clone())).await.0, [3, 2]);
    assert_eq!(desk.page(&event, span, &wanted(Direction::Asc, 9, late)).await.0, [0; 0]);
    assert_eq!(desk.page(&event, span, &wanted(Direction::Desc, 9, early)).await.0, [0; 0]);
}

#[tokio::test]
async fn many_shards_are_one_list_and_each_is_asked_once_a_page() {
    let desk = Desk::open("shards").await;
    let event = rally(8);
    for number in 0..60 {
        // Three of each moment.
        desk.registers(&event, number, evening(i64::from(number / 3))).await;
    }
    let all: Vec<u32> = (0..60).collect();
    assert_eq!(desk.pages(&event, Direction::Asc, 7).await.concat(), all);
    let back: Vec<u32> = all.iter().rev().copied().collect();
    assert_eq!(desk.pages(&event, Direction::Desc, 25).await.concat(), back);
    desk.wire();
    desk.page(&event, Span::default(), &wanted(Direction::Asc, 20, None)).await;
    assert_eq!(desk.wire(), ["8 × Query line-event/GSI1"]);
}

/// A server that had not heard of the change yet registered them.
#[tokio::test]
async fn a_participant_registered_under_the_index_shards_of_before_is_listed_with_the_others() {
    let desk = Desk::open("former shards").await;
    let before = rally(1);
    let change = EventChange { index_shards: Some(rally(4).index_shards), ..EventChange::default() };
    let now = change.apply(&before, evening(0)).unwrap();
    for number in 0..10 {
        let seen_by_its_server = if number % 3 == 0 { &before } else { &now };
        desk.registers(seen_by_its_server, number, evening(i64::from(number))).await;
        let stamp = claim(&user_id(number), "001", "r", evening(i64::from(number)));
        desk.store.acquire(&stamp, seen_by_its_server.index_shards).await.unwrap();
    }
    desk.store.put_event(&now, Expected::Absent).await.unwrap();
    let now = desk.store.event(&now.event_id).await.unwrap().unwrap();
    assert_eq!(desk.pages(&now, Direction::Asc, 3).await.concat(), (0..10).collect::<Vec<_>>());
    let holders = desk.store.holders(&now, &"001".parse().unwrap(), &wanted(Direction::Asc, 99, None)).await.unwrap();
    assert_eq!(holders.rows.len(), 10);
    let mut people = desk.store.holding(&now, &"001".parse().unwrap(), evening(99));
    assert_eq!(people.some(99).await.unwrap().len(), 10, "and reconcile finds them");
}

#[tokio::test]
async fn the_long_list_is_all_pages_in_one() {
    let desk = Desk::open("long list").await;
    for shards in [1, 4] {
        let event = Event { event_id: format!("rally-{shards}").parse().unwrap(), ..rally(shards) };
        for number in 0..40 {
            let user = registration(&user_id(number), "r", evening(i64::from(number)));
            let user = User { event_id: event.event_id.clone(), ..user };
            desk.store.register(&user, event.index_shards).await.unwrap();
        }
        let mut users = desk.store.all_users(&event, Span::default(), Direction::Desc);
        let mut seen = Vec::new();
        while let Some(user) = users.next().await.unwrap() {
            seen.push(number(user.line_user_id.as_str()));
        }
        assert_eq!(seen, (0..40).rev().collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn a_long_list_that_met_a_failure_continues_without_a_gap() {
    use super::super::proxy::{Fault, Often};
    let desk = Desk::open("long list failure").await;
    let event = rally(4);
    for number in 0..20 {
        desk.registers(&event, number, evening(i64::from(number))).await;
    }
    let mut users = desk.store.all_users(&event, Span::default(), Direction::Asc);
    desk.proxy.inject("Query", Fault::Throttled, Often::Always);
    assert!(matches!(users.next().await, Err(StoreError::Unavailable(_))), "it doesn't end as if it were complete");
    desk.proxy.heal();
    let mut seen = Vec::new();
    while let Some(user) = users.next().await.unwrap() {
        seen.push(number(user.line_user_id.as_str()));
    }
    assert_eq!(seen, (0..20).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_registration_that_cannot_be_read_is_passed_over_and_counted() {
    let desk = Desk::open("bad user").await;
    let event = rally(1);
    for number in 0..5 {
        desk.registers(&event, number, evening(i64::from(number))).await;
    }
    let pk = |number| format!("EVENT#rally#USER#{}", user_id(number));
    desk.spoil(&pk(1), "PROFILE", "createdAt", Some(AttributeValue::Bool(true))).await;
    desk.spoil(&pk(3), "PROFILE", "createdAt", Some(text("2026-05-23T10:00:00Z"))).await;
    let numbers = |users: &[User]| users.iter().map(|user| number(user.line_user_id.as_str())).collect::<Vec<_>>();
    let first = desk.store.users(&event, Span::default(), &wanted(Direction::Asc, 2, None)).await.unwrap();
    assert_eq!((numbers(&first.rows), first.unreadable), (vec![0, 2], 1));
    let rest = desk.store.users(&event, Span::default(), &wanted(Direction::Asc, 2, first.next)).await.unwrap();
    assert_eq!((numbers(&rest.rows), rest.unreadable, rest.next), (vec![4], 1, None));

    let mut users = desk.store.all_users(&event, Span::default(), Direction::Desc);
    let mut seen = Vec::new();
    while let Some(user) = users.next().await.unwrap() {
        seen.push(number(user.line_user_id.as_str()));
    }
    assert_eq!((seen, users.unreadable()), (vec![4, 2, 0], 2));
}

#[tokio::test]
async fn items_of_others_in_an_index_are_passed_over_and_hide_no_participant() {
    let desk = Desk::open("foreign rows").await;
    let event = rally(1);
    for number in 0..3 {
        desk.registers(&event, number, evening(i64::from(number))).await;
    }
    // A foreign item with the very sort key of the second one, and the registration for another event.
    let second = format!("{}#{}", evening(1), user_id(1));
    for (pk, entity_type) in [("A#1", "NOTE"), ("Z#9", "NOTE"), ("B#2", "USER")] {
        let mut foreign = item(pk, "X", entity_type);
        foreign.insert("GSI1PK".to_owned(), text("EVENT#rally#USERS"));
        foreign.insert("GSI1SK".to_owned(), text(&second));
        desk.put(foreign).await;
    }
    let stranger = User { event_id: "autumn".parse().unwrap(), ..registration(&user_id(7), "r-7", evening(1)) };
    desk.store.register(&stranger, IndexShards::ONE).await.unwrap();
    let pk = format!("EVENT#autumn#USER#{}", user_id(7));
    desk.spoil(&pk, "PROFILE", "GSI1PK", Some(text("EVENT#rally#USERS"))).await;

    let (mut seen, mut unreadable, mut after) = (Vec::new(), 0, None);
    loop {
        let page = desk.store.users(&event, Span::default(), &wanted(Direction::Asc, 1, after)).await.unwrap();
        seen.extend(page.rows.iter().map(|user| number(user.line_user_id.as_str())));
        unreadable += page.unreadable;
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!((seen, unreadable), (vec![0, 1, 2], 4));
}

#[tokio::test]
async fn an_event_that_cannot_be_read_keeps_no_other_out_of_the_list() {
    let desk = Desk::open("bad event in a list").await;
    desk.store.put_event(&rally(1), Expected::Absent).await.unwrap();
    let mut bad = item("EVENT#spring", "METADATA", "EVENT");
    bad.insert("GSI1PK".to_owned(), text("EVENTS"));
    bad.insert("GSI1SK".to_owned(), text("2026-05-01#spring"));
    bad.insert("startsAt".to_owned(), text("2026-05-01"));
    desk.put(bad).await;
    let page = desk.store.events(&wanted(Direction::Asc, 9, None)).await.unwrap();
    assert_eq!((page.rows, page.unreadable), (vec![rally(1)], 1));
}

#[tokio::test]
async fn a_holder_whose_item_names_another_stamp_is_passed_over() {
    let desk = Desk::open("bad holder").await;
    let event = rally(1);
    for number in 0..2 {
        desk.store.acquire(&claim(&user_id(number), "001", "r", evening(0)), event.index_shards).await.unwrap();
    }
    desk.spoil(&format!("EVENT#rally#USER#{}", user_id(1)), "STAMP#001", "GSI2PK", Some(text("EVENT#rally#STAMP#002")))
        .await;
    let of = async |stamp: &str| {
        let stamp_id = stamp.parse().unwrap();
        let page = desk.store.holders(&event, &stamp_id, &wanted(Direction::Asc, 9, None)).await.unwrap();
        (page.rows.len(), page.unreadable)
    };
    assert_eq!((of("001").await, of("002").await), ((1, 0), (0, 1)));
}

#[tokio::test]
async fn holders_of_a_stamp_come_by_time() {
    let desk = Desk::open("holders").await;
    let event = rally(4);
    for number in [3, 1, 2] {
        let stamp = claim(&user_id(number), "001", "r", evening(i64::from(number)));
        desk.store.acquire(&stamp, event.index_shards).await.unwrap();
        let other = claim(&user_id(number), "002", "r", evening(0));
        desk.store.acquire(&other, event.index_shards).await.unwrap();
    }
    desk.wire();
    let first = "001".parse().unwrap();
    let page = desk.store.holders(&event, &first, &wanted(Direction::Asc, 2, None)).await.unwrap();
    let shown: Vec<_> = page.rows.iter().map(|row| (number(row.line_user_id.as_str()), row.acquired_at)).collect();
    assert_eq!(shown, [(1, evening(1)), (2, evening(2))]);
    assert_eq!(desk.wire(), ["4 × Query line-event/GSI2"]);
    let page = desk.store.holders(&event, &first, &wanted(Direction::Asc, 2, page.next)).await.unwrap();
    assert_eq!((page.rows.len(), page.next), (1, None));
}

#[tokio::test]
async fn events_come_by_start() {
    let desk = Desk::open("events").await;
    let starts = ["2026-07-01T00:00:00.000Z", "2026-05-23T00:00:00.000Z"].map(at);
    for (id, start) in ["july", "may"].into_iter().zip(starts) {
        let window = stamp_rally::domain::event::Window::new(start, start.plus_millis(1)).unwrap();
        let event = Event { event_id: id.parse().unwrap(), window, ..rally(1) };
        desk.store.put_event(&event, Expected::Absent).await.unwrap();
    }
    let page = desk.store.events(&wanted(Direction::Asc, 1, None)).await.unwrap();
    assert_eq!(page.rows[0].event_id.as_str(), "may");
    let page = desk.store.events(&wanted(Direction::Asc, 1, page.next)).await.unwrap();
    assert_eq!((page.rows[0].event_id.as_str(), page.next), ("july", None));
}

#[tokio::test]
async fn parked_notices_come_by_the_time_they_got_there_and_one_that_cannot_be_read_delays_no_other() {
    let desk = Desk::open("parked").await;
    for number in [1, 2, 3] {
        let stamp = claim(&user_id(number), "001", "r", evening(0));
        desk.store.acquire(&stamp, rally(1).index_shards).await.unwrap();
        let notice = NoticeId {
            event_id: stamp.event_id,
            line_user_id: stamp.line_user_id,
            key: NoticeKey::Stamp(stamp.stamp_id),
        };
        let since = evening(10 - i64::from(number));
        let parked = Parked { state: ParkedState::Held, since, reason: None, maybe_sent_at: None, error: None };
        desk.store.park(&notice, None, &parked).await.unwrap();
    }
    desk.spoil(&format!("EVENT#rally#USER#{}", user_id(2)), "STAMP#001", "acquiredAt", None).await;
    desk.wire();
    let rally = "rally".parse().unwrap();
    let page = desk.store.parked(&rally, ParkedState::Held, &wanted(Direction::Asc, 9, None)).await.unwrap();
    let who: Vec<_> = page.rows.iter().map(|fact| number(fact.line_user_id().as_str())).collect();
    assert_eq!(who, [3, 1]);
    assert_eq!(desk.wire(), ["1 × Query line-event/GSI1"]);
    let none = desk.store.parked(&rally, ParkedState::Failed, &wanted(Direction::Asc, 9, None)).await.unwrap();
    assert!(none.rows.is_empty() && none.next.is_none());
}
