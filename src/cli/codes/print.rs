//! `stamp-rally codes print`: posters, each read back and judged before the file is written.

use std::{collections::BTreeSet, io::Write, path::PathBuf};

use anyhow::{Context, bail};

use super::{
    poster::{Poster, sheet},
    stamp,
};
use crate::cli::{draft::Draft, printed::counted, store};
use crate::domain::{
    event::{Event, LiffId},
    ids::{EventId, StampId},
    proof::{Code, CodeKind, CodeSource, Generation, Living, ProofKeys, ProofKind},
    qr::QrCode,
    stamp::StampMaster,
};
use crate::store::Store;

/// What to print, and where to.
#[derive(Debug, clap::Args)]
pub struct PrintArgs {
    /// The event's id
    #[arg(value_name = "EVENT")]
    event_id: EventId,
    /// The poster of this stamp; may be given several times [default: all active stamps that take a printed code]
    #[arg(long = "stamp", value_name = "ID")]
    stamps: Vec<StampId>,
    /// Where to; an older file is replaced when the new one is complete
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Writes the posters to the file; `out` gets how many they are.
pub(super) async fn print(
    store: &Store,
    keys: &ProofKeys,
    args: &PrintArgs,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let event = store::event(store, &args.event_id).await?;
    let press = Press::of(&event, keys)?;
    let masters = wanted(store, &event.event_id, &args.stamps).await?;
    let posters = masters.iter().map(|master| press.poster(master)).collect::<anyhow::Result<Vec<_>>>()?;
    let draft = Draft::of(&args.out)?;
    draft.file().write_all(sheet(&event, &posters).as_bytes()).with_context(|| args.out.display().to_string())?;
    draft.complete()?;
    let posters = counted(posters.len(), "poster", "posters");
    Ok(writeln!(out, "{posters} written to {}: print it from a browser at 100 %, on A4", args.out.display())?)
}

/// Reads the stamps of the posters as the table has them now, not as the index that lists them had them; in the card's order.
async fn wanted(store: &Store, event_id: &EventId, named: &[StampId]) -> anyhow::Result<Vec<StampMaster>> {
    let ids: BTreeSet<StampId> = match named {
        [] => store.masters(event_id).await?.ids().cloned().collect(),
        named => named.iter().cloned().collect(),
    };
    let mut masters = Vec::new();
    for stamp_id in &ids {
        let master = stamp(store, (event_id, stamp_id)).await?;
        if !named.is_empty() || (master.is_active && master.rules.proofs.take(ProofKind::QrStatic)) {
            masters.push(master);
        }
    }
    if masters.is_empty() {
        bail!(
            "event \"{event_id}\" has no active stamp that takes a printed code: give one `proofs = [[\"qr_static\"]]` in the \
             event's file, and apply that"
        );
    }
    masters.sort_by(|a, b| a.place().cmp(&b.place()));
    Ok(masters)
}

/// Makes the posters of one event.
struct Press<'a> {
    event_id: &'a EventId,
    liff_id: &'a LiffId,
    keys: &'a ProofKeys,
}

impl<'a> Press<'a> {
    fn of(event: &'a Event, keys: &'a ProofKeys) -> anyhow::Result<Self> {
        let event_id = &event.event_id;
        let Some(liff_id) = &event.liff_id else {
            bail!(
                "event \"{event_id}\" has no liffId, and a QR code holds a link to its page: give it one in the event's file, \
                 and apply that"
            );
        };
        if keys.is_empty() {
            bail!(
                "`proofs.keys` has no key, and without one there are no codes: `stamp-rally proof-key new` makes one"
            );
        }
        Ok(Self { event_id, liff_id, keys })
    }

