//! The recorder behind `/metrics`, and what each metric means.

use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

/// Upper bounds of the duration histograms, in seconds.
const BUCKETS: [f64; 10] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

/// What is counted, with the words that `/metrics` says about it.
const COUNTERS: [(&str, &str); 9] = [
    ("claims_refused_total", "Claims for stamps that were refused, by reason."),
    ("http_requests_total", "Requests by endpoint, method and status."),
    ("id_tokens_refused_total", "ID tokens that were not accepted, by reason."),
    ("stamp_rally_items_unreadable_total", "How often an item was met that can't be read; `table check` lists them."),
    ("stamp_rally_notices_total", "Notices that this process is done with, by outcome."),
    ("stamp_rally_push_retries_total", "Pushes that are made once more, by channel."),
    ("stamp_rally_records_unreadable_total", "Records of the stream that are no item of ours; the log names them."),
    ("stamp_rally_stream_lost_total", "How often a shard lost records before they were read, by shard."),
    (
        "stamp_rally_stream_replaced_total",
        "How often this worker found another stream than the one that was followed; what was acquired between the two is in neither.",
    ),
];

const GAUGES: [(&str, &str); 9] = [
    ("stamp_rally_channel_failing_seconds", "For how long LINE has answered no push of this process; 0 if it did."),
    ("stamp_rally_channel_paused", "1: this process can't send on the channel now, and parks its notices."),
    ("stamp_rally_line_quota_left", "Messages left this month, by channel; set by the leading worker."),
    (
        "stamp_rally_notices",
        "Notices in a special state by event, as far as one page counts; set by the leading worker.",
    ),
    ("stamp_rally_shard_lag_seconds", "Age of the oldest unfinished record, by shard."),
    ("stamp_rally_shard_progress_timestamp_seconds", "When the progress of a shard with news was last written."),
    ("stamp_rally_shard_unfinished", "Records that were read and that the checkpoint doesn't cover yet, by shard."),
    ("stamp_rally_stream_unread", "1: the table has no stream, or another one than this worker reads."),
    ("stamp_rally_worker_round_timestamp_seconds", "When this worker last looked at the progress of all."),
];

const DURATIONS: [(&str, &str); 1] =
    [("http_request_duration_seconds", "How long requests took, by endpoint and method.")];

/// Installs the recorder, for the whole process.
pub fn recorder() -> anyhow::Result<PrometheusHandle> {
    let handle = PrometheusBuilder::new().set_buckets(&BUCKETS)?.install_recorder()?;
    for (name, words) in COUNTERS {
        describe_counter!(name, words);
    }
    for (name, words) in GAUGES {
        describe_gauge!(name, words);
    }
    for (name, words) in DURATIONS {
        describe_histogram!(name, Unit::Seconds, words);
    }
    Ok(handle)
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, fs, path::Path};

    use super::*;

    /// Every metric that is recorded in these sources.
    fn recorded(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                recorded(&path, found);
            } else {
                let text = fs::read_to_string(&path).unwrap();
                for recording in ["metrics::counter!(\"", "metrics::gauge!(\"", "metrics::histogram!(\""] {
                    let names = text.split(recording).skip(1).filter_map(|rest| rest.split('"').next());
                    found.extend(names.map(str::to_owned));
                }
            }
        }
    }

    #[test]
    fn every_metric_is_described_and_docs_operate_names_it() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut recorded_names = BTreeSet::new();
        recorded(&root.join("src"), &mut recorded_names);
        let described = COUNTERS.iter().chain(&GAUGES).chain(&DURATIONS).map(|(name, _)| (*name).to_owned());
        assert_eq!(recorded_names, described.collect());
        let page = fs::read_to_string(root.join("docs/operate.md")).unwrap();
        for name in recorded_names {
            assert!(page.contains(&name), "docs/operate.md says nothing of {name}");
        }
    }
}
