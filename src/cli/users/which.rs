//! Which participants a command is about, and in which order.

use clap::ValueEnum;

use crate::domain::{
    Malformed,
    ids::EventId,
    time::{Span, TimeZone},
};
use crate::store::listing::Direction;

/// Which participants.
#[derive(Debug, clap::Args)]
pub struct Which {
    /// The event's id
    #[arg(value_name = "EVENT")]
    pub event_id: EventId,
    /// First day in the event's time zone (2026-05-23), or an instant with its offset (2026-05-23T10:00:00+09:00)
    #[arg(long)]
    from: Option<String>,
    /// Last day, inclusive, or an instant, exclusive
    #[arg(long)]
    to: Option<String>,
    /// asc: the first to register comes first
    #[arg(long, value_enum, default_value_t = Order::Asc)]
    order: Order,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Order {
    Asc,
    Desc,
}

impl Which {
    pub fn span(&self, zone: TimeZone) -> anyhow::Result<Span> {
        // Arguments are named with dashes.
        let named =
            |Malformed { what, rule }| anyhow::anyhow!("--{what}: {}", rule.replace("after from", "after --from"));
        Span::parse(self.from.as_deref(), self.to.as_deref(), zone).map_err(named)
    }

    pub fn direction(&self) -> Direction {
        match self.order {
            Order::Asc => Direction::Asc,
            Order::Desc => Direction::Desc,
        }
    }
}
