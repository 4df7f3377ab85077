//! callgrind's format, which xdebug and others write too: costs of functions and of the calls between them.
//!
//! Libraries: cargo-profiler parses the list of functions that `callgrind_annotate` prints, not the file. The parser of
//! iai-callgrind-runner is a part of a benchmark runner and is not offered as a library.

use std::collections::HashMap;

use fulcrum_model::call_tree::ValueType;

use crate::Format;
use crate::collect::collected::Collected;
use crate::collect::graphs::Graphs;
use crate::collect::units::{nanoseconds, value};
use crate::decode::fault::{Fault, quote};
use crate::decode::input::{Input, lines};
use crate::decode::texts::cut;
use crate::decode::wrong_lines::WrongLines;
use crate::names::is_address;

/// The most events that a file may have.
const EVENTS: usize = 256;
/// Lines between two progress reports.
const PROGRESS_STEP: usize = 1 << 12;

/// Detects the line that names the events.
pub(crate) fn detect(input: &Input) -> bool {
    input
        .first_lines()
        .any(|(_, line)| line.starts_with("events:") || line.starts_with("# callgrind format"))
}

/// Reads a profile.
pub(crate) fn read(input: &Input) -> Result<Collected, Fault> {
    let mut reader = Reader::default();
    for (number, line) in lines(input.text()) {
        if number.is_multiple_of(PROGRESS_STEP) {
            input.read_until_line(line)?;
        }
        let line = line.trim();
        if !line.is_empty() && !line.starts_with('#') {
            reader
                .count(number, line)
                .map_err(|fault| fault.at_line(number))?;
        }
    }
    let Some(mut graphs) = reader.graphs.take() else {
        return Err(Fault::whole(
            "expected a line events: with the names of the costs",
        ));
    };
    if reader.call.is_some() {
        graphs
            .notes
            .push("The file is cut short: the cost of its last call is missing.".into());
    }
    graphs.notes.extend(reader.wrong.note(reader.right)?);
    graphs
        .notes
        .extend(reader.totals.note(&graphs, &reader.scales));
    if reader.negative > 0 {
        graphs.notes.push(format!(
            "{} costs are negative, such as memory that was given back.",
            reader.negative
        ));
    }
    graphs.finish(Format::Callgrind)
}

#[derive(Default)]
struct Reader {
    /// Created when the events are known.
    graphs: Option<Graphs>,
    events: Vec<String>,
    /// The factor for the costs of each event.
    scales: Vec<i64>,
    /// How many numbers come before the costs in a line.
    positions: usize,
    names: Names,
    files: Names,
    /// Executables and libraries.
    objects: Names,
    file: String,
    object: String,
    function: Option<u32>,
    callee: Option<String>,
    callee_file: Option<String>,
    callee_object: Option<String>,
    /// The callee whose cost is on the next line.
    call: Option<u32>,
    negative: u64,
    totals: Totals,
    /// How many lines were read.
    right: u64,
    wrong: WrongLines,
    /// A line was wrong that may have named a function, so nobody knows whose costs follow.
    lost: bool,
}

/// Why a line is not read.
enum LineError {
    /// It is wrong: the problem.
    Wrong(String),
    /// The file cannot be read.
    Fault(Fault),
}

impl From<Fault> for LineError {
    fn from(fault: Fault) -> Self {
        LineError::Fault(fault)
    }
}

/// The totals that the file states.
#[derive(Default)]
struct Totals {
    /// callgrind itself wrote the file: it ends each part with a line `totals:`.
    expected: bool,
    /// There were costs after the last such line.
    open: bool,
    /// The sums over all complete parts, in the file's units.
    stated: Vec<i128>,
    /// The sums over all parts by the lines `summary:`.
    summary: Vec<i128>,
}

impl Totals {
    /// Reads a line `totals:`, which ends a part.
    fn end(&mut self, text: &str) {
        add(&mut self.stated, text);
        self.open = false;
    }

