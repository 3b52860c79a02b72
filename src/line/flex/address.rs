//! Addresses: URIs by RFC 3986, with the schemes and lengths that LINE takes.
//!
//! LINE's reference ("About the encoding of a URL specified in a request body property") asks for percent-encoded
//! UTF-8 in every part. What isn't a URI is refused by LINE with 400, so it is refused here first, by name.

use url::Url;

use super::walk::Walk;

/// The longest address of a file: images, icons, videos, the sender's icon.
const MOST_OF_A_FILE: usize = 2_000;
/// The longest address that a tap opens.
const MOST_OF_A_TAP: usize = 1_000;

/// Checks the address of a file, which LINE fetches by https.
pub(super) fn check_https(walk: &mut Walk, text: &str) {
    check_syntax(walk, text, MOST_OF_A_FILE);
    if !scheme(text).is_some_and(|(scheme, rest)| scheme == "https" && has_host(text, rest)) {
        walk.fault("must be an https address: LINE fetches files by https alone");
    }
}

/// Checks the address that a tap opens.
pub(super) fn check_tap_uri(walk: &mut Walk, text: &str) {
    check_syntax(walk, text, MOST_OF_A_TAP);
    let usable = scheme(text).is_some_and(|(scheme, rest)| match scheme.as_str() {
        "http" | "https" => has_host(text, rest),
        // Apps open them: what is left without query and fragment is what they open.
        "line" | "tel" => !rest.is_empty() && !rest.starts_with(['?', '#']) && Url::parse(text).is_ok(),
        _ => false,
    });
    if !usable {
        walk.fault("must be a whole address with scheme http, https, line or tel");
    }
}

fn check_syntax(walk: &mut Walk, text: &str, most: usize) {
    if text.encode_utf16().count() > most {
        walk.fault(format!("is longer than {most} characters: shorten the address"));
    }
    if let Some(limit) = foreign(text).or_else(|| misplaced(text)) {
        walk.fault(limit);
    }
}

/// Returns the scheme (in small letters: RFC 3986, 3.1) and what follows its colon.
fn scheme(text: &str) -> Option<(String, &str)> {
    text.split_once(':').map(|(scheme, rest)| (scheme.to_ascii_lowercase(), rest))
}

/// `//host` with a host that browsers read (WHATWG, URL): no phone could open `https://1.2.3.999/`, which RFC 3986 has.
/// Browsers would also read a host out of `https:/a` and `https:///a`, which are no URIs of the web (RFC 9110, 4.2).
fn has_host(text: &str, rest: &str) -> bool {
    let authority = rest.strip_prefix("//").filter(|rest| !rest.is_empty() && !rest.starts_with(['/', '?', '#', '\\']));
    authority.is_some() && Url::parse(text).is_ok_and(|url| url.has_host())
}

/// Returns the fault of the first character that no URI has (RFC 3986, 2).
fn foreign(text: &str) -> Option<String> {
    if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Some("must be percent-encoded: no spaces, control characters or letters beyond ASCII".to_owned());
    }
    let at = text.bytes().position(|byte| b"\"<>\\^`{|}".contains(&byte));
    let percent = text.match_indices('%').map(|(at, _)| at).find(|at| !is_escape(&text.as_bytes()[at + 1..]));
    match (at, percent) {
        (Some(at), percent) if percent.is_none_or(|percent| at < percent) => Some(refusal(text, at)),
        (_, Some(_)) => Some(
            "has a % without two hexadecimal digits after it, which no address has: write %25 for the sign itself"
                .to_owned(),
        ),
        _ => None,
    }
}

fn is_escape(rest: &[u8]) -> bool {
    matches!(rest, [high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
}

/// Returns the fault of a character at `at` that has to be escaped, or of a placeholder there that isn't closed.
fn refusal(text: &str, at: usize) -> String {
    let rest = &text[at..];
    if rest.starts_with("{{") {
        let shown: String = rest.chars().take(40).collect();
        return format!("has a placeholder that isn't closed, {shown}: end it with }}}}");
    }
    let byte = rest.as_bytes()[0];
    format!("has {}, which no address has (RFC 3986): write it as %{byte:02X}", char::from(byte))
}

/// Returns the fault of a character that may be in a URI, but not there (RFC 3986, 3).
fn misplaced(text: &str) -> Option<String> {
    let (whole, fragment) = text.split_once('#').unwrap_or((text, ""));
    if fragment.contains('#') {
        return Some("has # twice, which no address has (RFC 3986): write the second one as %23".to_owned());
    }
    let after_scheme = scheme(whole).map_or(whole, |(_, rest)| rest);
    let rest = after_scheme.strip_prefix("//").unwrap_or("");
    let authority = &rest[..rest.find(['/', '?']).unwrap_or(rest.len())];
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    let outside = text.replacen(host, "", usize::from(host.starts_with('[')));
    if outside.contains(['[', ']']) {
        return Some("has [ or ] outside of an IPv6 host (RFC 3986): write them as %5B and %5D".to_owned());
    }
    user.contains('@').then(|| "has @ twice before its path (RFC 3986): write the first one as %40".to_owned())
}
