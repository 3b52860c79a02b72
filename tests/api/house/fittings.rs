//! How a house is fitted: what the program's own start puts together, with a story's wishes.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc, time::Duration};

use metrics_exporter_prometheus::PrometheusBuilder;
use sha2::{Digest, Sha256};
use stamp_rally::{
    domain::time::Clock,
    http::{
        App, Parts,
        auth::{AdminToken, AdminTokens, Events, Role},
    },
    line::{
        ChannelSettings, Platform,
        id_token::{LoginChannels, TokenVerifier, Verification, VerifierSettings},
    },
    store::{Store, client::Pace, rallies::Rallies},
};

use super::{CHANNEL, HandClock, MINI_APP, PAGE, SECRET};

/// What one house has that others haven't.
#[derive(Clone, Copy)]
pub struct Fittings {
    /// How ID tokens are verified.
    pub verification: Verification,
    /// The Login channel secret of channel `main`: with one, tokens of web login (HS256) are taken.
    pub login_secret: Option<&'static str>,
    /// What webhooks of channel `main` may be signed with, newest first.
    pub webhook_secrets: &'static [&'static str],
    /// Which tables it stands on.
    pub tables: Tables,
}

/// Which tables a house stands on.
#[derive(Clone, Copy)]
pub enum Tables {
    /// Those of `table create`.
    AsDefined,
    /// The source article's, before anybody completed it.
    OfTheArticle,
}

impl Default for Fittings {
    fn default() -> Self {
        Self {
            verification: Verification::Jwks,
            login_secret: None,
            webhook_secrets: &[SECRET],
            tables: Tables::AsDefined,
        }
    }
}

pub(super) fn app(store: &Store, platform: &Platform, clock: &Arc<HandClock>, fittings: Fittings) -> App {
    let clock = clock.clone() as Clock;
    let settings = VerifierSettings {
        verification: fittings.verification,
        jwks_refetch: Duration::from_secs(30),
        leeway: Duration::from_secs(30),
    };
    let main = ChannelSettings {
        login: LoginChannels {
            ids: vec!["1000000001".to_owned(), MINI_APP.to_owned()],
            hs256_secret: fittings.login_secret.map(|secret| secret.to_owned().into()),
        },
        webhook_secrets: fittings.webhook_secrets.iter().map(|secret| (*secret).to_owned().into()).collect(),
        access: None,
        basic_id: None,
    };
    let other = ChannelSettings {
        login: LoginChannels { ids: vec!["1000000002".to_owned()], hs256_secret: None },
        webhook_secrets: vec!["another-secret".to_owned().into()],
        access: None,
        basic_id: None,
    };
    App::new(Parts {
        store: store.clone(),
        rallies: Rallies::new(store.clone(), clock.clone()),
        verifier: TokenVerifier::new(platform.clone(), settings, clock.clone()),
        channels: BTreeMap::from([(CHANNEL.parse().unwrap(), main), ("other".parse().unwrap(), other)]),
        admin_tokens: admin_tokens(),
        allowed_origins: vec![PAGE.to_owned().try_into().unwrap()],
        clock,
        metrics: PrometheusBuilder::new().build_recorder().handle(),
    })
}

fn admin_tokens() -> AdminTokens {
    let token = |name: &str, role, events| AdminToken {
        name: name.to_owned(),
        role,
        sha256: Sha256::digest(name).into(),
        events,
    };
    AdminTokens::new(vec![
        token("organiser", Role::Admin, Events::All),
        token("operator", Role::Operator, Events::All),
        token("viewer", Role::Viewer, Events::All),
        token("neighbour", Role::Admin, Events::These(["another-rally".parse().unwrap()].into())),
    ])
}

/// Waits as long as a busy machine needs: how long the program waits is no story of these houses.
pub(super) fn unhurried(story: &'static str) -> Pace {
    Pace {
        connect: Duration::from_secs(10),
        item_attempt: Duration::from_secs(20),
        stream_attempt: Duration::from_secs(20),
        operation: Duration::from_mins(1),
        first_pause: Duration::from_millis(1),
        budget: Cow::Borrowed(story),
        ..Pace::request()
    }
}
