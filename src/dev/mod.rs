//! What a development machine needs and production doesn't: behind the feature `dev`, and known
//! only to `cli`.

pub mod engine;
pub mod line;
