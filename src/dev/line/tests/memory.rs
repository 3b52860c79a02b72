//! What outlives the process, and who may have the file.

use std::{fs, path::PathBuf};

use serde_json::json;

use super::{Desk, KEY, MESSAGING, Memory, SECRET, StandIn, channels, listener, text};
use crate::dev::line::{ChannelSettings, StartError, chance};

/// A folder of its own, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("stand-in-line-{}", chance::request_id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[tokio::test]
async fn what_was_answered_is_on_disk_when_the_process_is_killed() {
    let folder = Folder::new();
    let desk = Desk::with(&Memory::File(folder.file("line.db")));
    let hanako = desk.hanako().await;
    let id_token = desk.id_token(&hanako, json!({})).await;
    let form = [("grant_type", "client_credentials"), ("client_id", MESSAGING), ("client_secret", SECRET)];
    let token = desk.form("/oauth2/v3/token", &form).await.json()["access_token"].as_str().unwrap().to_owned();
    let first = desk.push(&hanako, Some(KEY)).await;
    // The files as a killed process leaves them: the first stand-in still runs.
    for ending in ["", "-wal"] {
        let copied = fs::copy(folder.file(&format!("line.db{ending}")), folder.file(&format!("killed.db{ending}")));
        copied.unwrap();
    }

    let after = Desk::with(&Memory::File(folder.file("killed.db")));
    let second = after.push(&hanako, Some(KEY)).await;
    assert_eq!((second.status, second.accepted_request_id), (409, first.request_id));
    assert_eq!(after.phone(&hanako).await, desk.phone(&hanako).await);
    let verified = after.form("/oauth2/v2.1/verify", &[("id_token", &id_token), ("client_id", super::LOGIN)]).await;
    assert_eq!(verified.status, 200, "the signing key is the same");
    let info = after.request(reqwest::Method::GET, "/v2/bot/info").bearer_auth(token).send().await.unwrap();
    assert_eq!(info.status(), 200, "a stateless token can't be revoked, by a restart neither");
    assert_eq!(after.get("/v2/bot/message/quota/consumption").await.json()["totalUsage"], json!(1));
}

#[tokio::test]
async fn a_stopped_stand_in_frees_its_file_and_remembers_after_a_restart() {
    let folder = Folder::new();
    let memory = Memory::File(folder.file("deep/down/line.db"));
    let desk = Desk::with(&memory);
    let hanako = desk.hanako().await;
    let first = desk.push(&hanako, None).await.json();
    desk.line.stop();
    let desk = Desk::with(&memory);
    let second = desk.push(&hanako, None).await.json();
    assert_ne!(first["sentMessages"][0]["id"], second["sentMessages"][0]["id"]);
    assert_eq!(desk.phone(&hanako).await.len(), 2);
}

#[tokio::test]
async fn a_stop_cuts_off_clients_that_wait_for_an_answer() {
    let folder = Folder::new();
    let memory = Memory::File(folder.file("line.db"));
    let desk = Desk::with(&memory);
    let hanako = desk.hanako().await;
    desk.faults(json!([{ "endpoint": "push", "kind": "timeout_after_accept" }])).await;
    let push = desk.push_request(&hanako, Some(KEY), &json!([text("一")]));
    let Desk { line, .. } = desk;
    let stop = async {
        while line.phone(&hanako).unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        line.stop();
    };
    let (answer, ()) = tokio::join!(push.send(), stop);
    assert!(answer.is_err());
    assert_eq!(Desk::with(&memory).push(&hanako, Some(KEY)).await.status, 409);
}

#[test]
fn a_file_in_use_and_an_unusable_path_are_distinguished() {
    let folder = Folder::new();
    let start = |memory: Memory| StandIn::start(listener(), &memory, channels());
    let path = folder.file("line.db");
    let _first = start(Memory::File(path.clone())).unwrap();
    let error = start(Memory::File(path)).err().unwrap();
    assert!(matches!(error, StartError::MemoryInUse(_)), "{error}");

    fs::write(folder.file("text.db"), "This is no database, but it is long enough to be asked.".repeat(40)).unwrap();
    fs::create_dir(folder.file("folder.db")).unwrap();
    for unusable in ["text.db", "folder.db", "text.db/below.db"] {
        let error = start(Memory::File(folder.file(unusable))).err().unwrap();
        assert!(matches!(error, StartError::MemoryUnusable { .. }), "{unusable}: {error}");
        assert!(error.to_string().contains(unusable));
    }
}

#[test]
fn contradictory_channels_are_refused() {
    let start = |channels: Vec<ChannelSettings>| StandIn::start(listener(), &Memory::InMemory, channels);
    let one = || ChannelSettings::new("main", "1", "2", "s");
    assert!(start(vec![one()]).is_ok());
    for (channels, why) in [
        (vec![], "there is none"),
        (vec![one(), one()], "`main` is there twice"),
        (vec![one(), ChannelSettings::new("other", "1", "3", "s")], "the channel id 1 is there twice"),
        (vec![ChannelSettings { login_channel_ids: vec![], ..one() }], "has no login channel id"),
    ] {
        let error = start(channels).err().unwrap();
        assert!(error.to_string().contains(why), "{error}");
    }
}
