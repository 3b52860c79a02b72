//! What keeps the program from starting is told in one line, at once.

use std::{fs, net::TcpListener, path::Path, process::Stdio};

use super::{Process, skeleton::Skeleton};

/// Starts `dev`, which refuses: the one line it says.
async fn refused(folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> String {
    let mut all = vec![("STAMP_RALLY__HTTP__BIND", "127.0.0.1:0".to_owned())];
    all.extend(variables.iter().map(|(name, value)| (*name, (*value).to_owned())));
    let arguments = [&["dev", "--line", "127.0.0.1:0"], arguments].concat();
    refusal(Process::start(folder, &arguments, &all)).await
}

pub async fn refusal(process: Process) -> String {
    let (status, said) = process.ends().await;
    assert_eq!(status.code(), Some(1), "{said}");
    assert_eq!(said.lines().count(), 1, "one line: {said}");
    said.strip_prefix("stamp-rally: ").unwrap_or_else(|| panic!("{said}")).to_owned()
}

#[tokio::test]
async fn one_data_folder_is_for_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let here = Skeleton::start(folder.path()).await;
    let said = refused(folder.path(), &[], &[]).await;
    assert!(said.contains("line.db is in use by another"), "{said}");
    // The first one didn't notice.
    let hanako = super::Participant::new(&here.line, "花子").await;
    hanako.acquire(&here.api, "001").await.is(201);
    here.process.stops().await;
    // And after it, the folder is free.
    Skeleton::start(folder.path()).await.process.stops().await;
}

#[tokio::test]
async fn a_port_in_use_is_named_with_the_setting_that_chooses_another() {
    let folder = tempfile::tempdir().unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let says = |setting: &str| {
        format!("can't listen on {address}: choose another address by {setting}: Address already in use (os error 98)")
    };
    let http = refused(folder.path(), &[], &[("STAMP_RALLY__HTTP__BIND", &address)]).await;
    assert_eq!(http, says("`http.bind`, say STAMP_RALLY__HTTP__BIND=127.0.0.1:8090"));
    let engine = refused(folder.path(), &["--engine", &address], &[]).await;
    assert_eq!(engine, says("`stamp-rally dev --engine ADDRESS`"));
    let line = Process::start(folder.path(), &["dev", "--line", &address], &[]);
    assert_eq!(refusal(line).await, says("`stamp-rally dev --line ADDRESS`"));
}

#[tokio::test]
async fn a_configuration_that_can_not_be_used_is_reported_by_key_and_place() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rally.toml");
    let file = file.to_str().unwrap();
    for (text, says) in [
        ("[http\n", "line 1: "),
        ("[http]\nbnid = \"127.0.0.1:0\"\n", "`http.bnid` (file "),
        ("[store]\nconsumer_table = \"line-event\"\n", "`store.consumer_table` (file "),
        ("[delivery]\npushes_per_second = 0\n", "`delivery.pushes_per_second` (file "),
        ("[delivery]\nlease_ms = 50\n", "`delivery.lease_ms` (file "),
    ] {
        fs::write(file, text).unwrap();
        let said = refused(folder.path(), &["--config", file], &[]).await;
        assert!(said.contains(says) && said.contains("rally.toml"), "{said}");
        assert_eq!(refused(folder.path(), &[], &[("STAMP_RALLY_CONFIG", file)]).await, said);
    }
    let said = refused(folder.path(), &["--config", "nowhere.toml"], &[]).await;
    assert_eq!(said, "configuration file nowhere.toml can't be read: No such file or directory (os error 2)");
    let alone = [("STAMP_RALLY__HTTP__BIND", "127.0.0.1:0".to_owned())];
    let alone = Process::start(folder.path(), &["--config", "nowhere.toml"], &alone);
    assert_eq!(refusal(alone).await, said, "a call without a command takes a file too");
    let said = refused(folder.path(), &[], &[("STAMP_RALLY__DELIVERY__PACE", "fast")]).await;
    assert!(said.starts_with("`delivery.pace` (variable STAMP_RALLY__DELIVERY__PACE): unknown field"), "{said}");
    let said = refused(folder.path(), &[], &[("STAMP_RALLY__HTTP__BIND", "8080")]).await;
    assert!(said.starts_with("`http.bind` (variable STAMP_RALLY__HTTP__BIND): `8080` is no address"), "{said}");
}

#[tokio::test]
async fn data_that_can_not_be_used_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("data"), "a file, not a folder").unwrap();
    let said = refused(folder.path(), &[], &[]).await;
    assert!(said.contains("the data folder data"), "{said}");

    for damaged in ["engine.db", "line.db"] {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("there")).unwrap();
        fs::write(folder.path().join("there").join(damaged), "no database at all, and rather long for that".repeat(99))
            .unwrap();
        let said = refused(folder.path(), &["--data", "there"], &[]).await;
        assert!(said.contains(damaged), "{said}");
    }
}

#[test]
fn a_call_that_can_not_be_understood_is_answered_with_usage() {
    let run = |arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_stamp-rally"));
        let run = command.args(arguments).env_clear().stdin(Stdio::null()).output().unwrap();
        (run.status.code(), String::from_utf8(run.stderr).unwrap())
    };
    for wrong in [
        &["sreve"][..],
        &["dev", "--port", "80"],
        &["dev", "--line", "here"],
        &["serve", "now"],
        &["--config", "a.toml", "serve"],
    ] {
        let (code, said) = run(wrong);
        assert_eq!(code, Some(2), "{said}");
        assert!(said.starts_with("error: "), "{said}");
    }
}
