//! `stamp-rally deliveries resend`: one notice, or all of a state. Writes `RESEND` and `RESEND_COMPLETED` facts; the
//! consumer sends them.

use std::{collections::HashSet, env, io::Write};

use anyhow::{Context, anyhow, bail};
use clap::ArgGroup;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _, stream};
use indicatif::ProgressBar;

use super::words::{maybe_sent, subject, why};
use crate::cli::{
    options::{DryRun, one_of},
    progress::progress,
    store::event,
};
use crate::domain::{
    ids::{EventId, LineUserId, StampId},
    mode::Mode,
    notice::{NoticeStatus, ParkedState},
    resend::{Chain, ResendOrder, ResendRefusal},
    time::{MachineClock, TimeZone, Timestamp},
};
use crate::http::auth::token_name;
use crate::store::{Store, StoreError, listing::Wanted, paging::Pages};

/// How many are ordered at once: each takes two requests, one after the other.
const AT_ONCE: usize = 16;

/// The states that may be sent again as a whole. What is held is sent when its channel is resumed, and what is suppressed
/// was decided one by one.
const STATES: [ParkedState; 3] = [ParkedState::Failed, ParkedState::Unknown, ParkedState::Expired];

/// The usage that clap makes of a group would name the event after the participant.
const USAGE: &str = "stamp-rally deliveries resend [OPTIONS] <EVENT> <USER> <STAMP>
       stamp-rally deliveries resend [OPTIONS] <EVENT> <USER> --completed
       stamp-rally deliveries resend [OPTIONS] <EVENT> --state <STATE>";

/// Which notices.
#[derive(Debug, clap::Args)]
#[command(
    group = ArgGroup::new("which").args(["line_user_id", "state"]).required(true),
    group = ArgGroup::new("notice").args(["stamp_id", "completed"]),
    override_usage = USAGE
)]
pub struct ResendArgs {
    /// The event's id
    #[arg(value_name = "EVENT")]
    event_id: EventId,
    /// One notice: the participant's LINE user id
    #[arg(value_name = "USER", requires = "notice")]
    line_user_id: Option<LineUserId>,
    /// One notice: of which stamp
    #[arg(value_name = "STAMP")]
    stamp_id: Option<StampId>,
    /// The notice of their full card instead of a stamp's; with --state those of full cards alone
    #[arg(long)]
    completed: bool,
    /// All whose last notice is in this state, full cards' too (a message may be on the phone already, above all of state unknown: how many
    /// is reported). May be interrupted and repeated: what is on its way is not asked for again
    #[arg(long, value_parser = one_of(&STATES))]
    state: Option<ParkedState>,
    /// Who asks, in the facts after `cli:` [default: the account, $USER or $LOGNAME]
    #[arg(long, value_name = "NAME", value_parser = |name: &str| token_name(name.to_owned()))]
    by: Option<String>,
    #[command(flatten)]
    dry_run: DryRun,
}

pub(super) async fn resend(store: &Store, args: &ResendArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let name = operator_name(args.by.as_deref())?;
    let event = event(store, &args.event_id).await?;
    let operator = Operator {
        store,
        event_id: &args.event_id,
        zone: event.time_zone,
        name,
        now: MachineClock::start().now(),
        mode: args.dry_run.into(),
    };
    match (&args.line_user_id, args.state) {
        (Some(who), _) => operator.resend_one(who, &args.chain()?, out).await,
        (None, Some(state)) => operator.resend_all(state, args.kinds(), out).await,
        (None, None) => bail!("name a participant and a stamp, or a state"),
    }
}

impl ResendArgs {
    /// Returns the notices of a participant that are named.
    fn chain(&self) -> anyhow::Result<Chain> {
        match &self.stamp_id {
            Some(stamp_id) => Ok(Chain::Stamp(stamp_id.clone())),
            None if self.completed => Ok(Chain::Completed),
            None => bail!("name a stamp, or give --completed"),
        }
    }

    fn kinds(&self) -> Kinds {
        if self.completed { Kinds::FullCards } else { Kinds::All }
    }
}

/// Which notices of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kinds {
    All,
    FullCards,
}

