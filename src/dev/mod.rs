//! dev

pub mod engine;
