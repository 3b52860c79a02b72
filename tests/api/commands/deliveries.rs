//! `stamp-rally deliveries list|resend|show`.

use super::*;

#[tokio::test]
async fn deliveries_list_whose_notice_is_in_a_state_since_when_and_why() {
    let desk = Desk::with_rally();
    let (store, now) = (desk.store(), time("2026-05-23T10:00:00.000Z"));
    desk.register(HANAKO, "2026-05-23T10:00:00.000Z").await;
    let hanako: LineUserId = HANAKO.parse().unwrap();
    let waiting = NoticeStatus::Pending { maybe_sent_at: None };
    let stamp = UserStamp {
        proof: None,
        event_id: event_id(),
        line_user_id: hanako.clone(),
        stamp_id: "001".parse().unwrap(),
        acquired_at: now,
        request_id: Some(RequestId::generate()),
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
        maybe_sent_at: Some(now),
        error: None,
    };
    let error = PushRefused { status: 400, message: "The property, 'to',\nis invalid".to_owned(), at: now };
    let failed =
        Parked { state: ParkedState::Failed, reason: None, maybe_sent_at: None, error: Some(error), ..held.clone() };
    store.park(&notice(NoticeKey::Stamp(stamp.stamp_id.clone())), None, &held).await.unwrap();
    store.park(&notice(NoticeKey::Completed), None, &failed).await.unwrap();

    let list = |state| desk.run(&["deliveries", "list", ID, "--state", state]).done();
    assert_eq!(
        list("held"),
        format!(
            "{HANAKO}  stamp 001             since 2026/05/23 19:01  monthly_limit; may have been accepted at 2026/05/23 19:00\n1 held\n"
        )
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

impl Desk {
    /// A participant holds this stamp since 19:00, and its notice is in this state (on its way where there is none).
    async fn holds(&self, person: &str, stamp: &str, state: Option<ParkedState>) {
        let (store, now) = (self.store(), time("2026-05-23T10:00:00.000Z"));
        let (line_user_id, stamp_id) = (person.parse::<LineUserId>().unwrap(), stamp.parse().unwrap());
        let stamp = UserStamp {
            proof: None,
            event_id: event_id(),
            line_user_id: line_user_id.clone(),
            stamp_id,
            acquired_at: now,
            request_id: Some(RequestId::generate()),
            notice: NoticeStatus::Pending { maybe_sent_at: None },
        };
        store.acquire(&stamp, IndexShards::ONE).await.unwrap();
        if let Some(state) = state {
            self.park(person, NoticeKey::Stamp(stamp.stamp_id), state).await;
        }
    }

    async fn park(&self, person: &str, key: NoticeKey, state: ParkedState) {
        self.park_tried(person, key, state, None).await;
    }

    async fn park_tried(&self, person: &str, key: NoticeKey, state: ParkedState, maybe_sent_at: Option<Timestamp>) {
        let notice = NoticeId { event_id: event_id(), line_user_id: person.parse().unwrap(), key };
        let since = time("2026-05-23T10:01:00.000Z");
        let parked = Parked { state, since, reason: Some("because".to_owned()), maybe_sent_at, error: None };
        self.store().park(&notice, None, &parked).await.unwrap();
    }

    async fn resends(&self, person: &str) -> Vec<Resend> {
        self.store().facts(&event_id(), &person.parse().unwrap()).await.unwrap().resends
    }
}

const TARO: &str = "U11111111111111111111111111111111";
const JIRO: &str = "U22222222222222222222222222222222";

#[tokio::test]
async fn one_notice_is_sent_again_and_the_facts_name_who_asked() {
    let desk = Desk::with_rally();
    desk.holds(HANAKO, "001", Some(ParkedState::Failed)).await;

    let dry = desk.run(&["deliveries", "resend", ID, HANAKO, "001", "--dry-run"]).done();
    assert_eq!(dry, format!("resend 1 of stamp 001 for {HANAKO} would be written\n"));
    assert_eq!(desk.resends(HANAKO).await, []);
    let told = desk.run(&["deliveries", "resend", ID, HANAKO, "001"]).done();
    assert_eq!(told, format!("resend 1 of stamp 001 for {HANAKO} is written\n"));
    let [resend] = desk.resends(HANAKO).await.try_into().unwrap();
    assert_eq!((resend.number, resend.requested_by.as_str()), (1, "cli:yamada"));
    assert_eq!(resend.notice, NoticeStatus::Pending { maybe_sent_at: None });

    assert_eq!(
        desk.run(&["deliveries", "resend", ID, HANAKO, "001"]).refused(),
        "stamp-rally: the last notice of this stamp is waiting or held, and goes out by itself: nothing is written"
    );
    assert_eq!(
        desk.run(&["deliveries", "resend", ID, HANAKO, "002"]).refused(),
        "stamp-rally: this participant doesn't have that stamp, so there is no notice of it: nothing is written"
    );
    assert_eq!(desk.resends(HANAKO).await.len(), 1);

    let key = NoticeKey::Resend { stamp_id: "001".parse().unwrap(), number: 1 };
    let sent = NoticeId { event_id: event_id(), line_user_id: HANAKO.parse().unwrap(), key };
    desk.store().mark_sent(&sent, time("2026-05-23T10:05:00.000Z"), Some("line-1")).await.unwrap();
    let again = desk.run(&["deliveries", "resend", ID, HANAKO, "001", "--dry-run"]).done();
    let accepted =
        "LINE accepted the one before at 2026/05/23 19:05: to a friend of the account this is a second message";
    assert_eq!(again, format!("resend 2 of stamp 001 for {HANAKO} would be written; {accepted}\n"));
}

#[tokio::test]
async fn who_asks_is_named_or_nothing_is_sent_again() {
    let mut desk = Desk::with_rally();
    desk.holds(HANAKO, "001", Some(ParkedState::Failed)).await;
    let resend = |desk: &Desk, by: &[&str]| desk.run(&[&["deliveries", "resend", ID, HANAKO, "001"], by].concat());
    let too_long = "a".repeat(65);
    for bad in ["", " ", "a\tb", &too_long] {
        let told = resend(&desk, &["--by", bad]);
        assert_eq!(told.code, 2);
        assert!(told.err.contains("must be a name of 1 to 64 characters"), "{told:?}");
    }
    desk.variables.remove("USER");
    desk.variables.insert("LOGNAME", String::new());
    let nobody = "stamp-rally: the facts name who asks, and this account has no name: give one with --by NAME";
    assert_eq!(resend(&desk, &[]).refused(), nobody);
    assert_eq!(desk.resends(HANAKO).await, []);
    resend(&desk, &["--by", "町役場 佐藤"]).done();
    assert_eq!(desk.resends(HANAKO).await[0].requested_by, "cli:町役場 佐藤");
}

#[tokio::test]
async fn what_is_held_is_not_sent_again_and_the_error_says_why() {
    let desk = Desk::with_rally();
    desk.holds(HANAKO, "001", Some(ParkedState::Held)).await;
    assert_eq!(
        desk.run(&["deliveries", "resend", ID, HANAKO, "001"]).refused(),
        "stamp-rally: the last notice of this stamp is held since 2026/05/23 19:01 (because) and goes out by itself \
         when its channel is resumed: nothing is written"
    );
    assert_eq!(desk.resends(HANAKO).await, []);
}

#[tokio::test]
async fn what_may_be_on_the_phone_already_is_reported_before_it_is_sent_again() {
    let desk = Desk::with_rally();
    let maybe_sent_at = Some(time("2026-05-23T10:00:30.000Z"));
    let key = || NoticeKey::Stamp("001".parse().unwrap());
    for (person, maybe_sent_at) in [(HANAKO, maybe_sent_at), (TARO, None), (JIRO, maybe_sent_at)] {
        desk.holds(person, "001", None).await;
        desk.park_tried(person, key(), ParkedState::Failed, maybe_sent_at).await;
    }
    let one = desk.run(&["deliveries", "resend", ID, JIRO, "001"]).done();
    let before = "; the one before may have been accepted at 2026/05/23 19:00";
    assert_eq!(one, format!("resend 1 of stamp 001 for {JIRO} is written{before}\n"));
    let dry = desk.run(&["deliveries", "resend", ID, "--state", "failed", "--dry-run"]).done();
    assert!(dry.contains(&format!("{HANAKO}  stamp 001, resend 1{before}\n")), "{dry}");
    assert!(dry.contains(&format!("{TARO}  stamp 001, resend 1\n")), "{dry}");
    let all = desk.run(&["deliveries", "resend", ID, "--state", "failed"]).done();
    assert_eq!(all, "asked for again: 2\nof these, may be on the phone already: 1\non their way already: 1\n");
}

#[tokio::test]
async fn which_notices_is_said_in_one_way() {
    let desk = Desk::with_rally();
    for wrong in [
        &[][..],
        &[HANAKO],
        &[HANAKO, "001", "--state", "failed"],
        &["--state", "held"],
        &["--state", "suppressed"],
        &["U1", "001"],
    ] {
        let arguments = [&["deliveries", "resend", ID], wrong].concat();
        assert_eq!(desk.run(&arguments).code, 2, "{wrong:?}");
    }
    let alone = desk.run(&["deliveries", "resend", ID]).err;
    assert!(alone.contains("USER") && alone.contains("--state"), "{alone}");
    let elsewhere = desk.run(&["deliveries", "resend", "autumn", "--state", "failed"]).refused();
    assert_eq!(elsewhere, "stamp-rally: event \"autumn\" does not exist");
}

#[tokio::test]
async fn all_of_a_state_are_sent_again_and_a_repetition_asks_for_nothing_more() {
    let desk = Desk::with_rally();
    desk.holds(HANAKO, "001", Some(ParkedState::Failed)).await;
    desk.holds(HANAKO, "002", Some(ParkedState::Unknown)).await;
    desk.holds(TARO, "001", Some(ParkedState::Failed)).await;
    desk.holds(JIRO, "001", None).await;
    let completed = Completed {
        event_id: event_id(),
        line_user_id: HANAKO.parse().unwrap(),
        completed_at: time("2026-05-23T10:00:00.000Z"),
        by_stamp_id: "002".parse().unwrap(),
        notice: NoticeStatus::Pending { maybe_sent_at: None },
    };
    desk.store().complete(&completed).await.unwrap();
    desk.park(HANAKO, NoticeKey::Completed, ParkedState::Failed).await;
    let all = |more: &[&str]| desk.run(&[&["deliveries", "resend", ID, "--state", "failed"], more].concat()).done();

    let dry = all(&["--dry-run"]);
    assert!(dry.contains(&format!("{HANAKO}  stamp 001, resend 1\n")), "{dry}");
    assert!(dry.contains(&format!("{TARO}  stamp 001, resend 1\n")), "{dry}");
    let cards = "left alone, completed cards (a resend is of a stamp): 1\n";
    assert!(dry.ends_with(&format!("would be asked for again: 2\n{cards}")), "{dry}");
    assert_eq!(desk.resends(HANAKO).await, []);

    assert_eq!(all(&[]), format!("asked for again: 2\n{cards}"));
    let [resend] = desk.resends(HANAKO).await.try_into().unwrap();
    assert_eq!((resend.stamp_id.as_str(), resend.requested_by.as_str()), ("001", "cli:yamada"));
    assert_eq!((desk.resends(TARO).await.len(), desk.resends(JIRO).await.len()), (1, 0));
    assert_eq!(all(&[]), format!("asked for again: 0\non their way already: 2\n{cards}"));
    assert_eq!(desk.resends(TARO).await.len(), 1);

    // Its resend fails too: now both are listed, and are one.
    desk.park(TARO, NoticeKey::Resend { stamp_id: "001".parse().unwrap(), number: 1 }, ParkedState::Failed).await;
    assert_eq!(all(&[]), format!("asked for again: 1\non their way already: 1\n{cards}"));
    assert_eq!(desk.resends(TARO).await.len(), 2);

    // Its last resend may have been accepted: a person decides, who asks for those of that state.
    desk.park(TARO, NoticeKey::Resend { stamp_id: "001".parse().unwrap(), number: 2 }, ParkedState::Unknown).await;
    let told = "asked for again: 0\non their way already: 1\nnot failed any more: 1\n";
    assert_eq!(all(&[]), format!("{told}{cards}"));
}

#[tokio::test]
async fn two_who_send_all_again_at_once_make_one_resend_of_each() {
    let desk = Desk::with_rally();
    let people: Vec<String> = (0..40).map(|n| format!("U{n:032x}")).collect();
    for person in &people {
        desk.holds(person, "001", Some(ParkedState::Failed)).await;
    }
    let run = || {
        let command = desk.command(&["deliveries", "resend", ID, "--state", "failed"]);
        tokio::task::spawn_blocking(move || told(command).done())
    };
    let (one, other) = tokio::join!(run(), run());
    let written = [one, other].map(|out| {
        out.unwrap().lines().next().unwrap().strip_prefix("asked for again: ").unwrap().parse::<usize>().unwrap()
    });
    assert_eq!(written.iter().sum::<usize>(), people.len(), "{written:?}");
    for person in &people {
        assert_eq!(desk.resends(person).await.len(), 1);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn sending_all_again_may_be_interrupted_and_repeated() {
    let desk = Desk::with_rally();
    for person in [HANAKO, TARO] {
        desk.holds(person, "001", Some(ParkedState::Failed)).await;
    }
    let gate = desk.proxy.hold("PutItem");
    let mut command = desk.command(&["deliveries", "resend", ID, "--state", "failed"]);
    let (out, err) = (std::process::Stdio::piped(), std::process::Stdio::piped());
    let running = command.stdout(out).stderr(err).spawn().unwrap();
    gate.has_waiting(2).await;
    assert!(Command::new("kill").args(["-INT", &running.id().to_string()]).status().unwrap().success());
    let ended = running.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(1));
    assert_eq!(String::from_utf8(ended.stdout).unwrap(), "asked for again: 0\n");
    assert_eq!(
        String::from_utf8(ended.stderr).unwrap(),
        "stamp-rally: broken off: the same command again continues with the rest: interrupted\n"
    );
    gate.release();
    desk.run(&["deliveries", "resend", ID, "--state", "failed"]).done();
    for person in [HANAKO, TARO] {
        assert_eq!(desk.resends(person).await.len(), 1);
    }
}

#[tokio::test]
async fn each_notice_of_a_participant_is_shown_with_what_became_of_it() {
    let desk = Desk::with_rally();
    desk.holds(HANAKO, "001", None).await;
    desk.holds(HANAKO, "002", Some(ParkedState::Failed)).await;
    desk.holds(TARO, "001", Some(ParkedState::Held)).await;
    let unfollow = Friendship {
        channel: "main".parse().unwrap(),
        line_user_id: HANAKO.parse().unwrap(),
        following: false,
        occurred_at: time("2026-05-23T09:00:00.000Z"),
        webhook_event_id: "01H".parse().unwrap(),
    };
    desk.store().record_friendship(&unfollow).await.unwrap();
    let notice = NoticeId {
        event_id: event_id(),
        line_user_id: HANAKO.parse().unwrap(),
        key: NoticeKey::Stamp("001".parse().unwrap()),
    };
    desk.store().mark_sent(&notice, time("2026-05-23T10:00:01.000Z"), Some("line-1")).await.unwrap();
    desk.run(&["deliveries", "resend", ID, HANAKO, "002"]).done();
    let [resend] = desk.resends(HANAKO).await.try_into().unwrap();
    let asked_at = resend.requested_at.in_zone(TimeZone::TOKYO);

    assert_eq!(
        desk.run(&["deliveries", "show", ID, HANAKO]).done(),
        format!(
            "stamp 001             sent_to_non_friend  at 2026/05/23 19:00; LINE's request id line-1; no friend since 2026/05/23 18:00\n\
             stamp 002             failed              since 2026/05/23 19:01; because\n\
             stamp 002, resend 1   waiting             asked for by cli:yamada at {asked_at}; since {asked_at}\n\
             notices: 3\n"
        )
    );
    assert_eq!(
        desk.run(&["deliveries", "show", ID, TARO]).done(),
        "stamp 001             held                since 2026/05/23 19:01; because\n\
         whether they are a friend of the account isn't known: no follow or unfollow was seen, and to a user who never \
         added it LINE shows nothing\nnotices: 1\n"
    );
    assert_eq!(
        desk.run(&["deliveries", "show", ID, JIRO]).refused(),
        format!("stamp-rally: nothing is known of {JIRO} in event \"{ID}\"")
    );
    desk.park(HANAKO, NoticeKey::Resend { stamp_id: "002".parse().unwrap(), number: 1 }, ParkedState::Failed).await;
    assert_eq!(
        desk.run(&["deliveries", "list", ID, "--state", "failed"]).done(),
        format!(
            "{HANAKO}  stamp 002, resend 1   since 2026/05/23 19:01  asked for by cli:yamada; because\n\
             {HANAKO}  stamp 002             since 2026/05/23 19:01  because\n2 failed\n"
        )
    );
}

#[tokio::test]
async fn what_a_list_leaves_out_it_counts() {
    let desk = Desk::with_rally();
    desk.register(HANAKO, "2026-05-23T10:00:00.000Z").await;
    desk.holds(HANAKO, "001", Some(ParkedState::Held)).await;
    desk.holds(HANAKO, "002", Some(ParkedState::Held)).await;
    let client = Clients::at(&desk.engine_url, &Timeouts::request()).table;
    let text = |text: &str| AttributeValue::S(text.to_owned());
    let update = client.update_item().table_name("line-event").key("PK", text(&format!("EVENT#{ID}#USER#{HANAKO}")));
    let update = update.key("SK", text("STAMP#002")).update_expression("REMOVE acquiredAt");
    update.send().await.unwrap();
    for (sk, list) in [("1", "PUSH_HELD"), ("2", "STAMP_MASTERS")] {
        let put = client.put_item().table_name("line-event").item("PK", text("NOTE")).item("SK", text(sk));
        let put = put.item("entityType", text("NOTE")).item("GSI1PK", text(&format!("EVENT#{ID}#{list}")));
        put.item("GSI1SK", text("1")).send().await.unwrap();
    }

    let held = desk.run(&["deliveries", "list", ID, "--state", "held"]).done();
    let left_out = format!("2 more can't be read: `stamp-rally table check --event {ID}` names them\n1 held\n");
    assert!(held.ends_with(&left_out), "{held}");
    let shown = desk.run(&["deliveries", "show", ID, HANAKO]).done();
    let left_out = "1 fact can't be read and is left out, with its notice: `stamp-rally table check --event";
    assert!(shown.contains(left_out) && shown.ends_with("notices: 1\n"), "{shown}");
    let event = desk.run(&["event", "show", ID]).done();
    assert!(event.contains("1 other item is listed among the stamps (`stamp-rally table check"), "{event}");
}
