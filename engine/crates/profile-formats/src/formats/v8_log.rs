//! Logs of `node --prof`, converted by `node --prof-process --preprocess`: code objects, functions, and ticks with stacks.
//!
//! Libraries: serde_json parses; no crate with the format's types found.

use std::borrow::Cow;

use serde::Deserialize;

use crate::Format;
use crate::collect::collected::Collected;
use crate::collect::stacks::{FrameId, Stacks};
use crate::collect::units::{value, whole};
use crate::decode::fault::{Fault, dangling};
use crate::decode::input::Input;

/// Ticks between two progress reports.
const PROGRESS_STEP: usize = 1 << 12;
/// The VM state of garbage collection.
const COLLECTS_GARBAGE: i64 = 1;

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow)]
    code: Vec<Code<'a>>,
    #[serde(borrow)]
    functions: Vec<Function<'a>>,
    ticks: Vec<Tick>,
}

/// A code object: machine code, or a part of a library.
#[derive(Deserialize)]
struct Code<'a> {
    #[serde(borrow, default)]
    name: Cow<'a, str>,
    #[serde(borrow, default, rename = "type")]
    kind: Cow<'a, str>,
    /// For JavaScript, the function. It may have several code objects.
    func: Option<usize>,
}

#[derive(Deserialize)]
struct Function<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Tick {
    /// Microseconds.
    tm: f64,
    /// The state of the VM.
    #[serde(default)]
    vm: i64,
    /// Pairs, innermost first: a code object and an offset in it, or -1 and an address outside of all code.
    s: Vec<f64>,
}

/// Detects the keys that `--preprocess` writes.
pub(crate) fn detect(input: &Input) -> bool {
    input.has_keys(&["code", "functions", "ticks"])
}

/// Reads a log.
pub(crate) fn read(input: &Input) -> Result<Collected, Fault> {
    let file: File = input.parse()?;
    let mut stacks = Stacks::new(vec![value("ticks", "count"), value("time", "ns")], 0)?;
    let mut frames = Vec::with_capacity(file.code.len());
    for (n, code) in file.code.iter().enumerate() {
        let frame = frame(code, &file.functions, &mut stacks);
        frames.push(frame.map_err(|fault| fault.at_item("code", n))?);
    }
    let times = durations(&file.ticks)?;
    let mut collecting = 0_u64;
    let mut stack = Vec::new();
    for (n, (tick, &time)) in file.ticks.iter().zip(&times).enumerate() {
        if n.is_multiple_of(PROGRESS_STEP) {
            input.progress.at(n as f64 / file.ticks.len() as f64)?;
        }
        collecting += u64::from(tick.vm == COLLECTS_GARBAGE);
        let read = unwound(tick, &frames, &mut stack, &mut stacks);
        let added = read.and_then(|()| stacks.add(&stack, &[1, time]));
        added.map_err(|fault| fault.at_item("ticks", n))?;
    }
    if collecting > 0 {
        stacks.note(format!(
            "In {collecting} of {} ticks, garbage was collected. The states of the virtual machine are not shown separately.",
            file.ticks.len()
        ));
    }
    stacks.finish(Format::V8Log)
}

/// The frames of a tick, outermost first. Addresses outside of all code, such as other words on the stack, are left out
/// unless they were interrupted.
fn unwound(
    tick: &Tick,
    frames: &[FrameId],
    stack: &mut Vec<FrameId>,
    stacks: &mut Stacks,
) -> Result<(), Fault> {
    stack.clear();
    for (n, pair) in tick.s.chunks(2).enumerate() {
        let code = pair[0];
        if code >= 0.0 {
            let frame = frames.get(code as usize).copied();
            stack.push(frame.ok_or_else(|| dangling("a tick", code, "code"))?);
        } else if n == 0 {
            stack.push(stacks.frame("[unknown]", "", 0)?);
        }
    }
    stack.reverse();
    Ok(())
}

/// The time from each tick to the next in nanoseconds; 0 for the last one.
fn durations(ticks: &[Tick]) -> Result<Vec<i64>, Fault> {
    let mut order: Vec<usize> = (0..ticks.len()).collect();
    order.sort_by(|&a, &b| ticks[a].tm.total_cmp(&ticks[b].tm));
    let mut times = vec![0; ticks.len()];
    for pair in order.windows(2) {
        let time = whole(ticks[pair[1]].tm - ticks[pair[0]].tm, 1e3);
        times[pair[0]] = time.map_err(|fault| fault.at_item("ticks", pair[0]))?;
    }
    Ok(times)
}

/// The frame of a code object: JavaScript by its function, `f file:///a.js:3:12`, other code by its name and type.
fn frame(code: &Code, functions: &[Function], stacks: &mut Stacks) -> Result<FrameId, Fault> {
    let Some(row) = code.func else {
        let name = unquoted(&code.name);
        return match &*code.kind {
            "" => stacks.frame("[unknown]", "", 0),
            "SHARED_LIB" => stacks.frame_in(&crate::collect::symbols::bracketed(name), "", 0, name),
            // `t node::Start(int, char**) /usr/bin/node`: the symbol's type, name and file.
            "CPP" => stacks.frame(
                name.trim_start_matches("t ").trim_start_matches("T "),
                "",
                0,
            ),
            _ => stacks.frame(name, "", 0),
        };
    };
    let function = functions.get(row);
    let function = function.ok_or_else(|| dangling("a piece of code", row, "function"))?;
    let (name, file, line, column) = place(unquoted(&function.name));
    match (name, file.rsplit('/').next()) {
        ("", Some(base)) if !base.is_empty() => {
            stacks.frame(&format!("(anonymous) {base}:{line}:{column}"), file, line)
        }
        ("", _) => stacks.frame("(anonymous)", file, line),
        _ => stacks.frame(name, file, line),
    }
}

