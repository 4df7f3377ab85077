//! Experiments that other programs disturbed.
//!
//! A compiler that starts in the middle of a run slows some experiments by tens of percent, far more than most lines are
//! worth. Each experiment records how busy other programs kept the machine; those during which they were unusually busy are left
//! out. "Unusually" is relative to the quiet part of the same run, so programs that belong to the measurement (a client, a
//! database) and work throughout are no disturbance.

use fulcrum_model::causal::{Note, Recording};
use fulcrum_stats::quantile;

/// The run's quiet part is its least disturbed quarter.
const QUIET: f64 = 0.25;
/// An experiment is disturbed when others kept this much more of a processor busy than in the quiet part.
const UNUSUAL: f64 = 0.1;
/// Others that keep this much of a processor busy even in the quiet part weaken the results of the whole run.
const CROWDED: f64 = 0.25;
/// So many experiments, the least disturbed, count in any case: a line that has a result must not lose it because of one more
/// experiment.
const FEWEST: usize = 24;

/// Which experiments count.
#[derive(Debug, PartialEq)]
pub(crate) struct Kept {
    /// One for each experiment.
    pub kept: Vec<bool>,
    /// Notes on the others.
    pub notes: Vec<Note>,
}

impl Kept {
    /// Every experiment counts.
    pub(crate) fn all(recording: &Recording) -> Self {
        Kept {
            kept: vec![true; recording.experiments.len()],
            notes: Vec::new(),
        }
    }
}

/// All but the disturbed experiments, and never fewer than [`FEWEST`]; all of them when there are too few to tell.
pub(crate) fn undisturbed(recording: &Recording) -> Kept {
    let mut found = Kept::all(recording);
    let others: Option<Vec<f64>> = recording.experiments.iter().map(|it| it.others).collect();
    let Some(mut others) = others.filter(|it| it.len() >= FEWEST) else {
        return found;
    };
    others.sort_by(f64::total_cmp);
    let quiet = quantile::of_sorted(&others, QUIET).expect("there are enough");
    let limit = (quiet + UNUSUAL).max(others[FEWEST - 1]);
    let is_quiet = |it: Option<f64>| it.is_none_or(|others| others <= limit);
    found.kept = recording
        .experiments
        .iter()
        .map(|it| is_quiet(it.others))
        .collect();
    let dropped = found.kept.iter().filter(|&&kept| !kept).count();
    if dropped > 0 {
        found.notes.push(Note::Disturbed {
            left_out: dropped,
            all: recording.experiments.len(),
        });
    }
    if quiet > CROWDED {
        found.notes.push(Note::BusyMachine { processors: quiet });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wording;
    use fulcrum_model::causal::Experiment;

    fn recording(others: &[Option<f64>]) -> Recording {
        let experiment = |others: &Option<f64>| Experiment {
            duration_ns: 1,
            others: *others,
            ..Experiment::on("a.c:1".parse().expect("a target"))
        };
        Recording {
            experiments: others.iter().map(experiment).collect(),
            ..Recording::default()
        }
    }

    #[test]
    fn a_machine_that_is_busy_throughout_is_said() {
        let found = undisturbed(&recording(&[Some(0.8); 30]));
        assert_eq!(found.kept, [true; 30]);
        assert_eq!(found.notes.len(), 1);
        let note = wording::note(&found.notes[0]);
        assert!(note.starts_with("Other programs kept 0.8 processors busy throughout."));
        let quiet = recording(&[Some(0.2); 30]);
        assert_eq!(undisturbed(&quiet), Kept::all(&quiet));
    }

    #[test]
    fn what_is_unusual_depends_on_the_run() {
        let mut busy_part = vec![Some(0.02); 23];
        busy_part.extend([Some(0.11), Some(0.9), Some(1.3), Some(0.5)]);
        let few_quiet = [vec![Some(0.02); 10], vec![Some(0.9); 20]].concat();
        let one_worse = [few_quiet.clone(), vec![Some(0.95)]].concat();
        let mut client = vec![Some(0.7); 24];
        client.extend([Some(0.75), Some(1.2)]);
        let mut foreign = vec![None; 30];
        foreign.push(Some(2.0));
        for (others, left_out) in [
            (busy_part.clone(), 3),
            (client, 1),
            (vec![Some(0.1); 40], 0),
            (busy_part[4..].to_vec(), 0),
            (busy_part[3..].to_vec(), 0),
            (few_quiet, 0),
            (one_worse, 1),
            (foreign, 0),
        ] {
            let whole = recording(&others);
            let found = undisturbed(&whole);
            let kept = found.kept.iter().filter(|&&kept| kept).count();
            let note = Note::Disturbed {
                left_out,
                all: others.len(),
            };
            assert_eq!(
                found.notes.contains(&note),
                left_out > 0,
                "{:?}",
                found.notes
            );
            assert_eq!(kept, others.len() - left_out);
        }
    }
}
