//! Points against values worked out independently: tables by `independent/points.py` for small recordings, and a second
//! implementation below, in another style, for the profiles published with the paper.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use fulcrum_causal::{Options, analyse};
use fulcrum_causal_records as records;
use fulcrum_model::causal::{CausalProfile, Recording};

/// Progress point, location, speedup in thousandths → visits, duration, program speedup.
type Table = BTreeMap<(String, String, u64), (u64, u64, f64)>;

fn table(profile: &CausalProfile) -> Table {
    let mut table = Table::new();
    for point in &profile.progress_points {
        for target in &point.targets {
            for p in &target.points {
                let key = (
                    point.name.clone(),
                    target.id.to_string(),
                    (p.speedup * 1000.0).round() as u64,
                );
                let value = (p.visits, p.duration_ns, p.program_speedup);
                assert!(table.insert(key, value).is_none(), "a point twice");
            }
        }
    }
    table
}

fn points(recording: &Recording, phase_correction: bool) -> Table {
    table(&analyse(
        recording,
        &Options {
            phase_correction,
            ..Options::default()
        },
    ))
}

fn assert_same(found: &Table, expected: &Table, what: &str) {
    let keys = |t: &Table| t.keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(found), keys(expected), "{what}: the same points");
    for (key, (visits, duration, value)) in expected {
        let (v, d, p) = found[key];
        assert_eq!((v, d), (*visits, *duration), "{what}: {key:?}");
        let tolerance = 1e-10 * value.abs().max(1.0);
        assert!(
            (p - value).abs() <= tolerance,
            "{what}: {key:?}: {p} instead of {value}"
        );
    }
}

fn read(path: &Path) -> (Vec<u8>, Recording) {
    let bytes = fs::read(path).unwrap();
    let recording = records::read(&bytes, &path.to_string_lossy()).unwrap();
    (bytes, recording)
}

#[test]
fn small_recordings_give_the_tables_of_the_script() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/independent");
    for name in ["throughput", "latency", "phases"] {
        let (_, recording) = read(&folder.join(format!("{name}.coz")));
        let (mut viewer, mut corrected) = (Table::new(), Table::new());
        for row in fs::read_to_string(folder.join(format!("{name}.tsv")))
            .unwrap()
            .lines()
        {
            let [
                point,
                location,
                speedup,
                visits,
                duration,
                plain,
                with_phases,
            ] = row.split('\t').collect::<Vec<_>>().try_into().unwrap();
            let speedup = (speedup.parse::<f64>().unwrap() * 1000.0).round() as u64;
            let key = (point.to_owned(), location.to_owned(), speedup);
            let (visits, duration) = (visits.parse().unwrap(), duration.parse().unwrap());
            viewer.insert(key.clone(), (visits, duration, plain.parse().unwrap()));
            if with_phases != "-" {
                corrected.insert(key, (visits, duration, with_phases.parse().unwrap()));
            }
        }
        assert!(!corrected.is_empty());
        assert_same(
            &points(&recording, false),
            &viewer,
            &format!("{name}, viewer"),
        );
        assert_same(
            &points(&recording, true),
            &corrected,
            &format!("{name}, eq. 8"),
        );
    }
}

#[test]
fn published_profiles_give_the_points_of_a_second_implementation() {
    let Some(folder) = published() else {
        eprintln!("skipped: there is no shared/profiles beside the repository");
        return;
    };
    // How many points each has, so that an empty table on both sides cannot pass.
    for (name, count) in [
        ("ferret", 72),
        ("dedup", 247),
        ("blackscholes", 561),
        ("sqlite", 227),
    ] {
        let (bytes, recording) = read(&folder.join(format!("{name}.coz")));
        let text = String::from_utf8(bytes).unwrap();
        let (viewer, corrected) = second::tables(&text);
        assert_eq!(viewer.len(), count, "{name}");
        let found = (points(&recording, false), points(&recording, true));
        assert_same(&found.0, &viewer, &format!("{name}, viewer"));
        assert_same(&found.1, &corrected, &format!("{name}, eq. 8"));

        let json = records::write_json_lines(&recording);
        let again = records::read(json.as_bytes(), "converted.jsonl").unwrap();
        assert_eq!(points(&again, false), found.0, "{name}: as JSON lines");
        assert_eq!(
            points(&again, true),
            found.1,
            "{name}: as JSON lines, eq. 8"
        );
    }
}

