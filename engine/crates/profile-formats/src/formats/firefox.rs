//! Firefox's profiles: the browser's own format (rows), and the format of the Firefox Profiler and samply (columns).
//!
//! Libraries: serde_json parses. fxprof-processed-profile only creates profiles of the second format.

mod columns;
mod common;
mod rows;

use serde::Deserialize;

use self::columns::Addresses;
use self::common::Cpu;
use self::rows::Nesting;
use crate::collect::collected::Collected;
use crate::decode::fault::Fault;
use crate::decode::input::Input;

/// The fields that tell the two formats apart.
#[derive(Deserialize)]
struct Head {
    meta: Option<Meta>,
    /// Old recordings are nested in an object.
    profile: Option<Inner>,
}

#[derive(Deserialize)]
struct Inner {
    meta: Option<Meta>,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta {
    #[serde(default)]
    preprocessed_profile_version: Option<f64>,
    #[serde(default)]
    sample_units: Option<SampleUnits>,
    /// Whether the addresses have names.
    #[serde(default)]
    symbolicated: Option<bool>,
    /// The version of the browser's format.
    #[serde(default)]
    version: Option<f64>,
}

/// Before this version, of 2016, other processes were texts among the threads, and the Firefox Profiler's files had no version.
const WITH_PROCESSES: f64 = 5.0;

#[derive(Clone, Deserialize)]
struct SampleUnits {
    #[serde(rename = "threadCPUDelta")]
    cpu: Option<String>,
}

/// Detects the keys of either format.
pub(crate) fn detect(input: &Input) -> bool {
    input.has_keys(&["meta", "threads"]) || input.has_keys(&["profile", "fileType"])
}

/// Reads a profile.
pub(crate) fn read(input: &Input) -> Result<Collected, Fault> {
    let head: Head = input.parse()?;
    let inner = head.profile.and_then(|inner| inner.meta);
    let nesting = match inner {
        Some(_) => Nesting::InProfile,
        None => Nesting::TopLevel,
    };
    let Some(meta) = inner.or(head.meta) else {
        return Err(Fault::whole("expected meta to describe the profile"));
    };
    let addresses = match meta.symbolicated {
        Some(false) => Addresses::Unnamed,
        Some(true) | None => Addresses::Named,
    };
    let (processed, cpu) = (meta.preprocessed_profile_version, meta.sample_units);
    let cpu = Cpu::new(cpu.and_then(|units| units.cpu).as_deref());
    match processed {
        Some(_) => columns::read(input, cpu, addresses),
        None => {
            let old = meta.version.filter(|&version| version < WITH_PROCESSES);
            rows::read(input, nesting, cpu).or_else(|fault| match old {
                Some(version) if !fault.cancelled => {
                    columns::read(input, cpu, addresses).map_err(|other| match other.cancelled {
                        true => other,
                        false => fault.advise(&format!(
                            "this is version {version:.0}, of 2016: open it in the Firefox Profiler (profiler.firefox.com) and \
                             save it there"
                        )),
                    })
                }
                _ => Err(fault),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, check_fault};

    const ROWS: &str = r#"{"meta":{"version":9,"interval":1},"threads":[{"name":"GeckoMain","pid":1,"tid":2,
        "stringTable":["(root)","f (a.js:3)","g"],
        "frameTable":{"schema":{"location":0,"line":1},"data":[[0],[1,5],[2]]},
        "stackTable":{"schema":{"prefix":0,"frame":1},"data":[[null,0],[0,1],[1,2],[1,1]]},
        "samples":{"schema":{"stack":0,"time":1},"data":[[1,0.5],[2,1.5],[3,2],[2,3],[null,4]]}}],
        "processes":[{"meta":{"version":9},"threads":[{"name":"Worker","pid":7,"tid":8,"stringTable":["w"],
        "frameTable":{"schema":{"location":0},"data":[[0]]},
        "stackTable":{"schema":{"frame":1,"prefix":0},"data":[[null,0]]},
        "samples":{"schema":{"stack":0},"data":[[0]]}}]}]}"#;

    #[test]
    fn rows_of_the_browser_are_read_with_all_processes() {
        check(
            ROWS,
            "samples* 5
             {GeckoMain (1/2)} 0
             {GeckoMain (1/2)};(root) 0
             {GeckoMain (1/2)};(root);f 1
             {GeckoMain (1/2)};(root);f;f 1
             {GeckoMain (1/2)};(root);f;g 2
             {Worker (7/8)} 0
             {Worker (7/8)};w 1",
        );
    }

    const COLUMNS: &str = r#"{"meta":{"preprocessedProfileVersion":48,"sampleUnits":{"threadCPUDelta":"µs"}},
        "threads":[{"name":"main","pid":"1","tid":2,"stringArray":["main","f","a.rs"],
        "funcTable":{"name":[0,1],"fileName":[null,2],"lineNumber":[null,7],"length":2},
        "frameTable":{"func":[0,1,1],"length":3},
        "stackTable":{"prefix":[null,0,1],"frame":[0,1,2],"length":3},
        "samples":{"stack":[1,2,null,2],"weight":[2,1,9,1],"weightType":"samples","threadCPUDelta":[10,5,0,null],"length":4}}]}"#;

    #[test]
    fn columns_of_the_profiler_are_read() {
        check(
            COLUMNS,
            "samples* 4
             cpu ns 15000
             main 0 0
             main;f 2 10000
             main;f;f 2 5000",
        );
    }

