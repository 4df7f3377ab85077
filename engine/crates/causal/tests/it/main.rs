//! The integration tests of `fulcrum-causal`: one binary, so that they are linked once.

mod adaptive;
mod coverage;
mod coz_viewer;
mod first;
mod independent;
mod peeking;
mod placebo;
mod quality;
mod rules;
mod simulated;
mod statistics;
mod steady;
mod tenths;
