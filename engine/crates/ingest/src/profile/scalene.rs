//! Scalene's JSON: for each line of each file, shares of the time that passed, and memory.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

use super::Format;
use super::collected::Collected;
use super::fault::Fault;
use super::input::Input;
use super::json::Step;
use super::stacks::Stacks;
use super::units::{value, whole};

/// Bytes in what Scalene calls a megabyte.
const MEGABYTE: f64 = 1_048_576.0;
/// Nanoseconds in a hundredth of a second, as percents of seconds are.
const PERCENT: f64 = 1e7;
/// Code outside of all functions.
const MODULE: &str = "<module>";

#[derive(Deserialize)]
struct Report<'a> {
    elapsed_time_sec: f64,
    #[serde(borrow)]
    files: BTreeMap<String, File<'a>>,
    #[serde(default)]
    stacks: Vec<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow, default)]
    functions: Vec<Function<'a>>,
    lines: Vec<Line>,
}

#[derive(Deserialize)]
struct Function<'a> {
    /// Its name.
    #[serde(borrow)]
    line: Cow<'a, str>,
    lineno: u32,
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Line {
    lineno: u32,
    /// Where the function around it begins, in new versions; 0 outside of all.
    start_function_line: u32,
    /// Where the function, class or loop around it ends; a function's own first line is inside of it.
    end_region_line: u32,
    /// Shares of the time that passed.
    n_cpu_percent_python: f64,
    n_cpu_percent_c: f64,
    n_sys_percent: f64,
    n_malloc_mb: f64,
    /// In each second.
    n_copy_mb_s: f64,
    n_gpu_percent: f64,
}

/// The keys that every version has.
pub fn detect(input: &Input) -> bool {
    input.has_keys(&["elapsed_time_sec", "files"])
}

/// Reads a report.
pub fn read(input: &Input) -> Result<Collected, Fault> {
    let report: Report = input.parse()?;
    let types = vec![
        value("time", "ns"),
        value("python", "ns"),
        value("native", "ns"),
        value("system", "ns"),
        value("allocated", "bytes"),
        value("copied", "bytes"),
    ];
    let mut stacks = Stacks::new(types, 0)?;
    let mut graphics = false;
    for (path, file) in &report.files {
        let names = functions(file);
        for (n, (line, name)) in file.lines.iter().zip(names).enumerate() {
            graphics |= line.n_gpu_percent > 0.0;
            let added = add(
                input,
                (name, path),
                line,
                report.elapsed_time_sec,
                &mut stacks,
            );
            added.map_err(|fault| {
                let fault = fault.at_item("lines", n);
                fault
                    .at_step(Step::Key(path.clone().into()))
                    .at_key("files")
            })?;
        }
    }
    let mut left = vec!["largest and average memory"];
    if graphics {
        left.push("use of graphics processors");
    }
    if !report.stacks.is_empty() {
        left.push("the stacks of --stacks, which have counts but no times");
    }
    stacks.note(format!(
        "Lines are without their callers. Left out: {}.",
        left.join(", ")
    ));
    stacks.finish(Format::Scalene)
}

fn add(
    input: &Input,
    (name, path): (&str, &str),
    line: &Line,
    seconds: f64,
    stacks: &mut Stacks,
) -> Result<(), Fault> {
    let time = |percent: f64| whole(percent * seconds, PERCENT);
    let parts = [
        time(line.n_cpu_percent_python)?,
        time(line.n_cpu_percent_c)?,
        time(line.n_sys_percent)?,
    ];
    let memory = [
        whole(line.n_malloc_mb, MEGABYTE)?,
        whole(line.n_copy_mb_s * seconds, MEGABYTE)?,
    ];
    if parts.iter().chain(&memory).all(|&it| it == 0) {
        return Ok(());
    }
    let all = parts.iter().try_fold(0_i64, |sum, &it| sum.checked_add(it));
    let all = all.ok_or_else(super::parents::too_large)?;
    let number = match input.lines() {
        true => line.lineno,
        false => 0,
    };
    let frame = stacks.frame(name, path, number)?;
    stacks.add(
        &[frame],
        &[all, parts[0], parts[1], parts[2], memory[0], memory[1]],
    )
}

