//! The machine and repository of a run: host, processor, kernel, git revision. Best effort, never an error.

use std::fs;
use std::path::{Path, PathBuf};

fn read(path: &str) -> String {
    fs::read_to_string(path)
        .unwrap_or_default()
        .trim()
        .to_owned()
}

/// The machine's name.
pub(crate) fn host() -> String {
    read("/proc/sys/kernel/hostname")
}

/// The kernel's release.
pub(crate) fn kernel() -> String {
    read("/proc/sys/kernel/osrelease")
}

/// `AMD EPYC 7B13 × 2`.
pub(crate) fn cpu() -> String {
    let info = read("/proc/cpuinfo");
    let name = info.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        matches!(key.trim(), "model name" | "Model" | "cpu model").then(|| value.trim().to_owned())
    });
    let count = std::thread::available_parallelism().map_or(1, |n| n.get());
    format!(
        "{} × {count}",
        name.as_deref().unwrap_or(std::env::consts::ARCH)
    )
}

/// When a process started, in clock ticks since boot. `None` when there is no such process, or it is a zombie.
pub(crate) fn process_start(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field is the program's name in parentheses, which may hold anything.
    let mut rest = stat.get(stat.rfind(')')? + 1..)?.split_whitespace();
    let state = rest.next()?;
    // The start time is field 22; `rest` began at 3.
    let started = rest.nth(18)?.parse().ok()?;
    (state != "Z" && state != "X").then_some(started)
}

/// The commit that is checked out around `folder`, from git's own files.
pub(crate) fn git_revision(folder: &Path) -> Option<String> {
    let folder = fs::canonicalize(folder).ok()?;
    let dot_git = folder
        .ancestors()
        .map(|f| f.join(".git"))
        .find(|f| f.exists())?;
    let git = if dot_git.is_file() {
        // A worktree or submodule: `gitdir: PATH`.
        let text = fs::read_to_string(&dot_git).ok()?;
        dot_git
            .parent()?
            .join(text.trim().strip_prefix("gitdir:")?.trim())
    } else {
        dot_git
    };
    let head = fs::read_to_string(git.join("HEAD")).ok()?;
    let Some(name) = head.trim().strip_prefix("ref:").map(str::trim) else {
        return revision(&head);
    };
    let common = fs::read_to_string(git.join("commondir"))
        .map_or_else(|_| git.clone(), |c| git.join(c.trim()));
    let homes: [PathBuf; 2] = [git, common];
    homes
        .iter()
        .find_map(|home| revision(&fs::read_to_string(home.join(name)).ok()?))
        .or_else(|| {
            let packed = fs::read_to_string(homes[1].join("packed-refs")).ok()?;
            packed.lines().find_map(|line| {
                let (id, reference) = line.split_once(' ')?;
                (reference == name).then(|| revision(id)).flatten()
            })
        })
}

fn revision(text: &str) -> Option<String> {
    let text = text.trim();
    let fits = matches!(text.len(), 40 | 64) && text.bytes().all(|b| b.is_ascii_hexdigit());
    fits.then(|| text.to_owned())
}
