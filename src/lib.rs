//! The backend of a stamp rally inside LINE.
//!
//! Data goes round once and never turns back: a request becomes a fact, the fact a record of the
//! table's stream, the record a message, the message a mark on the fact.
//!
//! ```text
//!  LIFF page, LINE webhook, organiser                         participant in LINE
//!         │ request                                                  ▲ message
//!         ▼                                                          │
//!       http ──▶ domain: decide ──▶ store: put the fact            line::push
//!                   ▲                     │                          ▲
//!                 fold                    ▼                          │
//!                   └──── facts ◀──── table ──── stream ──▶ delivery ┘
//!                                         ▲                    │
//!                                         └──── mark ◀─────────┘
//! ```
//!
//! | room | holds | may use |
//! | --- | --- | --- |
//! | [`domain`] | what a rally is: pure, no I/O, no async | nobody |
//! | [`store`] | the one table, its stream, the consumer's progress | `domain` |
//! | [`mod@line`] | the LINE platform: tokens, messages, webhooks, Flex | `domain` |
//! | [`http`] | requests in | `domain`, `store`, `line` |
//! | [`delivery`] | messages out | `domain`, `store`, `line` |
//! | [`cli`] | puts everything together, one file a command | all |
//! | `dev` | embedded engine, stand-in LINE, demo rally (feature `dev`) | nobody; only `cli` knows it |

pub mod cli;
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