    #[test]
    fn tables_shared_by_all_threads_are_read() {
        let shared = r#"{"meta":{"preprocessedProfileVersion":60},"shared":{"stringArray":["main","f","a.rs"],
            "sources":{"filename":[2]},"funcTable":{"name":[0,1],"source":[null,0],"lineNumber":[null,7]},
            "frameTable":{"func":[0,1]},"stackTable":{"prefix":[null,0],"frame":[0,1]}},
            "threads":[{"name":"a","pid":1,"tid":1,"samples":{"stack":[1],"weight":null,"weightType":"samples"}},
            {"name":"b","pid":1,"tid":2,"samples":{"stack":[1,0],"weight":[1.5,2],"weightType":"tracing-ms"}}]}"#;
        check(
            shared,
            "samples* 1
             time ns 3500000
             {a (1/1)} 0 0
             {a (1/1)};main 0 0
             {a (1/1)};main;f 1 0
             {b (1/2)} 0 0
             {b (1/2)};main 0 2000000
             {b (1/2)};main;f 0 1500000",
        );
    }

    /// As the profiler saves since version 66, and addresses of libraries since version 70.
    const OFFSETS: &str = r#"{"meta":{"preprocessedProfileVersion":70,"symbolicated":false},
        "libs":[{"path":"/lib/a.so","codeId":"0a"}],
        "shared":{"stringArray":["main","0x1f","g"],"resourceTable":{"name":[0]},
        "funcTable":{"name":[0,1,2],"resource":[-1,0,-1],"lineNumber":[null,null,null]},
        "frameTable":{"func":[0,1,2],"address":[-1,31,-1],"lib":[-1,0,-1]},
        "stackTable":{"prefixOffset":[0,1,2,0],"frame":[0,1,2,2]}},
        "threads":[{"name":"a","pid":1,"tid":1,"samples":{"stack":[1,2,2,3],"weight":null,"weightType":"samples"}}]}"#;

    #[test]
    fn callers_are_told_by_their_distance_and_libraries_by_their_frames() {
        check(
            OFFSETS,
            "samples* 4
             g 1
             main 0
             main;[a.so] 1
             main;g 2",
        );
        check_fault(
            OFFSETS.replace("[0,1,2,0]", "[0,1,3,0]"),
            6,
            "in thread a (1/1): the caller of stack 2 should be 3 rows before it",
        );
        check_fault(
            OFFSETS.replace("prefixOffset", "parent"),
            6,
            "in thread a (1/1): expected a prefix or a prefixOffset",
        );
    }

    #[test]
    fn old_files_are_read_where_they_have_no_other_processes() {
        // The Firefox Profiler's first files had no version of their own.
        check(
            COLUMNS.replace("\"preprocessedProfileVersion\":48", "\"version\":3"),
            "samples* 4
             cpu ns 15000
             main 0 0
             main;f 2 10000
             main;f;f 2 5000",
        );
        let old = ROWS.replace("\"version\":9,\"interval\"", "\"version\":3,\"interval\"");
        let texts = old.replace(
            "\"threads\":[{\"name\":\"Gecko",
            "\"threads\":[\"{}\",{\"name\":\"Gecko",
        );
        let error = crate::read(texts.as_bytes(), "x").expect_err("a text");
        assert!(
            error.advice.starts_with("this is version 3, of 2016"),
            "{error}"
        );
    }

    #[test]
    fn wrong_references_are_errors() {
        for (text, from, to, line, expect) in [
            (
                ROWS,
                "[1,2],[1,1]",
                "[1,2],[1,9]",
                4,
                "in thread GeckoMain (1/2): a stack names frame 9, which the file does not have",
            ),
            (
                ROWS,
                "[0,1],[1,2]",
                "[2,1],[1,2]",
                4,
                "in thread GeckoMain (1/2): node 1 is its own ancestor",
            ),
            (
                ROWS,
                "[[1,0.5]",
                "[[77,0.5]",
                5,
                "in thread GeckoMain (1/2): a sample names stack 77, which the file does not have",
            ),
            (
                ROWS,
                "[[0]]}}]}]}",
                "[[\"0\"]]}}]}]}",
                9,
                "in thread Worker (7/8): expected a row number for stack",
            ),
            (
                COLUMNS,
                "[null,0,1]",
                "[null,0]",
                5,
                "in thread main (1/2): there are 3 frames for 2 prefixes",
            ),
            (
                COLUMNS,
                "[2,1,9,1]",
                "[2,1e19,9,1]",
                6,
                "in thread main (1/2): the value 10000000000000000000 is too large",
            ),
            (
                COLUMNS,
                "\"func\":[0,1,1]",
                "\"func\":[0,1,4]",
                4,
                "in thread main (1/2): a frame names function 4, which the file does not have",
            ),
        ] {
            check_fault(text.replace(from, to), line, expect);
        }
    }

    #[test]
    fn a_fault_does_not_repeat_a_long_name() {
        let name = "x".repeat(1000);
        let file = COLUMNS
            .replace("\"name\":\"main\"", &format!("\"name\":\"{name}\""))
            .replace("[null,0,1]", "[null,0]");
        let expect = format!(
            "in thread {}…: there are 3 frames for 2 prefixes",
            &name[..40]
        );
        check_fault(file, 5, &expect);
    }
}