/// Removes the quotes that Node 8 and older put around names.
fn unquoted(name: &str) -> &str {
    let inner = name.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    inner.unwrap_or(name)
}

/// Splits V8's description of a function, `f file:///a.js:3:12`, into name, file, line and column.
fn place(text: &str) -> (&str, &str, u32, u32) {
    let number = |text: &str| text.parse::<u32>().ok();
    let parts = text.rsplit_once(':').and_then(|(rest, column)| {
        let (rest, line) = rest.rsplit_once(':')?;
        Some((rest, number(line)?, number(column)?))
    });
    let Some((rest, line, column)) = parts else {
        return (text.trim(), "", 0, 0);
    };
    // A file's name may contain spaces, so the beginning of the path is searched.
    let starts = [" file://", " /", " node:", " internal/", " evalmachine."];
    let at = starts
        .iter()
        .filter_map(|it| rest.find(it))
        .min()
        .or_else(|| rest.rfind(' '));
    let (name, file) = at.map_or(("", rest), |at| (&rest[..at], &rest[at + 1..]));
    (
        name.trim(),
        file.strip_prefix("file://").unwrap_or(file),
        line,
        column,
    )
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, check_fault};

    const FILE: &str = r#"{"code":[{"name":"/usr/bin/node","type":"SHARED_LIB"},{"name":"node::Start(int, char**)","type":"CPP"},
{"name":"Wide","timestamp":134302,"type":"CODE","kind":"BytecodeHandler"},{"name":"fib file:///a/w.js:2:13","type":"JS","kind":"Opt","func":1,"tm":3},
{"name":" /a/w.js:1:1","type":"JS","kind":"Unopt","func":0,"tm":2},{"name":"*fib file:///a/w.js:2:13","type":"JS","kind":"Opt","func":1,"tm":9}],
"functions":[{"name":" /a/w.js:1:1","codes":[4]},{"name":"fib file:///a/w.js:2:13","codes":[3,5]}],
"ticks":[{"tm":1000,"vm":0,"s":[3,12,5,40,4,7]},{"tm":2500,"vm":1,"s":[-1,4096,4,7,-1,0]},{"tm":2750,"vm":6,"s":[0,9]},{"tm":2000,"vm":0,"s":[2,1,1,4]}],
"scripts":[]}"#;

    /// What [`FILE`] says.
    const TICKS: &str = "ticks* 4
             time ns 1750000
             (anonymous) w.js:1:1 0 0
             (anonymous) w.js:1:1;[unknown] 1 250000
             (anonymous) w.js:1:1;fib 0 0
             (anonymous) w.js:1:1;fib;fib 1 1000000
             [node] 1 0
             node::Start(int, char**) 0 0
             node::Start(int, char**);Wide 1 500000
             note: In 1 of 4 ticks, garbage was collected. The states of the virtual machine are not shown separately.";

    #[test]
    fn ticks_are_counted_by_function() {
        // The last one was written late.
        check(FILE, TICKS);
    }

    #[test]
    fn logs_of_old_versions_have_quotes_and_a_remark() {
        let old = FILE
            .replace(r#""name":"/usr/bin/node""#, r#""name":"\"/usr/bin/node\"""#)
            .replace(
                r#""name":"fib file:///a/w.js:2:13""#,
                r#""name":"\"fib file:///a/w.js:2:13\"""#,
            )
            .replace(r#""name":" /a/w.js:1:1""#, r#""name":"\" /a/w.js:1:1\"""#);
        check(
            format!("Testing v8 version different from logging version\n{old}"),
            TICKS,
        );
        let wrong = FILE.replace("[0,9]", "[7,9]");
        check_fault(
            format!("Testing v8 version different from logging version\n{wrong}"),
            6,
            "a tick names code 7, which the file does not have",
        );
    }

    #[test]
    fn wrong_references_are_errors() {
        let wrong = FILE.replace("[0,9]", "[7,9]");
        check_fault(
            wrong,
            5,
            "a tick names code 7, which the file does not have",
        );
        let wrong = FILE.replace("\"func\":0", "\"func\":8");
        check_fault(
            wrong,
            3,
            "a piece of code names function 8, which the file does not have",
        );
    }

    #[test]
    fn functions_are_taken_apart() {
        for (text, expect) in [
            ("fib file:///a b/w.js:2:13", ("fib", "/a b/w.js", 2, 13)),
            (
                " node:internal/util:598:30",
                ("", "node:internal/util", 598, 30),
            ),
            ("get size /a/w.js:2:13", ("get size", "/a/w.js", 2, 13)),
            ("native", ("native", "", 0, 0)),
        ] {
            assert_eq!(super::place(text), expect);
        }
    }
}
