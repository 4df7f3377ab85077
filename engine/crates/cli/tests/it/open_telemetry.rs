//! `fulcrum transactions export --to otlp`: what is written is read again with the same numbers.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::common::{fulcrum, json};

/// The trace and the span that requests of one kind say to be asked for in.
const TRACE: [u8; 16] = 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736_u128.to_be_bytes();
const PARENT: [u8; 8] = 0x00f0_67aa_0ba9_02b7_u64.to_be_bytes();

/// Of a run in which so many requests told the trace.
pub(crate) fn check(run: &str, told: usize) {
    let [otlp, spans, pprof] =
        ["all.otlp", "all.spans.otlp", "all.pb.gz"].map(|it| format!("{run}/{it}"));
    export(run, &["--to", "otlp", "--into", &otlp]);
    export(run, &["--to", "pprof", "--into", &pprof]);
    let written = std::fs::read(&spans).expect("the spans");
    for name in ["GET /buy", "GET /list", "GET /report", "GET /checkout"] {
        assert!(count(&written, name.as_bytes()) >= 5, "{name}");
    }
    // Only the transaction itself has the span of whoever asked; its stages are of the same trace.
    assert_eq!(count(&written, &PARENT), told);
    assert!(count(&written, &TRACE) >= 2 * told);
    let first = written;
    export(run, &["--to", "otlp", "--into", &otlp]);
    let again = std::fs::read(&spans).expect("the spans");
    assert_eq!(first.len(), again.len());
    assert!(first == again, "numbers are the same each time");
    let shown = json(&["transactions", "show", run, "--json"]);
    if shown["totalCpuNs"] == 0 {
        // Where samples are not allowed, nothing is there to be read.
        return;
    }
    check_numbers(&otlp, &pprof);
    check_types(&otlp, run, &shown);
}

fn export(run: &str, args: &[&str]) {
    let export = ["transactions", "export", run];
    let output = fulcrum(&[&export[..], args].concat()).output();
    let output = output.expect("it runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {errors}");
}

fn count(bytes: &[u8], part: &[u8]) -> usize {
    bytes.windows(part.len()).filter(|it| *it == part).count()
}

/// Every function costs the same.
fn check_numbers(otlp: &str, pprof: &str) {
    let [a, b] = [otlp, pprof].map(|it| json(&["profile", "top", it, "--top", "0", "--json"]));
    assert_eq!((&a["total"], &a["unit"]), (&b["total"], &b["unit"]));
    let costs = |of: &Value| -> BTreeMap<String, (i64, i64)> {
        let functions = of["functions"].as_array().expect("a list").iter();
        let number = |it: &Value| it.as_i64().expect("a number");
        functions
            .map(|it| {
                let name = it["name"].as_str().expect("a name").to_owned();
                (name, (number(&it["base"]), number(&it["cum"])))
            })
            .collect()
    };
    assert_eq!(costs(&a), costs(&b));
}

/// Every type costs the same.
fn check_types(otlp: &str, run: &str, shown: &Value) {
    let folded = format!("{run}/all-otlp.folded");
    let convert = [
        "profile", "convert", otlp, "--to", "folded", "--output", &folded,
    ];
    let output = fulcrum(&convert).output().expect("it runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let mut read: BTreeMap<String, u64> = BTreeMap::new();
    for line in std::fs::read_to_string(folded).expect("a profile").lines() {
        let (stack, value) = line.rsplit_once(' ').expect("a value");
        let (of, _) = stack.split_once(';').expect("a thread");
        *read.entry(of.to_owned()).or_default() += value.parse::<u64>().expect("a number");
    }
    for it in shown["types"].as_array().expect("a list") {
        let name = match it["name"].as_str().expect("a name") {
            "no transaction" => "no span",
            name => name,
        };
        let cpu_ns = it["cpuNs"].as_u64().expect("a number");
        assert_eq!(
            read.get(name).copied().unwrap_or(0),
            cpu_ns,
            "{name}: {read:?}"
        );
    }
}
