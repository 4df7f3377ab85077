//! Scalene's JSON: shares of the elapsed time and memory for each line of each file; with `--stacks`, and always in new
//! versions, also for each stack.
//!
//! Libraries: serde_json parses; no crate with the format's types found.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::Format;
use crate::collect::collected::Collected;
use crate::collect::parents::too_large;
use crate::collect::stacks::Stacks;
use crate::collect::units::{value, whole};
use crate::decode::fault::Fault;
use crate::decode::input::Input;
use crate::decode::json::Step;

/// The bytes of Scalene's megabyte.
const MEGABYTE: f64 = 1_048_576.0;
/// Nanoseconds in a second, and in one percent of a second.
const SECOND: f64 = 1e9;
const PERCENT: f64 = 1e7;
/// Code outside of all functions.
const MODULE: &str = "<module>";

#[derive(Deserialize)]
struct Report<'a> {
    elapsed_time_sec: f64,
    #[serde(borrow)]
    files: BTreeMap<String, File<'a>>,
    /// Stacks, outermost frame first, each `/app/a.py work:10;`.
    #[serde(borrow, default)]
    stacks: Vec<(Vec<Cow<'a, str>>, Share)>,
    /// Stacks with allocated megabytes.
    #[serde(borrow, default)]
    memory_stacks: Vec<(Vec<Frame<'a>>, f64)>,
}

/// The cost of a stack as shares of all samples, in the forms of different versions.
#[derive(Deserialize)]
#[serde(untagged)]
enum Share {
    Named {
        python_time: Option<f64>,
        c_time: Option<f64>,
    },
    /// Count, time in Python, time in native code, both together.
    Row([f64; 4]),
    /// The count alone.
    Other(IgnoredAny),
}

impl Share {
    /// The times in Python and in native code.
    fn times(&self) -> Option<(f64, f64)> {
        match *self {
            Share::Named {
                python_time,
                c_time,
            } => python_time.zip(c_time),
            Share::Row([_, python, native, _]) => Some((python, native)),
            Share::Other(IgnoredAny) => None,
        }
    }
}

#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(borrow)]
    display_name: Cow<'a, str>,
    #[serde(borrow)]
    filename_or_module: Cow<'a, str>,
    line: Option<u32>,
}

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow, default)]
    functions: Vec<Function<'a>>,
    #[serde(borrow)]
    lines: Vec<Line<'a>>,
}

#[derive(Deserialize)]
struct Function<'a> {
    /// The function's name.
    #[serde(borrow)]
    line: Cow<'a, str>,
    lineno: u32,
}

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Line<'a> {
    lineno: u32,
    /// The source text.
    #[serde(borrow)]
    line: Cow<'a, str>,
    /// Where the enclosing function begins, in new versions; 0 outside of functions.
    start_function_line: u32,
    /// Where the enclosing function, class or loop ends. A function's first line is inside the function.
    end_region_line: u32,
    /// Percentages of the elapsed time.
    n_cpu_percent_python: f64,
    n_cpu_percent_c: f64,
    n_sys_percent: f64,
    n_malloc_mb: f64,
    /// Megabytes per second.
    n_copy_mb_s: f64,
    n_gpu_percent: f64,
}

/// Detects the keys that every version has.
pub(crate) fn detect(input: &Input) -> bool {
    input.has_keys(&["elapsed_time_sec", "files"])
}

