//! Single values.

use super::*;
use crate::line::id_token::Verification;

#[test]
fn addresses_origins_and_proxies_are_parsed() {
    refuses(
        "[http]\nbind = \"localhost\"\n",
        "`http.bind` (file rally.toml): `localhost` is no address: write address:port, for example 127.0.0.1:8080",
    );
    refuses(
        "[http]\npublic_url = \"ftp://rally.example.jp\"\n",
        "`http.public_url` (file rally.toml): must be an http or https URL without user, query and fragment",
    );
    refuses(
        "[http]\ntrusted_proxies = [\"10.0.0.0/33\"]\n",
        "`http.trusted_proxies` (file rally.toml): `10.0.0.0/33` is neither an address nor a network like 10.0.0.0/8",
    );
    let settings =
        load("[http]\npublic_url = \"https://rally.example.jp/\"\ntrusted_proxies = [\"10.0.0.0/8\", \"::1\"]\n", &[])
            .unwrap();
    assert_eq!(settings.http.public_url(), "https://rally.example.jp");
    assert!(settings.http.trusted_proxies[0].contains(&"10.1.2.3".parse::<std::net::IpAddr>().unwrap()));
    assert_eq!(settings.http.trusted_proxies[1].to_string(), "::1/128");
}

#[test]
fn an_origin_is_exact() {
    let origins = |text: &str| load(&format!("[http]\nallowed_origins = [\"{text}\"]\n"), &[]);
    for good in ["https://rally.example.jp", "http://localhost:3000", "https://rally.example.jp:8443"] {
        assert_eq!(origins(good).unwrap().http.allowed_origins[0].as_str(), good);
    }
    let refused = |text: &str| origins(text).unwrap_err();
    let key = "`http.allowed_origins` (file rally.toml): ";
    for pattern in ["*", "https://*.example.jp"] {
        assert_eq!(
            refused(pattern),
            format!("{key}`{pattern}` is a pattern: name each origin, write scheme://host or scheme://host:port")
        );
    }
    for (wrong, right) in [
        ("https://rally.example.jp/", "https://rally.example.jp"),
        ("https://rally.example.jp/liff", "https://rally.example.jp"),
        ("https://Rally.example.jp", "https://rally.example.jp"),
        ("https://rally.example.jp:443", "https://rally.example.jp"),
    ] {
        assert_eq!(refused(wrong), format!("{key}`{wrong}` is no origin as browsers send it: write `{right}`"));
    }
    for wrong in ["rally.example.jp", "null", "file:///tmp", "https://a@rally.example.jp"] {
        assert_eq!(refused(wrong), format!("{key}`{wrong}` is no origin: write scheme://host or scheme://host:port"));
    }
}

#[test]
fn table_names_are_dynamodbs_and_differ() {
    refuses(
        "[store]\ntable = \"line event\"\n",
        "`store.table` (file rally.toml): `line event` is no table name: use 3 to 255 letters, digits, underscores, hyphens and dots",
    );
    refuses(
        "[store]\ntable = \"line-event-consumers\"\n",
        "`store.consumer_table` (the defaults): must be another table than `store.table`",
    );
}

#[test]
fn lines_address_is_https_or_loopback_and_another_one_is_warned_of() {
    let at = |url: &str| load(&format!("[line]\napi_base_url = \"{url}\"\n"), &[]);
    for stand_in in ["http://127.0.0.1:4000", "http://localhost:4000/line", "http://[::1]:4000", "https://line.test"] {
        let settings = at(stand_in).unwrap();
        assert_eq!(settings.warnings().len(), 1);
        assert!(settings.warnings()[0].starts_with(&format!("`line.api_base_url` is {stand_in}")));
    }
    assert!(at("https://api.line.me").unwrap().warnings().is_empty());
    assert_eq!(
        at("http://line.test").unwrap_err(),
        "`line.api_base_url` (file rally.toml): http://line.test/ would send tokens in the clear: use https (http only on this machine)"
    );
    assert_eq!(
        at("api.line.me").unwrap_err(),
        "`line.api_base_url` (file rally.toml): `api.line.me` is no URL: relative URL without a base"
    );
    // Names that only look like this machine.
    assert!(at("http://localhost.example.jp").is_err());
    assert!(at("http://127.0.0.1.example.jp").is_err());
}

#[test]
fn numbers_have_bounds() {
    for (section, key, least, most) in [
        ("line", "jwks_refetch_s", 1_i64, 3_600_i64),
        ("line", "clock_leeway_s", 0, 300),
        ("line", "timeout_ms", 100, 60_000),
        ("delivery", "pushes_per_second", 1, 1_000_000),
        ("delivery", "poll_interval_ms", 1, 60_000),
        ("delivery", "concurrency", 1, 1_024),
        ("delivery", "lease_ms", 100, 300_000),
        ("delivery", "hold_probe_ms", 100, 3_600_000),
    ] {
        let set = |value: i64| load(&format!("[{section}]\n{key} = {value}\n"), &[]);
        set(least).unwrap();
        set(most).unwrap();
        for value in [least - 1, most + 1] {
            assert_eq!(
                set(value).unwrap_err(),
                format!(
                    "`{section}.{key}` (file rally.toml): must be a whole number from {least} to {most}, not {value}"
                )
            );
        }
    }
    refuses(
        "[delivery]\nlease_ms = 1000.5\n",
        "`delivery.lease_ms` (file rally.toml): must be a whole number from 100 to 300000, not a float",
    );
}

#[test]
fn words_are_chosen_from_a_list() {
    refuses(
        "[line]\nverification = \"none\"\n",
        "`line.verification` (file rally.toml): unknown variant `none`, expected one of `endpoint`, `jwks`, `local`",
    );
    assert_eq!(load("[line]\nverification = \"endpoint\"\n", &[]).unwrap().line.verification, Verification::Endpoint);
    refuses(
        "[log]\nformat = \"xml\"\n",
        "`log.format` (file rally.toml): unknown variant `xml`, expected `json` or `text`",
    );
}

#[test]
fn a_key_of_proofs_that_is_too_short_ends_the_start_and_is_not_shown() {
    let good = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
    load("", &[("STAMP_RALLY__PROOFS__KEYS", good)]).unwrap();
    let line = refusal(&format!("[proofs]\nkeys = [\"{good}\", \"c2hvcnQ\"]\n"));
    assert!(line.starts_with("`proofs.keys`"), "{line}");
    assert!(line.contains("key 2 of the list must have 32 to 64 bytes, not 5"), "{line}");
    assert!(!line.contains("c2hvcnQ") && !line.contains(good), "{line}");
}
