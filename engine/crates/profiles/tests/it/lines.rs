//! The lines that ran, of committed recordings. The numbers are those of `go tool pprof -lines`, of `jfr print`, and of a
//! few lines of Python over the files.

use std::path::{Path, PathBuf};

use fulcrum_model::call_tree::ValueType;
use fulcrum_profile_formats::names::default_rules;
use fulcrum_profiles::{Error, Limits, Lines, lines, read};

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../profile-formats/tests/samples")
}

fn of(path: &Path, value: Option<&str>) -> Result<Option<Lines>, Error> {
    let rules = default_rules();
    let known = read(path, &rules)?;
    let types = known.profile.value_types();
    let value = match value {
        Some(name) => types.iter().find(|it| it.name == name),
        None => types.get(known.profile.default_value),
    };
    let value: ValueType = (*value.expect("the profile has it")).clone();
    lines(path, &known.digest, &value, &rules, Limits::default())
}

/// The most costly lines as `file:line base cum function`.
fn top(file: &str, value: Option<&str>, most: usize) -> Vec<String> {
    let found = of(&samples().join(file), value).expect("a profile");
    let mut all = found.expect("it knows lines").lines;
    all.sort_by_key(|it| (-it.base, -it.cum, it.line));
    all.truncate(most);
    all.iter()
        .map(|it| {
            let file = it.file.rsplit('/').next().expect("a name");
            let function = &it.functions[0];
            format!("{file}:{} {} {} {function}", it.line, it.base, it.cum)
        })
        .collect()
}

#[test]
fn lines_cost_what_other_readers_say() {
    // A line of a caller has what was called from it.
    assert_eq!(
        top("work.pb.gz", None, 4),
        [
            "work.go:14 950000000 970000000 main.leaf",
            "work.go:21 160000000 160000000 main.branch",
            "preempt_amd64.s:9 20000000 20000000 runtime.asyncPreempt",
            "proc.go:290 0 1130000000 runtime.main",
        ]
    );
    // Recursion counts once.
    assert_eq!(
        top("loop.folded", None, 2),
        [
            "loop.py:9 128 190 fibonacci (loop.py:9)",
            "loop.py:13 120 120 sort.<locals>.<listcomp> (loop.py:13)",
        ]
    );
    assert_eq!(
        top("loop.speedscope.json", None, 3),
        [
            "loop.py:14 1810000000 1810000000 sort",
            "loop.py:13 1680000000 1680000000 sort.<locals>.<listcomp>",
            "loop.py:9 1590000000 2370000000 fibonacci",
        ]
    );
    assert_eq!(
        top("parked-25.jfr.gz", Some("TLAB allocation"), 2),
        [
            "Parked.java:19 335544960 335544960 Parked.large",
            "Parked.java:13 331473584 331473584 Parked.small",
        ]
    );
    // Line 4 is of `leaf` and has what V8 has inlined of it: 141 samples of its own, 84 of the 107 of `branch`.
    assert_eq!(
        top("work.cpuprofile", Some("samples"), 2),
        ["work.js:4 225 225 leaf", "work.js:10 22 22 branch"]
    );
}

#[test]
fn perf_and_samply_know_lines_where_the_program_has_debug_information() {
    let folder = tempfile::tempdir().expect("a folder");
    let (source, program) = (folder.path().join("spin.c"), folder.path().join("spin"));
    let text = "volatile int sink;\n__attribute__((noinline)) void spin(void) {\n  sink++;\n}\nint main(void) {\n  spin();\n  return 0;\n}\n";
    std::fs::write(&source, text).expect("a source");
    let mut compiler = std::process::Command::new("gcc");
    compiler.args(["-O1", "-g", "-Wl,--build-id", "-o"]);
    compiler.arg(&program).arg(&source);
    assert!(compiler.status().expect("gcc").success());
    let table = fulcrum_names::SymbolTable::open(&program).expect("symbols");
    let inside = (table.base()..table.base() + (1 << 20)).find(|&it| table.at(it) == Some("spin"));
    let address = inside.expect("the function is there") - table.base();
    let id: String = table
        .build_id()
        .expect("a build id")
        .iter()
        .map(|it| format!("{it:02x}"))
        .collect();
    let profile = |id: &str| {
        let file = folder.path().join("spin.json");
        let text = format!(
            r#"{{"meta":{{"preprocessedProfileVersion":49,"symbolicated":false}},"libs":[{{"path":{:?},"codeId":"{id}"}}],
            "threads":[{{"name":"t","pid":1,"tid":1,"stringArray":["0x{address:x}"],"resourceTable":{{"lib":[0]}},
            "funcTable":{{"name":[0],"resource":[0]}},"frameTable":{{"func":[0],"address":[{address}],"line":[null]}},
            "stackTable":{{"prefix":[null],"frame":[0]}},"samples":{{"stack":[0,0],"weightType":"samples"}}}}]}}"#,
            program.to_str().expect("text")
        );
        std::fs::write(&file, text).expect("written");
        file
    };
    let found = of(&profile(&id), None)
        .expect("a profile")
        .expect("lines")
        .lines;
    assert_eq!(
        (found.len(), found[0].base, &*found[0].functions),
        (1, 2, &["spin".to_owned()][..])
    );
    assert!(
        found[0].file.ends_with("spin.c") && [2, 3].contains(&found[0].line),
        "{found:?}"
    );
    // Another build of the program has other code there.
    assert_eq!(of(&profile("00ff"), None).expect("a profile"), None);
    let rules = default_rules();
    let known = read(&profile("00ff"), &rules).expect("a profile").profile;
    let fulcrum_profile_formats::Calls::Tree(tree) = known.calls else {
        panic!("it has stacks");
    };
    assert_eq!(tree.frame(0).name, "[spin]");
}

#[test]
fn formats_without_lines_have_none() {
    for file in ["work.gprof", "work.perf.txt", "shop.perf.txt"] {
        assert_eq!(
            of(&samples().join(file), None).expect("a profile"),
            None,
            "{file}"
        );
    }
}