/// Reads a report: stacks where it has them, lines for the rest.
pub(crate) fn read(input: &Input) -> Result<Collected, Fault> {
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
    let times: Option<Vec<_>> = report
        .stacks
        .iter()
        .map(|(_, share)| share.times())
        .collect();
    let times = times.unwrap_or_default();
    for (n, ((frames, _), &(python, native))) in report.stacks.iter().zip(&times).enumerate() {
        let added = add_time(
            input,
            frames,
            (python, native),
            report.elapsed_time_sec,
            &mut stacks,
        );
        added.map_err(|fault| fault.at_item("stacks", n))?;
    }
    for (n, (frames, megabytes)) in report.memory_stacks.iter().enumerate() {
        let added = add_memory(input, frames, *megabytes, &mut stacks);
        added.map_err(|fault| fault.at_item("memory_stacks", n))?;
    }
    let by_line = ByLine {
        seconds: report.elapsed_time_sec,
        times: times.is_empty(),
        allocated: report.memory_stacks.is_empty(),
    };
    let mut graphics = false;
    for (path, file) in &report.files {
        let names = functions(file);
        for (n, (line, name)) in file.lines.iter().zip(names).enumerate() {
            graphics |= line.n_gpu_percent > 0.0;
            let added = by_line.add(input, (name, path), line, &mut stacks);
            added.map_err(|fault| {
                let fault = fault.at_item("lines", n);
                fault
                    .at_step(Step::Key(path.clone().into()))
                    .at_key("files")
            })?;
        }
    }
    note(&by_line, graphics, &mut stacks);
    stacks.finish(Format::Scalene)
}

fn note(by_line: &ByLine, graphics: bool, stacks: &mut Stacks) {
    if by_line.times {
        stacks.note("Lines have no callers: the report has no times for stacks.");
    } else {
        stacks.note("System time is a part of the time in Python and in native code. Only these have callers.");
    }
    stacks.note(match graphics {
        true => {
            "Left out: largest and average memory, native frames, and use of graphics processors."
        }
        false => "Left out: largest and average memory, and native frames.",
    });
}

fn add_time(
    input: &Input,
    frames: &[Cow<str>],
    (python, native): (f64, f64),
    seconds: f64,
    stacks: &mut Stacks,
) -> Result<(), Fault> {
    let mut stack = Vec::with_capacity(frames.len());
    for text in frames {
        let text = text.trim_end_matches(';');
        let (place, line) = text.rsplit_once(':').unwrap_or((text, ""));
        let (file, name) = place.rsplit_once(' ').unwrap_or(("", place));
        let line = line.parse().ok().filter(|_| input.lines());
        stack.push(stacks.frame(name, file, line.unwrap_or(0))?);
    }
    let (python, native) = (
        whole(python * seconds, SECOND)?,
        whole(native * seconds, SECOND)?,
    );
    let time = python.checked_add(native).ok_or_else(too_large)?;
    stacks.add(&stack, &[time, python, native, 0, 0, 0])
}

fn add_memory(
    input: &Input,
    frames: &[Frame],
    megabytes: f64,
    stacks: &mut Stacks,
) -> Result<(), Fault> {
    let mut stack = Vec::with_capacity(frames.len());
    for frame in frames {
        let line = frame.line.filter(|_| input.lines()).unwrap_or(0);
        stack.push(stacks.frame(&frame.display_name, &frame.filename_or_module, line)?);
    }
    stacks.add(&stack, &[0, 0, 0, 0, whole(megabytes, MEGABYTE)?, 0])
}

/// What only lines have.
struct ByLine {
    /// The elapsed time.
    seconds: f64,
    times: bool,
    allocated: bool,
}

impl ByLine {
    fn add(
        &self,
        input: &Input,
        (name, path): (&str, &str),
        line: &Line,
        stacks: &mut Stacks,
    ) -> Result<(), Fault> {
        let time = |percent: f64| match self.times {
            true => whole(percent * self.seconds, PERCENT),
            false => Ok(0),
        };
        let python = time(line.n_cpu_percent_python)?;
        let native = time(line.n_cpu_percent_c)?;
        let system = time(line.n_sys_percent)?;
        let allocated = match self.allocated {
            true => whole(line.n_malloc_mb, MEGABYTE)?,
            false => 0,
        };
        let copied = whole(line.n_copy_mb_s * self.seconds, MEGABYTE)?;
        let all = python
            .checked_add(native)
            .and_then(|it| it.checked_add(system));
        let all = all.ok_or_else(too_large)?;
        if all == 0 && allocated == 0 && copied == 0 {
            return Ok(());
        }
        let number = match input.lines() {
            true => line.lineno,
            false => 0,
        };
        let frame = stacks.frame(name, path, number)?;
        stacks.add(&[frame], &[all, python, native, system, allocated, copied])
    }
}

