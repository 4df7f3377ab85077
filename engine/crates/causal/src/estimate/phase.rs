//! Phase correction (COZ §3.4.4 "Adjusting for phases", eq. 8): `ΔP = Δp_A · (t_obs / s_obs) · (s / T)`.
//!
//! Experiments run only while their line runs, so what they measure holds for that phase, not for the whole run. `t_obs`
//! and `s_obs` are the effective durations and the selected samples of all the line's experiments, `s` its samples over
//! the whole run, `T` the run time.
//!
//! The paper adds up all of a line's experiments. But the few experiments with one speedup may have fallen into the line's phase
//! more or less often than the others, which changes their effect. So the effect of each speedup is scaled to as many selected
//! samples for each visit as the line's experiments have together ([`Rates::factors`]). This is not done for coz's recordings:
//! coz handles samples ten at a time, so an experiment's count is off by whole batches.
//!
//! A run of several processes, or one whose target was changed during the run, has several streams. `s` and `T` then come from
//! the streams that visited the progress point and counted samples of such targets: a shell that waits for the program is not a
//! phase of the program.

use std::collections::{BTreeMap, HashMap};

use fulcrum_model::causal::{Note, Recording, Uncorrected};
use fulcrum_model::{TargetId, TargetKind};

use crate::estimate::baseline::Measured;
use crate::estimate::combine::Line;
use crate::notes::Reason;

/// How to correct one recording.
pub(crate) enum Correction<'a> {
    /// Switched off.
    Off,
    /// The recording lacks what eq. 8 needs for every line.
    Impossible(Uncorrected),
    /// By what these stretches of the run counted.
    Stretches {
        stretches: Vec<Stretch<'a>>,
        /// Experiments' samples are counted one by one.
        one_by_one: bool,
    },
}

/// One stretch of the run.
pub(crate) struct Stretch<'a> {
    runtime_ns: u64,
    samples: &'a [(TargetId, u64)],
    /// `None`: every progress point.
    points: Option<&'a [String]>,
    /// `None`: every kind of target.
    kind: Option<TargetKind>,
}

/// How to correct the lines of one progress point.
pub(crate) struct Rates<'a> {
    /// `None`: nothing is corrected.
    rates: Option<HashMap<&'a TargetId, f64>>,
    one_by_one: bool,
}

impl<'a> Correction<'a> {
    pub(crate) fn of(recording: &'a Recording) -> Self {
        if recording.runtime_ns == 0 {
            return Correction::Impossible(Uncorrected::NoRuntime);
        }
        if recording.samples.iter().all(|&(_, count)| count == 0) {
            return Correction::Impossible(Uncorrected::NoSamples);
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
        Correction::Stretches {
            stretches,
            one_by_one: recording.period_ns.is_some(),
        }
    }

    /// Why nothing is corrected.
    pub(crate) fn note(&self) -> Option<Note> {
        match self {
            Correction::Impossible(why) => Some(Note::Uncorrected(*why)),
            Correction::Off | Correction::Stretches { .. } => None,
        }
    }

    /// For the progress point of this name.
    pub(crate) fn at(&self, point: &str) -> Rates<'a> {
        let Correction::Stretches { one_by_one, .. } = *self else {
            return Rates {
                rates: None,
                one_by_one: false,
            };
        };
        let rate =
            |(id, (samples, time)): (&'a TargetId, (u64, u64))| (id, samples as f64 / time as f64);
        Rates {
            rates: Some(self.counts(point).into_iter().map(rate).collect()),
            one_by_one,
        }
    }

    /// `s` and `T` of each target, in the stretches that visited the progress point of this name. Empty when nothing is
    /// corrected.
    pub(crate) fn counts(&self, point: &str) -> BTreeMap<&'a TargetId, (u64, u64)> {
        let Correction::Stretches { stretches, .. } = self else {
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

/// Samples that are added to those of each speedup, so that a few more or fewer change little.
const USUAL: f64 = 1.0;

impl Rates<'_> {
    /// The factor on each program speedup of `line`.
    pub(crate) fn factors(
        &self,
        line: &Line<'_>,
        measured: &[Measured<'_>],
    ) -> Result<Vec<f64>, Reason> {
        let factor = self.factor(line)?;
        Ok(self
            .shares(line, measured)
            .map(|share| factor * share)
            .collect())
    }

    /// For each speedup, the samples for each visit that it should have had over those that it had.
    pub(crate) fn shares(
        &self,
        line: &Line<'_>,
        measured: &[Measured<'_>],
    ) -> impl Iterator<Item = f64> {
        let sum = |value: fn(&Measured<'_>) -> f64| measured.iter().map(value).sum::<f64>();
        let usual = sum(|it| it.group.samples) / sum(|it| it.group.denominator);
        // A wait is counted as a whole when it ends.
        let corrected = self.one_by_one && line.id.kind != TargetKind::Blocked;
        measured.iter().map(move |it| {
            if corrected {
                (it.group.denominator * usual + USUAL) / (it.group.samples + USUAL)
            } else {
                1.0
            }
        })
    }

    /// The factor on every program speedup of `line`, as the paper has it.
    pub(crate) fn factor(&self, line: &Line<'_>) -> Result<f64, Reason> {
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
    pub(crate) fn rate(&self, line: &Line<'_>) -> Option<f64> {
        let rates = self.rates.as_ref()?;
        Some(rates.get(line.id).copied().unwrap_or(0.0))
    }
}
