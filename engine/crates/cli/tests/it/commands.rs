//! The other commands: help, usage, completions, runs, and programs that cannot be profiled.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::common::{check_bad, fixture, fulcrum, json};

fn stdout(args: &[&str]) -> String {
    let run = fulcrum(args).output().expect("it runs");
    assert_eq!(run.status.code(), Some(0), "{args:?}");
    String::from_utf8(run.stdout).expect("text")
}

#[test]
fn help_names_every_command_and_its_options() {
    let table = [
        (
            &["--help"][..],
            &["lsp", "run", "causal", "profile", "runs", "completions"][..],
        ),
        (
            &["run", "--help"],
            &[
                "--duration",
                "--until",
                "--source-scope",
                "--binary-scope",
                "--fixed-line",
                "--fixed-speedup",
                "--sampler",
                "--workspace",
                "--output",
                "--cwd",
            ],
        ),
        (&["causal", "--help"], &["show", "export"]),
        (
            &["causal", "show", "--help"],
            &[
                "--json",
                "--no-phase-correction",
                "--min-points",
                "--progress-point",
                "--top",
            ],
        ),
        (
            &["causal", "export", "--help"],
            &["--format", "coz-json", "--output"],
        ),
        (&["profile", "--help"], &["info", "top", "convert"]),
        (
            &["profile", "top", "--help"],
            &["--against", "--value", "--sort", "--names", "--json"],
        ),
        (&["runs", "--help"], &["list", "show", "rm"]),
    ];
    for (args, parts) in table {
        let help = stdout(args);
        for part in parts {
            assert!(help.contains(part), "{args:?} lacks {part}: {help}");
        }
    }
    assert_eq!(
        stdout(&["--version"]),
        format!("fulcrum {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn wrong_usage_ends_with_2() {
    for args in [
        &["frobnicate"][..],
        &["run"],
        &["run", "--duration", "soon", "true"],
        &["run", "--fixed-line", "main.c", "true"],
        &["run", "--fixed-speedup", "150%", "true"],
        &["causal", "show", "x", "--top", "many"],
        &["causal", "export", "x"],
    ] {
        let run = fulcrum(args).output().expect("it runs");
        assert_eq!(run.status.code(), Some(2), "{args:?}");
        assert!(
            String::from_utf8_lossy(&run.stderr).contains("--help"),
            "{args:?}"
        );
    }
}

/// The answer to `initialize`, through the real binary.
#[test]
fn the_language_server_speaks_on_standard_streams() {
    for args in [
        &["lsp"][..],
        &["lsp", "--stdio"],
        &["lsp", "--script", "script"],
    ] {
        let mut child = fulcrum(args)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut input = child.stdin.take().expect("a pipe");
        for message in [
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#,
            r#"{"jsonrpc":"2.0","method":"initialized","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"shutdown"}"#,
            r#"{"jsonrpc":"2.0","method":"exit"}"#,
        ] {
            write!(input, "Content-Length: {}\r\n\r\n{message}", message.len()).expect("it reads");
        }
        drop(input);
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(
            output.status.code(),
            Some(0),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            said.starts_with("Content-Length: ") && said.contains("inlayHintProvider"),
            "{said}"
        );
    }
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let script = stdout(&["completions", shell]);
        assert!(script.contains("no-phase-correction"), "{shell}");
    }
}

#[test]
fn a_program_that_cannot_start_ends_with_4() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let text = dir.path().join("notes.txt");
    fs::write(&text, "no program").expect("a file");
    let folder = dir.path().to_str().expect("UTF-8");
    let text = text.to_str().expect("UTF-8");
    let missing = format!("{folder}/missing");
    for (program, part) in [
        (missing.as_str(), "missing"),
        (text, "notes.txt"),
        (folder, folder),
    ] {
        check_bad(
            &["run", "-q", "--workspace", folder, "--", program],
            4,
            part,
        );
    }
    assert!(
        !Path::new(folder).join(".fulcrum").exists(),
        "a run was left behind"
    );
}

/// A store of two runs, written as the recorder writes them.
fn store() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a temporary folder");
    for (name, start, ended) in [
        (
            "20261121T131500Z-app",
            "2026-11-21T13:15:00Z",
            r#""exited","exitCode":3"#,
        ),
        (
            "20261121T141500Z-app",
            "2026-11-21T14:15:00Z",
            r#""stopped""#,
        ),
    ] {
        let run = dir.path().join(".fulcrum/runs").join(name);
        fs::create_dir_all(&run).expect("a folder");
        let manifest = format!(
            r#"{{"schema":1,"kind":"causal","command":"/bin/app","arguments":["-n","5"],"start":"{start}","ended":{ended}}}"#
        );
        fs::write(run.join("run.json"), manifest).expect("a file");
        let header = r#"{"type":"header","format":"fulcrum-causal","version":1,"pid":1,"program":"/bin/app","time":1,"period":1000000,"levels":[0.5],"sampler":"perf"}"#;
        fs::write(run.join("causal-1-0.jsonl"), format!("{header}\n")).expect("a file");
    }
    dir
}

