//! A program, and what a causal profiler could have recorded of it.

use std::fmt::Write as _;

pub(super) const SOURCE: &str = "\
#include \"queue.h\"

void consume(Queue& queue) {
    while (auto item = queue.pop()) {
        decode(item);
        lock(queue);
        store(item);
    }
}
";

/// Line, and the program speedup at line speedups of 25, 50, 75 and 100 %.
const EFFECTS: [(u32, [f64; 4]); 3] = [
    (5, [0.05, 0.10, 0.15, 0.20]),
    (6, [-0.06, -0.12, -0.18, -0.24]),
    (7, [0.0, 0.0, 0.0, 0.0]),
];
const LEVELS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];
/// Each cell is measured this often, with this relative noise.
const NOISE: [f64; 8] = [0.004, -0.003, 0.001, -0.002, 0.003, -0.004, 0.002, -0.001];
const VISITS: u64 = 100;
const PERIOD_NS: f64 = 1_000_000.0;
const SAMPLES: u64 = 30;

struct Cell {
    line: u32,
    speedup: f64,
    duration_ns: u64,
}

/// Every experiment, in an order that mixes the lines. Samples are spread evenly, so that phase correction is the identity.
fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for (n, noise) in NOISE.iter().enumerate() {
        for (line, effects) in EFFECTS {
            for (level, speedup) in LEVELS.iter().enumerate() {
                let effect = if level == 0 { 0.0 } else { effects[level - 1] };
                let noise = if (n + level).is_multiple_of(2) {
                    *noise
                } else {
                    -noise
                };
                let duration = VISITS as f64 * PERIOD_NS * (1.0 - effect) * (1.0 + noise);
                cells.push(Cell {
                    line,
                    speedup: *speedup,
                    duration_ns: duration.round() as u64,
                });
            }
        }
    }
    cells
}

/// The profile as coz writes it.
pub(super) fn coz(file: &str, point: &str) -> String {
    let mut out = String::from("startup\ttime=1\n");
    let cells = cells();
    for cell in &cells {
        let Cell {
            line,
            speedup,
            duration_ns,
        } = cell;
        let _ = writeln!(
            out,
            "experiment\tselected={file}:{line}\tspeedup={speedup:.2}\tduration={duration_ns}\tselected-samples={SAMPLES}\n\
             throughput-point\tname={point}\tdelta={VISITS}"
        );
    }
    let total: u64 = cells.iter().map(|cell| cell.duration_ns).sum();
    for (line, _) in EFFECTS {
        let own: Vec<_> = cells.iter().filter(|cell| cell.line == line).collect();
        let observed: u64 = own.iter().map(|cell| cell.duration_ns).sum();
        let count = SAMPLES as f64 * own.len() as f64 * total as f64 / observed as f64;
        let _ = writeln!(out, "samples\tlocation={file}:{line}\tcount={:.0}", count);
    }
    let _ = writeln!(out, "runtime\ttime={total}");
    out
}

/// The profile as our runtime writes it.
pub(super) fn record_stream(file: &str, point: &str) -> String {
    let (mut out, end) = records(file, point);
    let _ = writeln!(
        out,
        "{{\"type\":\"end\",\"time\":{end},\"reason\":\"exit\"}}"
    );
    out
}

/// The same, ended in the middle of a record, as by SIGKILL.
pub(super) fn cut_record_stream(file: &str, point: &str) -> String {
    let (mut out, _) = records(file, point);
    out.push_str("{\"type\":\"experiment\",\"selected\":\"");
    out
}

/// All records but the last, and when they end.
fn records(file: &str, point: &str) -> (String, u64) {
    let mut out = String::from(
        "{\"type\":\"header\",\"format\":\"fulcrum-causal\",\"version\":1,\"pid\":9,\"program\":\"/app\",\"time\":1,\
         \"period\":1000000,\"levels\":[0.25,0.5,0.75,1.0],\"sampler\":\"perf\"}\n",
    );
    let mut start = 0;
    for Cell {
        line,
        speedup,
        duration_ns,
    } in cells()
    {
        let _ = writeln!(
            out,
            "{{\"type\":\"experiment\",\"selected\":\"{file}:{line}\",\"speedup\":{speedup},\"duration\":{duration_ns},\
             \"selected_samples\":{SAMPLES},\"start\":{start},\"wall\":{duration_ns},\
             \"points\":[{{\"name\":\"{point}\",\"kind\":\"throughput\",\"delta\":{VISITS}}}]}}"
        );
        start += duration_ns;
    }
    let lines: Vec<_> = EFFECTS
        .iter()
        .map(|(line, _)| format!("\"{file}:{line}\":1200"))
        .collect();
    let _ = writeln!(
        out,
        "{{\"type\":\"samples\",\"time\":{start},\"total\":9000,\"in_scope\":3600,\"lines\":{{{}}}}}",
        lines.join(",")
    );
    (out, start)
}

/// A run that sampled but visited nothing.
pub(super) fn unvisited_stream(file: &str) -> String {
    format!(
        "{{\"type\":\"header\",\"format\":\"fulcrum-causal\",\"version\":1,\"pid\":9,\"program\":\"/app\",\"time\":1,\
         \"period\":1000000,\"levels\":[0.5],\"sampler\":\"perf\"}}\n\
         {{\"type\":\"samples\",\"time\":9000000,\"total\":90,\"in_scope\":60,\"lines\":{{\"{file}:5\":50,\"{file}:7\":10}}}}\n\
         {{\"type\":\"end\",\"time\":9000000,\"reason\":\"exit\"}}\n"
    )
}

/// A `run.json`.
pub(super) fn manifest(ended: &str, cwd: &str, sources: &[(&str, &str)]) -> String {
    let sources: Vec<_> = sources
        .iter()
        .map(|(path, snapshot)| serde_json::json!({ "path": path, "snapshot": snapshot }))
        .collect();
    serde_json::json!({
        "schema": 1, "kind": "causal", "command": "/app/consumer", "arguments": ["--fast", "a b"], "cwd": cwd,
        "start": "2026-11-21T13:15:00Z", "ended": ended, "sources": sources, "notes": [],
    })
    .to_string()
}
