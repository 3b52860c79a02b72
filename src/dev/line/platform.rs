//! Everything the stand-in is between two requests.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    atomic::{AtomicI64, Ordering},
};

use aws_lc_rs::hmac;
use serde_json::Value;

use super::{
    answer::Answer,
    chance,
    clock::Clock,
    journal::Journal,
    keys::{Keyring, OldKeys, SigningKey},
    ledger::Ledger,
    settings::{self, ChannelSettings, Memory, StartError},
    switches::Switches,
    webhook_clients::WebhookClients,
};

/// One channel: its settings and what the control API changed of them.
pub(super) struct Channel {
    pub(super) settings: ChannelSettings,
    now: Mutex<ChannelNow>,
    /// Stateless tokens of an older epoch are expired.
    epoch: AtomicI64,
}

/// The part of a channel that the control API can change.
#[derive(Clone)]
pub(super) struct ChannelNow {
    pub(super) webhook_url: Option<String>,
    pub(super) quota: Option<u64>,
    pub(super) channel_secret: String,
    pub(super) access_token: Option<String>,
}

impl Channel {
    fn new(settings: ChannelSettings, epoch: i64) -> Self {
        let now = ChannelNow {
            webhook_url: settings.webhook_url.clone(),
            quota: settings.monthly_quota,
            channel_secret: settings.channel_secret.clone(),
            access_token: settings.access_token.clone(),
        };
        Self { settings, now: Mutex::new(now), epoch: AtomicI64::new(epoch) }
    }

    pub(super) fn now(&self) -> MutexGuard<'_, ChannelNow> {
        locked(&self.now)
    }

    pub(super) fn name(&self) -> &str {
        &self.settings.name
    }

    pub(super) fn epoch(&self) -> i64 {
        self.epoch.load(Ordering::Relaxed)
    }

    /// Returns the bot's own user id: `destination` of its webhooks.
    pub(super) fn bot_id(&self) -> String {
        format!("U{}", &chance::hex_sha256(self.settings.messaging_channel_id.as_bytes())[..32])
    }
}

/// The platform. Locks are held for one step and never across an `await`.
pub(super) struct Platform {
    pub(super) channels: Vec<Channel>,
    pub(super) clock: Clock,
    pub(super) webhook_clients: WebhookClients,
    pub(super) token_key: hmac::Key,
    journal: Mutex<Journal>,
    keyring: Mutex<Keyring>,
    ledger: Mutex<Ledger>,
    switches: Mutex<Switches>,
}

impl Platform {
    pub(super) fn open(memory: &Memory, channels: Vec<ChannelSettings>) -> Result<Self, StartError> {
        settings::check(&channels)?;
        let mut ledger = Ledger::open(memory)?;
        let unreadable = |source: rusqlite::Error| StartError::MemoryUnusable {
            path: match memory {
                Memory::File(path) => path.clone(),
                Memory::InMemory => "(none)".into(),
            },
            source: source.into(),
        };
        let keyring = keyring(&mut ledger, unreadable)?;
        let token_key = token_key(&ledger).map_err(unreadable)?;
        let channels = channels
            .into_iter()
            .map(|channel| {
                let epoch = ledger.note(&epoch_note(&channel.messaging_channel_id))?;
                Ok(Channel::new(channel, epoch.and_then(|epoch| epoch.parse().ok()).unwrap_or(0)))
            })
            .collect::<rusqlite::Result<_>>()
            .map_err(unreadable)?;
        Ok(Self {
            channels,
            clock: Clock::default(),
            webhook_clients: WebhookClients::default(),
            token_key,
            journal: Mutex::default(),
            keyring: Mutex::new(keyring),
            ledger: Mutex::new(ledger),
            switches: Mutex::default(),
        })
    }

