//! coz's own viewer would rank our export as we do (without phase correction, which it does not know).
//!
//! The viewer's rules are written here once more, straight over the exported text, with nothing of `fulcrum-causal`.
//! coz ranks by area and we by slope. Lines whose slopes cannot be told apart may swap; those that differ beyond doubt may
//! not.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use fulcrum_causal::{Options, analyse};
use fulcrum_causal_records as records;
use fulcrum_model::causal::{PointKind, PointProfile, Recording};

/// What was recorded, how many lines it has, and how many progress points.
const RECORDINGS: [(&str, usize, usize); 1] = [("stages.jsonl", 3, 3)];

/// Per progress point (and whether it is latency) the lines, best first, with their score.
type Ranking = BTreeMap<(String, bool), Vec<(String, f64)>>;

/// A coz text file as the viewer shows it.
fn viewer(text: &str, min_points: usize) -> Ranking {
    // (point, latency) → line → speedup in hundredths → (visits, duration, arrivals, Σ difference · duration)
    let mut sums: BTreeMap<_, BTreeMap<String, BTreeMap<u32, [f64; 4]>>> = BTreeMap::new();
    let (mut line, mut speedup, mut duration) = (String::new(), 0, 0.0);
    for record in text.lines() {
        let fields: BTreeMap<&str, &str> = record
            .split('\t')
            .filter_map(|field| field.split_once('='))
            .collect();
        let number = |key: &str| fields[key].parse::<f64>().unwrap();
        match record.split('\t').next().unwrap() {
            "experiment" => {
                line = fields["selected"].into();
                speedup = (number("speedup") * 100.0).round() as u32;
                duration = number("duration");
            }
            kind @ ("throughput-point" | "latency-point") => {
                let latency = kind == "latency-point";
                let cell = sums
                    .entry((fields["name"].to_owned(), latency))
                    .or_default()
                    .entry(line.clone())
                    .or_default()
                    .entry(speedup)
                    .or_default();
                cell[0] += number(if latency { "departures" } else { "delta" });
                cell[1] += duration;
                if latency {
                    cell[2] += number("arrivals");
                    cell[3] += number("difference") * duration;
                }
            }
            _ => {}
        }
    }
    let mut rankings = Ranking::new();
    for ((point, latency), lines) in sums {
        // Time between visits, or Little's law: mean requests in progress over arrivals a nanosecond.
        let period = |cell: &[f64; 4]| {
            if latency {
                cell[3] / cell[2]
            } else {
                cell[1] / cell[0]
            }
        };
        let mut scores = Vec::new();
        for (line, cells) in lines {
            let Some(p0) = cells.get(&0).filter(|cell| cell[0] >= 5.0).map(period) else {
                continue;
            };
            let curve: Vec<(f64, f64)> = cells
                .iter()
                .filter(|(_, cell)| cell[0] >= 5.0)
                .map(|(s, cell)| (f64::from(*s) / 100.0, (p0 - period(cell)) / p0))
                .filter(|(_, effect)| (-1.0..=2.0).contains(effect))
                .collect();
            if curve.len() < min_points {
                continue;
            }
            let area: f64 = curve
                .windows(2)
                .map(|w| (w[1].0 - w[0].0) * (w[0].1 + w[1].1) / 2.0)
                .sum();
            scores.push((line, area / curve.last().unwrap().0));
        }
        scores.sort_by(|a, b| b.1.total_cmp(&a.1));
        rankings.insert((point, latency), scores);
    }
    rankings
}

fn recorded(name: &str) -> Recording {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/recorded")
        .join(name);
    records::read(&fs::read(path).unwrap(), name).unwrap()
}

/// Pairs of lines of a point whose slopes differ beyond doubt: the intervals do not meet. The better line first.
fn certain(point: &PointProfile) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    for (at, better) in point.targets.iter().enumerate() {
        for worse in &point.targets[at + 1..] {
            let slopes = better.slope_interval.zip(worse.slope_interval);
            if slopes.is_some_and(|(better, worse)| better.low > worse.high) {
                pairs.push((better.id.to_string(), worse.id.to_string()));
            }
        }
    }
    pairs
}

#[test]
fn the_viewer_ranks_our_export_as_we_do() {
    // Without phase correction, which the viewer does not know.
    let options = Options {
        phase_correction: false,
        keep_disturbed: true,
        min_points: Some(5),
        ..Options::default()
    };
    for (name, lines, points) in RECORDINGS {
        let recording = recorded(name);
        let profile = analyse(&recording, &options);
        assert_eq!(profile.progress_points.len(), points, "{name}");
        let text = records::write_text(&recording);
        let viewer = viewer(&text, 5);
        let mut compared = 0;
        for point in &profile.progress_points {
            assert_eq!(point.targets.len(), lines, "{name}: {}", point.name);
            let theirs = &viewer[&(point.name.clone(), point.kind == PointKind::Latency)];
            assert_eq!(theirs.len(), lines, "{name}: {}", point.name);
            let rank = |line: &str| theirs.iter().position(|it| it.0 == line).unwrap();
            for (better, worse) in certain(point) {
                compared += 1;
                assert!(
                    rank(&better) < rank(&worse),
                    "{name}, {}: {better} before {worse}, the viewer has {theirs:?}",
                    point.name
                );
            }
        }
        assert!(
            compared >= points,
            "{name}: {compared} pairs can be told apart"
        );

        // The export says all of it: read back, it gives the same profile.
        let again = records::read(text.as_bytes(), "export.coz").unwrap();
        assert_eq!(
            analyse(&again, &options).progress_points,
            profile.progress_points
        );
        assert_eq!(records::write_text(&again), text);
        let json = records::write_json_lines(&recording);
        let again = records::read(json.as_bytes(), "export.json").unwrap();
        assert_eq!(records::write_json_lines(&again), json);
        assert_eq!(records::write_text(&again), text);
    }
}
