//! Phase correction (COZ §3.4.4 "Adjusting for phases", eq. 8): `ΔP = Δp_A · (t_obs / s_obs) · (s / T)`.
//!
//! Experiments run only while their line runs, so what they measure holds for that phase, not for the whole run. `t_obs`
//! and `s_obs` are the effective durations and the selected samples of all the line's experiments, `s` its samples over
//! the whole run, `T` the run time.
//!
//! A run of several processes, or one whose target was changed on the way, has several streams. `s` and `T` are then
//! those of the streams that could tell: they visited the progress point, and counted samples of such a target. A shell
//! that waits for the program is no phase of the program.

use std::collections::{BTreeMap, HashMap};

use fulcrum_model::causal::Recording;
use fulcrum_model::{TargetId, TargetKind};

use crate::combine::Line;
use crate::notes::Reason;

/// How to correct one recording.
pub enum Correction<'a> {
    /// Switched off.
    Off,
    /// The recording lacks what eq. 8 needs for every line; the sentence says what.
    Impossible(&'static str),
    /// By what these stretches of the run counted.
    Stretches(Vec<Stretch<'a>>),
}

/// One stretch of the run.
pub struct Stretch<'a> {
    runtime_ns: u64,
    samples: &'a [(TargetId, u64)],
    /// `None`: every progress point.
    points: Option<&'a [String]>,
    /// `None`: every kind of target.
    kind: Option<TargetKind>,
}

/// How to correct the lines of one progress point.
pub struct Rates<'a>(Option<HashMap<&'a TargetId, f64>>);

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
        if recording.samples.iter().all(|&(_, count)| count == 0) {
            return Correction::Impossible(
                "The results are not corrected for phases: the recording holds no samples of whole runs.",
            );
        }
        let whole = || Stretch {
            runtime_ns: recording.runtime_ns,
            samples: &recording.samples,
            points: None,
            kind: None,
        };
        let streams = recording.streams.iter().map(|stream| Stretch {
            runtime_ns: stream.runtime_ns,
            samples: &stream.samples,
            points: Some(&stream.points),
            kind: stream.target,
        });
        let mut stretches: Vec<_> = streams.collect();
        if stretches.is_empty() {
            stretches.push(whole());
        }
        Correction::Stretches(stretches)
    }

    /// Why nothing is corrected.
    pub fn note(&self) -> Option<String> {
        match self {
            Correction::Impossible(why) => Some((*why).into()),
            Correction::Off | Correction::Stretches(_) => None,
        }
    }

    /// For the progress point of this name.
    pub fn at(&self, point: &str) -> Rates<'a> {
        if !matches!(self, Correction::Stretches(_)) {
            return Rates(None);
        }
        let rate =
            |(id, (samples, time)): (&'a TargetId, (u64, u64))| (id, samples as f64 / time as f64);
        Rates(Some(self.counts(point).into_iter().map(rate).collect()))
    }

    /// `s` and `T` of each target, in the stretches that visited the progress point of this name. Empty when nothing is
    /// corrected.
    pub fn counts(&self, point: &str) -> BTreeMap<&'a TargetId, (u64, u64)> {
        let Correction::Stretches(stretches) = self else {
            return BTreeMap::new();
        };
        let mut samples: BTreeMap<&TargetId, u64> = BTreeMap::new();
        let mut times: BTreeMap<TargetKind, u64> = BTreeMap::new();
        let here = |it: &&Stretch<'_>| it.points.is_none_or(|all| all.iter().any(|p| p == point));
        for stretch in stretches.iter().filter(here) {
            let kinds = TargetKind::ALL
                .into_iter()
                .filter(|kind| stretch.kind.is_none_or(|own| own == *kind));
            for kind in kinds {
                let time = times.entry(kind).or_default();
                *time = time.saturating_add(stretch.runtime_ns);
            }
            for (id, count) in stretch.samples {
                let sum = samples.entry(id).or_default();
                *sum = sum.saturating_add(*count);
            }
        }
        let timed = |(id, count): (&'a TargetId, u64)| {
            let time = times.get(&id.kind).copied().filter(|&time| time > 0)?;
            Some((id, (count, time)))
        };
        samples.into_iter().filter_map(timed).collect()
    }
}

impl Rates<'_> {
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

    /// `s / T` of a line, in samples a nanosecond; `None` when nothing is corrected.
    pub fn rate(&self, line: &Line<'_>) -> Option<f64> {
        let rates = self.0.as_ref()?;
        Some(rates.get(line.id).copied().unwrap_or(0.0))
    }
}
