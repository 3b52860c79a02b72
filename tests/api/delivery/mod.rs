//! Stories of delivery: from the stored fact to the phone, and the mark on the fact.

mod happy;
mod held;
pub mod house;
mod trouble;
mod workers;
