//! The integration tests of `fulcrum-transaction-runtime`: programs run under the library, and their logs are compared with
//! what the programs report.

mod contexts;
mod events;
mod harmless;
mod java;
mod java_ways;
mod libraries;
mod locks;
mod memory;
mod processes;
mod streams;
mod support;
mod windows;