/// The name of the function around each line of a file. Scalene lists functions with costs only.
fn functions<'f>(file: &'f File) -> Vec<&'f str> {
    let starts: HashMap<u32, &str> = file
        .functions
        .iter()
        .map(|it| (it.lineno, &*it.line))
        .collect();
    let mut order: Vec<usize> = (0..file.lines.len()).collect();
    order.sort_by_key(|&row| file.lines[row].lineno);
    let ends = ends(file, &starts, &order);
    let mut begin: Vec<u32> = starts.keys().copied().collect();
    begin.sort_unstable();
    let mut begin = begin.into_iter().peekable();
    let mut names = vec![MODULE; file.lines.len()];
    // Open functions, outermost first.
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

/// The last line of each function, by its first line. New versions state it. In old ones, it is the last line with deeper
/// indentation.
fn ends(file: &File, starts: &HashMap<u32, &str>, order: &[usize]) -> HashMap<u32, u32> {
    let mut ends = HashMap::new();
    // Functions without a stated end, outermost first, with their indentation.
    let mut open: Vec<(u32, usize)> = Vec::new();
    let mut unlisted = unlisted(file, starts).into_iter().peekable();
    for line in order.iter().map(|&row| &file.lines[row]) {
        let text = line.line.trim();
        let indent = line.line.len() - line.line.trim_start().len();
        // Comments may have any indentation, and a closing bracket belongs to the line before it.
        if !text.is_empty() && !text.starts_with(['#', ')', ']', '}']) {
            // The line after a first line is inside the function if it is indented at all.
            while let Some(start) = unlisted.next_if(|&start| start < line.lineno) {
                match indent.checked_sub(1) {
                    Some(outside) => open.push((start, outside)),
                    None => drop(ends.insert(start, start)),
                }
            }
            while let Some((start, _)) = open.pop_if(|(_, outside)| indent <= *outside) {
                ends.insert(start, line.lineno.saturating_sub(1));
            }
        }
        if !starts.contains_key(&line.lineno) {
            continue;
        }
        match line.end_region_line {
            0 => open.push((line.lineno, indent)),
            end => drop(ends.insert(line.lineno, end)),
        }
    }
    ends.extend(open.into_iter().map(|(start, _)| (start, u32::MAX)));
    ends
}

/// The first lines of functions that are not listed among the lines because they cost nothing, in order.
fn unlisted(file: &File, starts: &HashMap<u32, &str>) -> Vec<u32> {
    let listed: HashSet<u32> = file.lines.iter().map(|it| it.lineno).collect();
    let mut unlisted: Vec<u32> = starts
        .keys()
        .copied()
        .filter(|it| !listed.contains(it))
        .collect();
    unlisted.sort_unstable();
    unlisted
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, check_fault, text};
    use crate::{Limits, NoSymbols, read_lines};

    const FILE: &str = r#"{"alloc_samples":52,"args":["a"],"elapsed_time_sec":2.0,"entrypoint_dir":"/app","files":{"/app/a.py":{
