//! Stories of delivery: from the stored fact to the phone, and the mark on the fact.

mod batch;
mod budget;
mod followed;
mod happy;
mod held;
mod proxies;
mod trouble;
mod workers;
