//! Requests in: the participants' API, the organisers' API, LINE's webhook, and what operators read.
//!
//! A handler takes the request apart (its arguments are its checks), carries it out, and answers. Who may call is
//! the type of an argument ([`auth`]); every failure is answered by one table (`problem.rs`); no handler sends a message.

mod admin;
mod app;
pub mod auth;
mod body;
mod claim;
mod cross_origin;
pub mod csv;
mod grants;
mod known;
mod observe;
mod ops;
mod pages;
mod participant;
mod problem;
mod refusals;
mod request_id;
mod routes;
mod server;
mod view;
mod webhook;

/// Cursors, for their fuzz target.
#[cfg(fuzzing)]
pub use admin::cursor;

#[cfg(test)]
mod tests;

pub use app::{App, Channels, Parts};
pub use cross_origin::Origin;
pub use ops::Ops;
pub use problem::NotConsuming;
pub use server::{serve, serve_ops};