"functions":[{"line":"work","lineno":9,"n_cpu_percent_python":30.0}],"imports":[],"leaks":{},"lines":[
{"line":"import x\n","lineno":1,"start_region_line":1,"end_region_line":1,"n_cpu_percent_c":5.0,"n_cpu_percent_python":0,"n_sys_percent":0,"n_malloc_mb":0.0,"n_copy_mb_s":0},
{"line":"def work():\n","lineno":9,"start_region_line":9,"end_region_line":12,"n_cpu_percent_c":0,"n_cpu_percent_python":0,"n_sys_percent":0,"n_malloc_mb":0.0,"n_copy_mb_s":0},
{"line":" y=1\n","lineno":10,"start_region_line":9,"n_cpu_percent_c":12.5,"n_cpu_percent_python":25.0,"n_sys_percent":0.25,"n_malloc_mb":2.0,"n_copy_mb_s":0.5,"n_peak_mb":7},
{"line":" z=1\n","lineno":11,"start_region_line":11,"start_function_line":9,"n_cpu_percent_c":0,"n_cpu_percent_python":5.0,"n_sys_percent":0,"n_malloc_mb":0,"n_copy_mb_s":0}],
"percent_cpu_time":100.0}},"stacks":[[["a.py work:10;"],3]],"samples":[]}"#;

    const NOTES: &str = "note: Lines have no callers: the report has no times for stacks.
                 note: Left out: largest and average memory, and native frames.";

    #[test]
    fn shares_of_lines_are_times_of_functions() {
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
                 {NOTES}"
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
    fn functions_of_old_reports_end_with_their_indentation() {
        let line = |number: u32, text: &str, percent: u32| {
            format!(
                r#"{{"line":"{text}\n","lineno":{number},"n_cpu_percent_c":0,"n_cpu_percent_python":{percent},"n_sys_percent":0,"n_malloc_mb":0,"n_copy_mb_s":0}}"#
            )
        };
        let lines = [
            line(1, "import x", 1),
            line(3, "def work(a,", 0),
            line(4, "):", 0),
            line(5, "    y = 1", 20),
            line(6, "# not its end", 0),
            line(7, "    def inner():", 0),
            line(8, "        z = 1", 30),
            line(9, "", 0),
            line(10, "    return y", 4),
            line(12, "work(1)", 5),
            line(13, "def last():", 0),
            line(14, "    pass", 6),
            // Without its first line.
            line(21, "    a = 1", 7),
            line(22, "b = 2", 8),
        ];
        check(
            format!(
                r#"{{"elapsed_time_sec":1.0,"files":{{"/app/a.py":{{"functions":[{{"line":"work","lineno":3}},
                {{"line":"inner","lineno":7}},{{"line":"last","lineno":13}},{{"line":"short","lineno":20}}],"lines":[{}]}}}}}}"#,
                lines.join(",")
            ),
            &format!(
                "time ns* 810000000
                 python ns 810000000
                 native ns 0
                 system ns 0
                 allocated bytes 0
                 copied bytes 0
                 <module> 140000000 140000000 0 0 0 0
                 inner 300000000 300000000 0 0 0 0
                 last 60000000 60000000 0 0 0 0
                 short 70000000 70000000 0 0 0 0
                 work 240000000 240000000 0 0 0 0
                 {NOTES}"
            ),
        );
    }

    #[test]
    fn stacks_with_times_are_a_tree() {
        let stacks = r#""stacks":[[["/app/a.py <module>:1;","/app/a.py work:10;"],
            {"count":3,"python_time":0.25,"c_time":0.125,"cpu_samples":0.375}],[["/app/a.py <module>:2;"],[1,0.5,0.125,0.625]]],
            "memory_stacks":[[[{"kind":"py","display_name":"<module>","filename_or_module":"/app/a.py","line":1,"ip":null,"offset":null},
            {"kind":"py","display_name":"work","filename_or_module":"/app/a.py","line":10,"ip":null,"offset":null}],2.0]]"#;
        let file = FILE.replace(r#""stacks":[[["a.py work:10;"],3]]"#, stacks);
        check(
            &file,
            "time ns* 2000000000
             python ns 1500000000
             native ns 500000000
             system ns 0
             allocated bytes 2097152
             copied bytes 1048576
             <module> 1250000000 1000000000 250000000 0 0 0
             <module>;work 750000000 500000000 250000000 0 2097152 0
             work 0 0 0 0 0 1048576
             note: System time is a part of the time in Python and in native code. Only these have callers.
             note: Left out: largest and average memory, and native frames.",
        );
        let lines = read_lines(&file, "x", Limits::default(), &NoSymbols).expect("a report");
        let lines = text(&lines.expect("it tells lines"));
        assert_eq!(
            lines
                .lines()
                .filter(|it| it.starts_with("<module> "))
                .count(),
            2,
            "{lines}"
        );
        check_fault(
            file.replace("[1,0.5", "[1,-0.5"),
            8,
            "expected a value of at least 0, got -1",
        );
    }

    #[test]
    fn wrong_shares_are_errors() {
        let wrong = FILE.replace("\"n_cpu_percent_c\":12.5", "\"n_cpu_percent_c\":-12.5");
        check_fault(wrong, 5, "expected a value of at least 0, got -25");
    }
}
