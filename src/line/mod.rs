//! line

pub mod flex;