/// COZ §4.2.2 names three lines of ferret, Figure 6; the published file numbers each one lower.
#[test]
fn the_lines_that_the_paper_names_have_targets_and_the_best_is_one_of_them() {
    let Some(folder) = published() else {
        eprintln!("skipped: there is no shared/profiles beside the repository");
        return;
    };
    let (_, recording) = read(&folder.join("ferret.coz"));
    let profile = analyse(&recording, &Options::default());
    let lines: Vec<u32> = profile.progress_points[0]
        .targets
        .iter()
        .map(|t| t.id.location.line)
        .collect();
    assert_eq!(lines[0], 357);
    assert!(lines.contains(&319) && lines.contains(&254), "{lines:?}");
    let best = &profile.progress_points[0].targets[0];
    assert!(
        best.slope_interval.is_some_and(|it| it.low > 0.0),
        "{best:?}"
    );
    // The other four rest on too few visits to be told from nothing: no shape claims them.
    let known = profile.progress_points[0]
        .targets
        .iter()
        .filter(|t| !t.contention)
        .skip(1);
    assert!(
        known
            .clone()
            .all(|t| t.shape == fulcrum_model::causal::Shape::Unknown)
    );
}

/// `shared/profiles` in a folder beside the repository, or above.
fn published() -> Option<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors()
        .map(|f| f.join("shared/profiles"))
        .find(|f| f.join("ferret.coz").is_file())
}

/// The rules once more, straight over the text, with nothing of `fulcrum-profile-formats` or `fulcrum-causal`.
mod second {
    use super::Table;
    use std::collections::BTreeMap;

    /// Visits, duration, and whether an experiment among them is damaged.
    type Cell = (u64, u64, bool);

    fn value<'a>(line: &'a str, key: &str) -> &'a str {
        let from = line.find(&format!("\t{key}=")).expect("the key") + key.len() + 2;
        line[from..].split('\t').next().unwrap()
    }

    pub(crate) fn tables(text: &str) -> (Table, Table) {
        let text = text.replace('\r', "");
        let lines: Vec<&str> = text.lines().collect();

        // Pass 1: every experiment with its one progress point, which follows it.
        let mut sums = BTreeMap::<(String, String), BTreeMap<u64, Cell>>::new();
        let mut observed: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for pair in lines.windows(2) {
            if !pair[0].starts_with("experiment\t") {
                continue;
            }
            assert!(pair[1].starts_with("progress-point\t"));
            let line = value(pair[0], "selected");
            let duration: u64 = value(pair[0], "duration").parse().unwrap();
            let damaged = duration > u64::MAX / 2;
            let speedup = value(pair[0], "speedup")
                .replace('.', "")
                .parse::<u64>()
                .unwrap()
                * 10;
            let cell = sums
                .entry((value(pair[1], "name").into(), line.into()))
                .or_default()
                .entry(speedup)
                .or_default();
            cell.0 += value(pair[1], "delta").parse::<u64>().unwrap();
            cell.1 += if damaged { 0 } else { duration };
            cell.2 |= damaged;
            if !damaged {
                let seen = observed.entry(line).or_default();
                seen.0 += duration;
                seen.1 += value(pair[0], "selected-samples").parse::<u64>().unwrap();
            }
        }

        // Pass 2: run times and samples after each shutdown, up to the next startup.
        let (mut total, mut samples, mut after) = (0_u64, BTreeMap::<&str, u64>::new(), false);
        for line in &lines {
            match line.split('\t').next().unwrap() {
                "startup" => after = false,
                "shutdown" => after = true,
                "runtime" if after => total += value(line, "time").parse::<u64>().unwrap(),
                "samples" if after => {
                    *samples.entry(value(line, "location")).or_default() +=
                        value(line, "count").parse::<u64>().unwrap();
                }
                _ => {}
            }
        }

        let (mut viewer, mut corrected) = (Table::new(), Table::new());
        for ((point, line), cells) in sums {
            let Some(&(n0, d0, false)) = cells.get(&0) else {
                continue;
            };
            if n0 < 5 {
                continue;
            }
            let kept: Vec<_> = cells
                .iter()
                .filter(|(_, c)| c.0 >= 5 && !c.2)
                .map(|(&s, &(n, d, _))| {
                    (
                        s,
                        n,
                        d,
                        1.0 - (d as f64 * n0 as f64) / (n as f64 * d0 as f64),
                    )
                })
                .filter(|&(.., effect)| effect <= 2.0)
                .collect();
            if kept.len() < 5 {
                continue;
            }
            let (t_obs, s_obs) = observed[line.as_str()];
            let s = samples.get(line.as_str()).copied().unwrap_or(0);
            for (speedup, n, d, effect) in kept {
                let key = (point.clone(), line.clone(), speedup);
                viewer.insert(key.clone(), (n, d, effect));
                if s_obs > 0 && s > 0 {
                    let effect = effect * (t_obs as f64 * s as f64) / (s_obs as f64 * total as f64);
                    corrected.insert(key, (n, d, effect));
                }
            }
        }
        (viewer, corrected)
    }
}
