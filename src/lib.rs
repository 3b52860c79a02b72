//! The backend of a stamp rally inside LINE.
//!
//! Data flows in one direction: a request becomes a fact, the fact a record of the
//! table's stream, the record a job of each effect that it concerns (a message, a count), the message a mark on the fact.
//!
//! ```text
//!  LIFF page, LINE webhook, organiser                        participant in LINE
//!         │ request                                                  ▲ message
//!         ▼                                                          │
//!       http ──▶ domain: decide ──▶ store: put the fact         effects: delivery, counts
//!                   ▲                     │                          ▲
//!                 fold                    ▼                          │ one job per record
//!                   └──── facts ◀──── table ──── stream ──▶ consumer ┘
//!                                         ▲                    │
//!                                         └──── mark ◀─────────┘
//! ```
//!
//! | room | holds | may use |
//! | --- | --- | --- |
//! | [`domain`] | what a rally is: pure, no I/O, no async | nothing |
//! | [`store`] | the two tables, the stream, the consumer's progress | `domain` |
//! | [`mod@line`] | the LINE platform: tokens, messages, webhooks, Flex | `domain` |
//! | [`consumer`] | following the stream: leases, ordered lanes, checkpoints; knows no effect | `domain`, `store` |
//! | [`counts`] | the effect that counts | `domain`, `store`, `consumer` |
//! | [`delivery`] | the effect that brings notices to LINE | `domain`, `store`, `line`, `consumer` |
//! | [`http`] | requests in | `domain`, `store`, `line` |
//! | [`cli`] | puts everything together, one file a command | all |
//! | `dev` | embedded engine, stand-in LINE, demo rally (feature `dev`) | nothing; only `cli` knows it |

pub mod cli;
pub mod consumer;
pub mod counts;
pub mod delivery;
#[cfg(feature = "dev")]
pub mod dev;
pub mod domain;
pub mod http;
pub mod line;
pub mod store;

#[cfg(test)]
mod rooms;
#[cfg(test)]
mod stub;