    /// Makes the poster of a stamp's newest code that is good.
    fn poster(&self, master: &StampMaster) -> anyhow::Result<Poster> {
        let (event_id, stamp_id) = (self.event_id, &master.stamp_id);
        if !master.rules.proofs.take(ProofKind::QrStatic) {
            bail!(
                "stamp \"{stamp_id}\" takes no printed code: give it `proofs = [[\"qr_static\"]]` in the event's file, and \
                 apply that"
            );
        }
        let Some(generation) = master.rules.codes.newest_living(CodeKind::QrStatic) else {
            bail!(
                "stamp \"{stamp_id}\": every generation of its printed code is revoked: `stamp-rally codes rotate {event_id} \
                 {stamp_id} qr_static` makes a new one"
            );
        };
        let code = self.source(stamp_id).printed(generation).context("no key makes codes")?;
        let qr = QrCode::of(&self.liff_id.link_of_code(&code)).context("the link is too long for a QR code")?;
        self.judge(&qr, master, generation).with_context(|| format!("stamp \"{stamp_id}\": nothing is written"))?;
        Ok(Poster { stamp_id: stamp_id.clone(), name: master.name.clone(), generation, code, qr })
    }

    /// Reads a QR code back as a phone does, and judges what it holds: it must acquire the stamp.
    fn judge(&self, qr: &QrCode, master: &StampMaster, wanted: Generation) -> anyhow::Result<()> {
        let link = qr.read().context("its QR code can't be read back")?;
        let text = link.strip_prefix(&self.liff_id.link_of_code("")).context("its QR code holds another link")?;
        let Some(Code::Stamp(code)) = Code::read(text) else { bail!("its QR code holds no code of a stamp") };
        let living = master.rules.codes.living(code.kind(), code.generation);
        let is_good = code.kind() == CodeKind::QrStatic && code.generation == wanted && living == Living::Yes;
        if !is_good || !self.source(&master.stamp_id).made(&code) {
            bail!("the code that was read back doesn't acquire the stamp");
        }
        Ok(())
    }

    fn source<'s>(&'s self, stamp_id: &'s StampId) -> CodeSource<'s> {
        CodeSource { keys: self.keys, event_id: self.event_id, stamp_id }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        setting::Name,
        stamp::{StampMasterChange, StampOrder},
        time::Timestamp,
    };

    fn master(id: &str) -> StampMaster {
        let change = StampMasterChange {
            name: Some(Name::try_from("灯台".to_owned()).unwrap()),
            order: Some(StampOrder::try_from(1).unwrap()),
            flex_message_content: Some(serde_json::Value::Null),
            ..StampMasterChange::default()
        };
        change.create("spring".parse().unwrap(), id.parse().unwrap(), Timestamp::EPOCH).unwrap()
    }

    #[test]
    fn a_qr_code_that_would_not_acquire_the_stamp_is_not_printed() {
        let keys = ProofKeys::read(["AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"]).unwrap();
        let (event_id, liff_id) = ("spring".parse().unwrap(), "1234567890-AbcdEfgh".parse().unwrap());
        let press = Press { event_id: &event_id, liff_id: &liff_id, keys: &keys };
        let (mut lighthouse, station) = (master("001"), master("002"));
        let printed = |stamp: &StampMaster, number: i64| {
            press.source(&stamp.stamp_id).printed(number.try_into().unwrap()).unwrap()
        };
        let judged = |text: &str, stamp: &StampMaster| {
            press.judge(&QrCode::of(text).unwrap(), stamp, Generation::FIRST).map_err(|error| error.to_string())
        };
        let link = |code: &str| liff_id.link_of_code(code);
        assert_eq!(judged(&link(&printed(&lighthouse, 1)), &lighthouse), Ok(()));
        let refused = "the code that was read back doesn't acquire the stamp".to_owned();
        assert_eq!(judged(&link(&printed(&station, 1)), &lighthouse), Err(refused.clone()));
        assert_eq!(judged(&link(&printed(&lighthouse, 2)), &lighthouse), Err(refused.clone()));
        assert_eq!(judged(&printed(&lighthouse, 1), &lighthouse), Err("its QR code holds another link".to_owned()));
        assert_eq!(judged(&link("X"), &lighthouse), Err("its QR code holds no code of a stamp".to_owned()));
        lighthouse.rules.codes.revoke((CodeKind::QrStatic, Generation::FIRST), "office", Timestamp::EPOCH);
        assert_eq!(judged(&link(&printed(&lighthouse, 1)), &lighthouse), Err(refused));
    }
}
