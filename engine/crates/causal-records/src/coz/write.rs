//! Writes a recording as coz text or coz JSON lines, for coz's own viewer and for the round trip through our readers.
//!
//! Both end with `shutdown`, `runtime` and `samples` as coz's files do. What coz's formats have no place for is left out: levels,
//! weights, placebos and pauses, halves and warm-ups, other programs' processor time, and which process did what. Lines inside
//! `coz.h` are left out as our readers do, so that a written file reads back and is written again byte for byte.
//!
//! The text is written by hand: the crate `coz` only marks progress points. JSON is written by `serde_json`.

use std::fmt::Write;

use fulcrum_model::TargetId;
use fulcrum_model::causal::{Count, Experiment, Recording};
use serde_json::{Value, json};

use super::assemble::HEADER;

/// coz's tab-separated text. Tabs and line ends in names, which the format cannot hold, become spaces.
pub fn write_text(recording: &Recording) -> String {
    let mut out = String::from("startup\ttime=0\n");
    // Writing to a String cannot fail.
    let mut line =
        |text: std::fmt::Arguments<'_>| out.write_fmt(text).expect("a String takes any text");
    for e in written(recording) {
        line(format_args!(
            "experiment\tselected={}\tspeedup={}\tduration={}\tselected-samples={}\n",
            clean(&e.selected.to_string()),
            speedup(e.speedup),
            e.duration_ns,
            e.selected_samples
        ));
        for point in e.points.iter().filter(|it| !it.name.contains(HEADER)) {
            let name = clean(&point.name);
            match point.count {
                Count::Throughput { delta } => line(format_args!(
                    "throughput-point\tname={name}\tdelta={delta}\n"
                )),
                Count::Latency {
                    arrivals,
                    departures,
                    difference,
                } => line(format_args!(
                    "latency-point\tname={name}\tarrivals={arrivals}\tdepartures={departures}\tdifference={difference}\n"
                )),
            }
        }
    }
    if recording.runtime_ns > 0 {
        line(format_args!(
            "shutdown\ttime={0}\nruntime\ttime={0}\n",
            recording.runtime_ns
        ));
    }
    for (at, count) in recording.samples.iter().filter(|(at, _)| is_target(at)) {
        line(format_args!(
            "samples\tlocation={}\tcount={count}\n",
            clean(&at.to_string())
        ));
    }
    out
}

/// coz's JSON lines.
pub fn write_json_lines(recording: &Recording) -> String {
    let mut out = String::new();
    let mut line = |value: Value| {
        out.push_str(&value.to_string());
        out.push('\n');
    };
    line(json!({"type": "startup", "time": 0}));
    for e in written(recording) {
        line(
            json!({"type": "experiment", "selected": e.selected.to_string(), "speedup": e.speedup,
            "duration": e.duration_ns, "selected_samples": e.selected_samples}),
        );
        for point in e.points.iter().filter(|it| !it.name.contains(HEADER)) {
            line(match point.count {
                Count::Throughput { delta } => {
                    json!({"type": "throughput_point", "name": point.name, "delta": delta})
                }
                Count::Latency {
                    arrivals,
                    departures,
                    difference,
                } => json!({"type": "latency_point",
                    "name": point.name, "arrivals": arrivals, "departures": departures, "difference": difference}),
            });
        }
    }
    if recording.runtime_ns > 0 {
        line(json!({"type": "shutdown", "time": recording.runtime_ns}));
        line(json!({"type": "runtime", "time": recording.runtime_ns}));
    }
    for (at, count) in recording.samples.iter().filter(|(at, _)| is_target(at)) {
        line(json!({"type": "samples", "location": at.to_string(), "count": count}));
    }
    out
}

/// Two decimals, as coz writes them, if they are exact; otherwise as many as it takes.
fn speedup(value: f64) -> String {
    let short = format!("{value:.2}");
    if short.parse() == Ok(value) {
        short
    } else {
        value.to_string()
    }
}

/// The experiments that coz's formats can hold: coz knows no placebos, and would take them for speedups.
fn written(recording: &Recording) -> impl Iterator<Item = &Experiment> {
    let experiments = recording.experiments.iter();
    experiments.filter(|it| is_target(&it.selected) && !it.placebo)
}

fn is_target(id: &TargetId) -> bool {
    !id.to_string().contains(HEADER)
}

fn clean(text: &str) -> String {
    text.replace(['\t', '\n', '\r'], " ").trim().to_owned()
}
