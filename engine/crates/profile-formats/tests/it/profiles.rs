//! Snapshots of real profiles: format, value types, and the ten functions with the largest own cost.
//!
//! Each snapshot was compared with another reader of its format before it was committed: `pprof -top`, `callgrind_annotate`,
//! gprof2dot, `perf report`, `jfr print`, OpenTelemetry's messages
//! in Python, Python's `pstats`, gprof and stackprof themselves, `ms_print`, `google-pprof`, jeprof, or a few lines of Python over
//! the file.
//!
//! Other people's files are beside the repository, in `shared/profiles`; missing ones are skipped. `UPDATE_EXPECT=1 cargo test`
//! writes the snapshots again.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect_file;
use fulcrum_model::call_tree::FrameKind;
use fulcrum_model::{CallGraph, CallTree};
use fulcrum_profile_formats::{Calls, Profile, read};

const FILES: [&str; 29] = [
    "alloc_objects.pb.gz",
    "bzr.callgrind",
    "firefox59.json",
    "heavy.jfr",
    "pprof-large.cpu.pb.gz",
    "ruby-stackprof.json",
    "rust-mangled.perf.txt",
    "series/1644509272337470000.pb.gz",
    "series/1644509284338649000.pb.gz",
    "series/1644509296350592000.pb.gz",
    "series/1644509299337903000.pb.gz",
    "small/Firefox-61-recursion.json",
    "small/callgrind-callgrind.cfn-reset.log",
    "small/callgrind-callgrind.multiple-event-types.log",
    "small/callgrind-callgrind.name-compression.log",
    "small/linux-perf-forks.linux-perf.txt",
    "small/linux-perf-system-wide.linux-perf.txt",
    "small/pprof-simple.prof",
    "small/speedscope-0.0.1-simple.speedscope.json",
    "small/speedscope-0.1.2-simple-sampled.speedscope.json",
    "small/speedscope-0.6.0-two-sampled.speedscope.json",
    "small/speedscope-invalid-incomplete-trace.json",
    "small/speedscope-invalid-out-of-order-events.json",
    "small/stackcollapse-recursion.txt",
    "small/stackcollapse-simple-crlf.txt",
    "small/stackcollapse-simple-utf16-le.txt",
    "small/stackcollapse-simple-with-invalids.txt",
    "sucrase.cpuprofile",
    "synapse.folded",
];

/// Recordings of known programs by single profilers, made by `samples/record.sh`.
const SAMPLES: [&str; 28] = [
    "cache.callgrind.gz",
    "heap.dhat.json",
    "heap.gperftools",
    "heap.jemalloc",
    "heap.massif",
    "loop.folded",
    "loop.pyinstrument.json",
    "loop.scalene.json.gz",
    "loop.speedscope.json",
    "parked-17.jfr.gz",
    "parked-25.jfr.gz",
    "shop-mangled.perf.txt",
    "shop.perf.data",
    "shop.perf.txt",
    "work-z.perf.data",
    "work.callgrind",
    "work.cpuprofile",
    "work.gprof",
    "work.heapprofile",
    "work.jfr.gz",
    "work.otlp",
    "work.otlp.json",
    "work.pb.gz",
    "work.perf.data",
    "work.perf.txt",
    "work.pstats",
    "work.stackprof.json",
    "work.trace.json",
];

#[test]
fn other_peoples_profiles_have_the_functions_that_they_had() {
    let Some(folder) = shared() else {
        eprintln!("skipped: there is no shared/profiles beside the repository");
        return;
    };
    for file in FILES {
        match fs::read(folder.join(file)) {
            Ok(bytes) => check(file, &bytes),
            Err(error) => eprintln!("skipped {file}: {error}"),
        }
    }
}

#[test]
fn our_own_recordings_have_the_functions_that_they_had() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
    for file in SAMPLES {
        check(file, &fs::read(folder.join(file)).expect("it is committed"));
    }
}

/// The snapshots have the default value type. Other value types are compared with `jfr print` and a few lines of Python.
#[test]
fn allocation_in_buffers_and_parking_are_read_from_both_machines() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples");
    let functions = |file: &str, name: &str| {
        let bytes = fs::read(folder.join(file)).expect("it is committed");
        let profile = read(&bytes, file).expect("a recording");
        let types = profile.value_types().into_iter();
        let row = types.map(|it| &it.name).position(|it| it == name);
        let Calls::Tree(tree) = &profile.calls else {
            panic!("a recording has stacks");
        };
        tree_functions(tree, row.expect("the recording has it"))
    };
    for (file, small, park) in [
        ("parked-17.jfr.gz", 326_789_896, 8_169_783_533),
        ("parked-25.jfr.gz", 331_473_584, 3_612_296_068),
    ] {
        let allocation = functions(file, "TLAB allocation");
        // Forty objects of 8 MB, too large for a buffer, with their headers.
        assert_eq!(allocation["Parked.large"].0, 40 * (8 << 20) + 640);
        assert_eq!(allocation["Parked.small"].0, small, "{file}");
        let parked = functions(file, "park");
        assert_eq!(parked["jdk.internal.misc.Unsafe.park"], (park, park));
        assert!(parked["Parked.pause"].1 >= 40 * 20_000_000, "{file}");
    }
}

