//! Looking at a run every two seconds, and stopping when one likes what one sees.

mod random;
#[allow(dead_code, reason = "not every test needs every part")]
mod simulated;

use fulcrum_causal::{Options, always_valid, analyse, known};
use random::Random;
use simulated::{Line, Noise, Recorder};

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
const RUNS: u64 = 160;
const WANTED: f64 = 0.04;

#[derive(Default)]
struct Missed {
    /// At some look, by an interval for one look.
    plain: u32,
    /// At some look, by an always-valid one.
    always_valid: u32,
    /// At the look at which the run stopped by itself, by what was wanted.
    stopped: u32,
}

#[test]
fn always_valid_intervals_hold_whenever_one_stops() {
    let options = Options {
        phase_correction: false,
        replicates: 150,
        ..Options::default()
    };
    let mut missed = [Missed::default(), Missed::default()];
    let mut stops = 0;
    let mut stopped_at = 0;
    for seed in 1..=RUNS {
        let mut random = Random::new(seed);
        let mut recorder = Recorder::new(2, NOISE, &mut random);
        let mut ever = [(false, false); 2];
        let mut stopped = false;
        for look in 0..LOOKS {
            for _ in 0..BETWEEN_LOOKS {
                recorder.experiment(&LINES, &[1.0; 2], &mut random);
            }
            let profile = analyse(&recorder.recording, &options);
            let stops_here = !stopped && known(&profile, WANTED).done;
            stopped |= stops_here;
            stops += u32::from(stops_here);
            stopped_at += if stops_here { look + 1 } else { 0 };
            for target in &profile.progress_points[0].targets {
                let index = target.location().line as usize - 1;
                let gain = LINES[index].gain;
                let misses = |(low, high): (f64, f64)| !(low <= gain && gain <= high);
                let plain = target.slope_interval.expect("always one");
                if target.experiments >= 16 {
                    let valid = always_valid(target.slope, plain, target.experiments);
                    ever[index].0 |= misses(plain);
                    ever[index].1 |= misses(valid);
                }
                if stops_here {
                    let last = target.points.last().expect("the baseline at least");
                    let off = last.program_speedup - gain * last.speedup;
                    missed[index].stopped += u32::from(off.abs() > WANTED);
                }
            }
        }
        for (missed, ever) in missed.iter_mut().zip(ever) {
            missed.plain += u32::from(ever.0);
            missed.always_valid += u32::from(ever.1);
        }
    }
    println!(
        "{stops} of {RUNS} stopped, at look {:.1}",
        stopped_at as f64 / f64::from(stops)
    );
    assert!(stops > RUNS as u32 * 9 / 10, "{stops} stopped in time");
    for (missed, what) in missed.iter().zip(["effect", "no effect"]) {
        let part = |count: u32| f64::from(count) / RUNS as f64;
        let (plain, valid) = (part(missed.plain), part(missed.always_valid));
        let stopped = f64::from(missed.stopped) / f64::from(stops);
        println!("{what}: plain {plain:.3}, always valid {valid:.3}, at the stop {stopped:.3}");
        // Two standard errors of 5 % in so many runs.
        let allowed = 0.05 + 2.0 * (0.05 * 0.95 / RUNS as f64).sqrt();
        assert!(valid <= allowed, "{what}: missed in {valid} of the runs");
        assert!(
            stopped <= allowed,
            "{what}: not known as said in {stopped} of the runs"
        );
        assert!(
            plain > allowed,
            "{what}: the plain interval would do: {plain}"
        );
    }
}
