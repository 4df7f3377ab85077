//! What client and server say to each other: the schema's types, and LSP's own terms (capabilities, URIs, positions, edits,
//! errors).

pub(crate) mod config;
pub(crate) mod convert;
pub(crate) mod error;
pub(crate) mod failure;
pub(crate) mod markdown;
pub(crate) mod position;
pub(crate) mod transport;
pub(crate) mod uri;

pub(crate) use fulcrum_schema::*;
