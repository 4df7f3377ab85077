//! Phase correction (COZ §3.4.4 "Adjusting for phases", eq. 8): `ΔP = Δp_A · (t_obs / s_obs) · (s / T)`.
//!
//! Experiments run only while their line runs, so what they measure holds for that phase, not for the whole run. `t_obs`
//! and `s_obs` are the effective durations and the selected samples of all the line's experiments, `s` its samples over
//! the whole run, `T` the run time.

use std::collections::HashMap;

use fulcrum_model::TargetId;
use fulcrum_model::causal::Recording;

use crate::combine::Line;
use crate::notes::Reason;

/// How to correct the lines of one recording.
pub enum Correction<'a> {
    /// Switched off.
    Off,
    /// The recording lacks what eq. 8 needs for every line; the sentence says what.
    Impossible(&'static str),
    /// By `s / T` per line, in samples a nanosecond.
    Rates(HashMap<&'a TargetId, f64>),
}

impl<'a> Correction<'a> {
    pub fn of(recording: &'a Recording, wanted: bool) -> Self {
        if !wanted {
            return Correction::Off;
        }
        if recording.runtime_ns == 0 {
            return Correction::Impossible(
                "The results are not corrected for phases: the recording does not say how long the program ran.",
            );
        }
        let mut samples: HashMap<&TargetId, u64> = HashMap::new();
        for (id, count) in &recording.samples {
            let sum = samples.entry(id).or_default();
            *sum = sum.saturating_add(*count);
        }
        if samples.values().all(|&count| count == 0) {
            return Correction::Impossible(
                "The results are not corrected for phases: the recording holds no samples of whole runs.",
            );
        }
        let total = recording.runtime_ns as f64;
        Correction::Rates(
            samples
                .into_iter()
                .map(|(at, count)| (at, count as f64 / total))
                .collect(),
        )
    }

    /// Why nothing is corrected.
    pub fn note(&self) -> Option<String> {
        match self {
            Correction::Impossible(why) => Some((*why).into()),
            Correction::Off | Correction::Rates(_) => None,
        }
    }

    /// The factor on every program speedup of `line`.
    pub fn factor(&self, line: &Line<'_>) -> Result<f64, Reason> {
        let (t_obs, s_obs) = line
            .observed
            .iter()
            .fold((0.0, 0.0), |(t, s), (d, n)| (t + d, s + n));
        match self.rate(line) {
            None => Ok(1.0),
            Some(rate) if s_obs > 0.0 && t_obs > 0.0 && rate > 0.0 => Ok(t_obs / s_obs * rate),
            Some(_) => Err(Reason::NoSamples),
        }
    }

    /// `s / T` of a line; `None` when nothing is corrected.
    pub fn rate(&self, line: &Line<'_>) -> Option<f64> {
        match self {
            Correction::Off | Correction::Impossible(_) => None,
            Correction::Rates(rates) => Some(rates.get(line.id).copied().unwrap_or(0.0)),
        }
    }
}
