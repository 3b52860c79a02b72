//! `stamp-rally codes list|print|revoke|rotate`: the codes of stamps.

mod poster;
mod print;

use std::io::Write;

use anyhow::{anyhow, bail};

use super::{config::Settings, deliveries::operator_name, options::WithSettings, store};
use crate::domain::{
    event::Event,
    ids::{EventId, StampId},
    proof::{CodeChange, CodeGeneration, CodeKind, CodeOrder, CodeSource, Generation, PrintedCode, ProofKeys},
    stamp::StampMaster,
    time::MachineClock,
};
use crate::http::auth::token_name;
use crate::store::Store;

/// Codes of stamps.
#[derive(Debug, clap::Subcommand)]
pub enum CodesCommand {
    /// List the generations of a stamp's codes, and the printed codes that are good
    List(Which),
    /// Write posters as one HTML file for any browser's print: A4, one stamp a page
    Print(print::PrintArgs),
    /// Refuse the codes of a generation from now on; acquired stamps stay
    Revoke {
        #[command(flatten)]
        which: Which,
        /// The kind of the codes, as `codes list` shows it
        #[arg(value_name = "KIND")]
        kind: CodeKind,
        /// The number of the generation, as `codes list` shows it
        #[arg(value_name = "GENERATION")]
        generation: Generation,
        #[command(flatten)]
        by: By,
    },
    /// Make the next generation of a stamp's codes; earlier ones stay good until they are revoked
    Rotate {
        #[command(flatten)]
        which: Which,
        /// The kind of the codes, as `codes list` shows it
        #[arg(value_name = "KIND")]
        kind: CodeKind,
        #[command(flatten)]
        by: By,
    },
}

/// Whose codes.
#[derive(Debug, clap::Args)]
pub struct Which {
    /// The event's id
    #[arg(value_name = "EVENT")]
    event_id: EventId,
    /// The stamp's id
    #[arg(value_name = "STAMP")]
    stamp_id: StampId,
}

/// Who changes them.
#[derive(Debug, clap::Args)]
pub struct By {
    /// Who asks, in the stamp's history after `cli:` [default: the account, $USER or $LOGNAME]
    #[arg(long, value_name = "NAME", value_parser = |name: &str| token_name(name.to_owned()))]
    by: Option<String>,
}

pub async fn execute(args: WithSettings<CodesCommand>, out: &mut impl Write) -> anyhow::Result<()> {
    let settings = args.settings.start()?;
    store::with(&settings, async |store| match &args.command {
        CodesCommand::List(which) => Desk::open(store, &settings, which).await?.list(out).await,
        CodesCommand::Print(wanted) => print::print(store, &settings.proofs.keys, wanted, out).await,
        CodesCommand::Revoke { which, kind, generation, by } => {
            let desk = Desk::open(store, &settings, which).await?;
            desk.revoke((*kind, *generation), by, out).await
        }
        CodesCommand::Rotate { which, kind, by } => {
            Desk::open(store, &settings, which).await?.rotate(*kind, by, out).await
        }
    })
    .await
}

/// Where an operator works on the codes of one stamp.
struct Desk<'a> {
    store: &'a Store,
    keys: &'a ProofKeys,
    event: Event,
    stamp_id: &'a StampId,
}

impl<'a> Desk<'a> {
    async fn open(store: &'a Store, settings: &'a Settings, which: &'a Which) -> anyhow::Result<Self> {
        let event = store::event(store, &which.event_id).await?;
        Ok(Self { store, keys: &settings.proofs.keys, event, stamp_id: &which.stamp_id })
    }

    async fn list(&self, out: &mut impl Write) -> anyhow::Result<()> {
        let rules = stamp(self.store, (&self.event.event_id, self.stamp_id)).await?.rules;
        let listed = rules.codes.listed(&rules.proofs);
        if listed.is_empty() {
            return Ok(writeln!(out, "stamp {} takes no codes", self.stamp_id)?);
        }
        listed.iter().try_for_each(|generation| writeln!(out, "{}", self.line(generation)))?;
        Ok(())
    }

