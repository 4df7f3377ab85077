//! Loading: from every place a profile can be, and after every crash a writer can have.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use fulcrum_runs::{Ended, Manifest, RunFolder, load_causal};

const HEADER: &str = "{\"type\":\"header\",\"format\":\"fulcrum-causal\",\"version\":1,\"pid\":7,\"levels\":[0.5,1.0]}\n";

fn stream(line: u32, experiments: u64) -> String {
    let mut text = HEADER.to_owned();
    for i in 0..experiments {
        let start = i * 1000;
        text += &format!(
            "{{\"type\":\"experiment\",\"selected\":\"/w/f.cpp:{line}\",\"speedup\":0.5,\"duration\":900,\"selected_samples\":3,\"start\":{start},\"wall\":950,\"points\":[{{\"name\":\"iter\",\"kind\":\"throughput\",\"delta\":40}}]}}\n"
        );
        text += &format!(
            "{{\"type\":\"samples\",\"time\":{},\"total\":9,\"in_scope\":8,\"lines\":{{\"/w/f.cpp:{line}\":{},\"/w/g.cpp:1\":1}}}}\n",
            start + 990,
            i + 1
        );
    }
    text + &format!(
        "{{\"type\":\"end\",\"time\":{},\"reason\":\"exit\"}}\n",
        experiments * 1000
    )
}

fn run(folder: &Path) -> (RunFolder, Manifest) {
    let run = RunFolder::create_at(&folder.join("20261121T131500Z-prog")).unwrap();
    let mut manifest = Manifest::begin(OsStr::new("build/prog"), &[""; 0], folder);
    manifest.start = "2026-11-21T13:15:00Z".into();
    (run, manifest)
}

#[test]
fn a_run_loads_by_its_folder_its_manifest_and_its_data() {
    let folder = tempfile::tempdir().unwrap();
    let (run, mut manifest) = run(folder.path());
    manifest.notes.push("Said by the recorder.".into());
    run.finish(&mut manifest, Ended::Exited, Some(0), None)
        .unwrap();
    fs::write(run.path().join("causal-7-0.jsonl"), stream(12, 3)).unwrap();
    for path in [
        run.path().to_path_buf(),
        run.path().join("run.json"),
        run.path().join("causal-7-0.jsonl"),
    ] {
        let loaded = load_causal(&path).unwrap();
        assert_eq!(loaded.recording.experiments.len(), 3, "{path:?}");
        assert_eq!(loaded.recording.runtime_ns, 3000 - 3 * 50);
        assert_eq!(loaded.recording.levels, [0.5, 1.0]);
        assert_eq!(loaded.folder.as_deref(), Some(run.path()));
        assert_eq!(loaded.manifest.as_ref(), Some(&manifest));
    }
    let loaded = load_causal(run.path()).unwrap();
    assert_eq!(loaded.title, "prog, 2026-11-21 13:15");
    assert_eq!(loaded.recording.notes, ["Said by the recorder."]);
}

#[test]
fn the_processes_of_a_run_add_up() {
    let folder = tempfile::tempdir().unwrap();
    let (run, manifest) = run(folder.path());
    run.write_manifest(&manifest).unwrap();
    fs::write(run.path().join("causal-7-0.jsonl"), stream(12, 3)).unwrap();
    fs::write(run.path().join("causal-8-0.jsonl"), stream(30, 2)).unwrap();
    fs::write(run.path().join("causal-9-0.jsonl"), "").unwrap();
    fs::write(run.path().join("causal-6-0.jsonl"), "\x7fELF").unwrap();
    fs::write(run.path().join("session.ctl"), [0; 64]).unwrap();
    let loaded = load_causal(run.path()).unwrap();
    let mut samples: Vec<(String, u64)> = loaded
        .recording
        .samples
        .iter()
        .map(|(at, count)| (at.to_string(), *count))
        .collect();
    samples.sort();
    assert_eq!(
        samples,
        [
            ("/w/f.cpp:12".into(), 3),
            ("/w/f.cpp:30".into(), 2),
            ("/w/g.cpp:1".into(), 2)
        ]
    );
    assert_eq!(loaded.recording.experiments.len(), 5);
    assert_eq!(loaded.recording.runtime_ns, 5000 - 5 * 50);
    let notes = loaded.recording.notes;
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(
        notes[0].starts_with("One process was left out. ")
            && notes[0].contains("this is a program or library"),
        "{notes:?}"
    );
    assert_eq!(
        notes[1],
        "One process was left out. causal-9-0.jsonl is empty: that process ended before its first record."
    );
}

