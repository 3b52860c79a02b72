//! Defaults, file and environment.

use super::*;
use crate::line::{Access, id_token::Verification};

#[test]
fn the_defaults_are_enough_to_start() {
    let settings = Settings::load(None, Vec::new()).unwrap();
    assert_eq!(settings.http.bind.to_string(), "127.0.0.1:8080");
    assert_eq!(settings.http.public_url(), "http://127.0.0.1:8080");
    assert!(settings.http.allowed_origins.is_empty());
    assert_eq!(settings.store.main, "line-event");
    assert_eq!(settings.store.consumers, "line-event-consumers");
    assert_eq!(settings.line.api_base_url.as_str(), "https://api.line.me/");
    assert_eq!(settings.line.verification, Verification::Jwks);
    assert_eq!(settings.line.jwks_refetch, Duration::from_secs(30));
    assert_eq!(settings.line.clock_leeway, Duration::from_secs(30));
    assert_eq!(settings.line.timeout, Duration::from_secs(10));
    assert!(settings.line.channels.is_empty());
    assert_eq!(settings.delivery.pushes_per_second, 100);
    assert_eq!(settings.delivery.concurrency, 64);
    assert_eq!(settings.delivery.poll_interval, Duration::from_millis(250));
    assert_eq!(settings.delivery.lease, Duration::from_secs(15));
    assert_eq!(settings.delivery.probe_interval, Duration::from_secs(30));
    assert!(settings.admin.tokens.is_empty());
    assert_eq!(settings.log.format, LogFormat::Text);
    assert!(settings.warnings().is_empty());
}

#[test]
fn the_environment_is_laid_over_the_file_and_the_file_over_the_defaults() {
    let file = "[http]\nbind = \"127.0.0.1:1\"\n[delivery]\nlease_ms = 2000\n[store]\ntable = \"from-file\"\n";
    let variables =
        [("STAMP_RALLY__HTTP__BIND", "0.0.0.0:9000"), ("STAMP_RALLY__DELIVERY__LEASE_MS", "1000"), ("PATH", "/bin")];
    let settings = load(file, &variables).unwrap();
    assert_eq!(settings.http.bind.to_string(), "0.0.0.0:9000");
    assert_eq!(settings.delivery.lease, Duration::from_secs(1));
    assert_eq!(settings.store.main, "from-file");
    assert_eq!(settings.store.consumers, "line-event-consumers");
}

#[test]
fn a_variable_that_lacks_an_underscore_is_told_so() {
    for name in ["STAMP_RALLY_HTTP__BIND", "STAMP_RALLY_HTTP_BIND", "STAMP_RALLY_LINE__TIMEOUT_MS"] {
        let said = load("", &[(name, "1")]).unwrap_err();
        let says = "is no setting: write STAMP_RALLY__SECTION__KEY, with two underscores each time";
        assert_eq!(said, format!("`{name}` (variable {name}): {says}"));
    }
    load("", &[("STAMP_RALLY_CONFIG", "f"), ("STAMP_RALLY_LAMBDA_INSTANCES", "3"), ("STAMP_RALLYE", "x")]).unwrap();
}

#[test]
fn a_commands_own_defaults_are_under_the_file_and_the_environment() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rally.toml");
    fs::write(&file, "[delivery]\nhold_probe_ms = 7000\n").unwrap();
    let own = "[delivery]\nlease_ms = 6000\nhold_probe_ms = 5000\npoll_interval_ms = 50\n";
    let variables = [("STAMP_RALLY__DELIVERY__POLL_INTERVAL_MS".into(), "70".into())];
    let delivery = Settings::load_over(own, Some(&file), variables).unwrap().delivery;
    assert_eq!(delivery.lease, Duration::from_secs(6));
    assert_eq!(delivery.probe_interval, Duration::from_secs(7));
    assert_eq!(delivery.poll_interval, Duration::from_millis(70));
}

