//! `kill -9` at every bad moment, and the same folder again: nothing is lost, nothing comes twice.

use futures_util::{StreamExt, stream};
use serde_json::json;

use super::{Participant, Process, eventually, skeleton::Skeleton};

#[tokio::test]
async fn killed_right_after_the_answer_the_stamp_is_kept_and_its_notice_sent_once() {
    let folder = tempfile::tempdir().unwrap();
    let here = Skeleton::start(folder.path()).await;
    let hanako = Participant::new(&here.line, "花子").await;
    let stamp = hanako.acquire(&here.api, "001").await.is(201);
    here.process.kill();

    let here = Skeleton::start(folder.path()).await;
    let hanako = Participant::known(&here.line, &hanako.id).await;
    hanako.is_told_of(&here.api, &["001"]).await;
    assert_eq!(hanako.acquire(&here.api, "001").await.is(200).body["acquiredAt"], stamp.body["acquiredAt"]);
    assert_eq!(here.line.phone(&hanako.id).await.len(), 1);
    here.line.doubled_nothing().await;
    here.process.stops().await;
}

/// LINE has the message, we don't know it, and then we are gone.
#[tokio::test]
async fn killed_between_push_and_mark_the_message_is_not_sent_again() {
    for kind in ["timeout_after_accept", "drop_after_accept"] {
        let folder = tempfile::tempdir().unwrap();
        let here = Skeleton::start(folder.path()).await;
        let hanako = Participant::new(&here.line, "花子").await;
        here.line.faults(json!([{"endpoint": "push", "kind": kind}])).await;
        hanako.acquire(&here.api, "001").await.is(201);
        eventually("LINE accepts", async || (here.line.accepted().await == 1).then_some(())).await;
        assert_eq!(hanako.card(&here.api).await.body["stamps"][0]["flexMessageSent"], false, "{kind}");
        here.process.kill();

        // The faults are gone with the process; the retry key is not.
        let here = Skeleton::start(folder.path()).await;
        let hanako = Participant::known(&here.line, &hanako.id).await;
        hanako.is_told_of(&here.api, &["001"]).await;
        assert_eq!((here.line.accepted().await, here.line.phone(&hanako.id).await.len()), (1, 1), "{kind}");
        here.line.doubled_nothing().await;
        here.process.stops().await;
    }
}

#[tokio::test]
async fn killed_while_idle_it_continues_as_if_nothing_had_been() {
    let folder = tempfile::tempdir().unwrap();
    let here = Skeleton::start(folder.path()).await;
    let hanako = Participant::new(&here.line, "花子").await;
    hanako.acquire(&here.api, "001").await.is(201);
    hanako.is_told_of(&here.api, &["001"]).await;
    let card = hanako.card(&here.api).await.is(200).body;
    here.process.kill();

    let here = Skeleton::start(folder.path()).await;
    let hanako = Participant::known(&here.line, &hanako.id).await;
    assert_eq!(hanako.card(&here.api).await.is(200).body, card);
    hanako.acquire(&here.api, "001").await.is(200);
    hanako.acquire(&here.api, "002").await.is(201);
    hanako.is_told_of(&here.api, &["001", "002"]).await;
    eventually("the message of the full card", async || (here.line.accepted().await == 3).then_some(())).await;
    here.line.doubled_nothing().await;
    here.process.stops().await;
}

/// Files appear one after the other while it starts for the first time: each is a moment to die at.
#[tokio::test]
async fn killed_while_it_starts_the_next_start_is_a_good_one() {
    let folder = tempfile::tempdir().unwrap();
    for file in ["line.db", "engine.db.lock", "engine.db", "demo", "demo/flex_templates/stamp-acquired-last.json"] {
        let variables = [("STAMP_RALLY__HTTP__BIND", "127.0.0.1:0".to_owned())];
        let process = Process::start(folder.path(), &["dev", "--line", "127.0.0.1:0"], &variables);
        let file = folder.path().join("data").join(file);
        eventually("the file is there", async || file.exists().then_some(())).await;
        process.kill();
    }
    let here = Skeleton::start(folder.path()).await;
    let hanako = Participant::new(&here.line, "花子").await;
    hanako.acquire(&here.api, "001").await.is(201);
    hanako.acquire(&here.api, "002").await.is(201);
    hanako.is_told_of(&here.api, &["001", "002"]).await;
    here.process.stops().await;
}

/// In the middle of a rush, at three different moments, one after the other.
#[tokio::test]
async fn killed_in_the_middle_of_a_rush_every_answered_stamp_is_there_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut here = Skeleton::start(folder.path()).await;
    let mut people = Vec::new();
    for number in 0..24 {
        people.push(Participant::new(&here.line, &format!("参加者{number}")).await);
    }
    let mut answered = vec![false; people.len()];
    for answers_until_the_kill in [1, 6, 7] {
        let api = here.api.clone();
        let rush = people.iter().enumerate().filter(|(place, _)| !answered[*place]);
        let mut rush = stream::iter(rush.map(async |(place, person)| {
            let key = format!("rush-{place}");
            person.tries_to_acquire(&api, "001", &key).await.map(|status| (place, status))
        }))
        .buffer_unordered(8);
        let mut now = Vec::new();
        while now.len() < answers_until_the_kill {
            now.extend(rush.next().await.unwrap());
        }
        // The others are on their way.
        here.process.kill();
        now.extend(rush.filter_map(async |answer| answer).collect::<Vec<_>>().await);
        for (place, status) in now {
            assert_eq!(status, 201, "also where the first try was stored and its answer lost");
            answered[place] = true;
        }
        here = Skeleton::start(folder.path()).await;
        for person in &mut people {
            *person = Participant::known(&here.line, &person.id).await;
        }
        for (person, _) in people.iter().zip(&answered).filter(|(_, answered)| **answered) {
            let card = person.card(&here.api).await.is(200);
            assert_eq!(card.body["acquiredCount"], 1, "what was answered is stored");
        }
    }
    for (place, person) in people.iter().enumerate().filter(|(place, _)| !answered[*place]) {
        assert_eq!(person.tries_to_acquire(&here.api, "001", &format!("rush-{place}")).await, Some(201));
    }
    for person in &people {
        person.is_told_of(&here.api, &["001"]).await;
        assert_eq!(here.line.phone(&person.id).await.len(), 1);
    }
    assert_eq!(here.line.accepted().await, 24);
    here.line.doubled_nothing().await;
    here.process.stops().await;
}
