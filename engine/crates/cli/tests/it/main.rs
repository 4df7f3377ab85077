//! The integration tests of `fulcrum-cli`: one binary, so that they are linked once.

mod causal;
mod commands;
mod common;
mod compare;
mod dispatcher;
mod event_libraries;
mod events;
mod java_tasks;
mod kills;
mod native;
mod native_processes;
mod native_values;
mod open_telemetry;
mod planted;
mod profile;
mod profile_symbols;
mod refine;
mod run;
mod samples;
mod search;
mod sessions;
mod some_kills;
mod some_samples;
mod trace;
mod transactions;
mod values;
