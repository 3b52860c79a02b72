//! Stories told against the whole house: the real program, the real SDK, an engine of its own for each test.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that can't go on should stop")]

mod acquire;
mod backfill;
mod bad_input;
mod bad_items;
mod claims;
mod commands;
mod consumers;
mod dealing;
mod delivery;
mod fault_run;
mod faults;
mod house;
#[cfg(feature = "lambda")]
mod lambda;
mod log_fields;
mod organiser;
mod presence;
mod processes;
mod proxy;
mod reconcile;
mod resend;
mod second_engine;
mod staff;
mod stats;
mod store;
mod tables;
mod third_effect;
mod tokens;
mod unreadable;
mod webhook;
mod workers;
