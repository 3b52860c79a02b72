//! What long commands have in common: a progress bar, and pauses that keep a rate.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use tokio_util::sync::CancellationToken;

/// How often the numbers on the screen are renewed.
const TICK: Duration = Duration::from_millis(100);

/// Returns a bar of `what` is counted, on standard error; nothing is drawn where that is no terminal. Where counting all
/// would take as long as the work there is no `length`: it shows how many there are so far.
pub(super) fn progress(what: &str, length: Option<usize>) -> ProgressBar {
    let (bar, template) = match length {
        None => (ProgressBar::no_length(), format!("{{spinner}} {{human_pos}} {what}, {{per_sec:0}} {{msg}}")),
        Some(length) => {
            let template = format!("{{bar:40}} {{human_pos}} of {{human_len}} {what}, {{eta}} left");
            (ProgressBar::new(length as u64), template)
        }
    };
    let style = ProgressStyle::with_template(&template);
    let bar = bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    if !bar.is_hidden() {
        bar.enable_steady_tick(TICK);
    }
    bar
}

/// Waits until it is time for the next page, or until the work is interrupted.
pub(super) async fn pause_until(due: Instant, stop: &CancellationToken) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = tokio::time::sleep_until(due.into()) => {}
    }
}