    /// A note about sums that do not match, once the whole file is read.
    fn note(&self, graphs: &Graphs, scales: &[i64]) -> Option<String> {
        if self.expected && self.open {
            return Some(
                "The file is cut short: its last line totals: is missing, and costs may be.".into(),
            );
        }
        // Writers without totals often round, or leave out a part of what they themselves cost. What Xdebug says of its second event,
        // memory, is no sum.
        let (stated, is_less): (&[_], fn(i128, i128) -> bool) = match self.stated.is_empty() {
            true => (self.summary.get(..1).unwrap_or_default(), |sum, stated| {
                sum < stated - stated / 100
            }),
            false => (&self.stated, |sum, stated| sum != stated),
        };
        let sums = stated.iter().zip(scales).enumerate();
        let mut sums = sums.map(|(n, (&stated, &scale))| {
            let stated = stated.saturating_mul(scale.into());
            (stated, graphs.sum_of_base(n))
        });
        let (stated, sum) = sums.find(|&(stated, sum)| is_less(sum, stated))?;
        Some(format!(
            "The costs of all functions add up to {sum}, but the file's own total is {stated}: some may be missing."
        ))
    }
}

/// Adds the costs of a line to sums.
fn add(sums: &mut Vec<i128>, text: &str) {
    let costs = text
        .split_whitespace()
        .map_while(|it| it.parse::<i128>().ok());
    for (n, cost) in costs.take(EVENTS).enumerate() {
        if sums.len() == n {
            sums.push(0);
        }
        sums[n] = sums[n].saturating_add(cost);
    }
}

impl Reader {
    /// Reads a line, or leaves it out. Costs after a wrong line are left out until the next function.
    fn count(&mut self, number: usize, line: &str) -> Result<(), Fault> {
        let costs = line.starts_with(|it: char| it.is_ascii_digit() || "+-*".contains(it));
        if costs && self.lost {
            self.wrong.leave_out_too(1);
            return Ok(());
        }
        let read = match costs {
            true => self.costs(line),
            false => self.line(line),
        };
        match read {
            Ok(()) => self.right += 1,
            Err(LineError::Fault(fault)) => return Err(fault),
            Err(LineError::Wrong(problem)) => {
                self.wrong.leave_out(number, || problem);
                self.lost |= !costs && self.function.is_some();
                (self.callee, self.call) = (None, None);
            }
        }
        Ok(())
    }

    fn line(&mut self, line: &str) -> Result<(), LineError> {
        // A name may contain a colon, a header's value an equals sign: the first of the two decides.
        let Some(at) = line.find(['=', ':']) else {
            return Err(expected(line));
        };
        let (key, text) = (&line[..at], line[at + 1..].trim());
        if line.as_bytes()[at] == b':' {
            return self.header(key, text, line);
        }
        match key {
            "fl" | "fi" | "fe" => self.file = self.files.name(text)?,
            "cfi" | "cfl" => {
                self.callee_file = Some(self.files.name(text)?).filter(|file| !file.is_empty());
            }
            "fn" => {
                let name = self.names.name(text)?;
                self.function = Some(self.row(&name, None, None)?);
                self.lost = false;
            }
            "cfn" => self.callee = Some(self.names.name(text)?),
            "calls" => {
                let Some(name) = self.callee.take() else {
                    let problem = "expected cfn= before calls=";
                    return Err(LineError::Wrong(problem.to_owned()));
                };
                let (file, object) = (self.callee_file.take(), self.callee_object.take());
                self.call = Some(self.row(&name, file.as_deref(), object.as_deref())?);
            }
            "jfi" => drop(self.files.name(text)?),
            "jfn" => drop(self.names.name(text)?),
            "ob" => self.object = self.objects.name_or_number(text),
            "cob" => self.callee_object = Some(self.objects.name_or_number(text)),
            "jump" | "jcnd" | "rec" | "frfn" => {}
            _ => return Err(expected(line)),
        }
        Ok(())
    }

    fn header(&mut self, key: &str, text: &str, line: &str) -> Result<(), LineError> {
        match key {
            "events" => {
                let events: Vec<_> = text.split_whitespace().map(str::to_owned).collect();
                if self.graphs.is_some() && self.events != events {
                    let problem = "expected the same events in every part of the file";
                    return Err(Fault::whole(problem).into());
                }
                if events.is_empty() || events.len() > EVENTS {
                    let problem = format!("expected 1 to {EVENTS} events, got {}", events.len());
                    return Err(Fault::whole(problem).into());
                }
                let (types, scales) = events.iter().map(|event| self::event(event)).unzip();
                self.graphs.get_or_insert_with(|| Graphs::new(types));
                self.events = events;
                self.scales = scales;
            }
            "positions" => self.positions = text.split_whitespace().count(),
            "creator" => self.totals.expected |= text.starts_with("callgrind"),
            "totals" => self.totals.end(text),
            "summary" => add(&mut self.totals.summary, text),
            _ if key.contains(char::is_whitespace) => return Err(expected(line)),
            _ => {}
        }
        Ok(())
    }

