//! Logs that cannot grow any further: the recorder says so, and why.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use crate::support::Lab;
use fulcrum_recorder::{Exit, Recorded, Remote, Stdio, TraceOptions, trace};

fn traced(program: &Path, output: PathBuf, limit: u64) -> Recorded {
    let options = TraceOptions {
        program: program.into(),
        output: Some(output),
        limit,
        stdio: Stdio::Files,
        ..TraceOptions::default()
    };
    let recorded = trace(&options, &Remote::default(), &mut |_| {}).expect("it is recorded");
    assert_eq!(recorded.exit, Exit::Code(7), "{:?}", recorded.notes);
    recorded
}

fn lab() -> Lab {
    Lab::build("chatty.c", &["-g", "-finstrument-functions"])
}

/// The same program, in which the log's space is taken from a disk of three megabytes.
fn lab_on_a_small_disk() -> Lab {
    let flags = [
        "-g",
        "-finstrument-functions",
        "-rdynamic",
        "-DDISK=3145728",
    ];
    Lab::build("chatty.c", &flags)
}

fn check(recorded: &Recorded, words: &str) {
    let found = recorded.notes.iter().filter(|it| it.contains(words));
    assert_eq!(found.count(), 1, "{words}: {:?}", recorded.notes);
}

#[test]
fn a_log_that_reaches_its_limit_is_told_when_the_recording_ends() {
    let lab = lab();
    let output = |name: &str| lab.program.with_file_name(name);
    let recorded = traced(&lab.program, output("cut"), 1 << 20);
    check(&recorded, "The log reached its size limit");
    let recorded = traced(&lab.program, output("whole"), 1 << 30);
    assert_eq!(recorded.notes, Vec::<String>::new());
}

const INSIDE: &str = "FULCRUM_TEST_ON_A_SMALL_DISK";
/// What the shell ends with when it may not mount anything.
const NOT_ALLOWED: i32 = 77;

#[test]
fn a_full_disk_is_not_called_a_limit() {
    let lab = lab_on_a_small_disk();
    let recorded = traced(&lab.program, lab.program.with_file_name("run"), 1 << 30);
    check(&recorded, "The disk was full");
}

/// The same with a real disk, on machines that allow one to be mounted. Runs itself again where the run's folder is a disk of three
/// megabytes, which nobody else sees.
#[test]
fn a_full_disk_of_its_own_is_not_called_a_limit() {
    if let Some(disk) = env::var_os(INSIDE).map(PathBuf::from) {
        let recorded = traced(&disk.with_file_name("chatty"), disk.join("run"), 1 << 30);
        return check(&recorded, "The disk was full");
    }
    let lab = lab();
    let disk = lab.program.with_file_name("disk");
    fs::create_dir(&disk).expect("room");
    // SAFETY: takes no arguments.
    let namespaces = match unsafe { libc::geteuid() } {
        0 => "-m",
        _ => "-rm",
    };
    let script =
        format!("mount -t tmpfs -o size=3m none \"$0\" || exit {NOT_ALLOWED}; exec \"$@\"");
    let output = Command::new("unshare")
        .args([namespaces, "sh", "-c", &script])
        .arg(&disk)
        .arg(env::current_exe().expect("a test has a file"))
        .args([
            "--exact",
            "cut::a_full_disk_of_its_own_is_not_called_a_limit",
        ])
        .env(INSIDE, &disk)
        .output()
        .expect("util-linux has unshare");
    let text = String::from_utf8_lossy(&output.stdout);
    let refused = String::from_utf8_lossy(&output.stderr).contains("unshare failed");
    if refused || output.status.code() == Some(NOT_ALLOWED) {
        eprintln!(
            "This machine does not allow a disk of one's own: only the simulated one was tested."
        );
        return;
    }
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}"
    );
}
