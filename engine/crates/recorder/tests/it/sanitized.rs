//! Programs that were built with a sanitizer, and programs that restrict their own system calls: they do under Fulcrum what
//! they do alone, and are sampled by what is left.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{Lab, PATIENCE, marked, recording, says};
use fulcrum_recorder::{Exit, Options, Recorded, Remote, record};

/// Output and exit status of the program alone, which ends after one round of work.
fn alone(lab: &Lab, words: &[&str]) -> (String, i32) {
    let output = Command::new(&lab.program)
        .args(words)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    (text, output.status.code().unwrap_or(-1))
}

/// Records until there is an experiment, if `wanted`, and then has the program end by itself.
fn recorded(lab: &Lab, words: &[&str], end: &Path, wanted: u64) -> Recorded {
    let _ = fs::remove_file(end);
    let options = Options {
        duration: None,
        ..lab.options(words, 0.0)
    };
    let remote = Remote::default();
    let recorded = record(&options, &remote, &mut |progress| {
        if progress.experiments >= wanted || progress.elapsed > PATIENCE {
            fs::write(end, "").unwrap();
        }
    });
    recorded.unwrap()
}

fn output(recorded: &Recorded) -> String {
    fs::read_to_string(recorded.run.join("stdout.txt")).unwrap()
}

/// Builds `sanitized.cpp` with these flags and runs it alone and recorded; `what` it does wrong, the sanitizer ends with
/// `status`.
fn check(flags: &[&str], what: &str, status: i32) {
    let flags = [&["-g"], flags].concat();
    let lab = Lab::build("sanitized.cpp", &flags);
    let end = lab.program.with_extension("end");
    let words = [end.to_str().unwrap(), what];
    fs::write(&end, "").unwrap();
    let (text, code) = alone(&lab, &words);
    assert_eq!(code, status, "alone, with {flags:?}");
    let recorded = recorded(&lab, &words, &end, 1);
    assert_eq!(output(&recorded), text, "{flags:?}");
    assert_eq!(recorded.exit, Exit::Code(status), "{flags:?}");
    let found = recording(&recorded);
    assert!(!found.experiments.is_empty(), "{:?}", recorded.notes);
    let line = marked("sanitized.cpp", "work");
    let samples = |it: &&(fulcrum_model::TargetId, u64)| it.0.location.line == line;
    let samples = found.samples.iter().find(samples).map_or(0, |it| it.1);
    assert!(samples > 0, "{:?}", found.samples);
}

#[test]
fn address_sanitizer_need_not_come_first() {
    check(&["-fsanitize=address"], "", 0);
    check(&["-fsanitize=address"], "leak", 1);
}

#[test]
fn address_sanitizer_may_be_in_the_program() {
    check(&["-fsanitize=address", "-static-libasan"], "", 0);
}

#[test]
fn thread_sanitizer_does_not_see_our_thread() {
    check(&["-fsanitize=thread"], "", 0);
    check(&["-fsanitize=thread"], "race", 66);
}

#[test]
fn the_sanitizers_of_leaks_and_undefined_behaviour_say_what_they_say_alone() {
    check(&["-fsanitize=leak"], "leak", 23);
    check(&["-fsanitize=undefined"], "", 0);
}

/// How `sandboxed.c` ends under Fulcrum: as alone.
fn sandboxed(how: &str, wanted: u64) -> Recorded {
    let lab = Lab::build("sandboxed.c", &["-g"]);
    let end = lab.program.with_extension("end");
    let words = [how, end.to_str().unwrap()];
    fs::write(&end, "").unwrap();
    let (text, code) = alone(&lab, &words);
    assert_eq!((&*text, code), ("begins\ndone\n", 3), "{how}, alone");
    let recorded = recorded(&lab, &words, &end, wanted);
    assert_eq!(output(&recorded), text, "{how}: {:?}", recorded.notes);
    assert_eq!(recorded.exit, Exit::Code(3), "{how}");
    recorded
}

#[test]
fn what_a_program_forbids_itself_is_not_called() {
    let recorded = sandboxed("perf", 1);
    assert!(
        says(&recorded, "came from the CPU timer"),
        "{:?}",
        recorded.notes
    );
    let recorded = sandboxed("samples", 0);
    assert!(
        says(&recorded, "could not be sampled"),
        "{:?}",
        recorded.notes
    );
}

#[test]
fn a_program_that_forbids_itself_nearly_everything_is_left_alone() {
    for how in ["list", "strict"] {
        let recorded = sandboxed(how, 0);
        assert!(
            says(&recorded, "gave up system calls that Fulcrum needs"),
            "{how}: {:?}",
            recorded.notes
        );
        // That says it all.
        assert!(
            !says(&recorded, "No progress point"),
            "{:?}",
            recorded.notes
        );
    }
}

/// A sandbox around the program: it can only be found out what that kills for.
#[test]
fn what_a_sandbox_kills_for_is_not_called() {
    let lab = Lab::build("shares.cpp", &["-g"]);
    let helper = Lab::build("without_perf.c", &[]);
    let options = Options {
        program: helper.program.clone().into(),
        duration: None,
        ..lab.options(&["KILL", lab.program.to_str().unwrap(), "1500"], 0.0)
    };
    let recorded = crate::support::run(&options).unwrap();
    assert_eq!(recorded.exit, Exit::Code(0), "{:?}", recorded.notes);
    assert!(
        says(&recorded, "came from the CPU timer"),
        "{:?}",
        recorded.notes
    );
    assert!(!recording(&recorded).samples.is_empty());
}