#[test]
fn runs_are_listed_shown_and_removed() {
    let dir = store();
    let workspace = dir.path().to_str().expect("UTF-8");
    let listed = json(&["runs", "list", "--workspace", workspace, "--json"]);
    let names: Vec<_> = listed["runs"]
        .as_array()
        .expect("runs")
        .iter()
        .map(|r| &r["folder"])
        .collect();
    assert_eq!(names, ["20261121T141500Z-app", "20261121T131500Z-app"]);
    assert_eq!(listed["runs"][1]["exitCode"], 3);
    assert_eq!(listed["runs"][0]["ended"], "stopped");

    let table = stdout(&["runs", "list", "-w", workspace]);
    assert_eq!(
        table,
        "\
name                  started               ended          command
20261121T141500Z-app  2026-11-21T14:15:00Z  stopped        /bin/app -n 5
20261121T131500Z-app  2026-11-21T13:15:00Z  exit status 3  /bin/app -n 5
"
    );
    let newest = stdout(&["runs", "show", "-w", workspace]);
    assert!(
        newest.contains("20261121T141500Z-app") && newest.contains("stopped"),
        "{newest}"
    );
    let older = json(&[
        "runs",
        "show",
        "20261121T131500Z-app",
        "-w",
        workspace,
        "--json",
    ]);
    assert_eq!(older["exitCode"], 3);

    let gone = ["runs", "rm", "20261121T131500Z-app", "-w", workspace];
    assert_eq!(fulcrum(&gone).status().expect("it runs").code(), Some(0));
    assert!(
        !dir.path()
            .join(".fulcrum/runs/20261121T131500Z-app")
            .exists()
    );
    check_bad(&gone, 3, "there is no run 20261121T131500Z-app");
    // Nothing is deleted when one of several is wrong.
    let one_wrong = [
        "runs",
        "rm",
        "20261121T141500Z-app",
        "nonsense",
        "-w",
        workspace,
    ];
    check_bad(&one_wrong, 3, "there is no run nonsense");
    assert!(
        dir.path()
            .join(".fulcrum/runs/20261121T141500Z-app")
            .exists()
    );
}

#[test]
fn only_runs_are_ever_deleted() {
    let dir = store();
    let workspace = dir.path().to_str().expect("UTF-8");
    let other = dir.path().join("precious");
    fs::create_dir(&other).expect("a folder");
    for path in [other.to_str().expect("UTF-8"), workspace, "..", "."] {
        let run = fulcrum(&["runs", "rm", path, "-w", workspace])
            .output()
            .expect("it runs");
        assert_eq!(run.status.code(), Some(3), "{path}");
    }
    assert!(
        other.is_dir()
            && dir
                .path()
                .join(".fulcrum/runs/20261121T141500Z-app")
                .is_dir()
    );
}

#[test]
fn the_newest_causal_profile_is_shown_whatever_was_recorded_since() {
    let dir = store();
    let runs = dir.path().join(".fulcrum/runs");
    let newer = runs.join("20261122T000000Z-server");
    fs::create_dir(&newer).expect("a folder");
    let manifest = r#"{"schema": 1, "kind": "transactions", "start": "2026-11-22T00:00:00Z"}"#;
    fs::write(newer.join("run.json"), manifest).expect("room");
    let newest = runs.join("20261121T141500Z-app").display().to_string();
    let shown = |args: &[&str]| {
        let run = fulcrum(args).current_dir(dir.path()).output();
        let run = run.expect("it runs");
        (run.status.code(), run.stdout, run.stderr)
    };
    assert_eq!(
        shown(&["causal", "show"]),
        shown(&["causal", "show", &newest])
    );
}

#[test]
fn a_workspace_without_runs_says_so_with_1() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let workspace = dir.path().to_str().expect("UTF-8");
    let run = fulcrum(&["runs", "list", "-w", workspace])
        .output()
        .expect("it runs");
    assert_eq!(run.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&run.stderr).contains("no runs in"));
    let json = fulcrum(&["runs", "list", "-w", workspace, "--json"])
        .output()
        .expect("it runs");
    assert_eq!(
        String::from_utf8_lossy(&json.stdout),
        "{\n  \"runs\": []\n}\n"
    );
    check_bad(&["runs", "show", "-w", workspace], 1, "there are no runs");
    check_bad(
        &["runs", "list", "-w", &fixture("three-lines.coz")],
        3,
        "is not a folder",
    );
    let here = fulcrum(&["causal", "show"])
        .current_dir(dir.path())
        .output()
        .expect("it runs");
    assert_eq!(here.status.code(), Some(1));
}

#[test]
fn runs_are_found_in_folders_above_up_to_one_that_all_users_share() {
    let dir = store();
    let below = dir.path().join("shared/private");
    fs::create_dir_all(&below).expect("folders");
    let exit_code = || {
        let list = fulcrum(&["runs", "list"])
            .current_dir(&below)
            .output()
            .expect("it runs");
        list.status.code()
    };
    assert_eq!(exit_code(), Some(0));
    let shared = dir.path().join("shared");
    fs::set_permissions(shared, fs::Permissions::from_mode(0o1777)).expect("its mode");
    assert_eq!(exit_code(), Some(1));
}
