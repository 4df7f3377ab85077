//! Contexts of transactions: their elements, the tables that keep them, and how processes exchange and join them.

pub(crate) mod activity;
pub(crate) mod chain;
pub(crate) mod contexts;
pub(crate) mod dictionary;
pub(crate) mod export;
pub(crate) mod interner;
pub(crate) mod joined;
pub(crate) mod names;
pub(crate) mod step;
pub(crate) mod types;