    /// Returns kind, number, whether its codes are good, who made it when, and the printed code.
    fn line(&self, known: &CodeGeneration) -> String {
        let zone = self.event.time_zone;
        let by = |name: &Option<String>| name.as_deref().map_or_else(String::new, |name| format!(" by {name}"));
        let state = match known.revoked_at {
            Some(at) => format!("revoked {}{}", at.in_zone(zone), by(&known.revoked_by)),
            None => "good".to_owned(),
        };
        let made = match known.created_at {
            Some(at) => format!("made {}{}", at.in_zone(zone), by(&known.created_by)),
            None => "always there".to_owned(),
        };
        let code = self.printed(known).map_or_else(String::new, |code| format!(", {code}"));
        format!("{:<11}  {:>2}  {state}, {made}{code}", known.kind, known.generation)
    }

    fn printed(&self, known: &CodeGeneration) -> Option<String> {
        let source = CodeSource { keys: self.keys, event_id: &self.event.event_id, stamp_id: self.stamp_id };
        let PrintedCode { code, link } = PrintedCode::of(known, &source, self.event.liff_id.as_ref())?;
        Some(link.map_or_else(|| code.clone(), |link| format!("{code} {link}")))
    }

    async fn rotate(&self, kind: CodeKind, by: &By, out: &mut impl Write) -> anyhow::Result<()> {
        let made = self.order(CodeChange::Rotate(kind), by).await?;
        writeln!(out, "{}", self.line(&made))?;
        let (event_id, stamp_id) = (&self.event.event_id, self.stamp_id);
        let revoke = format!("`stamp-rally codes revoke {event_id} {stamp_id} {kind} GENERATION`");
        let next = match kind {
            CodeKind::QrRotating => format!(
                "earlier generations stay good; wait a minute before you revoke one, for screens ask anew every minute: {revoke}"
            ),
            CodeKind::QrStatic => format!(
                "earlier generations stay good; hang up the new poster (`stamp-rally codes print {event_id} --stamp \
                 {stamp_id} --out FILE`) before you revoke one: {revoke}"
            ),
        };
        Ok(writeln!(out, "{next}")?)
    }

    async fn revoke(
        &self,
        (kind, generation): (CodeKind, Generation),
        by: &By,
        out: &mut impl Write,
    ) -> anyhow::Result<()> {
        let revoked = self.order(CodeChange::Revoke(kind, generation), by).await?;
        writeln!(out, "{}", self.line(&revoked))?;
        writeln!(out, "every server refuses its codes within five seconds; acquired stamps stay")?;
        let (event_id, stamp_id) = (&self.event.event_id, self.stamp_id);
        if stamp(self.store, (event_id, stamp_id)).await?.rules.codes.newest_living(kind).is_none() {
            writeln!(
                out,
                "none of its generations is good now: `stamp-rally codes rotate {event_id} {stamp_id} {kind}` makes one"
            )?;
        }
        Ok(())
    }

    async fn order(&self, change: CodeChange, by: &By) -> anyhow::Result<CodeGeneration> {
        let name = operator_name(by.by.as_deref())?;
        let order = CodeOrder { change, by: &name, at: MachineClock::start().now() };
        let ordered = self.store.order_codes(&self.event.event_id, self.stamp_id, &order).await?;
        ordered.map_err(|refusal| anyhow!("stamp \"{}\": {refusal}: nothing is written", self.stamp_id))
    }
}

/// Returns the stamp as the table has it now, or an error that names it.
async fn stamp(store: &Store, (event_id, stamp_id): (&EventId, &StampId)) -> anyhow::Result<StampMaster> {
    match store.master(event_id, stamp_id).await? {
        Some(master) => Ok(master),
        None => bail!("event \"{event_id}\" has no stamp \"{stamp_id}\""),
    }
}
