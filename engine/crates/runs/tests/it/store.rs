//! Run folders: created, listed, finished, and what the manifest says.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use fulcrum_runs::{
    Ended, Manifest, Recorder, RunFolder, RunInfo, latest, list, runs_folder, stored,
};
use serde_json::Value;

fn begin(cwd: &Path) -> Manifest {
    Manifest::begin(OsStr::new("./two-threads"), &["-n", "3"], cwd)
}

#[test]
fn runs_of_one_second_get_folders_of_their_own_and_list_newest_first() {
    let workspace = tempfile::tempdir().unwrap();
    assert_eq!(list(workspace.path()), []);
    assert_eq!(latest(workspace.path()), None);
    let mut created = Vec::new();
    for _ in 0..12 {
        let run = RunFolder::create(workspace.path(), "build/two threads").unwrap();
        run.write_manifest(&begin(workspace.path())).unwrap();
        created.push(run.path().to_path_buf());
    }
    fs::create_dir(runs_folder(workspace.path()).join("not-a-run")).unwrap();
    fs::write(runs_folder(workspace.path()).join("a-file"), "").unwrap();

    let runs = list(workspace.path());
    let listed: Vec<_> = runs.iter().map(|run| run.path.clone()).collect();
    created.reverse();
    assert_eq!(listed, created);
    assert_eq!(
        latest(workspace.path()).map(|run| run.path),
        created.first().cloned()
    );
    let name = created
        .last()
        .unwrap()
        .file_name()
        .unwrap()
        .to_str()
        .unwrap();
    assert!(
        name.len() == 28 && name.ends_with("Z-two-threads"),
        "{name}"
    );
    assert_eq!(
        fs::read_to_string(workspace.path().join(".fulcrum/.gitignore")).unwrap(),
        "*\n"
    );
}

#[test]
fn names_become_file_names() {
    let workspace = tempfile::tempdir().unwrap();
    for (name, end) in [
        ("", "-run"),
        ("..", "-run"),
        ("/a/b/", "-b"),
        ("a\\b c:d", "-b-c-d"),
        ("..x", "-x"),
        ("é+1.2_b", "-é+1.2_b"),
    ] {
        let run = RunFolder::create(workspace.path(), name).unwrap();
        let base = run.path().file_name().unwrap().to_str().unwrap();
        assert_eq!(&base[16..], end, "{name:?}");
        fs::remove_dir(run.path()).unwrap();
    }
}

#[test]
fn the_manifest_has_the_keys_of_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let run = RunFolder::create_at(&folder.path().join("deep/out")).unwrap();
    let mut manifest = begin(folder.path());
    manifest.options.insert("sampler".into(), "auto".into());
    run.write_manifest(&manifest).unwrap();
    assert_eq!(
        run.read_manifest().unwrap(),
        manifest,
        "this process is alive, so the run goes on"
    );

    run.finish(&mut manifest, Ended::Exited, Some(3), None)
        .unwrap();
    let json: Value =
        serde_json::from_slice(&fs::read(run.path().join("run.json")).unwrap()).unwrap();
    let keys: Vec<&str> = json
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        keys,
        [
            "schema",
            "kind",
            "command",
            "arguments",
            "cwd",
            "environmentNames",
            "host",
            "cpu",
            "kernel",
            "gitRevision",
            "start",
            "end",
            "ended",
            "exitCode",
            "signal",
            "options",
            "tool",
            "sources",
            "notes"
        ]
    );
    assert_eq!(json["schema"], 1);
    assert_eq!(json["kind"], "causal");
    assert_eq!(json["command"], "./two-threads");
    assert_eq!(json["arguments"], serde_json::json!(["-n", "3"]));
    assert_eq!(json["ended"], "exited");
    assert_eq!(json["exitCode"], 3);
    assert_eq!(json["signal"], Value::Null);
    assert_eq!(json["options"]["sampler"], "auto");
    assert_eq!(json["tool"]["name"], "fulcrum");
    assert!(
        json["end"].as_str().unwrap().len() == 20 && json["cpu"].as_str().unwrap().contains('×')
    );
    let names = json["environmentNames"].as_array().unwrap();
    assert!(names.iter().any(|name| name == "PATH"));
    assert!(
        !json.to_string().contains(&std::env::var("PATH").unwrap()),
        "names, never values"
    );
}

