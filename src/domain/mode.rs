//! Whether a command that may change something does.

/// How a command runs that sends or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Reports what would be done; nothing is sent, and nothing is written.
    DryRun,
    /// Does it.
    ForReal,
}