    fn graphs(&mut self) -> Result<&mut Graphs, Fault> {
        let problem = "expected a line events: before the first function";
        self.graphs.as_mut().ok_or_else(|| Fault::whole(problem))
    }

    /// The row of a function. Its file and object are the current ones unless they are given.
    fn row(&mut self, name: &str, file: Option<&str>, object: Option<&str>) -> Result<u32, Fault> {
        let file = file.unwrap_or(&self.file).to_owned();
        let object = object.unwrap_or(&self.object);
        let object = object.rsplit('/').next().unwrap_or(object);
        // Stripped code has only addresses, which other objects use too. Valgrind loads an object at the same address each
        // time.
        match is_address(name) && !object.is_empty() {
            true => {
                let name = format!("0x{} ({object})", name[2..].trim_start_matches('0'));
                self.graphs()?.function(&name, &file)
            }
            false => self.graphs()?.function(name, &file),
        }
    }

    fn costs(&mut self, line: &str) -> Result<(), LineError> {
        let mut words = line.split_whitespace();
        for _ in 0..self.positions.max(1) {
            words
                .next()
                .filter(|word| is_position(word))
                .ok_or_else(|| expected(line))?;
        }
        let mut costs = vec![0; self.events.len()];
        for (n, word) in words.enumerate() {
            let Some(slot) = costs.get_mut(n) else {
                let events = self.events.len();
                let problem = format!("expected at most {events} costs");
                return Err(LineError::Wrong(problem));
            };
            // The format has relative positions, not relative costs. What follows would mean something else, too.
            if word.starts_with(['+', '*']) {
                return Err(Fault::whole(format!(
                    "expected a whole number as cost, got {}: costs relative to others are not read",
                    quote(word)
                ))
                .into());
            }
            let cost: i64 = word.parse().map_err(|_| {
                LineError::Wrong(format!(
                    "expected a whole number as cost, got {}",
                    quote(word)
                ))
            })?;
            *slot = cost
                .checked_mul(self.scales[n])
                .ok_or_else(|| Fault::whole(format!("the cost {cost} is too large")))?;
        }
        self.negative += costs.iter().filter(|&&cost| cost < 0).count() as u64;
        let Some(function) = self.function else {
            return Err(Fault::whole("expected fn= before the first costs").into());
        };
        self.totals.open = true;
        match self.call.take() {
            Some(callee) => self.graphs()?.add_call(function, callee, None, &costs)?,
            None => self.graphs()?.add_base(function, &costs)?,
        }
        Ok(())
    }
}

/// Names that the file numbers at first use and refers to by number later.
#[derive(Default)]
struct Names(HashMap<u64, String>);

impl Names {
    /// A name, or the number if the file never named it: few functions need their object.
    fn name_or_number(&mut self, text: &str) -> String {
        self.name(text)
            .unwrap_or_else(|_| format!("object {}", text.trim_matches(['(', ')'])))
    }

    fn name(&mut self, text: &str) -> Result<String, Fault> {
        let numbered = text
            .strip_prefix('(')
            .and_then(|rest| rest.split_once(')'))
            .and_then(|(number, name)| Some((number.parse::<u64>().ok()?, name.trim())));
        match numbered {
            None => Ok(text.to_owned()),
            Some((number, "")) => self.0.get(&number).cloned().ok_or_else(|| {
                Fault::whole(format!("the name ({number}) is used before it is given"))
            }),
            Some((number, name)) => {
                let name = cut(name);
                self.0.insert(number, name.to_owned());
                Ok(name.to_owned())
            }
        }
    }
}

/// The value type of an event, and the factor for its costs. xdebug appends units to names: `Time_(10ns)`, `Memory_(bytes)`.
fn event(text: &str) -> (ValueType, i64) {
    let named = text.strip_suffix(')').and_then(|it| it.split_once("_("));
    let Some((name, unit)) = named else {
        return (value(text, "count"), 1);
    };
    let times = unit.trim_start_matches(|it: char| it.is_ascii_digit());
    let number = unit[..unit.len() - times.len()].parse().unwrap_or(1);
    match nanoseconds(times) {
        Some(scale) if (1..=1_000_000).contains(&number) => {
            (value(name, "ns"), number * scale as i64)
        }
        _ => (value(name, unit), 1),
    }
}

