//! `--dry-run`, for every command that may be tried before it changes something.

use crate::domain::mode::Mode;

/// For commands that can be tried: `#[command(flatten)]`.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct DryRun {
    /// Report what would be done: nothing is sent, and nothing is written
    #[arg(long)]
    dry_run: bool,
}

impl From<DryRun> for Mode {
    fn from(DryRun { dry_run }: DryRun) -> Self {
        if dry_run { Self::DryRun } else { Self::ForReal }
    }
}