/// See `samples/profiles/record.sh`.
#[test]
fn recordings_of_the_samples_have_the_functions_that_they_had() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../samples/profiles");
    for file in [
        "functions.speedscope.json",
        "hash-table.folded",
        "indirect-calls.pb.gz",
        "paths.callgrind.gz",
        "paths.perf.txt.gz",
        "pipeline.samply.json.gz",
    ] {
        check(file, &fs::read(folder.join(file)).expect("it is committed"));
    }
}

fn check(file: &str, bytes: &[u8]) {
    let name = file.replace('/', "-");
    let text = match read(bytes, file) {
        Ok(profile) => summary(&profile),
        Err(error) => format!("{error}\n"),
    };
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    expect_file![golden.join(format!("{name}.txt"))].assert_eq(&text);
}

/// `shared/profiles` in a folder above the crate.
fn shared() -> Option<PathBuf> {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .map(|folder| folder.join("shared/profiles"))
        .find(|folder| folder.is_dir())
}

fn summary(profile: &Profile) -> String {
    let mut out = format!("{:?}\n", profile.format);
    for (row, kind) in profile.value_types().into_iter().enumerate() {
        let star = if row == profile.default_value {
            "*"
        } else {
            ""
        };
        let name = format!("{} {}", kind.name, kind.unit);
        let total: i64 = match &profile.calls {
            Calls::Tree(tree) => tree.total(row),
            Calls::Graphs(graphs) => graphs[row].functions.iter().map(|it| it.base).sum(),
        };
        writeln!(out, "{}{star}: {total}", name.trim_end()).unwrap();
    }
    let functions = match &profile.calls {
        Calls::Tree(tree) => {
            writeln!(out, "{} nodes", tree.len()).unwrap();
            tree_functions(tree, profile.default_value)
        }
        Calls::Graphs(graphs) => {
            let graph = &graphs[profile.default_value];
            let (functions, calls) = (graph.functions.len(), graph.calls.len());
            writeln!(out, "{functions} functions, {calls} calls").unwrap();
            graph_functions(graph)
        }
    };
    for note in &profile.notes {
        writeln!(out, "{note}").unwrap();
    }
    let mut functions: Vec<_> = functions.into_iter().collect();
    functions.sort_by_key(|(name, (base, _))| (-base, name.clone()));
    writeln!(out, "{:>16} {:>16}", "base", "cum").unwrap();
    for (name, (base, cum)) in functions.into_iter().take(10) {
        let name: String = name.chars().take(120).collect();
        writeln!(out, "{base:>16} {cum:>16} {name}").unwrap();
    }
    out
}

/// Own and cumulative cost by name; recursion counts once.
fn tree_functions(tree: &CallTree, value: usize) -> BTreeMap<String, (i64, i64)> {
    let values = tree.values(value);
    let mut before = vec![0];
    for value in values {
        before.push(before.last().unwrap() + value);
    }
    let mut sums: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    let mut active: HashMap<&str, u32> = HashMap::new();
    let mut open: Vec<(u32, &str)> = Vec::new();
    for node in 0..tree.len() {
        while let Some(&(end, name)) = open.last()
            && end <= node
        {
            *active.get_mut(name).unwrap() -= 1;
            open.pop();
        }
        let frame = tree.frame(node);
        if frame.kind == FrameKind::Container {
            continue;
        }
        let (row, end) = (node as usize, tree.ends()[node as usize]);
        let sum = sums.entry(frame.name.clone()).or_default();
        sum.0 += values[row];
        let depth = active.entry(&frame.name).or_default();
        if *depth == 0 {
            sum.1 += before[end as usize] - before[row];
        }
        *depth += 1;
        open.push((end, &frame.name));
    }
    sums
}

fn graph_functions(graph: &CallGraph) -> BTreeMap<String, (i64, i64)> {
    let mut sums: BTreeMap<String, (i64, i64)> = BTreeMap::new();
    for function in &graph.functions {
        let sum = sums.entry(function.name.clone()).or_default();
        sum.0 += function.base;
        sum.1 += function.cum;
    }
    sums
}
