//! One profiled process: its announcement, our answer, and its end.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use fulcrum_symbols::{Location, Scope, SymbolsError, line_ranges, load_bias};
use fulcrum_wire::{Range, flag, state};
use serde_json::json;

use crate::control::{LineMap, ProcessBlock, now};
use crate::{Options, Sampler};

/// What a process turned out to be.
pub enum Answer {
    /// It is profiled.
    Profiled,
    /// It has nothing in scope; the sentence says why.
    Dormant(String),
}

/// A process of the session.
pub struct Watched {
    /// `<pid>-<turn>`.
    stem: String,
    folder: PathBuf,
    /// What the process tells us.
    pub block: ProcessBlock,
    /// How it was answered.
    pub answer: Answer,
    map: Option<LineMap>,
}

impl Watched {
    /// Reads a new process's debug information and answers it.
    pub fn greet(folder: &Path, stem: &str, block: ProcessBlock, options: &Options) -> Watched {
        let (answer, map) = match answer(folder, stem, &block, options) {
            Ok(map) => (Answer::Profiled, Some(map)),
            Err(why) => (Answer::Dormant(why), None),
        };
        block.answer(if map.is_some() {
            state::READY
        } else {
            state::DORMANT
        });
        Watched {
            stem: stem.into(),
            folder: folder.into(),
            block,
            answer,
            map,
        }
    }

    /// Whether the runtime has written its last record.
    pub fn is_finished(&self) -> bool {
        self.map.is_none() || self.block.get().state.load(Ordering::Acquire) == state::FINISHED
    }

    /// The process's id.
    pub fn pid(&self) -> u32 {
        self.block.get().pid
    }

    /// Whether the process still exists (a zombie counts as gone).
    pub fn is_alive(&self) -> bool {
        let status = fs::read_to_string(format!("/proc/{}/stat", self.pid())).unwrap_or_default();
        let state = status.rsplit_once(") ").map_or("", |(_, rest)| rest);
        !state.is_empty() && !state.starts_with(['Z', 'X'])
    }

    /// Writes the last records for a process that could not: it was killed, or left by `_exit` or `exec`.
    pub fn complete(&self) -> std::io::Result<()> {
        let Some(map) = self.map.as_ref().filter(|_| !self.is_finished()) else {
            return Ok(());
        };
        let path = self.folder.join(format!("causal-{}.jsonl", self.stem));
        let Ok(mut stream) = OpenOptions::new().append(true).read(true).open(&path) else {
            return Ok(());
        };
        let process = self.block.get();
        // The session looks every 20 ms: now is about when the process died.
        let elapsed = now().saturating_sub(process.start_ns);
        let lines: BTreeMap<_, _> = map.counts().filter(|(_, count)| *count > 0).collect();
        let samples = json!({
            "type": "samples",
            "time": elapsed,
            "delay": process.global_ns.load(Ordering::Relaxed),
            "total": process.samples.load(Ordering::Relaxed),
            "in_scope": process.in_scope.load(Ordering::Relaxed),
            "lines": lines,
        });
        let delay = process.global_ns.load(Ordering::Relaxed);
        let end = json!({ "type": "end", "time": elapsed, "delay": delay, "reason": "killed" });
        // A record that the disk had no room for is no record.
        let bytes = fs::read(&path)?;
        let whole = bytes
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        stream.set_len(whole as u64)?;
        stream.write_all(format!("{samples}\n{end}\n").as_bytes())
    }

    /// Sentences about what weakens this process's result.
    pub fn notes(&self, options: &Options) -> Vec<String> {
        let process = self.block.get();
        if let Answer::Dormant(why) = &self.answer {
            return vec![why.clone()];
        }
        let flags = process.flags.load(Ordering::Relaxed);
        let mut notes = Vec::new();
        if flags & flag::TIMER != 0 && options.sampler == Sampler::Auto {
            notes.push(
                "Perf events are not available here, so samples came from the CPU timer, which is coarser: \
                 intervals are wider. Lower kernel.perf_event_paranoid to 2, or leave the container, for perf."
                    .into(),
            );
        }
        if flags & flag::NOT_SAMPLED != 0 {
            notes.push(
                "Some threads could not be sampled at all, so their lines are missing: allow perf events \
                 (kernel.perf_event_paranoid 2) or raise the limit of pending signals (ulimit -i)."
                    .into(),
            );
        }
        if flags & flag::TOO_MANY_THREADS != 0 {
            notes.push(
                "More than 8192 threads ran at once; those beyond ran without being profiled."
                    .into(),
            );
        }
        if flags & flag::TOO_MANY_POINTS != 0 {
            notes.push(
                "More than 256 progress points were visited; those beyond were not counted.".into(),
            );
        }
        if flags & flag::WRITE_FAILED != 0 {
            let errno = -process.write_error.load(Ordering::Relaxed) as i32;
            let error = std::io::Error::from_raw_os_error(errno);
            notes.push(format!(
                "Some records could not be written ({error}): free space and run again."
            ));
        }
        notes
    }
}

