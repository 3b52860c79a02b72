//! `stamp-rally deliveries show`: what became of each notice of a participant.

use std::io::Write;

use anyhow::bail;
use futures_util::try_join;

use super::words::{maybe_sent, printable, subject, why};
use crate::cli::printed::counted;
use crate::domain::{
    delivery_state::{self, DeliveryState, NoticeLine, Sent},
    event::Event,
    ids::LineUserId,
    time::TimeZone,
};
use crate::store::Store;

/// Prints a line a notice in the order of the facts: what, state, and what is known about it.
pub(super) async fn show(store: &Store, event: &Event, who: &LineUserId, out: &mut impl Write) -> anyhow::Result<()> {
    let (facts, friendships) = try_join!(store.facts(&event.event_id, who), store.friendships(&event.channel, who))?;
    if facts.is_empty() {
        bail!("nothing is known of {who} in event \"{}\"", event.event_id);
    }
    let notices = delivery_state::fold(&facts, &friendships);
    for notice in &notices {
        let (what, state, about) = (subject(&notice.key), notice.state.as_str(), about(notice, event.time_zone));
        writeln!(out, "{what:<20}  {state:<18}  {about}")?;
    }
    if friendships.is_empty() {
        let unknown = "whether they are a friend of the account isn't known: no follow or unfollow was seen, and to \
                       a user who never added it LINE shows nothing";
        writeln!(out, "{unknown}")?;
    }
    if !facts.unreadable.is_empty() {
        let left_out = counted(
            facts.unreadable.len(),
            "fact can't be read and is left out, with its notice",
            "facts can't be read and are left out, with their notices",
        );
        writeln!(out, "{left_out}: `stamp-rally table check --event {}` says why", event.event_id)?;
    }
    Ok(writeln!(out, "notices: {}", notices.len())?)
}

fn about(notice: &NoticeLine<'_>, zone: TimeZone) -> String {
    let since = notice.since.in_zone(zone);
    let asked = notice.requested_by.map(|who| format!("asked for by {} at {since}", printable(who)));
    let words = match &notice.state {
        DeliveryState::Parked(parked) => {
            vec![
                Some(format!("since {}", parked.since.in_zone(zone))),
                Some(why(parked)),
                maybe_sent(parked.maybe_sent_at, zone),
            ]
        }
        DeliveryState::Sent(sent) => sent_words(sent, zone),
        DeliveryState::SentToNonFriend { sent, unfollowed_at } => {
            let mut words = sent_words(sent, zone);
            words.push(Some(format!("no friend since {}", unfollowed_at.in_zone(zone))));
            words
        }
        DeliveryState::Pending { maybe_sent_at } => {
            vec![Some(format!("since {since}")), maybe_sent(*maybe_sent_at, zone)]
        }
    };
    [asked].into_iter().chain(words).flatten().collect::<Vec<_>>().join("; ")
}

fn sent_words(sent: &Sent<'_>, zone: TimeZone) -> Vec<Option<String>> {
    vec![
        sent.at.map(|at| format!("at {}", at.in_zone(zone))),
        sent.via.map(|via| format!("by {via}")),
        sent.by_resend.map(|number| format!("by resend {number}")),
        sent.request_id.map(|id| format!("LINE's request id {}", printable(id))),
    ]
}
