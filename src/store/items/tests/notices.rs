//! What became of a notice.

use super::*;
use crate::domain::notice::{Parked, ParkedState, PushRefused, Via};

#[test]
fn what_became_of_a_notice_is_pinned() {
    let (sent_at, request_id) = (Some(at("2026-05-23T11:30:02.123Z")), Some("line-request".to_owned()));
    let sent = |via| NoticeStatus::Sent { at: sent_at, request_id: request_id.clone(), via };
    let marked = json!({
        "flexMessageSent": {"BOOL": true}, "flexMessageSentAt": {"S": "2026-05-23T11:30:02.123Z"},
        "flexMessageRequestId": {"S": "line-request"},
    });
    let tried = NoticeStatus::Pending { maybe_sent_at: Some(at("2026-05-23T11:30:01.000Z")) };
    let held = Parked {
        state: ParkedState::Held,
        since: at("2026-05-23T12:00:00.000Z"),
        reason: None,
        maybe_sent_at: None,
        error: None,
    };
    let failed = Parked {
        state: ParkedState::Failed,
        reason: Some("refused".to_owned()),
        maybe_sent_at: Some(at("2026-05-23T11:30:01.000Z")),
        error: Some(PushRefused { status: 400, message: "no".to_owned(), at: at("2026-05-23T11:59:59.000Z") }),
        ..held.clone()
    };
    let since = json!({
        "noticeSince": {"S": "2026-05-23T12:00:00.000Z"},
        "GSI1SK": {"S": "2026-05-23T12:00:00.000Z#U1234567890abcdef#STAMP#001"},
    });
    let forms = [
        // Marked by a version before `noticeVia`.
        (sent(None), marked.clone()),
        (sent(Some(Via::Push)), with(marked.clone(), json!({"noticeVia": {"S": "push"}}))),
        (sent(Some(Via::Reply)), with(marked.clone(), json!({"noticeVia": {"S": "reply"}}))),
        (sent(Some(Via::Page)), with(marked, json!({"noticeVia": {"S": "page"}}))),
        (tried, json!({"noticeTriedAt": {"S": "2026-05-23T11:30:01.000Z"}})),
        (
            NoticeStatus::Parked(held),
            with(
                since.clone(),
                json!({
                    "noticeState": {"S": "held"}, "GSI1PK": {"S": "EVENT#stamp-rally-202606#PUSH_HELD"},
                }),
            ),
        ),
        (
            NoticeStatus::Parked(failed),
            with(
                since,
                json!({
                    "noticeState": {"S": "failed"}, "GSI1PK": {"S": "EVENT#stamp-rally-202606#PUSH_FAILED"},
                    "noticeReason": {"S": "refused"}, "noticeTriedAt": {"S": "2026-05-23T11:30:01.000Z"},
                    "flexMessageError": {"M": {
                        "status": {"N": "400"}, "message": {"S": "no"}, "at": {"S": "2026-05-23T11:59:59.000Z"},
                    }},
                }),
            ),
        ),
    ];
    for (status, change) in forms {
        is_pinned(is_stamp(status.clone()), user_stamp(&acquired(status), IndexShards::ONE), with(new_stamp(), change));
    }
}

#[test]
fn a_sent_notice_is_sent_whatever_else_is_left_on_its_item() {
    let left = json!({"noticeState": {"S": "held"}, "noticeSince": {"S": "2026-05-23T12:00:00.000Z"}});
    let Ok(Stored::Fact(fact)) = decode(stored(with(article_stamp(), left))) else { panic!("a fact") };
    assert!(fact.notice().unwrap().1.is_sent());
}

#[test]
fn a_stamp_without_the_mark_calls_for_no_notice() {
    let json = with(new_stamp(), json!({"flexMessageSent": null}));
    assert_eq!(decode(stored(json)), Ok(is_stamp(NoticeStatus::None)));
}
