//! What passes over a table have in common: a bar, and pauses that keep a rate.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use tokio_util::sync::CancellationToken;

/// How often the numbers on the screen are renewed.
const TICK: Duration = Duration::from_millis(100);

/// A bar can't know the end: counting would take as long. Nothing where standard error is no terminal.
pub(super) fn progress(looked_at: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {human_pos} items looked at, {per_sec:0}; {msg}");
    let bar = ProgressBar::no_length().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar.set_position(looked_at);
    bar.reset_eta();
    if !bar.is_hidden() {
        bar.enable_steady_tick(TICK);
    }
    bar
}

/// Waits until it is time for the next page, or until the pass is interrupted.
pub(super) async fn pause_until(due: Instant, stop: &CancellationToken) {
    tokio::select! {
        () = stop.cancelled() => {}
        () = tokio::time::sleep_until(due.into()) => {}
    }
}
