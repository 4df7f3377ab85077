//! `fulcrum/transactions/*`: recording transactions, and recorded runs of them. One file a request; the runs that are kept
//! open are in [`crate::transactions`].

pub(crate) mod compare;
pub(crate) mod frame;
pub(crate) mod open;
pub(crate) mod price;
pub(crate) mod start;
pub(crate) mod tree;