/// A stream of so many experiments on a line that every program here has.
fn stream_of(program: &str, experiments: u64) -> String {
    let named = format!("\"pid\":7,\"program\":\"{program}\",");
    stream(12, experiments).replace("\"pid\":7,", &named)
}

#[test]
fn what_several_programs_counted_has_several_names() {
    let folder = tempfile::tempdir().unwrap();
    let (run, manifest) = run(folder.path());
    run.write_manifest(&manifest).unwrap();
    let write = |name: &str, text: String| fs::write(run.path().join(name), text).unwrap();
    let counted = |path: &Path| -> Vec<(String, usize)> {
        let loaded = load_causal(path).unwrap();
        let mut names: Vec<String> = loaded
            .recording
            .experiments
            .iter()
            .flat_map(|it| it.points.iter().map(|point| point.name.clone()))
            .collect();
        names.sort();
        let mut counts: Vec<(String, usize)> = Vec::new();
        for name in names {
            match counts.last_mut() {
                Some((last, count)) if *last == name => *count += 1,
                _ => counts.push((name, 1)),
            }
        }
        counts
    };
    let expect = |expected: &[(&str, usize)]| {
        let expected: Vec<(String, usize)> = expected
            .iter()
            .map(|(name, count)| ((*name).to_owned(), *count))
            .collect();
        assert_eq!(counted(run.path()), expected);
    };
    write("causal-7-0.jsonl", stream_of("/w/server", 3));
    write("causal-8-0.jsonl", stream_of("/w/server", 2));
    write("causal-9-0.jsonl", stream_of("/w/helper", 0));
    expect(&[("iter", 5)]);
    write("causal-9-0.jsonl", stream_of("/w/helper (deleted)", 4));
    expect(&[("helper: iter", 4), ("server: iter", 5)]);
    // Programs of one name are told apart by their folders.
    write("causal-10-0.jsonl", stream_of("/other/server", 1));
    expect(&[
        ("/other/server: iter", 1),
        ("/w/server: iter", 5),
        ("helper: iter", 4),
    ]);

    let helper = load_causal(run.path())
        .unwrap()
        .of_program("helper")
        .unwrap();
    assert_eq!(helper.recording.experiments.len(), 4);
    assert_eq!(helper.recording.experiments[0].points[0].name, "iter");
    assert_eq!(helper.recording.streams[0].points, ["iter"]);
    assert_eq!(helper.recording.runtime_ns, 4000 - 4 * 50);
    let samples: u64 = helper.recording.samples.iter().map(|it| it.1).sum();
    assert_eq!(samples, 4 + 1);
    let why = load_causal(run.path())
        .unwrap()
        .of_program("server")
        .unwrap_err();
    assert!(why.contains("/other/server, /w/server, helper"), "{why}");
}

#[test]
fn a_coz_file_needs_no_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("profile.coz");
    fs::write(&path, "startup\ttime=1\nexperiment\tselected=a.c:1\tspeedup=0.00\tduration=5\tselected-samples=1\n").unwrap();
    let loaded = load_causal(&path).unwrap();
    assert_eq!(
        (loaded.title.as_str(), loaded.recording.experiments.len()),
        ("profile.coz", 1)
    );
    assert_eq!((loaded.manifest, loaded.folder), (None, None));
}

