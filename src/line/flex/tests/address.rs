//! Addresses, compared with the grammar of RFC 3986.

use super::*;

/// How many addresses are compared.
const ADDRESSES: usize = 2_000;

#[test]
fn an_address_is_taken_exactly_if_the_grammar_of_rfc_3986_has_it() {
    let (mut chance, mut taken) = (fastrand::Rng::with_seed(3986), 0);
    for _ in 0..ADDRESSES {
        let address = address(&mut chance);
        let opens = tapped(json!({ "type": "uri", "uri": address }));
        let faults = check_finished(&with_body(json!([opens])));
        assert_eq!(faults.is_empty(), is_opened_by_a_tap(&address), "{address}: {faults:?}");
        taken += usize::from(faults.is_empty());
    }
    assert!(taken > ADDRESSES / 10 && taken < ADDRESSES / 2, "{taken} taken");
}

/// An address put together from parts that belong into one, and some that don't.
fn address(chance: &mut fastrand::Rng) -> String {
    const SCHEMES: [&str; 8] = ["https:", "https:", "http:", "HTTPS:", "line:", "tel:", "mailto:", ""];
    const HOSTS: [&str; 16] = [
        "//example.jp",
        "//example.jp/",
        "//user@example.jp:8443/",
        "//user:pw@example.jp:/",
        "//[::1]/",
        "//[2001:db8::1]:8443",
        "//1.2.3.4",
        "//[::1/",
        "//[example.jp]/",
        "//a@b@c/",
        "//a@@c/",
        "//a@",
        "//example.jp:x/",
        "//",
        "///a",
        "",
    ];
    const REST: [&str; 36] = [
        "a",
        "/",
        "?",
        "#",
        ":",
        "@",
        "-",
        ".",
        "_",
        "~",
        "!",
        "$",
        "&",
        "'",
        "(",
        ")",
        "*",
        "+",
        ",",
        ";",
        "=",
        "%41",
        "%e7%81%af",
        "%",
        "%4",
        "[",
        "]",
        "{",
        "}",
        "|",
        "\\",
        "^",
        "`",
        "\"",
        "<",
        "灯",
    ];
    let (scheme, host) = (SCHEMES[chance.usize(..8)], HOSTS[chance.usize(..16)]);
    // A host ends where the rest begins.
    let between = if host.ends_with('/') || !host.starts_with("//") { "" } else { ["/", "?", "#"][chance.usize(..3)] };
    let rest: String = (0..chance.usize(..5)).map(|_| REST[chance.usize(..36)]).collect();
    if rest.is_empty() { format!("{scheme}{host}") } else { format!("{scheme}{host}{between}{rest}") }
}

/// Returns whether `text` is a URI by RFC 3986, appendix A, one of http and https with a host, with a scheme that a tap
/// opens.
fn is_opened_by_a_tap(text: &str) -> bool {
    let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
    let (text, query) = text.split_once('?').unwrap_or((text, ""));
    let Some((scheme, hierarchy)) = text.split_once(':') else { return false };
    if !["http", "https", "line", "tel"].contains(&scheme.to_ascii_lowercase().as_str()) {
        return false;
    }
    let is_web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    let is_hierarchy = match hierarchy.strip_prefix("//") {
        Some(rest) => {
            let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            is_authority(authority) && !(is_web && host(authority).is_empty()) && only(path, ":@/")
        }
        None => !is_web && !hierarchy.is_empty() && only(hierarchy, ":@/"),
    };
    is_hierarchy && only(query, ":@/?") && only(fragment, ":@/?")
}

/// `[user@]host[:port]`; where the host is empty there is neither user nor port.
fn is_authority(authority: &str) -> bool {
    if host(authority).is_empty() {
        return matches!(authority, "" | "@");
    }
    let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
    let after_host = &authority[authority.rfind('@').map_or(0, |at| at + 1) + host(authority).len()..];
    let is_port = after_host.is_empty()
        || after_host.strip_prefix(':').is_some_and(|port| {
            port.is_empty() || port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok()
        });
    let is_host = match host(authority).strip_prefix('[') {
        Some(address) => address.strip_suffix(']').is_some_and(|address| address.parse::<std::net::Ipv6Addr>().is_ok()),
        None => only(host(authority), ""),
    };
    only(user, ":") && is_host && is_port
}

fn host(authority: &str) -> &str {
    let rest = authority.rsplit_once('@').map_or(authority, |(_, rest)| rest);
    let end = if rest.starts_with('[') { rest.find(']').map(|at| at + 1) } else { rest.find(':') };
    &rest[..end.unwrap_or(rest.len())]
}

/// Returns whether all of it is unreserved, escaped, a sub-delimiter, or one of `more`.
fn only(text: &str, more: &str) -> bool {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let fits = match byte {
            b'%' => {
                bytes.next().is_some_and(|b| b.is_ascii_hexdigit())
                    && bytes.next().is_some_and(|b| b.is_ascii_hexdigit())
            }
            _ => byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(&byte) || more.as_bytes().contains(&byte),
        };
        if !fits {
            return false;
        }
    }
    true
}