/// Returns who asks, as facts have it: the name that they give, or else the account of the terminal.
pub(in crate::cli) fn operator_name(by: Option<&str>) -> anyhow::Result<String> {
    let account = || ["USER", "LOGNAME", "USERNAME"].into_iter().find_map(|name| printable_name(&env::var(name).ok()?));
    let name = by.map(ToOwned::to_owned).or_else(account);
    Ok(format!(
        "cli:{}",
        name.context("the facts name who asks, and this account has no name: give one with --by NAME")?
    ))
}

/// Returns the name of an account as a token could have it; `None` where nothing of it is left.
fn printable_name(account: &str) -> Option<String> {
    token_name(account.chars().filter(|c| !c.is_control()).take(64).collect()).ok()
}

/// An operator at a terminal who has notices sent again.
struct Operator<'a> {
    store: &'a Store,
    event_id: &'a EventId,
    /// The event's.
    zone: TimeZone,
    name: String,
    /// When they asked: all resends of one command have the same time.
    now: Timestamp,
    mode: Mode,
}

/// The notice of one stamp, or of the full card, of one participant.
type Which = (LineUserId, Chain);

impl Operator<'_> {
    async fn resend_one(&self, who: &LineUserId, of: &Chain, out: &mut impl Write) -> anyhow::Result<()> {
        let facts = self.store.facts(self.event_id, who).await?;
        if let Some((_, NoticeStatus::Parked(parked))) = facts.last_notice(of)
            && parked.state == ParkedState::Held
        {
            let what = if *of == Chain::Completed { "the full card" } else { "this stamp" };
            bail!(
                "the last notice of {what} is held since {} ({}) and goes out by itself when its channel is resumed: \
                 nothing is written",
                parked.since.in_zone(self.zone),
                why(parked)
            );
        }
        let number = match self.store.resend(&facts, &self.order(of, None), self.mode).await? {
            Ok(resend) => resend.number(),
            Err(refusal) => bail!("{refusal}: nothing is written"),
        };
        let written = match self.mode {
            Mode::DryRun => "would be written",
            Mode::ForReal => "is written",
        };
        let before = match facts.last_notice(of) {
            Some((_, NoticeStatus::Sent { at, .. })) => self.accepted_before(*at),
            _ => self.maybe_sent_before(facts.maybe_sent_at(of)),
        };
        let what = match of {
            Chain::Completed => "the full card".to_owned(),
            Chain::Stamp(stamp_id) => format!("stamp {stamp_id}"),
        };
        Ok(writeln!(out, "resend {number} of {what} for {who} {written}{before}")?)
    }

    fn order<'o>(&'o self, of: &'o Chain, only_in: Option<ParkedState>) -> ResendOrder<'o> {
        ResendOrder { of, requested_by: &self.name, requested_at: self.now, only_in }
    }

    fn accepted_before(&self, at: Option<Timestamp>) -> String {
        let at = at.map_or_else(String::new, |at| format!(" at {}", at.in_zone(self.zone)));
        format!("; LINE accepted the one before{at}: to a friend of the account this is a second message")
    }

    fn maybe_sent_before(&self, at: Option<Timestamp>) -> String {
        maybe_sent(at, self.zone).map_or_else(String::new, |maybe_sent| format!("; the one before {maybe_sent}"))
    }

    /// Reads the whole list first: what fails again meanwhile joins it at its end, and must not be sent again for ever.
    async fn resend_all(&self, state: ParkedState, kinds: Kinds, out: &mut impl Write) -> anyhow::Result<()> {
        let notices = self.listed(state, kinds).await?;
        let (mut tally, bar) = (Tally::default(), progress("notices", Some(notices.len())));
        let work = stream::iter(&notices).map(|which| async move { Ok((which, self.resend_in(state, which).await?)) });
        let ended = tokio::select! {
            // First, so that it is listened for before anything is ordered.
            biased;
            _ = tokio::signal::ctrl_c() => Err(anyhow!("interrupted")),
            ended = tally.count(work.buffer_unordered(AT_ONCE), self, &bar, out) => ended,
        };
        bar.finish_and_clear();
        tally.print(state, self.mode, out)?;
        ended.map_err(|error| error.context("broken off: the same command again continues with the rest"))
    }

    /// Returns the stamps and full cards whose notices, or resends, are in a state: each once, whichever of its notices
    /// are.
    async fn listed(&self, state: ParkedState, kinds: Kinds) -> Result<Vec<Which>, StoreError> {
        let parked = async |after| self.store.parked(self.event_id, state, &Wanted::oldest_first(after)).await;
        let (mut listed, mut known, mut pages) = (Vec::new(), HashSet::new(), Pages::default());
        while let Some(page) = pages.next(parked).await? {
            let all =
                page.rows.iter().filter_map(|fact| Some((fact.line_user_id().clone(), Chain::of(&fact.notice()?.0))));
            let wanted = all.filter(|(_, of)| kinds == Kinds::All || *of == Chain::Completed);
            listed.extend(wanted.filter(|which| known.insert(which.clone())));
        }
        Ok(listed)
    }

    /// Orders one of a list, which may be behind: what the facts say now counts.
    async fn resend_in(&self, state: ParkedState, (who, of): &Which) -> Result<Ordered, StoreError> {
        let facts = self.store.facts(self.event_id, who).await?;
        Ok(match self.store.resend(&facts, &self.order(of, Some(state)), self.mode).await? {
            Ok(resend) => Ordered::Again(resend.number(), facts.maybe_sent_at(of)),
            Err(ResendRefusal::NotAcquired | ResendRefusal::NotCompleted | ResendRefusal::OtherState) => Ordered::Left,
            Err(ResendRefusal::NumbersUsedUp) => Ordered::UsedUp,
            Err(ResendRefusal::CompletedPending | ResendRefusal::Pending) => Ordered::Pending,
        })
    }
}