/// The name of the function around each line of a file. Scalene names those that cost something.
fn functions<'f>(file: &'f File) -> Vec<&'f str> {
    let starts: HashMap<u32, &str> = file
        .functions
        .iter()
        .map(|it| (it.lineno, &*it.line))
        .collect();
    // A function ends where its own first line says.
    let ends: HashMap<u32, u32> = file
        .lines
        .iter()
        .map(|it| (it.lineno, it.end_region_line))
        .collect();
    let mut begin: Vec<u32> = starts.keys().copied().collect();
    begin.sort_unstable();
    let mut begin = begin.into_iter().peekable();
    let mut order: Vec<usize> = (0..file.lines.len()).collect();
    order.sort_by_key(|&row| file.lines[row].lineno);
    let mut names = vec![MODULE; file.lines.len()];
    // Functions that began and did not end, outermost first.
    let mut open: Vec<u32> = Vec::new();
    for row in order {
        let line = &file.lines[row];
        while let Some(start) = begin.next_if(|&start| start <= line.lineno) {
            open.push(start);
        }
        let ended = |start: &u32| ends.get(start).is_none_or(|&end| end < line.lineno);
        while open.last().is_some_and(ended) {
            open.pop();
        }
        let start = match line.start_function_line {
            0 => open.last(),
            ref start => Some(start),
        };
        if let Some(&name) = start.and_then(|start| starts.get(start)) {
            names[row] = name;
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use crate::profile::testing::{check, check_fault, text};
    use crate::profile::{Limits, NoSymbols, read_lines};

    const FILE: &str = r#"{"alloc_samples":52,"args":["a"],"elapsed_time_sec":2.0,"entrypoint_dir":"/app","files":{"/app/a.py":{
"functions":[{"line":"work","lineno":9,"n_cpu_percent_python":30.0}],"imports":[],"leaks":{},"lines":[
{"line":"import x\n","lineno":1,"start_region_line":1,"end_region_line":1,"n_cpu_percent_c":5.0,"n_cpu_percent_python":0,"n_sys_percent":0,"n_malloc_mb":0.0,"n_copy_mb_s":0},
{"line":"def work():\n","lineno":9,"start_region_line":9,"end_region_line":12,"n_cpu_percent_c":0,"n_cpu_percent_python":0,"n_sys_percent":0,"n_malloc_mb":0.0,"n_copy_mb_s":0},
{"line":" y=1\n","lineno":10,"start_region_line":9,"n_cpu_percent_c":12.5,"n_cpu_percent_python":25.0,"n_sys_percent":0.25,"n_malloc_mb":2.0,"n_copy_mb_s":0.5,"n_peak_mb":7},
{"line":" z=1\n","lineno":11,"start_region_line":11,"start_function_line":9,"n_cpu_percent_c":0,"n_cpu_percent_python":5.0,"n_sys_percent":0,"n_malloc_mb":0,"n_copy_mb_s":0}],
"percent_cpu_time":100.0}},"stacks":[[["a.py work:10;"],{"count":3}]],"samples":[]}"#;

    #[test]
    fn shares_of_lines_are_times_of_functions() {
        let note = "Lines are without their callers. Left out: largest and average memory, the stacks of --stacks, which have \
                    counts but no times.";
        check(
            FILE,
            &format!(
                "time ns* 955000000
                 python ns 600000000
                 native ns 350000000
                 system ns 5000000
                 allocated bytes 2097152
                 copied bytes 1048576
                 <module> 100000000 0 100000000 0 0 0
                 work 855000000 600000000 250000000 5000000 2097152 1048576
                 note: {note}"
            ),
        );
        let lines = read_lines(FILE, "x", Limits::default(), &NoSymbols).expect("a report");
        let lines = text(&lines.expect("it tells lines"));
        assert_eq!(
            lines.lines().filter(|it| it.starts_with("work ")).count(),
            2,
            "{lines}"
        );
    }

    #[test]
    fn wrong_shares_are_errors() {
        let wrong = FILE.replace("\"n_cpu_percent_c\":12.5", "\"n_cpu_percent_c\":-12.5");
        check_fault(wrong, 5, "expected a value of at least 0, got -25");
    }
}