#[test]
fn what_cannot_be_loaded_gets_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("empty.coz"), "").unwrap();
    for (path, part) in [
        ("missing.coz", "cannot read "),
        ("missing.coz", "; check the path."),
        ("empty.coz", "empty.coz: the file is empty"),
        (
            "",
            "is not a run: there is no run.json and no causal-*.jsonl in it; choose a folder in .fulcrum/runs",
        ),
        ("run.json", "cannot read "),
    ] {
        let text = load_causal(&folder.path().join(path))
            .unwrap_err()
            .to_string();
        assert!(
            text.contains(part) && text.ends_with('.') && !text.contains('\n'),
            "{path}: {text}"
        );
    }
}

/// What the recorder writes next.
type Write = fn(&RunFolder, &mut Manifest);

/// The runtime is killed between any two bytes of its stream, while the recorder is between any two of its writes.
#[test]
fn a_run_stays_readable_wherever_its_writers_die() {
    let folder = tempfile::tempdir().unwrap();
    let (run, mut manifest) = run(folder.path());
    let text = stream(12, 3);
    let data = run.path().join("causal-7-0.jsonl");
    // The recorder's states on disk, in order: no manifest, a manifest that says running, one that is finished; each also
    // with a temporary file of the next state cut anywhere.
    let states: [Option<Write>; 3] = [
        None,
        Some(|run, manifest| {
            manifest.recorder = None;
            run.write_manifest(manifest).unwrap();
        }),
        Some(|run, manifest| run.finish(manifest, Ended::Exited, Some(0), None).unwrap()),
    ];
    for (state, write) in states.into_iter().enumerate() {
        if let Some(write) = write {
            write(&run, &mut manifest);
        }
        let next = manifest.to_json();
        for end in 0..=text.len() {
            fs::write(&data, &text[..end]).unwrap();
            fs::write(
                run.path().join(".run.json.1.tmp"),
                &next[..end % next.len()],
            )
            .unwrap();
            let loaded = load_causal(run.path()).unwrap();
            let whole = text[..end].split_inclusive('\n');
            let whole = whole
                .filter(|l| l.contains("\"experiment\"") && l.ends_with('\n'))
                .count();
            let found = loaded.recording.experiments.len();
            assert!(
                found == whole || found == whole + 1,
                "state {state}, cut at {end}: {found} of {whole}"
            );
            let ended = loaded.manifest.map(|m| m.ended);
            assert_eq!(ended, [None, Some(Ended::Lost), Some(Ended::Exited)][state]);
            if end < text.len() - 1 {
                assert!(
                    !loaded.recording.notes.is_empty(),
                    "state {state}, cut at {end}: said so"
                );
            }
        }
    }
}

/// Not even a manifest that some other tool wrote in pieces keeps the data from being read.
#[test]
fn a_broken_manifest_is_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let (run, manifest) = run(folder.path());
    fs::write(run.path().join("causal-7-0.jsonl"), stream(12, 3)).unwrap();
    let text = manifest.to_json();
    for end in 0..text.trim_end().len() {
        fs::write(run.path().join("run.json"), &text.as_bytes()[..end]).unwrap();
        let loaded = load_causal(run.path()).unwrap();
        assert_eq!(
            (loaded.recording.experiments.len(), loaded.manifest),
            (3, None),
            "cut at {end}"
        );
        let note = &loaded.recording.notes[0];
        assert!(
            note.starts_with("The run's description is missing or broken"),
            "{note}"
        );
        assert_eq!(loaded.title, "20261121T131500Z-prog");
    }
}

#[test]
fn a_run_without_a_recording_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let (run, mut manifest) = run(folder.path());
    run.write_manifest(&manifest).unwrap();
    let loaded = load_causal(run.path()).unwrap();
    assert!(loaded.recording.experiments.is_empty());
    assert!(
        loaded.recording.notes[0].starts_with("The run holds no recording: "),
        "{:?}",
        loaded.recording.notes
    );
    // The recorder's own reason is the only one.
    manifest.notes = vec!["The program failed at once.".into()];
    run.write_manifest(&manifest).unwrap();
    let loaded = load_causal(run.path()).unwrap();
    assert_eq!(loaded.recording.notes, manifest.notes);
}
