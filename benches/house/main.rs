//! The house's speed and memory, side by side with what the same work costs bare: `cargo bench`.
//!
//! Every measure runs the real binary in a process of its own, beside an embedded engine (in memory) and a stand-in LINE
//! in theirs, so that the processor time of one is not that of another. Processor time per request is the figure that
//! means something on a machine where others work too; what is compared runs in turns, and medians are shown.
//!
//! `cargo bench -- acquire` takes one measure, any of [`Measure::ALL`]. The result is one Markdown table, for docs/performance.md.
#![expect(clippy::print_stdout, reason = "the table is what this program is for")]

/// The server's own: what is compared differs in the work alone.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod acquire;
mod bare;
mod csv;
mod items;
mod latency;
mod notices;
mod process;
mod proofs;
mod roles;
mod scene;
mod table;

use std::{env, process::ExitCode};

use table::Row;

/// What can be measured.
#[derive(Clone, Copy)]
enum Measure {
    Acquire,
    Csv,
    Latency,
    Notices,
    Proofs,
}

impl Measure {
    const ALL: [(&str, Self); 5] = [
        ("acquire", Self::Acquire),
        ("proofs", Self::Proofs),
        ("latency", Self::Latency),
        ("notices", Self::Notices),
        ("csv", Self::Csv),
    ];

    async fn take(self) -> anyhow::Result<Vec<Row>> {
        match self {
            Self::Acquire => acquire::measure().await,
            Self::Csv => csv::measure().await,
            Self::Latency => latency::measure().await,
            Self::Notices => notices::measure().await,
            Self::Proofs => proofs::measure().await,
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let done = match arguments.split_first() {
        Some((first, rest)) if first == roles::FLAG => roles::play(rest),
        _ => measure(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("house: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Takes the measures that are named, or all of them; what cargo itself adds (`--bench`) names none.
fn measure(arguments: &[String]) -> anyhow::Result<()> {
    let named: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    if let Some(unknown) = named.iter().find(|name| Measure::ALL.iter().all(|(known, _)| known != *name)) {
        anyhow::bail!("there is no measure {unknown}; there are {}", Measure::ALL.map(|(name, _)| name).join(", "));
    }
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let mut rows = Vec::new();
        for (name, measure) in Measure::ALL {
            if named.is_empty() || named.iter().any(|wanted| *wanted == name) {
                eprintln!("house: {name}");
                rows.extend(measure.take().await?);
            }
        }
        println!("{}", table::markdown(&rows));
        Ok(())
    })
}