fn answer(
    folder: &Path,
    stem: &str,
    block: &ProcessBlock,
    options: &Options,
) -> Result<LineMap, String> {
    let pid = block.get().pid;
    let maps = fs::read_to_string(format!("/proc/{pid}/maps"))
        .map_err(|e| format!("Process {pid} is gone ({e})."))?;
    let main = fs::read_link(format!("/proc/{pid}/exe"))
        .map_err(|e| format!("Process {pid} is gone ({e})."))?;
    let scope = Scope::new(options.aim.source_scope.iter().map(String::as_str));
    let mut names: Vec<Location> = Vec::new();
    let mut ranges = Vec::new();
    let mut why = None;
    for module in modules(&maps, &main, &options.aim.binary_scope) {
        let table = match line_ranges(&module, &scope) {
            Ok(table) => table,
            Err(error) => {
                if module == main || !matches!(error, SymbolsError::NoDebugInfo(_)) {
                    why.get_or_insert(format!("{error}."));
                }
                continue;
            }
        };
        let bias = fs::read(&module)
            .ok()
            .and_then(|elf| load_bias(&maps, &module, &elf));
        let Some(bias) = bias else {
            why.get_or_insert(format!(
                "{} is not mapped as its file says.",
                module.display()
            ));
            continue;
        };
        let first = names.len() as u32;
        names.extend(table.lines);
        ranges.extend(table.ranges.iter().map(|range| Range {
            start: range.start.wrapping_add(bias),
            end: range.end.wrapping_add(bias),
            line: first + range.line,
            unused: 0,
        }));
    }
    if ranges.is_empty() {
        return Err(why.unwrap_or_else(|| {
            let program = main.display();
            if options.aim.source_scope.is_empty() && options.aim.binary_scope.is_empty() {
                format!("No line of {program} is in scope: build it with -g from sources outside the system folders.")
            } else {
                format!("No line of {program} is in the given scope: widen --source-scope or --binary-scope.")
            }
        }));
    }
    let fixed = fixed_line(options, &names)?;
    ranges.sort_unstable_by_key(|range| range.start);
    let names = names.iter().map(Location::to_string).collect();
    LineMap::create(&folder.join(format!("{stem}.map")), names, &ranges, fixed)
        .map_err(|error| format!("The answer to process {pid} could not be written: {error}."))
}

/// The index of `--fixed-line`, by its whole path or by trailing components.
fn fixed_line(options: &Options, names: &[Location]) -> Result<Option<u32>, String> {
    let Some(text) = &options.fixed_line else {
        return Ok(None);
    };
    let wanted: Location = text.parse().map_err(|e| format!("--fixed-line: {e}."))?;
    let is_it =
        |at: &&Location| at.line == wanted.line && Path::new(&at.file).ends_with(&wanted.file);
    match names.iter().find(is_it) {
        Some(found) => Ok(names
            .iter()
            .position(|at| at == found)
            .map(|index| index as u32)),
        None => Err(format!(
            "--fixed-line {text}: no code of the program is on that line."
        )),
    }
}

/// The mapped files that the binary scope names; the main executable when it names none.
fn modules(maps: &str, main: &Path, scope: &[String]) -> Vec<PathBuf> {
    if scope.is_empty() {
        return vec![main.into()];
    }
    let mut found: Vec<PathBuf> = Vec::new();
    for line in maps.lines() {
        let Some(path) = line.find('/').map(|at| Path::new(&line[at..])) else {
            continue;
        };
        let text = path.to_string_lossy();
        let named = |pattern: &String| {
            (pattern == "MAIN" && path == main) || fulcrum_symbols::matches_path(pattern, &text)
        };
        if !found.iter().any(|it| it == path) && scope.iter().any(named) {
            found.push(path.into());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
55e0-55e1 r--p 00000000 08:01 1 /opt/a b/prog
55e1-55e2 r-xp 00001000 08:01 1 /opt/a b/prog
7f00-7f01 r-xp 00000000 08:01 2 /usr/lib/libone.so.1
7f02-7f03 rw-p 00000000 00:00 0
7f04-7f05 r-xp 00000000 00:00 0 [vdso]";

    #[test]
    fn the_binary_scope_names_modules() {
        let main = Path::new("/opt/a b/prog");
        let cases: [(&[&str], &[&str]); 4] = [
            (&[], &["/opt/a b/prog"]),
            (&["MAIN"], &["/opt/a b/prog"]),
            (&["%libone%"], &["/usr/lib/libone.so.1"]),
            (&["%"], &["/opt/a b/prog", "/usr/lib/libone.so.1"]),
        ];
        for (scope, expected) in cases {
            let scope: Vec<String> = scope.iter().map(|it| (*it).to_owned()).collect();
            let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(modules(MAPS, main, &scope), expected, "{scope:?}");
        }
    }

    #[test]
    fn a_fixed_line_is_found_by_trailing_components() {
        let at = |text: &str| text.parse::<Location>().unwrap();
        let names = [at("/p/src/a.c:3"), at("/p/src/b.c:3"), at("/p/src/b.c:4")];
        let with = |line: &str| Options {
            fixed_line: Some(line.into()),
            ..Options::default()
        };
        assert_eq!(fixed_line(&with("b.c:4"), &names), Ok(Some(2)));
        assert_eq!(fixed_line(&with("src/a.c:3"), &names), Ok(Some(0)));
        assert_eq!(fixed_line(&Options::default(), &names), Ok(None));
        for bad in ["a.c:4", "c:3", "a.c"] {
            assert!(fixed_line(&with(bad), &names).is_err(), "{bad}");
        }
    }
}
