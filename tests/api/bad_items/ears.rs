//! What the program says about items that can't be read, in the log and in its metric, while it runs in this process.

use std::{
    io,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use metrics::{Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit};
use serde_json::Value;
use tracing_subscriber::{filter::LevelFilter, fmt::MakeWriter};

/// The metric that counts each time an item is refused or passed over.
pub const METRIC: &str = "stamp_rally_items_unreadable_total";

/// Hears everything that this process logs about items, on every thread: the server has threads of its own.
#[derive(Clone, Default)]
pub struct Ears {
    lines: Arc<Mutex<Vec<String>>>,
    met: Arc<AtomicU64>,
}

impl Ears {
    /// They are put on once for the whole process. Other houses speak too, about other items.
    pub fn here() -> &'static Self {
        static EARS: OnceLock<Ears> = OnceLock::new();
        EARS.get_or_init(|| {
            let ears = Self::default();
            let log = tracing_subscriber::fmt().json().flatten_event(true).with_max_level(LevelFilter::WARN);
            let _other_tests_may_have_a_log = log.with_writer(ears.clone()).try_init();
            metrics::set_global_recorder(ears.clone()).expect("no other test has a recorder for all");
            ears
        })
    }

    /// What was said about the item with this key, as the log shows keys.
    pub fn heard_of(&self, pk: &str, sk: &str) -> Vec<Value> {
        let lines = self.mentions(sk);
        let said = lines.iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
        said.filter(|said| said["item.pk"] == pk && said["item.sk"] == sk).collect()
    }

    /// Everything that was said and has this text in it.
    pub fn mentions(&self, text: &str) -> Vec<String> {
        self.lines.lock().unwrap().iter().filter(|line| line.contains(text)).cloned().collect()
    }

    /// What [`METRIC`] counts.
    pub fn met(&self) -> u64 {
        self.met.load(Ordering::SeqCst)
    }
}

impl io::Write for Ears {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.lines.lock().unwrap().push(String::from_utf8_lossy(line).into_owned());
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Ears {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

impl Recorder for Ears {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        if key.name() == METRIC { Counter::from_arc(Arc::clone(&self.met)) } else { Counter::noop() }
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}