/// Whether a word is a line number or address. A sign makes it relative to the previous one; a star repeats that.
fn is_position(word: &str) -> bool {
    if word == "*" {
        return true;
    }
    let number = word.strip_prefix(['+', '-']).unwrap_or(word);
    let digits = number.strip_prefix("0x").unwrap_or(number);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn expected(line: &str) -> LineError {
    LineError::Wrong(format!(
        "expected a line of callgrind's format, got {}",
        quote(line)
    ))
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, check_fault};

    const TEXT: &str = "\
# callgrind format
positions: instr line
events: Time_(10ns) Memory_(bytes)
fl=(1) file1.c
fn=(1) main
0x10 16 20 15000
cfn=(2) func1
calls=1 50
+4 * 400 20000
cfn=(3) func2
cfi=(2) file2.c
calls=3 51
0x18 16 400 -1
fn=(2)
0x20 51 100
fi=(2)
0x24 2 5
fl=(1)
fn=(2)
cfn=(2)
calls=1 1
0x24 51 30
fl=(2)
fn=(3)
0x30 20 700 8000
summary: 825 1
";

    /// Costs of Ir in lines that do not matter here.
    const ONE_FILE: &str = "positions: line\nevents: Ir\nfl=a.c\n";

    #[test]
    fn functions_that_call_one_another_cost_no_more_than_both() {
        check(
            format!(
                "{ONE_FILE}fn=main\n1 10\ncfn=f\ncalls=1 1\n2 90\nfn=f\n1 30\ncfn=g\ncalls=3 1\n2 70\n\
                 fn=g\n1 60\ncfn=f\ncalls=2 1\n2 50\n"
            ),
            "Ir*
             main 10/100
             f 30/90
             g 60/70
             main > f ?/90
             f > g ?/70
             g > f ?/50",
        );
    }

    #[test]
    fn what_nobody_calls_by_name_costs_what_it_calls() {
        // A handler of signals, which was called once more.
        check(
            format!(
                "{ONE_FILE}fn=main\n1 10\ncfn=handler\ncalls=1 1\n2 11\nfn=handler\n1 6\ncfn=work\ncalls=6 1\n2 60\n\
                 fn=work\n1 60\n"
            ),
            "Ir*
             main 10/21
             handler 6/66
             work 60/60
             main > handler ?/11
             handler > work ?/60",
        );
    }

    #[test]
    fn functions_and_calls_are_summed() {
        check(
            TEXT,
            "Time ns*
             Memory bytes
             main 200/8200 15000/34999
             func1 1050/4000 0/20000
             func2 7000/7000 8000/8000
             main > func1 ?/4000 ?/20000
             main > func2 ?/4000 ?/-1
             func1 > func1 ?/300 ?/0
             note: 1 costs are negative, such as memory that was given back.",
        );
    }

    #[test]
    fn stripped_code_is_known_by_its_addresses_and_object() {
        check(
            "positions: line\nevents: Ir\nob=(1) /usr/bin/app\nfl=(1) ???\nfn=(1) 0x00001091a0\n0 10\n\
             cob=(2) /usr/lib/libz.so\ncfn=(2) 0x4850\ncalls=1 0\n0 90\ncfn=(3) 0x109200\ncalls=1 0\n0 5\n\
             ob=(2)\nfn=(2)\n0 90\nob=(1)\nfn=(3)\n0 5\n",
            "Ir*
             0x1091a0 (app) 10/105
             0x4850 (libz.so) 90/90
             0x109200 (app) 5/5
             0x1091a0 (app) > 0x4850 (libz.so) ?/90
             0x1091a0 (app) > 0x109200 (app) ?/5",
        );
    }

    #[test]
    fn a_file_is_held_to_its_own_totals() {
        let body = "creator: callgrind-3.19\npositions: line\nevents: Ir Dr\nfl=a.c\nfn=main\n1 10 2\n\
                    cfn=f\ncalls=1 1\n2 90 4\nfn=f\n1 90 4\n";
        let read = "Ir*
             Dr
             main 10/100 2/6
             f 90/90 4/4
             main > f ?/90 ?/4";
        check(format!("{body}\ntotals: 100 6\n"), read);
        let note = |note: &str| format!("{read}\nnote: {note}");
        check(
            body,
            &note("The file is cut short: its last line totals: is missing, and costs may be."),
        );
        check(
            format!("{body}\ntotals: 100 7\n"),
            &note(
                "The costs of all functions add up to 6, but the file's own total is 7: some may be missing.",
            ),
        );
        // Other writers may tell it otherwise: only about, and of the first event alone.
        let earlier = |cost: u64| {
            format!(
                "summary: {cost} 900\n{}",
                &body[body.find("events").expect("a line")..]
            )
        };
        check(earlier(101), read);
        check(
            earlier(200),
            &note(
                "The costs of all functions add up to 100, but the file's own total is 200: some may be missing.",
            ),
        );
        // They need not have any.
        check(
            body.replace("creator: callgrind-3.19", "creator: xdebug 3"),
            read,
        );
    }

    #[test]
    fn an_object_without_a_name_is_no_reason_to_refuse() {
        check(
            "events: Ir\nob=(7)\nfn=main\n1 10\ncob=(9)\ncfn=0x4850\ncalls=1 1\n2 90\n",
            "Ir*
             main 10/100
             0x4850 (object 9) 0/90
             main > 0x4850 (object 9) ?/90",
        );
    }

    #[test]
    fn wrong_lines_are_left_out() {
        let read = |note: &str, functions: &str| {
            format!(
                "Ir*\n{functions}\nnote: 1 line is wrong and left out. The first is line {note}."
            )
        };
        let text = format!("{ONE_FILE}fn=main\n1 10\ncfn=f\ncalls=1 1\n2 90\n3 7\nfn=f\n1 90\n");
        // A cost that is no number is that of nothing, and the next one is not the call's.
        check(
            text.replace("2 90", "2 9x"),
            &read(
                "8: expected a whole number as cost, got \"9x\"",
                "main 17/17\nf 90/90",
            ),
        );
        check(
            text.replace("\n3 7", "\n3 7 7"),
            &read(
                "9: expected at most 1 costs",
                "main 10/100\nf 90/90\nmain > f ?/90",
            ),
        );
        // Before the first function, a message spoils nothing.
        check(
            text.replace("fl=a.c", "what is this"),
            &read(
                "3: expected a line of callgrind's format, got \"what is this\"",
                "main 17/107\nf 90/90\nmain > f ?/90",
            ),
        );
    }

    #[test]
    fn costs_after_a_wrong_line_are_nobodys_until_the_next_function() {
        let text = format!("{ONE_FILE}fn=main\n1 10\ncfn=f\ncalls=1 1\n2 90\n3 7\nfn=f\n1 90\n");
        for (from, to, line, problem) in [
            (
                "calls=1 1",
                "call 1 1",
                7,
                "expected a line of callgrind's format, got \"call 1 1\"",
            ),
            ("cfn=f\n", "", 6, "expected cfn= before calls="),
        ] {
            check(
                text.replace(from, to),
                &format!(
                    "Ir*
                     main 10/10
                     f 90/90
                     note: 3 lines are wrong and left out. The first is line {line}: {problem}."
                ),
            );
        }
        let rest = "nothing\n".repeat(20);
        check_fault(
            format!("{text}{rest}"),
            12,
            "expected a line of callgrind's format, got \"nothing\"; 20 of 31 lines are wrong",
        );
    }

    #[test]
    fn relative_costs_are_an_error() {
        for cost in ["*", "+90"] {
            check_fault(
                format!("{ONE_FILE}fn=main\n1 10\n+2 {cost}\n* -3\n"),
                6,
                &format!(
                    "expected a whole number as cost, got \"{cost}\": costs relative to others are not read"
                ),
            );
        }
    }

    #[test]
    fn what_cannot_be_told_apart_is_an_error() {
        for (from, to, line, expect) in [
            (
                "fn=(2)\n0x20",
                "fn=(9)\n0x20",
                14,
                "the name (9) is used before it is given",
            ),
            (
                "events: ",
                "event: ",
                5,
                "expected a line events: before the first function",
            ),
        ] {
            let text = TEXT.replace(from, to);
            check_fault(&text, line, expect);
        }
    }
}
