//! A stand-in for the LINE platform: the endpoints this product calls, with LINE's statuses, headers
//! and bodies, users with phones, and a control API.
//!
//! It knows nothing of the rest of this program, on purpose: one that read with our own structs
//! would agree with our own mistakes. Sources are LINE's references and `OpenAPI` files; where they
//! are silent, a comment or a setting says so.
//!
//! # LINE's side
//!
//! `GET /oauth2/v2.1/certs` · `POST /oauth2/v2.1/verify` · `POST /oauth2/v3/token` ·
//! `POST /v2/bot/message/push`, `…/reply`, `…/validate/push` · `GET /v2/bot/message/quota`,
//! `…/quota/consumption` · `GET /v2/bot/profile/{userId}` · `GET /v2/bot/info`. Every answer has
//! `x-line-request-id`; other paths are 404.
//!
//! In the control API they are called `certs`, `verify`, `token`, `push`, `reply`, `validate`,
//! `quota`, `consumption`, `profile`, `info` (and `unknown`).
//!
//! # Control API
//!
//! JSON in and out, camelCase, times in milliseconds since 1970; an unknown member, a wrong type or
//! an impossible value is a 400 `{"message"}` that says which. `channel` is a channel's name and the
//! first channel where it is left out.
//!
//! | request | does |
//! | --- | --- |
//! | `POST /control/users` `{"name"?, "userId"?, "relation"? \| "friend"?, "channels"?, "count"?}` | makes a user, or changes one: 201 `{"userId","name","relations":{"main":"friend"}}`; with `count` many: `{"users":[ids]}`. Relations: `friend` (default), `notFriend`, `blocked`, `deleted`; channels that aren't named don't know the user (another provider) |
//! | `GET /control/users`, `GET /control/users/{id}` | `{"users":[…]}`, or one |
//! | `PUT /control/users/{id}/relation` `{"channel"?, "relation", "webhook"?: bool}` | changes it and, asked to, sends the signed `follow` or `unfollow`: `{…,"deliveries":[…]}` |
//! | `POST /control/users/{id}/id-token` `{"channel"?, "aud"?, "sub"?, "iss"?, "iat"? \| "age"?, "exp"? \| "expiresIn"?, "nonce"?, "alg"?, "kid"?, "signedWith"?, "claims"?, "header"?}` | `{"idToken"}`; seconds; `alg` `ES256` (default), `HS256`, `none` or any text; `signedWith` `current`, `loginSecret`, `publicKey`, `stranger`, `nothing`; `claims` and `header` are laid over the result, null removes |
//! | `GET /control/users/{id}/id-token?channel=&age=&expiresIn=` | the token alone, as text |
//! | `GET /control/users/{id}/phone?channel=` | `{"messages":[{"id","message","channel","kind","deliveredAt","requestId","retryKey"}]}`, in order of arrival |
//! | `GET /control/pushes?channel=&user=&retryKey=&shown=&after=&limit=&messages=false` | everything accepted, shown or not: `{"total","shown","pushes":[{"ordinal","channel","userId","kind","requestId","retryKey","acceptedAt","shown","messages"?,"sentMessages"}]}`; `total` and `shown` count all that match; no limit unless given |
//! | `GET /control/retry-keys?channel=` | `{"retryKeys":[{"channel","retryKey","accepted","conflicts","changedBody"}]}`: `accepted` above 1 is a double |
//! | `GET /control/requests` | `{"endpoints":{"push":{"200":8,"409":1,"dropped":1,"proxy_200":1,"timed_out":1}}}` |
//! | `GET /control/requests/log?endpoint=&after=` | the latest 100,000 requests: `{"requests":[{"ordinal","endpoint","at","requestId","channel"?,"retryKey"?,"outcome","fault"?}]}` |
//! | `POST /control/webhooks` `{"channel"?, "events": […], "batch"?: true, "duplicate"?: 0, "redelivery"?: false, "asIs"?: false, "signature"?: "right" \| "wrong" \| "missing", "secret"?, "headerCase"?: "lower" \| "title", "url"?, "rawBody"?}` | sends them: `{"deliveries":[{"status","reason","detail"?,"tookMs","events"}]}`; what an event lacks is filled in (`"userId"` is short for its source); reasons `OK`, `ERROR_STATUS_CODE`, `REQUEST_TIMEOUT` (2 s), `COULD_NOT_CONNECT` (both with status 0) |
//! | `GET`, `PUT`, `DELETE /control/faults` `{"rules":[{"endpoint"?: "*", "kind", "code"?, "body"?, "headers"?: {"retry-after": "5"}, "ms"?, "channel"?, "user"?, "skip"?, "times"?, "percent"?, "seed"?}]}` | the rules, which also show `asked` and `hits`; kinds below |
//! | `GET`, `PATCH /control/settings` `{"latencyMs"?: {"push": 50}, "ratePerSecond"?: 2000 \| null, "rateBurst"?: 2000, "clockOffsetMs"? \| "advanceMs"?, "jwksUp"?: true, "wording"?: "current" \| "documented"}` | settings of the whole platform; shows `nowMs` and the current `kid` too |
//! | `GET /control/channels`, `PATCH /control/channels/{name}` `{"webhookUrl"?, "quota"?, "used"?, "channelSecret"?, "accessToken"?}` | channels; null takes away |
//! | `POST /control/channel-tokens/expire` `{"channel"?, "longLived"?: false}` | stateless tokens issued until now (of all channels if none is named) are 401, with `longLived` the long-lived one too |
//! | `POST /control/keys/rotate` `{"keepOld"?: true}` | `{"kid"}`: a new signing key; the old ones stay published or go |
//! | `POST /control/reset` | forgets users, phones, counts, faults and settings; keys stay |
//!
//! Fault kinds: `status` (`code`, `body`: JSON, or a string that is sent as text, `headers`), `proxy`
//! (the same, but the answer is a proxy's: the request doesn't reach LINE, and there is no
//! `x-line-request-id`), `delay` (`ms`), `drop_before`, `drop_after_accept`, `timeout_after_accept`
//! (silent for `ms` or two minutes, then closed), `status_after_accept`, `proxy_after_accept`,
//! `rate_limited`, `monthly_limit`, `expired_token`. The first rule
//! that hits decides; `delay` rules only add up. `percent` is decided by hash of (seed, place of the
//! rule, ordinal among the requests the rule was asked for): a rule is asked only where no earlier
//! one hit, so its percentage is of the rest.
//!
//! # Memory
//!
//! Users, relations, accepted messages, retry keys, reply tokens, quota counts and keys are
//! committed before the answer goes out. Faults, settings, changes of channels, the clock's offset
//! and request counts live as long as the process.

