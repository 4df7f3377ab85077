//! Where the system denies what the runtime would like: samples come another way, and results are the same.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::support::{Lab, marked, recording, run, run_for, says};
use fulcrum_recorder::{Exit, Options, Recorded, Sampler};

/// Seven parts of ten of the work are on line 10 of `shares.cpp`.
fn check(recorded: &Recorded) {
    let recording = recording(recorded);
    assert!(!recording.experiments.is_empty(), "{:?}", recorded.notes);
    let samples = |line: u32| -> u64 {
        let of_line = recording
            .samples
            .iter()
            .filter(|(at, _)| at.location.line == line);
        of_line.map(|(_, count)| *count).sum()
    };
    let (more, less) = (samples(10), samples(14));
    assert!(more > less && less > 0, "{more} and {less} samples");
}

/// As a container's seccomp filter has it.
#[test]
fn a_program_that_may_not_open_perf_events_is_sampled_by_the_timer() {
    let lab = Lab::build("shares.cpp", &["-g"]);
    let helper = Lab::build("without_perf.c", &[]);
    let program = lab.program.to_string_lossy().into_owned();
    for error in ["EPERM", "EACCES"] {
        let options = Options {
            program: helper.program.clone().into(),
            ..lab.options(&[error, &program], 3.0)
        };
        let recorded = run_for(options.clone(), 4);
        check(&recorded);
        assert!(
            says(&recorded, "samples came from the CPU timer"),
            "{:?}",
            recorded.notes
        );
        let refused = run(&Options {
            sampler: Sampler::Perf,
            ..options
        })
        .unwrap();
        assert!(
            says(&refused, "could not be sampled"),
            "{:?}",
            refused.notes
        );
    }
}

/// As a server's workers do. Without root's rights the child cannot become anybody, says so, and is recorded as ever.
#[test]
fn a_child_that_gives_up_its_rights_keeps_its_records() {
    let lab = Lab::build("drops.c", &["-g"]);
    // Nor may the child go to where the run is.
    let home = lab.program.parent().unwrap();
    fs::set_permissions(home, fs::Permissions::from_mode(0o700)).unwrap();
    let line = marked("drops.c", "work");
    let options = Options {
        duration: None,
        fixed_line: Some(format!("drops.c:{line}")),
        ..lab.options(&["5", "500"], 0.0)
    };
    let recorded = run(&options).unwrap();
    // SAFETY: takes no arguments.
    let root = unsafe { libc::geteuid() } == 0;
    assert_eq!(recorded.exit, Exit::Code(if root { 0 } else { 5 }));
    assert!(
        !says(&recorded, "could not be written"),
        "{:?}",
        recorded.notes
    );
    let experiments = recording(&recorded).experiments;
    assert!(!experiments.is_empty(), "{:?}", recorded.notes);
    // Who reads the run later finds it closed.
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o1777;
    assert_eq!(mode(&recorded.run) & 0o002, 0, "{:o}", mode(&recorded.run));
    for entry in fs::read_dir(&recorded.run).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path) & 0o002, 0, "{}", path.display());
    }
}

const INSIDE: &str = "FULCRUM_TEST_AS_NOBODY";

/// Runs itself again without privileges, from a folder that anybody may read.
#[test]
fn a_user_without_privileges_gets_the_same_result() {
    if let Some(folder) = env::var_os(INSIDE).map(PathBuf::from) {
        let options = Options {
            program: folder.join("shares").into(),
            workspace: Some(folder),
            stdio: fulcrum_recorder::Stdio::Files,
            ..Options::default()
        };
        return check(&run_for(options, 4));
    }
    let lab = Lab::build("shares.cpp", &["-g"]);
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let copy = |from: &Path, name: &str| {
        let to = folder.path().join(name);
        fs::copy(from, &to).unwrap();
        to
    };
    copy(&lab.program, "shares");
    let test = env::current_exe().unwrap();
    let library = test.parent().unwrap().join("../libfulcrum_runtime.so");
    let library = copy(&library, "libfulcrum_runtime.so");
    let test = copy(&test, "test");
    // SAFETY: takes no arguments.
    let mut command = if unsafe { libc::geteuid() } == 0 {
        let mut command = Command::new("setpriv");
        command
            .args([
                "--reuid=65534",
                "--regid=65534",
                "--clear-groups",
                "--inh-caps=-all",
            ])
            .arg(test);
        command
    } else {
        Command::new(test)
    };
    let output = command
        .args([
            "--exact",
            "denied::a_user_without_privileges_gets_the_same_result",
        ])
        .current_dir(folder.path())
        .env(INSIDE, folder.path())
        .env("FULCRUM_RUNTIME", library)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}"
    );
}
