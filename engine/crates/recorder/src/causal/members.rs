//! The processes that belong to a run: those that inherited its folder in their environment, whatever their parent is now.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use fulcrum_wire::SESSION_VARIABLE;

use super::process::{Answer, Watched};

/// The most programs to name.
const MOST_NAMES: usize = 6;

/// The ids of the run's processes, without zombies. Only root sees processes of other users.
pub(crate) fn members(run: &Path) -> Vec<u32> {
    let mut variable = format!("{SESSION_VARIABLE}=").into_bytes();
    variable.extend_from_slice(run.as_os_str().as_encoded_bytes());
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter(|pid| has_variable(*pid, &variable)).collect()
}

fn has_variable(pid: u32, variable: &[u8]) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment
        .split(|byte| *byte == 0)
        .any(|it| it == variable)
}

/// A sentence on which processes were profiled, if there was more than one.
pub(crate) fn profiled_programs(processes: &[Watched]) -> Option<String> {
    let is_profiled = |it: &&Watched| matches!(it.answer, Answer::Profiled);
    let (profiled, others): (Vec<&Watched>, Vec<&Watched>) =
        processes.iter().partition(is_profiled);
    if profiled.len() < 2 {
        return None;
    }
    let mut text = format!(
        "{} processes were profiled: {}",
        profiled.len(),
        names(profiled.into_iter())
    );
    if !others.is_empty() {
        let others = names(others.into_iter());
        text.push_str(&format!("; without code in scope: {others}"));
    }
    Some(text + ".")
}

/// The programs of the processes, each once, with the number of its processes: `make, sh (4)`.
pub(crate) fn names<'a>(processes: impl Iterator<Item = &'a Watched>) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for process in processes {
        let name = process.program.file_name();
        let name = name.map_or_else(|| "?".into(), |it| it.to_string_lossy().into_owned());
        *counts.entry(name).or_default() += 1;
    }
    let all = counts.len();
    let mut names: Vec<String> = counts
        .into_iter()
        .take(MOST_NAMES)
        .map(|(name, count)| match count {
            1 => name,
            count => format!("{name} ({count})"),
        })
        .collect();
    if all > MOST_NAMES {
        names.push(format!("{} more programs", all - MOST_NAMES));
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_known_by_the_folder_that_they_inherit() {
        let run = Path::new("/a run/of this test");
        let mut child = std::process::Command::new("sh")
            .args(["-c", "sleep 60 & read line; kill $!; wait"])
            .env(SESSION_VARIABLE, run)
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        fulcrum_test_support::wait::until("both processes", || {
            let found = members(run);
            (found.len() == 2 && found.contains(&child.id())).then_some(())
        });
        assert_eq!(members(Path::new("/a run")), Vec::<u32>::new());
        drop(child.stdin.take());
        child.wait().unwrap();
        fulcrum_test_support::wait::until("their end", || members(run).is_empty().then_some(()));
    }
}
