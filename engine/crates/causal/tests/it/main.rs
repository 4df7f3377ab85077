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

/// A profile's notes, as they read.
fn notes(profile: &fulcrum_model::causal::CausalProfile) -> Vec<String> {
    let notes = profile.notes.iter();
    notes.map(fulcrum_causal::wording::note).collect()
}
