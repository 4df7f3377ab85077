//! `fulcrum trace --values` with a Java program: what is asked for is there, in every answer.

use crate::common::java::program;
use crate::common::{check_bad, fulcrum, json};
use fulcrum_test_support::libraries;

const SHOP: &str = r#"
public class Main {
    static int add(String what, int count) { return what.length() * count; }
    static void other(int given) { }
    public static void main(String[] arguments) {
        int sum = 0;
        for (int i = 0; i < 3; i++) { sum += add(i == 1 ? "pears" : "figs", i); other(i); }
        System.out.println(sum);
    }
}
"#;

#[test]
fn values_are_in_trees_lists_queries_and_tables() {
    libraries::all();
    let folder = tempfile::tempdir().unwrap();
    program(SHOP, folder.path());
    let run = folder.path().join("run").to_str().unwrap().to_owned();
    let options = [
        "trace", "--quiet", "--output", &run, "--values", "Main.add", "--", "java", "Main",
    ];
    let output = fulcrum(&options)
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "13\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let told = |args: &[&str]| {
        let output = fulcrum(args).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    };
    let tree = told(&["events", "tree", &run]);
    for call in [
        "Main.add(\"figs\", 0) → 0",
        "Main.add(\"pears\", 1) → 5",
        "Main.add(\"figs\", 2) → 8",
    ] {
        assert!(tree.contains(call), "{tree}");
    }
    let list = told(&["events", "list", &run]);
    assert!(
        list.contains("arguments  Main.add(\"pears\", 1)\n"),
        "{list}"
    );
    assert!(list.contains("returned  Main.add: 5\n"), "{list}");
    // Only what was chosen has values.
    let all = json(&["events", "tree", &run, "--json"]);
    let calls = all["threads"].as_array().unwrap().iter();
    let calls = calls.flat_map(|it| it["calls"].as_array().unwrap());
    for call in calls {
        assert_eq!(
            call["values"].is_null(),
            call["name"] != "Main.add",
            "{call}"
        );
        if call["name"] == "Main.add" {
            assert_eq!(call["values"]["arguments"][1]["kind"], "integer");
        }
    }
    let query = "arguments ~ figs and returned = \"8\" select name, arguments, returned, depth";
    let table = told(&["events", "query", query, &run, "--format", "csv"]);
    assert_eq!(
        table,
        "name,arguments,returned,depth\nadd,\"\"\"figs\"\", 2\",8,1\n"
    );
    let groups = "name = add group by returned select count order by returned";
    let table = told(&["events", "query", groups, &run, "--format", "csv"]);
    assert_eq!(table, "returned,count\n0,1\n5,1\n8,1\n");
    let columns = [
        "--format",
        "tsv",
        "--columns",
        "name,returned",
        "--where",
        "name = other",
    ];
    let table = told(&[&["events", "export", &run][..], &columns].concat());
    assert_eq!(table, "name\treturned\nother\t\nother\t\nother\t\n");
}

#[test]
fn what_is_no_method_is_refused_before_anything_runs() {
    let args = ["trace", "--values", "Main.", "--", "java", "Main"];
    check_bad(&args, 2, "\"Main.\" is not a method: expected CLASS.METHOD");
}
