//! A simulated program under a simulated recorder: lines are chosen by samples and weights, levels dealt from a deck.

use fulcrum_model::TargetId;
use fulcrum_model::causal::{Count, Experiment, Recording, Visits};
use fulcrum_stats::Random;

pub(crate) const LEVELS: [f64; 4] = [0.25, 0.5, 0.75, 1.0];

/// One line in one phase.
#[derive(Clone, Copy)]
pub(crate) struct Line {
    /// Its part of the samples.
    pub share: f64,
    /// Program speedup when it is free.
    pub gain: f64,
}

/// What an experiment's rate scatters by, as fractions.
#[derive(Clone, Copy)]
pub(crate) struct Noise {
    pub own: f64,
    /// First-order autoregressive, with a memory of twenty experiments.
    pub drift: f64,
}

/// A recorder at work. Every experiment takes 0.2 s.
pub(crate) struct Recorder {
    pub recording: Recording,
    noise: Noise,
    drift: f64,
    decks: Vec<Vec<f64>>,
    counts: Vec<f64>,
}

pub(crate) fn line(index: usize) -> TargetId {
    format!("/w/a.c:{}", index + 1).parse().expect("a line")
}

impl Recorder {
    pub(crate) fn new(lines: usize, noise: Noise, random: &mut Random) -> Self {
        Recorder {
            recording: Recording {
                levels: LEVELS.to_vec(),
                ..Recording::default()
            },
            noise,
            drift: noise.drift * random.normal(),
            decks: vec![Vec::new(); lines],
            counts: vec![0.0; lines],
        }
    }

    /// One experiment. `weights`: the probability with which a sample of each line is accepted.
    pub(crate) fn experiment(&mut self, lines: &[Line], weights: &[f64], random: &mut Random) {
        let total: f64 = lines.iter().zip(weights).map(|(l, w)| l.share * w).sum();
        let mut at = random.unit() * total;
        let mut index = 0;
        for (n, (line, weight)) in lines.iter().zip(weights).enumerate() {
            index = n;
            at -= line.share * weight;
            if at < 0.0 {
                break;
            }
        }
        let deck = &mut self.decks[index];
        if deck.is_empty() {
            deck.extend(LEVELS);
            deck.extend([0.0; LEVELS.len()]);
        }
        let speedup = deck.swap_remove(random.index(deck.len()));
        let memory = 0.95_f64;
        let fresh = (1.0 - memory * memory).sqrt() * self.noise.drift;
        self.drift = memory * self.drift + fresh * random.normal();
        let noise = 1.0 + self.drift + self.noise.own * random.normal();
        let duration = 1.6e8 + 8e7 * random.unit();
        let rate = 4e-6 * noise / (1.0 - lines[index].gain * speedup);
        for (count, line) in self.counts.iter_mut().zip(lines) {
            *count += line.share * duration / 1e6;
        }
        self.recording.runtime_ns += duration as u64;
        self.recording.experiments.push(Experiment {
            speedup,
            duration_ns: duration as i64,
            selected_samples: (lines[index].share * duration / 1e6) as u64,
            weight: weights[index],
            points: vec![Visits {
                name: "p".into(),
                count: Count::Throughput {
                    delta: (rate * duration + random.unit()) as u64,
                },
                half: None,
            }],
            ..Experiment::on(line(index))
        });
        self.recording.samples = (0..lines.len())
            .map(|n| (line(n), self.counts[n] as u64))
            .collect();
    }
}