mod answer;
mod chance;
mod clock;
mod control;
mod endpoint;
mod faults;
mod journal;
mod jws;
mod keys;
mod ledger;
mod login;
mod messages;
mod messaging;
mod platform;
mod server;
mod settings;
mod switches;
mod tokens;
mod webhook_clients;
mod webhooks;

#[cfg(test)]
mod tests;

use std::{
    net::{SocketAddr, TcpListener},
    sync::{Arc, mpsc},
    thread::JoinHandle,
    time::Duration,
};

use actix_web::{
    App, HttpServer,
    dev::ServerHandle,
    rt::System,
    web::{self, Data},
};
use serde_json::Value;

pub use self::settings::{ChannelSettings, Memory, StartError};
use self::{answer::Answer, control::NewUsers, jws::IdTokenOrder, platform::Platform, server::Served};

/// Longer than any client keeps a connection, so that none is closed just as it is used again.
const KEEP_ALIVE: Duration = Duration::from_mins(2);

/// How long a stop waits for the workers.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// A running stand-in on a thread of its own. Dropping it stops it.
pub struct StandIn {
    addr: SocketAddr,
    platform: Arc<Platform>,
    server: Option<Running>,
}

/// The server's thread, and how to end it.
struct Running {
    handle: ServerHandle,
    thread: JoinHandle<()>,
    /// Disconnected when the last worker has dropped the platform.
    released: mpsc::Receiver<()>,
}

