//! Looking at a run every two seconds, and stopping when one likes what one sees.

use crate::simulated::{Line, Noise, Recorder};
use fulcrum_causal::{Options, analyse, known};
use fulcrum_stats::anytime::always_valid;
use fulcrum_stats::{Interval, Random};

/// One line with an effect, one without.
const LINES: [Line; 2] = [
    Line {
        share: 0.5,
        gain: 0.2,
    },
    Line {
        share: 0.5,
        gain: 0.0,
    },
];
const NOISE: Noise = Noise {
    own: 0.025,
    drift: 0.01,
};
/// Two seconds.
const BETWEEN_LOOKS: usize = 10;
/// Two thirds of a minute.
const LOOKS: usize = 20;
const WANTED: f64 = 0.04;

/// Of a line, in how many runs it was missed.
#[derive(Debug, Default)]
pub(crate) struct Missed {
    /// At some look, by an interval for one look.
    pub plain: u32,
    /// At some look, by an always-valid one.
    pub always_valid: u32,
    /// At the look at which the run stopped by itself, by what was wanted.
    pub stopped: u32,
}

/// What happened in some runs.
#[derive(Debug, Default)]
pub(crate) struct Peeked {
    /// Runs that stopped by themselves.
    pub stops: u32,
    /// The line with an effect, and that without.
    pub missed: [Missed; 2],
}

/// Simulates that many runs.
pub(crate) fn simulate(runs: u64) -> Peeked {
    let options = Options {
        phase_correction: false,
        replicates: 150,
        ..Options::default()
    };
    let mut peeked = Peeked::default();
    for seed in 1..=runs {
        let mut random = Random::new(seed);
        let mut recorder = Recorder::new(2, NOISE, &mut random);
        let mut ever = [(false, false); 2];
        let mut stopped = false;
        for _ in 0..LOOKS {
            for _ in 0..BETWEEN_LOOKS {
                recorder.experiment(&LINES, &[1.0; 2], &mut random);
            }
            let profile = analyse(&recorder.recording, &options);
            let stops_here = !stopped && known(&profile, WANTED).done;
            stopped |= stops_here;
            peeked.stops += u32::from(stops_here);
            for target in &profile.progress_points[0].targets {
                let index = target.location().line as usize - 1;
                let gain = LINES[index].gain;
                let misses = |it: Interval| !it.contains(gain);
                let plain = target.slope_interval.expect("always one");
                if target.experiments >= 16 {
                    let valid = always_valid(target.slope, plain, target.experiments);
                    ever[index].0 |= misses(plain);
                    ever[index].1 |= misses(valid);
                }
                if stops_here {
                    let last = target.points.last().expect("the baseline at least");
                    let off = last.program_speedup - gain * last.speedup;
                    peeked.missed[index].stopped += u32::from(off.abs() > WANTED);
                }
            }
        }
        for (missed, ever) in peeked.missed.iter_mut().zip(ever) {
            missed.plain += u32::from(ever.0);
            missed.always_valid += u32::from(ever.1);
        }
    }
    peeked
}
