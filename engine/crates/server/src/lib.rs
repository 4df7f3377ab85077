//! The language server: the only crate that knows LSP or JSON-RPC.

pub mod codegen;
pub mod protocol;
