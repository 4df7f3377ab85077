//! DHAT's JSON, from Valgrind and Rust's crate `dhat`: blocks of memory by the stack that allocated or copied them.
//!
//! Libraries: serde_json parses. The crate `dhat` only writes the format.

use std::borrow::Cow;

use serde::Deserialize;

use crate::Format;
use crate::collect::collected::Collected;
use crate::collect::stacks::Stacks;
use crate::collect::units::value;
use crate::decode::fault::{Fault, dangling};
use crate::decode::input::Input;
use crate::formats::valgrind;

/// The only version so far.
const VERSION: u64 = 2;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File<'a> {
    dhat_file_version: u64,
    /// What was done with the bytes: `Allocated`, `Copied`.
    #[serde(borrow, default)]
    verb: Cow<'a, str>,
    /// Other names for bytes and blocks.
    #[serde(borrow)]
    bsu: Option<Cow<'a, str>>,
    #[serde(borrow)]
    bksu: Option<Cow<'a, str>>,
    pps: Vec<Point>,
    #[serde(borrow)]
    ftbl: Vec<Cow<'a, str>>,
}

/// A stack with the sums of its blocks.
#[derive(Deserialize)]
struct Point {
    tb: i64,
    tbk: i64,
    /// Bytes and blocks when the heap was largest, and at the end.
    gb: Option<i64>,
    gbk: Option<i64>,
    eb: Option<i64>,
    ebk: Option<i64>,
    /// Bytes read and written.
    rb: Option<i64>,
    wb: Option<i64>,
    /// Innermost first.
    fs: Vec<usize>,
}

/// Gets a value of a stack, if the file has it.
type Get = fn(&Point) -> Option<i64>;

/// Detects the keys that every version has.
pub(crate) fn detect(input: &Input) -> bool {
    input.has_keys(&["dhatFileVersion", "pps", "ftbl"])
}

/// Reads a profile.
pub(crate) fn read(input: &Input) -> Result<Collected, Fault> {
    let file: File = input.parse()?;
    if file.dhat_file_version != VERSION {
        let problem = format!(
            "expected version {VERSION} of DHAT's files, got {}",
            file.dhat_file_version
        );
        return Err(Fault::whole(problem).at_key("dhatFileVersion"));
    }
    let bytes = file.bsu.as_deref().unwrap_or("bytes");
    let blocks = file.bksu.as_deref().unwrap_or("blocks");
    let verb = match &*file.verb {
        "" => "total".to_owned(),
        verb => verb.to_lowercase(),
    };
    let all: [(String, &str, Get); 8] = [
        (verb.clone(), bytes, |it| Some(it.tb)),
        (format!("{verb} {blocks}"), "count", |it| Some(it.tbk)),
        ("at peak".into(), bytes, |it| it.gb),
        (format!("{blocks} at peak"), "count", |it| it.gbk),
        ("at end".into(), bytes, |it| it.eb),
        (format!("{blocks} at end"), "count", |it| it.ebk),
        ("read".into(), bytes, |it| it.rb),
        ("written".into(), bytes, |it| it.wb),
    ];
    // The file of a program that used no memory has no stacks: it gets all types.
    let is_present = |get: &Get| file.pps.is_empty() || file.pps.iter().any(|it| get(it).is_some());
    let present: Vec<_> = all.iter().filter(|(_, _, get)| is_present(get)).collect();
    let types = present
        .iter()
        .map(|(name, unit, _)| value(name, unit))
        .collect();
    let mut stacks = Stacks::new(types, 0)?;
    let mut frames = Vec::with_capacity(file.ftbl.len());
    for text in &file.ftbl {
        frames.push(valgrind::frame(text, input, &mut stacks)?);
    }
    let mut stack = Vec::new();
    for (n, point) in file.pps.iter().enumerate() {
        stack.clear();
        for &row in point.fs.iter().rev() {
            let frame = frames.get(row).copied();
            let missing = || dangling("a stack", row, "frame").at_item("pps", n);
            stack.push(frame.ok_or_else(missing)?);
        }
        let values: Vec<_> = present
            .iter()
            .map(|(_, _, get)| get(point).unwrap_or(0))
            .collect();
        stacks
            .add(&stack, &values)
            .map_err(|fault| fault.at_item("pps", n))?;
    }
    stacks.note("Left out: how long blocks lived, how large each stack's blocks were at most, and which of their bytes were used.");
    stacks.finish(Format::Dhat)
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, check_fault, text};
    use crate::{Limits, NoSymbols, read_lines};

    const FILE: &str = r#"{"dhatFileVersion":2,"mode":"heap","verb":"Allocated","bklt":true,"bkacc":true,"tu":"instrs","Mtu":"Minstr",