#[test]
fn a_run_whose_recorder_died_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let run = RunFolder::create_at(folder.path()).unwrap();
    let mut child = std::process::Command::new("sleep")
        .arg("60")
        .spawn()
        .unwrap();
    let alive = Recorder {
        pid: child.id(),
        started: 0,
    };
    let cases = [
        (Some(Recorder::this()), Ended::Running),
        (Some(alive), Ended::Running),
        // The process id was given to somebody else.
        (
            Some(Recorder {
                started: Recorder::this().started + 1,
                ..Recorder::this()
            }),
            Ended::Lost,
        ),
        (None, Ended::Lost),
    ];
    for (recorder, expected) in cases {
        run.write_manifest(&Manifest {
            recorder,
            ..begin(folder.path())
        })
        .unwrap();
        assert_eq!(run.read_manifest().unwrap().ended, expected, "{recorder:?}");
    }
    child.kill().unwrap();
    // A zombie is dead, too.
    while alive.is_alive() {
        std::thread::yield_now();
    }
    child.wait().unwrap();
    assert!(!alive.is_alive());
}

#[test]
fn an_older_or_newer_manifest_still_reads() {
    let manifest =
        Manifest::parse(br#"{"command":"x","ended":"evaporated","future":1,"tool":{"name":"f"}}"#)
            .unwrap();
    assert_eq!(
        (
            manifest.command.as_str(),
            manifest.ended,
            manifest.tool.name.as_str()
        ),
        ("x", Ended::Lost, "f")
    );
}

#[test]
fn a_folder_that_is_taken_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x"), "").unwrap();
    let text = RunFolder::create_at(folder.path()).unwrap_err().to_string();
    assert!(
        text.starts_with("cannot record into ")
            && text
                .ends_with("the folder is not empty; choose another folder, or remove that one."),
        "{text}"
    );
    let text = RunFolder::create(&folder.path().join("x"), "n")
        .unwrap_err()
        .to_string();
    assert!(
        text.starts_with("cannot create the folder of runs ") && text.ends_with('.'),
        "{text}"
    );
    let text = RunFolder::open(folder.path()).unwrap_err().to_string();
    assert!(
        text.contains("there is no run.json and no causal-*.jsonl in it"),
        "{text}"
    );
}

#[test]
fn sources_are_kept_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let run = RunFolder::create_at(&folder.path().join("run")).unwrap();
    let mut manifest = begin(folder.path());
    let mut paths = Vec::new();
    for sub in ["a", "b"] {
        let path = folder.path().join(sub).join("f g.cpp");
        fs::create_dir(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("int {sub};\n")).unwrap();
        manifest.sources.push(run.snapshot_source(&path).unwrap());
        fs::write(&path, "changed").unwrap();
        paths.push(path.to_str().unwrap().to_owned());
    }
    run.write_manifest(&manifest).unwrap();
    let names: Vec<&str> = manifest
        .sources
        .iter()
        .map(|s| s.snapshot.as_str())
        .collect();
    assert_eq!(names, ["sources/0-f-g.cpp", "sources/1-f-g.cpp"]);
    assert_eq!(run.read_snapshot(&paths[0]).as_deref(), Some("int a;\n"));
    assert_eq!(run.read_snapshot(&paths[1]).as_deref(), Some("int b;\n"));
    assert_eq!(run.read_snapshot("/elsewhere.cpp"), None);
    assert_eq!(run.snapshot_source(Path::new("/nowhere/x.cpp")), None);
    assert_eq!(run.snapshot_source(folder.path()), None);

    // A manifest from elsewhere cannot make us read outside its folder.
    for snapshot in ["../a/f g.cpp".to_owned(), paths[0].clone()] {
        manifest.sources[0].snapshot = snapshot;
        run.write_manifest(&manifest).unwrap();
        assert_eq!(run.read_snapshot(&paths[0]), None);
    }
}

