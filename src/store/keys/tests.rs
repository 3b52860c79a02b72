use proptest::prelude::*;

use super::*;
use crate::domain::{event::IndexShards, notice::ParkedState, stamp::StampOrder};

fn hanako() -> LineUserId {
    LineUserId::stored("U1234567890abcdef").unwrap()
}

fn rally() -> EventId {
    "stamp-rally-202606".parse().unwrap()
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn item(key: &ItemKey) -> [String; 2] {
    [key.pk(), key.sk()]
}

#[test]
fn primary_keys_are_pinned() {
    let notice = |key| ItemKey::Notice(NoticeId { event_id: rally(), line_user_id: hanako(), key });
    let first: StampId = "001".parse().unwrap();
    let keys = [
        (ItemKey::Event(rally()), ["EVENT#stamp-rally-202606", "METADATA"]),
        (
            ItemKey::Master { event_id: rally(), stamp_id: first.clone() },
            ["EVENT#stamp-rally-202606#STAMP#001", "MASTER"],
        ),
        (
            ItemKey::Profile { event_id: rally(), line_user_id: hanako() },
            ["EVENT#stamp-rally-202606#USER#U1234567890abcdef", "PROFILE"],
        ),
        (notice(NoticeKey::Stamp(first.clone())), ["EVENT#stamp-rally-202606#USER#U1234567890abcdef", "STAMP#001"]),
        (
            notice(NoticeKey::Resend { stamp_id: first, number: 7 }),
            ["EVENT#stamp-rally-202606#USER#U1234567890abcdef", "RESEND#001#007"],
        ),
        (notice(NoticeKey::Completed), ["EVENT#stamp-rally-202606#USER#U1234567890abcdef", "COMPLETED"]),
        (
            notice(NoticeKey::ResendCompleted { number: 7 }),
            ["EVENT#stamp-rally-202606#USER#U1234567890abcdef", "RESEND_COMPLETED#007"],
        ),
        (
            ItemKey::Staff { event_id: rally(), staff_id: "0a1b2c3d4e5f".parse().unwrap() },
            ["EVENT#stamp-rally-202606#STAFF", "0a1b2c3d4e5f"],
        ),
        (
            ItemKey::Friendship {
                channel: "main".parse().unwrap(),
                line_user_id: hanako(),
                occurred_at: at("2026-05-23T10:00:00.000Z"),
                webhook_event_id: "01HX".parse().unwrap(),
            },
            ["CHANNEL#main#USER#U1234567890abcdef", "FRIEND#2026-05-23T10:00:00.000Z#01HX"],
        ),
    ];
    for (key, written) in keys {
        assert_eq!(item(&key), written);
    }
}

#[test]
fn index_keys_are_pinned() {
    let since = at("2026-05-23T10:00:00.000Z");
    let notice = NoticeId { event_id: rally(), line_user_id: hanako(), key: NoticeKey::Stamp("001".parse().unwrap()) };
    let user = |shards| Gsi1Key::User {
        event_id: rally(),
        shard: Shard::of(&hanako(), IndexShards::try_from(shards).unwrap()),
        created_at: since,
        line_user_id: hanako(),
    };
    let keys = [
        (
            Gsi1Key::Event { starts_at: since, event_id: rally() },
            "EVENTS",
            "2026-05-23T10:00:00.000Z#stamp-rally-202606",
        ),
        (
            Gsi1Key::Master { event_id: rally(), order: StampOrder::try_from(1).unwrap() },
            "EVENT#stamp-rally-202606#STAMP_MASTERS",
            "001",
        ),
        (
            Gsi1Key::Parked { notice, state: ParkedState::Held, since },
            "EVENT#stamp-rally-202606#PUSH_HELD",
            "2026-05-23T10:00:00.000Z#U1234567890abcdef#STAMP#001",
        ),
        (user(1), "EVENT#stamp-rally-202606#USERS", "2026-05-23T10:00:00.000Z#U1234567890abcdef"),
        (user(32), "EVENT#stamp-rally-202606#USERS#12", "2026-05-23T10:00:00.000Z#U1234567890abcdef"),
    ];
    for (key, pk, sk) in keys {
        assert_eq!((key.pk().as_str(), key.sk().as_str()), (pk, sk));
    }
}

#[test]
fn a_persons_shard_is_pinned() {
    // Computed with another implementation (Python's hashlib).
    let shards = [2, 10, 31, 32].map(|count| Shard::of(&hanako(), IndexShards::try_from(count).unwrap()).to_string());
    assert_eq!(shards, ["#00", "#02", "#20", "#12"]);
    assert_eq!(Shard::of(&hanako(), IndexShards::ONE).to_string(), "");
}

#[test]
fn the_23rd_of_may_in_tokyo_is_the_contracts_example() {
    let tokyo = crate::domain::time::TimeZone::TOKYO;
    let keys = SortKeys::within(Span::parse(Some("2026-05-23"), Some("2026-05-23"), tokyo).unwrap());
    assert_eq!(keys.low, "2026-05-22T15:00:00.000Z");
    assert_eq!(keys.high, "2026-05-23T14:59:59.999Z#~");
}

#[test]
fn a_span_that_ends_before_it_begins_holds_no_key() {
    let [early, late] = ["2026-05-23T10:00:00.000Z", "2026-05-23T11:00:00.000Z"].map(|text| Some(at(text)));
    assert!(SortKeys::within(Span { from: late, to: early }).is_empty());
    assert!(SortKeys::within(Span { from: early, to: early }).is_empty(), "`to` is exclusive");
    assert!(!SortKeys::within(Span { from: early, to: late }).is_empty());
    assert!(!SortKeys::within(Span::default()).is_empty());
}

#[test]
fn keys_of_other_programs_are_not_ours() {
    for (pk, sk) in [
        ("", ""),
        ("EVENT#e", "MASTER"),
        ("EVENT#e#USER#U12", "METADATA"),
        ("EVENT#e#USER#U12", "STAMP#001#002"),
        ("EVENT#e#USER#U12", "RESEND#001#1"),
        ("EVENT#e#USER#U12", "RESEND#001#0001"),
        ("EVENT#e#USER#U12", "RESEND#001#+01"),
        ("EVENT#e#USER#U12", "RESEND_COMPLETED#1"),
        ("EVENT#e#USER#U12", "RESEND_COMPLETED#001#001"),
        ("CHANNEL#main#USER#U12", "FRIEND#2026-05-23T10:00:00Z#01HX"),
        ("EVENT#e#USER#U12", "TICKET#1"),
        ("EVENT#e#CHATROOM#1", "METADATA"),
        ("EVENT#e#USER#U1#2", "PROFILE"),
        ("CHANNEL#main#USER#U12", "FRIEND#yesterday#01HX"),
    ] {
        assert_eq!(ItemKey::parse(pk, sk), None, "{pk} {sk}");
    }
    assert_eq!(Gsi1Key::parse("EVENT#e#PUSH_held", "2026-05-23T10:00:00.000Z#U12#STAMP#001"), None);
    assert_eq!(Gsi1Key::parse("EVENT#e#USERS#7", "2026-05-23T10:00:00.000Z#U12"), None);
    assert_eq!(Gsi1Key::parse("EVENT#e#USERS#32", "2026-05-23T10:00:00.000Z#U12"), None);
}

fn event_id() -> impl Strategy<Value = EventId> {
    "[A-Za-z0-9][A-Za-z0-9_-]{0,63}".prop_map(|text| text.parse().unwrap())
}

fn stamp_id() -> impl Strategy<Value = StampId> {
    "[A-Za-z0-9][A-Za-z0-9_-]{0,63}".prop_map(|text| text.parse().unwrap())
}

fn user() -> impl Strategy<Value = LineUserId> {
    prop_oneof!["U[0-9a-f]{32}", "U[0-9A-Za-z]{1,63}"].prop_map(|text| LineUserId::stored(&text).unwrap())
}

fn time() -> impl Strategy<Value = Timestamp> {
    (-62_135_596_800_000_i64..253_402_300_800_000).prop_map(|millis| Timestamp::from_millis(millis).unwrap())
}

fn notice() -> impl Strategy<Value = NoticeId> {
    let key = prop_oneof![
        Just(NoticeKey::Completed),
        (stamp_id(), 0..=u16::MAX).prop_map(|(stamp_id, number)| NoticeKey::Resend { stamp_id, number }),
        (0..=u16::MAX).prop_map(|number| NoticeKey::ResendCompleted { number }),
        stamp_id().prop_map(NoticeKey::Stamp),
    ];
    (event_id(), user(), key).prop_map(|(event_id, line_user_id, key)| NoticeId { event_id, line_user_id, key })
}

fn shards() -> impl Strategy<Value = IndexShards> {
    (1_i64..=32).prop_map(|count| IndexShards::try_from(count).unwrap())
}

fn item_key() -> impl Strategy<Value = ItemKey> {
    let friendship = ("[a-z0-9][a-z0-9-]{0,31}", user(), time(), "[0-9A-Za-z_-]{1,64}");
    prop_oneof![
        event_id().prop_map(ItemKey::Event),
        friendship.prop_map(|(channel, line_user_id, occurred_at, id)| ItemKey::Friendship {
            channel: channel.parse().unwrap(),
            line_user_id,
            occurred_at,
            webhook_event_id: id.parse().unwrap(),
        }),
        (event_id(), stamp_id()).prop_map(|(event_id, stamp_id)| ItemKey::Master { event_id, stamp_id }),
        notice().prop_map(ItemKey::Notice),
        (event_id(), user()).prop_map(|(event_id, line_user_id)| ItemKey::Pace { event_id, line_user_id }),
        (event_id(), user(), stamp_id(), 0_i64..4_000_000).prop_map(|(event_id, line_user_id, stamp_id, stretch)| {
            ItemKey::Tries { event_id, line_user_id, stamp_id, stretch }
        }),
        event_id().prop_map(|event_id| ItemKey::Refusals {
            event_id,
            hour: Hour::stored("2026-05-23T19:00+09:00"),
            process: ProcessId::from("p1".to_owned()),
        }),
        (event_id(), user()).prop_map(|(event_id, line_user_id)| ItemKey::Profile { event_id, line_user_id }),
        (event_id(), "[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
            .prop_map(|(event_id, id)| ItemKey::Staff { event_id, staff_id: id.parse().unwrap() }),
    ]
}

fn gsi1_key() -> impl Strategy<Value = Gsi1Key> {
    let order = (1_i64..=999).prop_map(|number| StampOrder::try_from(number).unwrap());
    let state = proptest::sample::select(ParkedState::ALL.to_vec());
    prop_oneof![
        (time(), event_id()).prop_map(|(starts_at, event_id)| Gsi1Key::Event { starts_at, event_id }),
        (event_id(), order).prop_map(|(event_id, order)| Gsi1Key::Master { event_id, order }),
        (notice(), state, time()).prop_map(|(notice, state, since)| Gsi1Key::Parked { notice, state, since }),
        (event_id(), user(), shards(), time()).prop_map(|(event_id, line_user_id, shards, created_at)| {
            Gsi1Key::User { event_id, shard: Shard::of(&line_user_id, shards), created_at, line_user_id }
        }),
    ]
}

proptest! {
    #[test]
    fn a_primary_key_is_read_as_it_was_written(key in item_key()) {
        prop_assert_eq!(ItemKey::parse(&key.pk(), &key.sk()), Some(key));
    }

    #[test]
    fn an_index_key_is_read_as_it_was_written(key in gsi1_key()) {
        prop_assert_eq!(Gsi1Key::parse(&key.pk(), &key.sk()), Some(key));
    }

    #[test]
    fn a_holders_key_is_read_as_it_was_written(
        event_id in event_id(), stamp_id in stamp_id(), line_user_id in user(), shards in shards(), acquired_at in time()
    ) {
        let shard = Shard::of(&line_user_id, shards);
        let key = Gsi2Key { event_id, stamp_id, shard, acquired_at, line_user_id };
        prop_assert_eq!(Gsi2Key::parse(&key.pk(), &key.sk()), Some(key));
    }

    #[test]
    fn keys_fit_dynamodbs_limits(key in item_key(), index in gsi1_key()) {
        prop_assert!(key.pk().len() <= 2048 && key.sk().len() <= 1024);
        prop_assert!(index.pk().len() <= 2048 && index.sk().len() <= 1024);
    }

    #[test]
    fn everybody_has_one_of_the_events_shards(line_user_id in user(), shards in shards()) {
        let shard = Shard::of(&line_user_id, shards);
        prop_assert!(Shard::all([shards]).contains(&shard));
        prop_assert!(Shard::possible().any(|one| one == shard));
    }

    #[test]
    fn a_time_within_a_span_has_its_keys_within_the_range(from in time(), to in time(), now in time(), user in user()) {
        let keys = SortKeys::within(Span { from: Some(from), to: Some(to) });
        let key = format!("{now}#{user}");
        let inside = from <= now && now < to;
        prop_assert_eq!(!keys.is_empty() && keys.low <= key && key <= keys.high, inside);
    }
}