impl StandIn {
    /// Serves on `listener` (port 0 in tests) until [`StandIn::stop`].
    ///
    /// # Errors
    ///
    /// Memory that is in use or unusable, channels that contradict each other, a listener that
    /// can't be served.
    pub fn start(listener: TcpListener, memory: &Memory, channels: Vec<ChannelSettings>) -> Result<Self, StartError> {
        let addr = listener.local_addr().map_err(StartError::Server)?;
        let platform = Arc::new(Platform::open(memory, channels)?);
        let (start, started) = mpsc::channel();
        let (worker, released) = mpsc::channel();
        let served = Served { platform: Arc::clone(&platform), _worker: worker };
        let thread = std::thread::Builder::new()
            .name("stand-in-line".to_owned())
            .spawn(move || serve(listener, served, &start))
            .map_err(StartError::Server)?;
        let gone = || StartError::Server(std::io::Error::other("the server's thread ended"));
        let handle = started.recv().map_err(|_| gone())?.map_err(StartError::Server)?;
        Ok(Self { addr, platform, server: Some(Running { handle, thread, released }) })
    }

    /// Returns where it listens.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Returns the value for `line.api_base_url`: `http://127.0.0.1:…`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Stops at once; clients that wait for an answer are cut off. The memory file is free afterwards.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        if let Some(running) = self.server.take() {
            // The command is sent here; only its confirmation would have to be awaited.
            drop(running.handle.stop(false));
            let _ = running.thread.join();
            // Workers end a moment after their server, and the memory file is theirs until then.
            let _ = running.released.recv_timeout(STOP_TIMEOUT);
        }
    }

    /// Makes a user who is a friend of every channel, and returns the user id.
    pub fn make_user(&self, name: &str) -> Result<String, Refused> {
        NewUsers::friend(name, None).make(&self.platform, "").map_err(Refused::from)
    }

    /// Makes sure that a user with this id exists and is a friend of every channel.
    pub fn keep_user(&self, user_id: &str, name: &str) -> Result<(), Refused> {
        NewUsers::friend(name, Some(user_id)).make(&self.platform, "").map(drop).map_err(Refused::from)
    }

    /// Returns a fresh LIFF ID token (ES256, one hour) of a user for a channel's first Login channel.
    pub fn id_token(&self, user_id: &str, channel: &str) -> Result<String, Refused> {
        let order = IdTokenOrder { channel: Some(channel.to_owned()), ..IdTokenOrder::default() };
        control::mint(&self.platform, user_id, &order).map_err(Refused::from)
    }

    /// Returns the same, issued at a time of the caller's own clock, in seconds since 1970.
    pub fn id_token_of(&self, user_id: &str, channel: &str, issued_at: i64) -> Result<String, Refused> {
        let order = IdTokenOrder { channel: Some(channel.to_owned()), iat: Some(issued_at), ..IdTokenOrder::default() };
        control::mint(&self.platform, user_id, &order).map_err(Refused::from)
    }

    /// Returns what a user's phone shows: the elements of `GET /control/users/{id}/phone`.
    pub fn phone(&self, user_id: &str) -> Result<Vec<Value>, Refused> {
        control::phone(&self.platform, user_id, None).map_err(Refused::from)
    }

    /// Sets where a channel's webhooks go from now on.
    pub fn set_webhook_url(&self, channel: &str, url: &str) -> Result<(), Refused> {
        self.platform.channel(Some(channel))?.now().webhook_url = Some(url.to_owned());
        Ok(())
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.end();
    }
}

/// The control API's refusal, for callers in the same process.
#[derive(Debug, thiserror::Error)]
#[error("the stand-in refused ({status}): {message}")]
pub struct Refused {
    /// The status that the control API would have answered.
    pub status: u16,
    /// Its text.
    pub message: String,
}

impl From<Answer> for Refused {
    fn from(answer: Answer) -> Self {
        Self { status: answer.status, message: String::from_utf8_lossy(&answer.body).into_owned() }
    }
}

/// Runs the server; one worker is enough, since whatever it does takes the one lock of its memory.
fn serve(listener: TcpListener, served: Served, start: &mpsc::Sender<std::io::Result<ServerHandle>>) {
    System::new().block_on(async move {
        let started = HttpServer::new(move || {
            App::new().app_data(Data::new(served.clone())).default_service(web::to(server::receive))
        })
        .workers(1)
        .keep_alive(KEEP_ALIVE)
        .h1_allow_half_closed(false)
        .disable_signals()
        .on_connect(server::on_connect)
        .listen(listener);
        match started {
            Ok(ready) => {
                let running = ready.run();
                let _ = start.send(Ok(running.handle()));
                let _ = running.await;
            }
            Err(error) => drop(start.send(Err(error))),
        }
    });
}