/// What became of the order for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ordered {
    /// It is sent again under this number; LINE may have accepted one before it at this time.
    Again(u16, Option<Timestamp>),
    /// It has left the state.
    Left,
    /// A notice of this stamp, or of this full card, is on its way already.
    Pending,
    /// It has no numbers left.
    UsedUp,
}

/// How many came to what.
#[derive(Debug, Default)]
struct Tally {
    again: usize,
    /// Those of them that LINE may have accepted before.
    maybe_sent: usize,
    left: usize,
    pending: usize,
    used_up: usize,
}

impl Tally {
    /// Counts until all are done. A dry run prints each notice.
    async fn count<'a>(
        &mut self,
        work: impl Stream<Item = Result<(&'a Which, Ordered), StoreError>>,
        operator: &Operator<'_>,
        bar: &ProgressBar,
        out: &mut impl Write,
    ) -> anyhow::Result<()> {
        let mut work = std::pin::pin!(work);
        while let Some(((who, of), ordered)) = work.try_next().await? {
            match ordered {
                Ordered::Again(number, maybe_sent_at) => {
                    self.again += 1;
                    self.maybe_sent += usize::from(maybe_sent_at.is_some());
                    if operator.mode == Mode::DryRun {
                        let (who, what) = (who.as_str(), subject(&of.resend(number)));
                        let before = operator.maybe_sent_before(maybe_sent_at);
                        bar.suspend(|| writeln!(out, "{who:<33}  {what}{before}"))?;
                    }
                }
                Ordered::Left => self.left += 1,
                Ordered::Pending => self.pending += 1,
                Ordered::UsedUp => self.used_up += 1,
            }
            bar.inc(1);
        }
        Ok(())
    }

    fn print(&self, state: ParkedState, mode: Mode, out: &mut impl Write) -> std::io::Result<()> {
        let ordered = match mode {
            Mode::DryRun => "would be asked for again",
            Mode::ForReal => "asked for again",
        };
        writeln!(out, "{ordered}: {}", self.again)?;
        for (what, count) in [
            ("of these, may be on the phone already", self.maybe_sent),
            ("on their way already", self.pending),
            (&*format!("not {state} any more"), self.left),
            ("left alone, sent again 999 times before", self.used_up),
        ] {
            if count > 0 {
                writeln!(out, "{what}: {count}")?;
            }
        }
        Ok(())
    }
}
