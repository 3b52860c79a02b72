//! LINE as the tests of this folder need it: a stub server whose answers have LINE's request id.

use std::{error::Error, sync::Arc, time::Duration};

use super::{answer::REQUEST_ID, platform::Platform};
use crate::domain::manual_clock::ManualClock;
use crate::stub::{self, Stub};
pub(super) use crate::stub::{Reply, Request};

/// Longer than any test waits by accident.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The header of a proxy's answers (RFC 9110, section 7.6.3).
const VIA: &str = "via";

/// LINE, stubbed.
pub(super) struct LineStub(Stub);

impl LineStub {
    /// Starts it; `replies` is called for every request.
    pub(super) fn start(replies: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        Self(Stub::start(move |request| with_request_id(replies(request))))
    }

    /// Returns the platform at the stub's address.
    pub(super) fn platform(&self) -> Platform {
        self.platform_within(TIMEOUT)
    }

    /// Returns the platform at the stub's address, with another timeout.
    pub(super) fn platform_within(&self, timeout: Duration) -> Platform {
        platform_at(self.0.url(), timeout)
    }

    /// Returns the requests to a path, in order.
    pub(super) fn asked(&self, path: &str) -> Vec<Request> {
        self.0.requests().into_iter().filter(|request| request.path == path).collect()
    }

    /// Returns how many requests there were to a path.
    pub(super) fn count(&self, path: &str) -> usize {
        self.asked(path).len()
    }
}

/// Returns the answer of a proxy in LINE's place, without LINE's request id.
pub(super) fn by_proxy(status: u16, body: &str) -> Reply {
    Reply::text(status, body).with(VIA, "1.1 proxy")
}

/// Every answer of LINE's has a request id; some stories name their own.
fn with_request_id(reply: Reply) -> Reply {
    match reply {
        Reply::Answer(_, ref headers, _) if headers.iter().all(|(name, _)| *name != REQUEST_ID && *name != VIA) => {
            reply.with(REQUEST_ID, "f70dd685-499a-4231-a441-f24b8d4fba21")
        }
        reply => reply,
    }
}

/// Returns a platform where nothing listens.
pub(super) fn unreachable() -> Platform {
    platform_at(&stub::unreachable_url(), TIMEOUT)
}

fn platform_at(url: &str, timeout: Duration) -> Platform {
    Platform::new(&url.parse().unwrap(), timeout).unwrap()
}

/// Returns all that an error shows, to operators and to developers, down to its last cause.
pub(super) fn shown(error: &dyn Error) -> String {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    causes.map(|error| format!("{error:?} {error}")).collect::<Vec<_>>().join(" ")
}

/// Returns a clock that shows half past eight in the evening, 23 May 2026, in Tokyo.
pub(super) fn clock() -> Arc<ManualClock> {
    ManualClock::at("2026-05-23T11:30:00.000Z".parse().unwrap())
}
