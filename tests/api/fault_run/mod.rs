//! The fault run: the real program as processes, while nearly everything goes wrong, and the books afterwards.
//!
//! Here run the engine, the proxy that deals its stream into four shards, and the stand-in LINE; `serve` and two
//! `consume` are children. Participants collect stamps while consumers are killed and paused, the server is killed, shards
//! are split, LINE and the store fail, and items are planted that can't be read. Then everything that was promised is looked up, past all of them.
//!
//! `cargo test` runs a short form. The long one, with its figures:
//!
//! ```sh
//! cargo test --release --test api fault_run_long -- --ignored --nocapture
//! ```
//!
//! What is decided (who acquires what, who is struck when and how, which requests fail) comes from a seed, which is
//! printed; `STAMP_RALLY_FAULT_RUN_SEED` gives it. How processes interleave is the machine's own business.
//! `STAMP_RALLY_FAULT_RUN_LOGS=DIR` keeps what the processes log.

mod audit;
mod bad_items;
mod crew;
mod crowd;
mod figures;
mod plan;
mod process;
mod stage;
mod strikes;

use std::time::{Duration, Instant};

use bad_items::DamagedFact;
use crew::Crew;
use figures::Figures;
use plan::Form;
use stage::Stage;

/// How long any single thing may take. A busy machine is slow; one that hangs is a failure.
const TIMEOUT: Duration = Duration::from_mins(2);

#[tokio::test]
async fn fault_run_short() {
    let figures = run(&Form::SHORT, seed(7)).await;
    assert!(figures.kills() >= 4, "{figures}");
}

#[tokio::test]
#[ignore = "takes minutes: the command is at the head of this file"]
async fn fault_run_long() {
    let figures = run(&Form::LONG, seed(2026)).await;
    assert!(figures.kills() >= 30 && 2 * figures.busy_kills() >= figures.kills(), "{figures}");
}

fn seed(usual: u64) -> u64 {
    std::env::var("STAMP_RALLY_FAULT_RUN_SEED").map_or(usual, |seed| seed.parse().expect("a seed is a whole number"))
}

/// The whole run. It panics where a promise was broken.
async fn run(form: &Form, seed: u64) -> Figures {
    tell(&format!("fault run: STAMP_RALLY_FAULT_RUN_SEED={seed}"));
    let began = Instant::now();
    let stage = Stage::open(form, seed).await;
    let mut crew = Crew::start(&stage).await;
    let waves = form.waves(seed);
    for (number, wave) in waves.iter().enumerate() {
        let damaged = stage.plant(seed, number, &wave.steps).await;
        let (struck, ()) = tokio::join!(crew.strike(wave), stage.walks_and_mends(&wave.steps, damaged));
        let (seconds, many) = (began.elapsed().as_secs_f64(), wave.steps.len());
        tell(&format!("{:>3}. {many} acquisitions, {struck} ({seconds:.1} s)", number + 1));
    }
    let (struck, accepted) = (began.elapsed(), stage.accepted().await);
    stage.is_drained(TIMEOUT).await;
    let drained = began.elapsed();
    stage.every_promise_is_kept().await;
    crew.stop().await;
    crew.has_reported_what_was_planted();
    let mut figures = stage.figures(&crew, seed).await;
    figures.took(struck, accepted, drained);
    tell(&figures.to_string());
    figures
}

#[expect(clippy::print_stdout, reason = "the run prints its figures for --nocapture")]
fn tell(line: &str) {
    println!("{line}");
}

impl Stage {
    /// Carries out a wave while a participant's fact can't be read, and then mends that.
    async fn walks_and_mends(&self, steps: &[(usize, usize)], damaged: Option<DamagedFact>) {
        self.walk(steps).await;
        if let Some(damaged) = damaged {
            self.mend(damaged).await;
        }
    }
}

/// Asks again and again until there is an answer; tells what was waited for if there is none in time.
pub async fn until<T>(what: &str, limit: Duration, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(began.elapsed() < limit, "waited {limit:?} in vain: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