#[test]
fn a_variable_is_read_as_its_key_wants_it() {
    let variables = [
        ("STAMP_RALLY__LINE__CHANNELS__MAIN__LOGIN_CHANNEL_IDS", "1234567890"),
        ("STAMP_RALLY__LINE__CHANNELS__MAIN__MESSAGING_CHANNEL_ID", "0234567890"),
        ("STAMP_RALLY__LINE__CHANNELS__MAIN__CHANNEL_SECRETS", r#"["newest","older"]"#),
        ("STAMP_RALLY__DELIVERY__PUSHES_PER_SECOND", "7"),
        ("STAMP_RALLY__HTTP__ALLOWED_ORIGINS", r#"["https://rally.example.jp"]"#),
        ("STAMP_RALLY__LOG__FORMAT", "json"),
    ];
    let settings = load("", &variables).unwrap();
    let main = &settings.line.channels[&"main".parse().unwrap()];
    assert_eq!(main.login.ids, ["1234567890"]);
    assert_eq!(main.webhook_secrets.len(), 2);
    let Some(Access::Stateless { messaging_channel_id, channel_secret }) = &main.access else {
        panic!("no token given")
    };
    assert_eq!(messaging_channel_id, "0234567890");
    assert_eq!(channel_secret.expose_secret(), "newest");
    assert_eq!(settings.delivery.pushes_per_second, 7);
    assert_eq!(settings.http.allowed_origins[0].as_str(), "https://rally.example.jp");
    assert_eq!(settings.log.format, LogFormat::Json);
}

#[test]
fn a_json_object_is_merged_and_refined_by_longer_names() {
    let json = r#"{"harbour-walk":{"login_channel_ids":["1"],"access_token":"a"},"main":{"login_channel_ids":["2"]}}"#;
    let variables = [("STAMP_RALLY__LINE__CHANNELS__MAIN__ACCESS_TOKEN", "b"), ("STAMP_RALLY__LINE__CHANNELS", json)];
    let settings = load("", &variables).unwrap();
    let token = |name: &str| match &settings.line.channels[&name.parse().unwrap()].access {
        Some(Access::LongLived(token)) => token.expose_secret().to_owned(),
        other => panic!("{other:?}"),
    };
    assert_eq!((token("harbour-walk"), token("main")), ("a".to_owned(), "b".to_owned()));
}

#[test]
fn an_unknown_key_is_named_with_the_known_ones() {
    refuses(
        "[http]\nbnid = \"127.0.0.1:1\"\n",
        "`http.bnid` (file rally.toml): unknown field `bnid`, expected one of `bind`, `public_url`, `allowed_origins`, `trusted_proxies`",
    );
    refuses(
        "[htpp]\nbind = \"127.0.0.1:1\"\n",
        "`htpp` (file rally.toml): unknown field `htpp`, expected one of `http`, `store`, `line`, `delivery`, `proofs`, `ops`, `admin`, `log`",
    );
    assert_eq!(
        variable_refusal("STAMP_RALLY__DELIVERY__LEASE", "1000"),
        "`delivery.lease` (variable STAMP_RALLY__DELIVERY__LEASE): unknown field `lease`, expected one of `pushes_per_second`, `poll_interval_ms`, `concurrency`, `lease_ms`, `hold_probe_ms`"
    );
    assert_eq!(
        variable_refusal("STAMP_RALLY__FOO__BAR", "1"),
        "`foo` (variable STAMP_RALLY__FOO__BAR): unknown field `foo`, expected one of `http`, `store`, `line`, `delivery`, `proofs`, `ops`, `admin`, `log`"
    );
    let refusal = refusal(&format!("{CHANNEL}acess_token = \"hush-hush\"\n"));
    assert!(refusal.starts_with("`line.channels.main.acess_token` (file rally.toml): unknown field"), "{refusal}");
    assert!(!refusal.contains("hush"));
}

#[test]
fn a_variable_that_is_no_key_or_no_number_or_no_json_is_named() {
    assert_eq!(
        variable_refusal("STAMP_RALLY__HTTP__", "1"),
        "`http.` (variable STAMP_RALLY__HTTP__): is no key: write STAMP_RALLY__SECTION__KEY"
    );
    assert_eq!(
        variable_refusal("STAMP_RALLY__DELIVERY__LEASE_MS", "1s"),
        "`delivery.lease_ms` (variable STAMP_RALLY__DELIVERY__LEASE_MS): must be a whole number"
    );
    assert_eq!(
        variable_refusal("STAMP_RALLY__HTTP__ALLOWED_ORIGINS", "[https://rally.example.jp]"),
        "`http.allowed_origins` (variable STAMP_RALLY__HTTP__ALLOWED_ORIGINS): is not usable JSON: expected value at line 1 column 2"
    );
    assert_eq!(
        variable_refusal("STAMP_RALLY__HTTP", "127.0.0.1:1"),
        "`http` (variable STAMP_RALLY__HTTP): is a section: name one of its keys (STAMP_RALLY__HTTP__…) or give a JSON object"
    );
}

#[test]
fn a_missing_or_broken_file_is_named_with_its_line() {
    let missing = Settings::load(Some(Path::new("/no/such/rally.toml")), Vec::new()).unwrap_err();
    assert_eq!(missing.to_string(), "configuration file /no/such/rally.toml can't be read");
    let cause = std::error::Error::source(&missing).unwrap().to_string();
    assert!(cause.starts_with("No such file"), "reported once, as its cause: {cause}");
    let broken = refusal("[http]\n\n[line.channels.main]\naccess_token = \"hush-hush\nbind = 1\n");
    assert!(broken.starts_with("configuration file rally.toml, line 4: invalid basic string"), "{broken}");
    assert!(!broken.contains("hush") && !broken.contains('\n'));
}
