//! http

pub mod csv;
