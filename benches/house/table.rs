//! Figures, and the table they are shown in.

use std::time::Duration;

/// A line of the table.
pub struct Row {
    pub what: String,
    pub house: String,
    pub bare: String,
    pub compared: String,
    pub limit: String,
    /// `None` where there is no limit.
    pub holds: Option<bool>,
}

/// The table, as docs/performance.md shows it.
pub fn markdown(rows: &[Row]) -> String {
    let mut lines =
        vec!["| what | measured | bare | compared | limit | |".to_owned(), "|---|---|---|---|---|---|".to_owned()];
    lines.extend(rows.iter().map(|row| {
        let Row { what, house, bare, compared, limit, holds } = row;
        let holds = match holds {
            None => "",
            Some(true) => "✓",
            Some(false) => "✗",
        };
        format!("| {what} | {house} | {bare} | {compared} | {limit} | {holds} |")
    }));
    lines.join("\n")
}

/// The one in the middle.
pub fn median(figures: impl IntoIterator<Item = f64>) -> f64 {
    percentile(figures, 0.5)
}

/// The smallest figure that at least this part of them doesn't exceed.
pub fn percentile(figures: impl IntoIterator<Item = f64>, part: f64) -> f64 {
    let mut sorted: Vec<f64> = figures.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a place in a list"
    )]
    let place = (sorted.len() as f64 * part).ceil() as usize;
    sorted.get(place.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

/// Microseconds of processor time for each of `count`.
#[expect(clippy::cast_precision_loss, reason = "thousands")]
pub fn us_each(cpu: Duration, count: usize) -> f64 {
    cpu.as_secs_f64() * 1e6 / count as f64
}
