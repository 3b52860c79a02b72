//! `stamp-rally deliveries list`: notices that left the ordinary path, and why.

use std::io::Write;

use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::{args::SettingsArgs, store};
use crate::domain::{
    event::Event,
    fact::Fact,
    ids::EventId,
    notice::{NoticeKey, NoticeStatus, Parked, ParkedState},
};
use crate::store::{
    Store,
    listing::{Direction, Wanted},
};

/// Rows of a page at most.
const PAGE: usize = 1000;

/// Notices that left the ordinary path.
#[derive(Debug, clap::Args)]
pub struct DeliveriesArgs {
    #[command(flatten)]
    settings: SettingsArgs,
    #[command(subcommand)]
    command: DeliveriesCommand,
}

/// Notices that left the ordinary path.
#[derive(Debug, clap::Subcommand)]
enum DeliveriesCommand {
    /// List those in a state: to whom, what, since when, why
    List {
        /// The event's id
        #[arg(value_name = "EVENT")]
        event_id: EventId,
        /// held: waits for its channel; failed: refused by LINE; unknown: may have been accepted; expired: was parked
        /// when the event ended; suppressed: decided against
        #[arg(long, value_parser = states())]
        state: ParkedState,
    },
}

fn states() -> impl TypedValueParser<Value = ParkedState> {
    PossibleValuesParser::new(ParkedState::ALL.map(ParkedState::as_str)).try_map(|text| text.parse::<ParkedState>())
}

/// Carries the command out.
pub async fn execute(args: DeliveriesArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let settings = args.settings.start()?;
    let DeliveriesCommand::List { event_id, state } = &args.command;
    store::with(&settings, async |store| {
        let event = store::event(store, event_id).await?;
        list(store, &event, *state, out).await
    })
    .await
}

async fn list(store: &Store, event: &Event, state: ParkedState, out: &mut impl Write) -> anyhow::Result<()> {
    let mut wanted = Wanted { direction: Direction::Asc, limit: PAGE, after: None };
    let mut number = 0;
    loop {
        let page = store.parked(&event.event_id, state, &wanted).await?;
        let rows = page.rows.iter().filter_map(|fact| row(event, fact));
        for row in rows {
            writeln!(out, "{row}")?;
            number += 1;
        }
        wanted.after = page.next;
        if wanted.after.is_none() {
            return Ok(writeln!(out, "{number} {state}")?);
        }
    }
}

/// Person, what, since when (in the event's zone), why. Nothing for a notice that has left the state meanwhile, which
/// the index may show a moment longer.
fn row(event: &Event, fact: &Fact) -> Option<String> {
    let (key, status) = fact.notice()?;
    let NoticeStatus::Parked(parked) = status else { return None };
    let (person, since) = (fact.line_user_id(), parked.since.in_zone(event.time_zone));
    Some(format!("{:<33}  {:<20}  since {since}  {}", person.as_str(), subject(&key), why(parked)))
}

fn subject(key: &NoticeKey) -> String {
    match key {
        NoticeKey::Completed => "completed card".to_owned(),
        NoticeKey::Resend { stamp_id, number } => format!("stamp {stamp_id}, resend {number}"),
        NoticeKey::Stamp(stamp_id) => format!("stamp {stamp_id}"),
    }
}

fn why(parked: &Parked) -> String {
    let reason = parked.reason.clone();
    let error = parked.error.as_ref().map(|error| match error.status {
        0 => error.message.clone(),
        status => format!("LINE answered {status}: {}", error.message),
    });
    let words: Vec<_> = reason.into_iter().chain(error).collect();
    let told = if words.is_empty() { "no reason recorded".to_owned() } else { words.join("; ") };
    // Others wrote these words: nothing in them may move the cursor.
    told.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