    pub(super) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        locked(&self.ledger)
    }

    pub(super) fn keyring(&self) -> MutexGuard<'_, Keyring> {
        locked(&self.keyring)
    }

    pub(super) fn switches(&self) -> MutexGuard<'_, Switches> {
        locked(&self.switches)
    }

    pub(super) fn journal(&self) -> MutexGuard<'_, Journal> {
        locked(&self.journal)
    }

    /// Returns the channel of that name for the control API; the first one if no name was given.
    pub(super) fn channel(&self, name: Option<&str>) -> Result<&Channel, Answer> {
        let found = match name {
            None => self.channels.first(),
            Some(name) => self.channels.iter().find(|channel| channel.name() == name),
        };
        found.ok_or_else(|| {
            let known: Vec<_> = self.channels.iter().map(Channel::name).collect();
            let name = name.unwrap_or_default();
            Answer::message(404, &format!("no channel `{name}`; there are: {}", known.join(", ")))
        })
    }

    /// Returns the channel that owns a Login channel id.
    pub(super) fn login_channel(&self, id: &str) -> Option<&Channel> {
        self.channels.iter().find(|channel| channel.settings.login_channel_ids.iter().any(|known| known == id))
    }

    /// Makes a new key, which signs from now on.
    pub(super) fn rotate_keys(&self, old: OldKeys) -> Result<String, Answer> {
        let key = SigningKey::generate().map_err(|_| Answer::message(500, "no key could be made"))?;
        let kid = key.kid.clone();
        self.ledger().add_signing_key(&key, old)?;
        self.keyring().rotate(key, old);
        Ok(kid)
    }

    /// Expires every stateless token of the channel that was issued until now.
    pub(super) fn expire_tokens(&self, channel: &Channel) -> Result<(), Answer> {
        let epoch = channel.epoch() + 1;
        self.ledger().keep_note(&epoch_note(&channel.settings.messaging_channel_id), &epoch.to_string())?;
        channel.epoch.store(epoch, Ordering::Relaxed);
        Ok(())
    }

    /// Users, phones, faults, settings and counts; keys stay good.
    pub(super) fn reset(&self) -> Result<(), Answer> {
        self.ledger().forget()?;
        *self.switches() = Switches::default();
        *self.journal() = Journal::default();
        self.clock.set_offset_ms(0);
        for channel in &self.channels {
            let fresh = Channel::new(channel.settings.clone(), 0).now().clone();
            *channel.now() = fresh;
        }
        Ok(())
    }

    /// Returns the name of a user, for ID tokens.
    pub(super) fn user_name(&self, user_id: &str) -> Result<String, Answer> {
        self.ledger()
            .user_name(user_id)?
            .ok_or_else(|| Answer::message(404, &format!("no user {user_id}; POST /control/users makes one")))
    }

    /// Returns the published set, as a document.
    pub(super) fn jwks(&self) -> Value {
        self.keyring().jwks()
    }
}

/// A panic in another thread leaves nothing half done here: what must be whole is a transaction.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn epoch_note(channel_id: &str) -> String {
    format!("token_epoch:{channel_id}")
}

fn keyring(ledger: &mut Ledger, unreadable: impl Fn(rusqlite::Error) -> StartError) -> Result<Keyring, StartError> {
    let mut keys = Vec::new();
    for pkcs8 in ledger.signing_keys().map_err(&unreadable)? {
        keys.push(SigningKey::from_pkcs8(&pkcs8).map_err(|_| StartError::NoSigningKey)?);
    }
    if let Some(newest) = keys.pop() {
        return Ok(Keyring::new(newest, keys));
    }
    let first = SigningKey::generate().map_err(|_| StartError::NoSigningKey)?;
    ledger.add_signing_key(&first, OldKeys::Keep).map_err(unreadable)?;
    Ok(Keyring::new(first, Vec::new()))
}

/// Returns the key that makes stateless tokens good again after a restart.
fn token_key(ledger: &Ledger) -> rusqlite::Result<hmac::Key> {
    if let Some(secret) = ledger.note("token_key")? {
        return Ok(hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()));
    }
    let secret = chance::opaque(32);
    ledger.keep_note("token_key", &secret)?;
    Ok(hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()))
}
