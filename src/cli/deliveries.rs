//! `stamp-rally deliveries list|resend|show`: what became of notices, and what may be sent again.

mod resend;
mod show;
mod words;

use std::io::Write;

use super::{
    options::{WithSettings, one_of},
    store,
};
use crate::domain::{
    event::Event,
    fact::Fact,
    ids::{EventId, LineUserId},
    notice::{NoticeStatus, ParkedState},
};
use crate::store::{Store, listing::Wanted, paging::Pages};

pub(super) use resend::operator_name;

/// What became of notices.
#[derive(Debug, clap::Subcommand)]
pub enum DeliveriesCommand {
    /// List those in a state: to whom, what, since when, why, and whether LINE may have accepted it
    List {
        /// The event's id
        #[arg(value_name = "EVENT")]
        event_id: EventId,
        /// held: waits for its channel; failed: refused by LINE; unknown: may have been accepted; expired: was parked
        /// when the event ended; suppressed: decided against
        #[arg(long, value_parser = one_of(&ParkedState::ALL))]
        state: ParkedState,
    },
    /// Send a notice again, or all that are in a state; who asked and when becomes part of the facts
    Resend(resend::ResendArgs),
    /// Show what became of each notice of a participant
    Show {
        /// The event's id
        #[arg(value_name = "EVENT")]
        event_id: EventId,
        /// The participant's LINE user id
        #[arg(value_name = "USER")]
        line_user_id: LineUserId,
    },
}

pub async fn execute(args: WithSettings<DeliveriesCommand>, out: &mut impl Write) -> anyhow::Result<()> {
    let settings = args.settings.start()?;
    store::with(&settings, async |store| match &args.command {
        DeliveriesCommand::List { event_id, state } => {
            let event = store::event(store, event_id).await?;
            list(store, &event, *state, out).await
        }
        DeliveriesCommand::Resend(wanted) => resend::resend(store, wanted, out).await,
        DeliveriesCommand::Show { event_id, line_user_id } => {
            let event = store::event(store, event_id).await?;
            show::show(store, &event, line_user_id, out).await
        }
    })
    .await
}

async fn list(store: &Store, event: &Event, state: ParkedState, out: &mut impl Write) -> anyhow::Result<()> {
    let parked = async |after| store.parked(&event.event_id, state, &Wanted::oldest_first(after)).await;
    let (mut pages, mut number, mut unreadable) = (Pages::default(), 0, 0);
    while let Some(page) = pages.next(parked).await? {
        for row in page.rows.iter().filter_map(|fact| row(event, fact)) {
            writeln!(out, "{row}")?;
            number += 1;
        }
        unreadable += page.unreadable;
    }
    if unreadable > 0 {
        let event_id = &event.event_id;
        writeln!(out, "{unreadable} more can't be read: `stamp-rally table check --event {event_id}` names them")?;
    }
    Ok(writeln!(out, "{number} {state}")?)
}

/// Returns participant, what, since when (in the event's zone), who asked for it (a resend), why, and when LINE may have
/// accepted it. `None` for a notice that has left the state, which the index may show a moment longer.
fn row(event: &Event, fact: &Fact) -> Option<String> {
    let (key, status) = fact.notice()?;
    let NoticeStatus::Parked(parked) = status else { return None };
    let asked = match fact {
        Fact::Resend(resend) => words::asked_by(&resend.requested_by),
        Fact::ResendCompleted(resend) => words::asked_by(&resend.requested_by),
        Fact::Completed(_) | Fact::User(_) | Fact::UserStamp(_) => String::new(),
    };
    let (participant, since) = (fact.line_user_id(), parked.since.in_zone(event.time_zone));
    let (what, why) = (words::subject(&key), words::why(parked));
    let maybe_sent = words::maybe_sent(parked.maybe_sent_at, event.time_zone);
    let maybe_sent = maybe_sent.map_or_else(String::new, |maybe_sent| format!("; {maybe_sent}"));
    Some(format!("{:<33}  {what:<20}  since {since}  {asked}{why}{maybe_sent}", participant.as_str()))
}
