//! The automatic search on recordings of the samples, whose bottlenecks are known: it names them.

use std::path::Path;

use crate::common::json;

fn file(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../samples/profiles");
    folder.join(name).to_str().expect("UTF-8").to_owned()
}

/// What is suggested, each as its path with the part of the total that it adds in percent.
fn suggested(args: &[&str]) -> Vec<String> {
    let found = json(&[&["suggest", "--auto", "--json"], args].concat());
    let all = found["suggestions"].as_array().expect("suggestions").iter();
    all.map(|it| {
        let path = it["path"].as_array().expect("a path").iter();
        let path: Vec<_> = path.map(|name| name.as_str().expect("a name")).collect();
        let adds = 100.0 * it["marginal"].as_f64().expect("a part");
        format!("{adds:.0} % {}", path.join(" > "))
    })
    .collect()
}

#[test]
fn what_was_planted_is_named() {
    for (recording, expect) in [
        // Two callers of one function, of which one matters: `rank` searches for 2.0 ms of 2.8.
        (
            "paths.perf.txt.gz",
            &[
                "71 % main > main > rank > search",
                "28 % first_stage > extract > search",
            ][..],
        ),
        // callgrind knows calls, not contexts.
        (
            "paths.callgrind.gz",
            &[
                "69 % rank(unsigned long) > search(unsigned long, long)",
                "28 % extract(unsigned long) > search(unsigned long, long)",
            ],
        ),
        // `render` with what it calls, of 10 ms a picture 7; both threads together.
        (
            "functions.speedscope.json",
            &["80 % draw > render", "8 % draw > load"],
        ),
        // Half of the time is the walk along lists that are too long.
        (
            "hash-table.folded",
            &["53 % work > compress", "47 % work > search"],
        ),
        // The functions behind pointers, of 800 steps 400, 300 and 100.
        (
            "indirect-calls.pb.gz",
            &[
                "49 % insert_rows > fetch_page",
                "40 % insert_rows > leave_mutex",
                "11 % insert_rows > memory_size",
            ],
        ),
    ] {
        let found = suggested(&[&file(recording)]);
        assert_eq!(
            &found[..expect.len().min(found.len())],
            expect,
            "{recording}"
        );
    }
}

#[test]
fn what_a_repair_took_away_is_named() {
    // `SAMPLE_FIX=1` uses every bucket: nothing else became cheaper.
    let (before, after) = (file("hash-table.folded"), file("hash-table-fixed.folded"));
    let found = suggested(&[&before, "--against", &after]);
    assert_eq!(found, ["106 % work > search"]);
}
