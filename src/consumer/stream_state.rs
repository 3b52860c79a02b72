//! Whether the stream that a worker reads is the table's, for the log, the metrics and readiness.

use std::sync::Arc;

use tokio::sync::watch;

/// How the stream that a worker reads relates to its table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StreamState {
    /// It is the table's.
    #[default]
    Present,
    /// The table has none: what happens now is in no stream.
    Missing,
    /// The table has another one. The former one gets no records any more; it is read to its end first.
    Replaced,
}

/// The state that a worker knows of. Clones are one.
#[derive(Debug, Clone, Default)]
pub struct StreamWatch(Arc<watch::Sender<StreamState>>);

impl StreamWatch {
    /// Returns the state.
    #[must_use]
    pub fn state(&self) -> StreamState {
        *self.0.borrow()
    }

    /// Sets the state; a change is logged once.
    pub(super) fn set(&self, state: StreamState) {
        metrics::gauge!("stamp_rally_stream_unread").set(u8::from(state != StreamState::Present));
        let before = self.0.send_replace(state);
        match state {
            _ if before == state => {}
            StreamState::Present => tracing::info!("the table's stream is read again"),
            StreamState::Missing => tracing::error!("the table has no stream: run `stamp-rally table create`"),
            StreamState::Replaced => {
                tracing::warn!("the table has another stream than the one that is read: that is read to its end first");
            }
        }
    }
}

/// Counts how often a consumer's workers found another stream than the one before.
pub(super) fn replaced() -> metrics::Counter {
    metrics::counter!("stamp_rally_stream_replaced_total")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_read_back_as_it_was_set_by_all_clones() {
        let watch = StreamWatch::default();
        assert_eq!(watch.state(), StreamState::Present);
        for state in [StreamState::Missing, StreamState::Replaced, StreamState::Present] {
            watch.clone().set(state);
            assert_eq!(watch.state(), state);
        }
    }
}
