//! `stamp-rally deliveries list`.

use super::*;

#[tokio::test]
async fn deliveries_tell_who_waits_for_what_since_when_and_why() {
    let desk = Desk::with_rally();
    let (store, now) = (desk.store(), time("2026-05-23T10:00:00.000Z"));
    desk.register(HANAKO, "2026-05-23T10:00:00.000Z").await;
    let hanako: LineUserId = HANAKO.parse().unwrap();
    let waiting = NoticeStatus::Waiting { tried_at: None };
    let stamp = UserStamp {
        event_id: event_id(),
        line_user_id: hanako.clone(),
        stamp_id: "001".parse().unwrap(),
        acquired_at: now,
        request_id: Some(RequestId::made()),
        notice: waiting.clone(),
    };
    store.acquire(&stamp, IndexShards::ONE).await.unwrap();
    let (by_stamp_id, line_user_id) = (stamp.stamp_id.clone(), hanako.clone());
    let completed = Completed { event_id: event_id(), line_user_id, completed_at: now, by_stamp_id, notice: waiting };
    store.complete(&completed).await.unwrap();
    let notice = |key| NoticeId { event_id: event_id(), line_user_id: hanako.clone(), key };
    let held = Parked {
        state: ParkedState::Held,
        since: now.plus_millis(60_000),
        reason: Some("monthly_limit".to_owned()),
        tried_at: None,
        error: None,
    };
    let error = PushRefused { status: 400, message: "The property, 'to',\nis invalid".to_owned(), at: now };
    let failed = Parked { state: ParkedState::Failed, reason: None, error: Some(error), ..held.clone() };
    store.park(&notice(NoticeKey::Stamp(stamp.stamp_id.clone())), None, &held).await.unwrap();
    store.park(&notice(NoticeKey::Completed), None, &failed).await.unwrap();

    let list = |state| desk.run(&["deliveries", "list", ID, "--state", state]).done();
    assert_eq!(
        list("held"),
        format!("{HANAKO}  stamp 001             since 2026/05/23 19:01  monthly_limit\n1 held\n")
    );
    assert_eq!(
        list("failed"),
        format!(
            "{HANAKO}  completed card        since 2026/05/23 19:01  LINE answered 400: The property, 'to', is invalid\n1 failed\n"
        )
    );
    assert_eq!(list("unknown"), "0 unknown\n");
    assert_eq!(desk.run(&["deliveries", "list", ID, "--state", "lost"]).code, 2);
}