"tuth":500,"cmd":"./h","pid":2194,"te":2277954,"tg":2257334,"pps":[
{"tb":300000,"tbk":300,"tl":871,"mb":300000,"mbk":300,"gb":300000,"gbk":300,"eb":8,"ebk":1,"rb":0,"wb":300000,"acc":[-1000,300],"fs":[1,2,3]},
{"tb":72704,"tbk":1,"tl":354,"mb":72704,"mbk":1,"gb":0,"gbk":0,"eb":0,"ebk":0,"rb":7,"wb":16,"fs":[1,4]}],
"ftbl":["[root]","0x48417B4: malloc (in /usr/libexec/valgrind/vgpreload_dhat-amd64-linux.so)","0x1091C9: leaf(int) (h.cpp:4)",
"0x1092A1: main (h.cpp:7)","0x48F87B9: ??? (in /usr/lib/libstdc++.so.6)"]}"#;

    const NOTE: &str = "Left out: how long blocks lived, how large each stack's blocks were at most, and which of their bytes were used.";

    #[test]
    fn blocks_are_counted_by_stack() {
        check(
            FILE,
            &format!(
                "allocated bytes* 372704
                 allocated blocks 301
                 at peak bytes 300000
                 blocks at peak 300
                 at end bytes 8
                 blocks at end 1
                 read bytes 7
                 written bytes 300016
                 0x48F87B9 (libstdc++.so.6) 0 0 0 0 0 0 0 0
                 0x48F87B9 (libstdc++.so.6);malloc 72704 1 0 0 0 0 7 16
                 main 0 0 0 0 0 0 0 0
                 main;leaf(int) 0 0 0 0 0 0 0 0
                 main;leaf(int);malloc 300000 300 300000 300 8 1 0 300000
                 note: {NOTE}"
            ),
        );
        let lines = read_lines(FILE, "x", Limits::default(), &NoSymbols).expect("a profile");
        let lines = lines.expect("it tells lines");
        let crate::Calls::Tree(tree) = &lines.calls else {
            panic!("a tree");
        };
        let places: Vec<_> = (0..tree.len())
            .filter_map(|it| tree.frame(it).line)
            .collect();
        assert_eq!(places.len(), 2, "{}", text(&lines));
    }

    #[test]
    fn what_a_program_counts_itself_has_its_own_units() {
        check(
            r#"{"dhatFileVersion":2,"mode":"ad-hoc","verb":"Occurred","bklt":false,"bkacc":false,"bu":"unit","bsu":"units","bksu":"events",
            "tu":"µs","Mtu":"s","tuth":10,"cmd":"a","pid":1,"te":5,"pps":[{"tb":7,"tbk":2,"fs":[1]}],"ftbl":["[root]","0x1: a::f (src/a.rs:4:21)"]}"#,
            &format!("occurred units* 7\noccurred events 2\na::f 7 2\nnote: {NOTE}"),
        );
    }

    #[test]
    fn a_program_without_memory_has_no_samples() {
        check_fault(
            r#"{"dhatFileVersion":2,"mode":"heap","verb":"Allocated","bklt":true,"bkacc":true,"tu":"instrs","Mtu":"Minstr",
            "tuth":500,"cmd":"./empty","pid":1,"te":5,"tg":0,"pps":[],"ftbl":["[root]"]}"#,
            0,
            "the profile has no samples",
        );
    }

    #[test]
    fn wrong_stacks_are_errors() {
        let wrong = FILE.replace("\"fs\":[1,2,3]", "\"fs\":[1,2,9]");
        check_fault(
            wrong,
            3,
            "a stack names frame 9, which the file does not have",
        );
        let wrong = FILE.replace("\"dhatFileVersion\":2", "\"dhatFileVersion\":3");
        check_fault(wrong, 1, "expected version 2 of DHAT's files, got 3");
        check_fault(
            FILE.replace("\"eb\":8", "\"eb\":-8"),
            3,
            "expected a value of at least 0, got -8",
        );
    }
}
