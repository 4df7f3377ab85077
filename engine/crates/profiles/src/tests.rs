//! Sessions and the labels that are kept for them.

use std::fs;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use fulcrum_model::Progress;
use fulcrum_paths::{SavedLabel, SavedLabels};
use fulcrum_profile_formats::names::default_rules;
use tempfile::TempDir;

use crate::{Error, Files, Kept, OpenSearch, write_labels};

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().expect("a folder"))
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, text).expect("it can be written");
        path
    }

    /// Opens a file of the folder, and the labels that are kept for it.
    fn open(&self, file: &PathBuf) -> (OpenSearch, Kept, Vec<String>) {
        let mut session =
            OpenSearch::open(&files(&[file]), &Progress::default()).expect("a profile");
        let (kept, notes) = Kept::open(self.0.path(), &mut session);
        (session, kept.expect("a place for labels"), notes)
    }
}

fn files(files: &[&PathBuf]) -> Files {
    Files {
        files: files.iter().map(|&it| it.clone()).collect(),
        rules: default_rules(),
        ..Files::default()
    }
}

#[test]
fn labels_are_found_again_for_the_same_measurements_wherever_they_are() {
    let folder = Folder::new();
    let first = folder.write("first.folded", "a;b 1\na;c 2\n");
    let (mut session, kept, notes) = folder.open(&first);
    assert_eq!(notes, [""; 0]);
    for (label, path) in [("x", &["a", "b"][..]), ("x", &["c"]), ("y", &["a"])] {
        session.search.label_path(label, path).expect("it is there");
    }
    kept.save(&session).expect("written");
    // The same bytes under another name.
    let moved = folder.write("moved.folded", "a;b 1\na;c 2\n");
    let (again, _, notes) = folder.open(&moved);
    assert_eq!(notes, ["3 paths are labelled as before."]);
    let labels = again.search.save(again.identity.clone()).labels;
    assert_eq!(labels[0].name, "x");
    assert_eq!(labels[0].paths, [vec!["a", "b"], vec!["c"]]);
    assert_eq!(labels[1].paths, [["a"]]);
    // Those of a file that the user names.
    let named = folder.0.path().join("named.labels");
    let only = folder.write("only.folded", "a 1\n");
    let (mut session, _, _) = folder.open(&only);
    session.search.label_path("x", &["a"]).expect("it is there");
    session.save_labels(&named).expect("written");
    let loaded = session.load_labels(&named).expect("readable");
    assert_eq!(loaded, ["1 path is labelled."]);
    // Other measurements have their own.
    let other = folder.write("first.folded", "a;b 1\na;c 3\n");
    let (other, _, notes) = folder.open(&other);
    assert!(notes.is_empty() && other.search.labels().all().is_empty());
}

#[test]
fn without_labels_there_is_no_file_and_other_rules_for_names_lose_none() {
    let folder = Folder::new();
    let file = folder.write("p.folded", "main;f::h0123456789abcdef 3\n");
    let (mut session, kept, _) = folder.open(&file);
    session
        .search
        .label_path("slow", &["main", "f"])
        .expect("renamed");
    kept.save(&session).expect("written");
    let raw = Files {
        rules: Vec::new(),
        ..files(&[&file])
    };
    let mut raw = OpenSearch::open(&raw, &Progress::default()).expect("a profile");
    let (elsewhere, notes) = Kept::open(folder.0.path(), &mut raw);
    assert_eq!(notes, ["\"slow\": this profile does not have [main; f]."]);
    raw.search
        .label_path("slow", &["main"])
        .expect("it is there");
    elsewhere.expect("kept").save(&raw).expect("written");
    let (mut session, kept, notes) = folder.open(&file);
    assert_eq!(notes, ["2 paths are labelled as before."]);
    assert_eq!(session.search.remove_label("slow"), 2);
    kept.save(&session).expect("removed");
    assert!(!kept.path().exists());
    kept.save(&session).expect("nothing to remove");
}

#[test]
fn a_damaged_label_file_is_said_and_left_alone() {
    let folder = Folder::new();
    let file = folder.write("p.folded", "a 1\n");
    let (mut session, kept, _) = folder.open(&file);
    session.search.label_path("x", &["a"]).expect("it is there");
    kept.save(&session).expect("written");
    let path = kept.path().to_owned();
    let newer = fs::read_to_string(&path).expect("text");
    let newer = newer.replace("\"version\": 1", "\"version\": 99");
    for (text, part) in [
        ("{\"labels\": 3}", "expected labels"),
        (&newer, "update Fulcrum"),
    ] {
        fs::write(&path, text).expect("it can be written");
        let mut session =
            OpenSearch::open(&files(&[&file]), &Progress::default()).expect("a profile");
        let (kept, notes) = Kept::open(folder.0.path(), &mut session);
        assert!(kept.is_none());
        assert!(notes[0].contains(part), "{notes:?}");
        assert_eq!(fs::read_to_string(&path).expect("text"), text);
    }
}

