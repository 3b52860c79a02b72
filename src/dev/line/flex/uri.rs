//! RFC 3986, appendix A: what a URI is, for the schemes that a message may have.

/// Whether `text` is a URI, one of http and https with a host.
pub(super) fn is_uri(text: &str) -> bool {
    let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
    let (text, query) = text.split_once('?').unwrap_or((text, ""));
    let Some((scheme, hierarchy)) = text.split_once(':') else { return false };
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

/// Whether all of it is unreserved, escaped, a sub-delimiter, or one of `more`.
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
