//! The participants: each stands before a poster and tries until the server says that the stamp is theirs.

use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, stream};
use serde_json::Value;

use super::{
    TIMEOUT,
    stage::{Stage, stamp},
};
use crate::house::RALLY;

/// So many people at once.
const AT_ONCE: usize = 8;

/// Before a participant tries again.
const PAUSE: Duration = Duration::from_millis(25);

impl Stage {
    /// Carries out a wave; returns when every acquisition is acknowledged.
    pub async fn walk(&self, steps: &[(usize, usize)]) {
        let walking = stream::iter(steps).map(|(person, stamp)| self.acquire(*person, *stamp));
        walking.buffer_unordered(AT_ONCE).collect::<()>().await;
    }

    async fn acquire(&self, person: usize, number: usize) {
        let began = Instant::now();
        loop {
            let came = self.try_to_acquire(person, number).await;
            *self.requests.lock().unwrap().entry(came.clone()).or_default() += 1;
            match came.as_str() {
                "200" | "201" => return,
                // A server that isn't there, that died while it answered, or whose store can't answer.
                "503" | "lost" | "no server" => {}
                other => panic!("participant {person}, stamp {}: {other}", stamp(number)),
            }
            assert!(began.elapsed() < TIMEOUT, "participant {person} gave up, the last answer: {came}");
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// What came of it, in a word.
    async fn try_to_acquire(&self, person: usize, number: usize) -> String {
        let Some(api) = self.api.lock().unwrap().clone() else { return "no server".to_owned() };
        let id = stamp(number);
        let request = self
            .http
            .post(format!("http://{api}/api/events/{RALLY}/me/stamps/{id}"))
            .bearer_auth(&self.people[person].token)
            .header("Idempotency-Key", format!("{person}-{id}"));
        let Ok(answer) = request.send().await else { return "lost".to_owned() };
        let status = answer.status();
        let Ok(body) = answer.json::<Value>().await else { return "lost".to_owned() };
        if status.is_success() {
            let at = body["acquiredAt"].as_str().expect("an acquired stamp has its time").to_owned();
            self.acquired.lock().unwrap().insert((person, number), at);
        } else if status != 503 {
            return format!("{status} {body}");
        }
        status.as_u16().to_string()
    }
}