#[test]
fn another_value_type_keeps_labels_settings_and_the_current_path() {
    let folder = Folder::new();
    let speedscope = r#"{"$schema":"https://www.speedscope.app/file-format-schema.json",
        "shared":{"frames":[{"name":"a"},{"name":"b"}]},"profiles":[
        {"type":"sampled","name":"p","unit":"none","startValue":0,"endValue":3,"samples":[[0,1],[0]],"weights":[1,2]}]}"#;
    let file = folder.write("p.json", speedscope);
    let (mut session, ..) = folder.open(&file);
    session
        .search
        .select_path(&["a", "b"])
        .expect("it is there");
    session.search.label("x").expect("a current path");
    session.search.set_zooming(true);
    session.set_value("1").expect("the same");
    assert!(session.search.zooming());
    assert_eq!(session.search.labels().all()[0].name, "x");
    assert!(session.search.current().is_some());
    let absent = session.set_value("bytes").expect_err("no such value");
    assert!(
        absent.to_string().contains("no value type \"bytes\""),
        "{absent}"
    );
}

#[test]
fn opening_reports_its_phases_and_can_be_cancelled() {
    let folder = Folder::new();
    let [a, b] = ["a", "b"].map(|name| folder.write(name, "x 1\n"));
    let both = Files {
        against: vec![b],
        ..files(&[&a])
    };
    let said = Arc::new(Mutex::new(Vec::new()));
    let open = |most: usize| {
        said.lock().unwrap().clear();
        let said = Arc::clone(&said);
        let token = Progress::default();
        let handle = token.clone();
        let progress = token.with_listener(move |phase: &str, fraction: f64| {
            let mut said = said.lock().unwrap();
            said.push(format!("{phase} {fraction:.2}"));
            if said.len() > most {
                handle.cancel();
            }
        });
        OpenSearch::open(&both, &progress)
    };
    assert!(open(usize::MAX).is_ok());
    let mut all = said.lock().unwrap().clone();
    let count = all.len();
    all.dedup();
    // When nothing, when everything is read of a file.
    assert_eq!(
        all,
        [
            "reading a 0.00",
            "reading a 0.28",
            "reading b 0.33",
            "reading b 0.62",
            "preparing the search 0.67",
            "preparing the search 1.00"
        ]
    );
    for most in 0..count {
        assert_eq!(open(most).err(), Some(Error::Cancelled), "{most}");
        assert_eq!(said.lock().unwrap().len(), most + 1, "it went on");
    }
}

#[test]
fn labels_are_written_through_links_and_stay_as_private_as_they_were() {
    let folder = tempfile::tempdir().expect("a folder");
    let [target, link] = ["target.json", "link.json"].map(|it| folder.path().join(it));
    let labels = SavedLabels {
        version: SavedLabels::VERSION,
        profile: Default::default(),
        labels: Vec::new(),
    };
    write_labels(&target, &labels).expect("it can be written");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).expect("it is ours");
    symlink("target.json", &link).expect("a link");
    let before = fs::read_to_string(&target).expect("text");
    let named = SavedLabel {
        name: "x".into(),
        paths: vec![vec!["a".into()]],
    };
    let labels = SavedLabels {
        labels: vec![named],
        ..labels
    };
    write_labels(&link, &labels).expect("it can be written");
    assert!(
        fs::symlink_metadata(&link)
            .expect("it is there")
            .is_symlink()
    );
    assert_ne!(fs::read_to_string(&target).expect("text"), before);
    let mode = fs::metadata(&target)
        .expect("it is there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    // What is no file is written to, not replaced.
    let socket = folder.path().join("socket");
    let _bound = UnixListener::bind(&socket).expect("a socket");
    assert!(
        write_labels(&socket, &labels).is_err(),
        "nobody writes so into a socket"
    );
    assert!(
        fs::metadata(&socket)
            .expect("it is there")
            .file_type()
            .is_socket()
    );
}

#[test]
fn labels_without_a_name_are_left_out_and_the_rest_is_read() {
    let folder = Folder::new();
    let file = folder.write("p.folded", "main;a 1\n");
    let (mut session, ..) = folder.open(&file);
    let label = |name: &str| SavedLabel {
        name: name.into(),
        paths: vec![vec!["main".into()], vec!["main".into()], vec!["a".into()]],
    };
    let saved = SavedLabels {
        labels: vec![label(""), label("x")],
        ..session.search.save(session.identity.clone())
    };
    let loaded = session.load(&saved).expect("this version");
    assert_eq!(
        (loaded.nameless, loaded.restored, loaded.absent.len()),
        (3, 3, 0)
    );
    assert_eq!(
        session
            .search
            .labels()
            .get("x")
            .map(|it| it.summaries.len()),
        Some(2)
    );
}
