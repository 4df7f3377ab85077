//! How long a module's tables take: `cargo run --release -p fulcrum-symbols --example measure -- FILE [RUNS]`.
//! Prints the median of each part, milliseconds.

use std::path::Path;
use std::time::Instant;

use fulcrum_stats::quantile;
use fulcrum_symbols::{Scope, function_ranges, line_ranges, unwind_rows};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().expect("usage: measure FILE [RUNS]");
    let runs: usize = arguments
        .next()
        .map_or(9, |text| text.parse().expect("RUNS is a number"));
    let path = Path::new(&path);
    let scope = Scope::default();
    median(runs, "lines", || {
        line_ranges(path, &scope).map_or_else(
            |e| e.to_string(),
            |it| format!("{} ranges", it.ranges.len()),
        )
    });
    median(runs, "functions", || {
        function_ranges(path, &scope).map_or_else(
            |e| e.to_string(),
            |it| {
                format!(
                    "{} functions, {} ranges",
                    it.functions.len(),
                    it.ranges.len()
                )
            },
        )
    });
    median(runs, "unwind", || {
        unwind_rows(path).map_or_else(|e| e.to_string(), |it| format!("{} rows", it.len()))
    });
}

fn median(runs: usize, what: &str, mut work: impl FnMut() -> String) {
    let mut times: Vec<f64> = Vec::new();
    let mut answer = String::new();
    for _ in 0..runs {
        let start = Instant::now();
        answer = work();
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    let time = quantile::of_sorted(&times, 0.5).expect("at least one run");
    println!("{what:8} {time:8.2} ms  {answer}");
}
