//! `stamp-rally staff new|list|revoke`: tokens of staff and screens.

use std::io::Write;

use anyhow::bail;

use super::{options::WithSettings, store};
use crate::domain::{
    ids::EventId,
    staff::{Staff, StaffId, StaffName, StaffOrder, StaffRole, StaffStamps, StaffToken},
    time::{MachineClock, TimeZone, Timestamp},
};
use crate::store::Store;

/// Tokens of staff and screens.
#[derive(Debug, clap::Subcommand)]
pub enum StaffCommand {
    /// List them, oldest first, revoked ones too
    List {
        /// The event's id
        #[arg(value_name = "EVENT")]
        event_id: EventId,
    },
    /// Make a token: prints it once, to be handed to its bearer
    New(NewStaff),
    /// Revoke a token: every server refuses it within 5 seconds
    Revoke {
        /// The event's id
        #[arg(value_name = "EVENT")]
        event_id: EventId,
        /// The first part of the token, as `staff list` shows it
        #[arg(value_name = "STAFFID")]
        staff_id: StaffId,
    },
}

/// What a token shall be good for.
#[derive(Debug, clap::Args)]
pub struct NewStaff {
    /// The event's id
    #[arg(value_name = "EVENT")]
    event_id: EventId,
    /// What the member of the staff, or the screen, is called: 1 to 64 characters
    #[arg(value_name = "NAME")]
    name: StaffName,
    /// A stamp at which the token is good, or * for all; may be given several times
    #[arg(long = "stamp", value_name = "ID", required = true, num_args = 1..)]
    stamps: Vec<String>,
    /// It shows the codes of its stamps on a screen, instead of granting them
    #[arg(long)]
    screen: bool,
    /// From when on it isn't good any more, an instant with an offset [default: it is good until it is revoked]
    #[arg(long, value_name = "T", value_parser = |text: &str| Timestamp::parse_instant("--until", text))]
    until: Option<Timestamp>,
}

impl From<NewStaff> for (EventId, anyhow::Result<StaffOrder>) {
    fn from(wanted: NewStaff) -> Self {
        let NewStaff { event_id, name, stamps, screen, until } = wanted;
        let role = if screen { StaffRole::Screen } else { StaffRole::Staff };
        let stamps = StaffStamps::try_from(stamps).map_err(|error| anyhow::anyhow!("--stamp: {error}"));
        (event_id, stamps.map(|stamps| StaffOrder { name, role, stamps, expires_at: until }))
    }
}

/// Carries the command out: what to keep is printed to `out`, what to do with it to `notes`.
pub async fn execute(
    args: WithSettings<StaffCommand>,
    out: &mut impl Write,
    notes: &mut impl Write,
) -> anyhow::Result<()> {
    let settings = args.settings.start()?;
    let url = settings.http.public_url();
    store::with(&settings, async |store| match args.command {
        StaffCommand::List { event_id } => list(store, &event_id, out).await,
        StaffCommand::New(wanted) => {
            let (staff, token) = hire(store, wanted).await?;
            writeln!(out, "{}", token.as_str())?;
            Ok(write!(notes, "{}", handed_over(&staff, &token, &url))?)
        }
        StaffCommand::Revoke { event_id, staff_id } => revoke(store, &event_id, &staff_id, out).await,
    })
    .await
}

async fn hire(store: &Store, wanted: NewStaff) -> anyhow::Result<(Staff, StaffToken)> {
    let (event_id, order): (_, anyhow::Result<StaffOrder>) = wanted.into();
    store::event(store, &event_id).await?;
    Ok(store.hire(&event_id, order?, MachineClock::start().now()).await??)
}

/// Returns what to do with a new token.
fn handed_over(staff: &Staff, token: &StaffToken, url: &str) -> String {
    let Staff { event_id, staff_id, .. } = staff;
    let revoke = format!("`stamp-rally staff revoke {event_id} {staff_id}` ends it.\n");
    match staff.role {
        StaffRole::Staff => format!("The token, shown this once, for its bearer alone. {revoke}"),
        StaffRole::Screen => {
            let ids: Vec<_> = staff.stamps.named().map(|(_, id)| id.as_str()).collect();
            let ids = if ids.is_empty() { vec!["STAMP"] } else { ids };
            let page = |id| format!("{url}/spot/{event_id}/{id}#t={}\n", token.as_str());
            let pages: String = ids.into_iter().map(page).collect();
            format!(
                "The token, shown this once. {revoke}Open on the screen, once; then the page keeps the token:\n{pages}"
            )
        }
    }
}

async fn list(store: &Store, event_id: &EventId, out: &mut impl Write) -> anyhow::Result<()> {
    let event = store::event(store, event_id).await?;
    let now = MachineClock::start().now();
    for staff in store.staff(event_id).await? {
        writeln!(out, "{}", row(&staff, event.time_zone, now))?;
    }
    Ok(())
}

fn row(staff: &Staff, zone: TimeZone, now: Timestamp) -> String {
    let stamps = Vec::from(staff.stamps.clone()).join(",");
    let state = match (staff.revoked_at, staff.expires_at) {
        (Some(at), _) => format!("revoked at {}", at.in_zone(zone)),
        (None, Some(at)) if at <= now => format!("expired at {}", at.in_zone(zone)),
        (None, Some(at)) => format!("good until {}", at.in_zone(zone)),
        (None, None) => "good".to_owned(),
    };
    format!("{:<12}  {:<6}  {}  stamps {stamps}  {state}", staff.staff_id.as_str(), staff.role.as_str(), staff.name)
}

async fn revoke(store: &Store, event_id: &EventId, staff_id: &StaffId, out: &mut impl Write) -> anyhow::Result<()> {
    let event = store::event(store, event_id).await?;
    let Some(staff) = store.revoke_staff(event_id, staff_id, MachineClock::start().now()).await? else {
        bail!("event \"{event_id}\" has no staff \"{staff_id}\": `stamp-rally staff list {event_id}` shows them");
    };
    let since = staff.revoked_at.map_or_else(String::new, |at| format!(" at {}", at.in_zone(event.time_zone)));
    Ok(writeln!(out, "{staff_id} ({}) revoked{since}: every server refuses its token within 5 seconds", staff.name)?)
}