/// Files of a repository, path and text.
type Files<'a> = &'a [(&'a str, String)];

#[test]
fn the_revision_is_found_in_gits_own_files() {
    let id = "0123456789abcdef0123456789abcdef01234567";
    let tree = |files: Files<'_>| {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        fs::create_dir_all(folder.path().join("w/src/deep")).unwrap();
        folder
    };
    let line = |text: &str| format!("{text}\n");
    let cases: [(Files<'_>, Option<&str>); 5] = [
        (&[("w/.git/HEAD", line(id))], Some(id)),
        (
            &[
                ("w/.git/HEAD", line("ref: refs/heads/main")),
                ("w/.git/refs/heads/main", line(id)),
            ],
            Some(id),
        ),
        (
            &[
                ("w/.git/HEAD", line("ref: refs/heads/main")),
                (
                    "w/.git/packed-refs",
                    format!("# pack-refs\n{id} refs/heads/main\n"),
                ),
            ],
            Some(id),
        ),
        (
            &[
                ("w/.git", line("gitdir: ../main/.git/worktrees/w")),
                ("main/.git/worktrees/w/HEAD", line("ref: refs/heads/x")),
                ("main/.git/worktrees/w/commondir", line("../..")),
                ("main/.git/refs/heads/x", line(id)),
            ],
            Some(id),
        ),
        (&[("w/.git/HEAD", line("ref: refs/heads/unborn"))], None),
    ];
    for (files, expected) in cases {
        let folder = tree(files);
        let manifest = begin(&folder.path().join("w/src/deep"));
        assert_eq!(manifest.git_revision.as_deref(), expected, "{files:?}");
    }
}

#[test]
fn a_run_is_deleted_once_it_is_over() {
    let workspace = tempfile::tempdir().unwrap();
    let run = RunFolder::create(workspace.path(), "prog").unwrap();
    let mut manifest = begin(workspace.path());
    run.write_manifest(&manifest).unwrap();
    let refused = run.remove().unwrap_err().to_string();
    assert!(
        refused.ends_with(": it is still being recorded; stop it first."),
        "{refused}"
    );
    assert!(run.path().is_dir());

    run.finish(&mut manifest, Ended::Stopped, None, None)
        .unwrap();
    fs::create_dir(run.path().join("sources")).unwrap();
    fs::write(run.path().join("sources/0-a.cpp"), "int a;").unwrap();
    let bytes = fs::metadata(run.path().join("run.json")).unwrap().len();
    assert_eq!(run.size(), Some(bytes + 6));
    run.remove().unwrap();
    assert_eq!(list(workspace.path()), []);
}

#[test]
fn only_what_stands_in_the_store_is_of_the_store() {
    let workspace = tempfile::tempdir().unwrap();
    let run = RunFolder::create(workspace.path(), "prog").unwrap();
    run.write_manifest(&begin(workspace.path())).unwrap();
    let elsewhere = workspace.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("run.json"), "{}").unwrap();
    let store = runs_folder(workspace.path());
    std::os::unix::fs::symlink(&elsewhere, store.join("link")).unwrap();
    fs::create_dir(store.join("not-a-run")).unwrap();

    let found = |path: &Path| {
        stored(workspace.path(), path)
            .ok()
            .map(|run| run.path().to_path_buf())
    };
    assert_eq!(found(run.path()).as_deref(), Some(run.path()));
    let name = run.path().file_name().unwrap();
    let detour = store.join("not-a-run/..").join(name);
    assert_eq!(found(&detour).as_deref(), Some(run.path()));
    for other in [
        elsewhere,
        store.join("link"),
        store.join("not-a-run"),
        store.join("missing"),
        store.join(".."),
        store,
        workspace.path().to_path_buf(),
        "/".into(),
    ] {
        assert_eq!(found(&other), None, "{other:?}");
    }
}

#[test]
fn runs_of_one_second_have_the_same_subject() {
    let run = |name: &str, command: Option<&str>| RunInfo {
        path: name.into(),
        name: name.into(),
        start: String::new(),
        manifest: command.map(|command| Manifest {
            command: command.into(),
            ..Manifest::default()
        }),
    };
    for (name, command, subject) in [
        ("20261126T004222Z-shop", Some("./shop"), "shop"),
        ("20261126T004222Z-shop-2", Some("./shop"), "shop"),
        ("20261126T004222Z-shop-2", Some("./shop-2"), "shop-2"),
        ("20261126T004222Z-shop-2-2", Some("./shop-2"), "shop-2"),
        ("20261126T004222Z-shop-2", None, "shop-2"),
        ("my-run", Some("./shop"), "my-run"),
    ] {
        assert_eq!(
            run(name, command).subject(),
            subject,
            "{name} of {command:?}"
        );
    }
}
