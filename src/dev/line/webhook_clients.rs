//! The HTTP clients that send webhooks.

use std::{sync::OnceLock, time::Duration};

use serde::Deserialize;

use super::answer::Answer;

/// How long LINE waits for an answer (receiving messages).
const TIMEOUT: Duration = Duration::from_secs(2);

/// LINE has changed the case of its header names before.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "camelCase")]
pub(super) enum HeaderCase {
    #[default]
    Lower,
    /// `X-Line-Signature`.
    Title,
}

/// The HTTP clients, one for each case of header names; made when first used.
#[derive(Default)]
pub(super) struct WebhookClients {
    lower: OnceLock<reqwest::Client>,
    title: OnceLock<reqwest::Client>,
}

impl WebhookClients {
    /// Returns the client that writes header names in this case.
    pub(super) fn client(&self, case: HeaderCase) -> Result<reqwest::Client, Answer> {
        let kept = match case {
            HeaderCase::Lower => &self.lower,
            HeaderCase::Title => &self.title,
        };
        if let Some(client) = kept.get() {
            return Ok(client.clone());
        }
        let builder = reqwest::Client::builder().no_proxy().timeout(TIMEOUT).user_agent("LineBotWebhook/2.0");
        let builder = if case == HeaderCase::Title { builder.http1_title_case_headers() } else { builder };
        let client =
            builder.build().map_err(|cause| Answer::message(500, &format!("no HTTP client for webhooks: {cause}")))?;
        Ok(kept.get_or_init(|| client).clone())
    }
}
