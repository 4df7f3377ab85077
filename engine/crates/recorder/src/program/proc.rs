//! What `/proc` says about a process: whether it is alive, and where its code is.
//!
//! These files are read by hand: the text of `maps` is passed on as it is to `symbols::load_bias`, and of the others we need
//! one field each.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fulcrum_symbols::load_bias;

/// Whether a process still exists (a zombie counts as gone).
pub(crate) fn is_alive(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // The state follows the name, which may contain anything.
    let state = status.rsplit_once(") ").map_or("", |(_, rest)| rest);
    !state.is_empty() && !state.starts_with(['Z', 'X'])
}

/// The CPU time that a process has used, all its threads together, with that of its children that it has waited for. `None` if it is
/// gone.
pub(crate) fn cpu_time(pid: u32) -> Option<Duration> {
    let status = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may contain anything; from the twelfth field after it on: user and system time, and those of the children.
    let mut fields = status.rsplit_once(") ")?.1.split(' ').skip(11);
    let mut ticks = 0;
    for _ in 0..4 {
        ticks += fields.next()?.parse::<u64>().ok()?;
    }
    // SAFETY: takes a number and returns one.
    let in_a_second = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    Some(Duration::from_secs_f64(
        ticks as f64 / in_a_second.max(1) as f64,
    ))
}

/// Where the modules of a process are: `/proc/PID/maps`, and the program itself.
pub(crate) struct Memory {
    /// The text of `/proc/PID/maps`.
    pub maps: String,
    main: PathBuf,
}

impl Memory {
    /// Reads it.
    pub(crate) fn of(pid: u32) -> Result<Memory, String> {
        let gone = |error: std::io::Error| format!("Process {pid} is gone ({error}).");
        Ok(Memory {
            maps: fs::read_to_string(format!("/proc/{pid}/maps")).map_err(gone)?,
            main: fs::read_link(format!("/proc/{pid}/exe")).map_err(gone)?,
        })
    }

    /// Every file that is mapped with executable code, once each, in the order of addresses.
    pub(crate) fn code(&self) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = Vec::new();
        for line in self.maps.lines() {
            let executable = line.split(' ').nth(1).is_some_and(|it| it.contains('x'));
            if let Some(at) = line.find('/').filter(|_| executable)
                && !found.iter().any(|it| it.as_os_str() == &line[at..])
            {
                found.push(line[at..].into());
            }
        }
        found
    }

    /// The program itself.
    pub(crate) fn main(&self) -> &Path {
        &self.main
    }

    /// Every mapping of a file's code, in the order of addresses.
    pub(crate) fn mapped_code(&self) -> impl Iterator<Item = MappedCode<'_>> {
        self.maps.lines().filter_map(MappedCode::of)
    }

    /// What to add to the addresses in a module's file.
    pub(crate) fn bias(&self, module: &Path) -> Option<u64> {
        // The program headers are at the beginning.
        let mut head = vec![0; 1 << 16];
        let mut file = fs::File::open(module).ok()?;
        let mut length = 0;
        while length < head.len() {
            match std::io::Read::read(&mut file, &mut head[length..]) {
                Ok(0) => break,
                Ok(more) => length += more,
                Err(_) => return None,
            }
        }
        load_bias(&self.maps, module, &head[..length])
    }

    /// The files in the binary scope; the program itself when the scope is empty.
    pub(crate) fn in_scope(&self, scope: &[String]) -> Vec<PathBuf> {
        if scope.is_empty() {
            return vec![self.main.clone()];
        }
        let named = |path: &PathBuf| {
            let text = path.to_string_lossy();
            scope.iter().any(|pattern| {
                (pattern == "MAIN" && *path == self.main)
                    || fulcrum_symbols::matches_path(pattern, &text)
            })
        };
        self.code().into_iter().filter(named).collect()
    }
}

/// A part of a file that is mapped with executable code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MappedCode<'a> {
    /// The address of its first byte.
    pub start: u64,
    /// The address after its last byte.
    pub end: u64,
    /// Its offset in the file.
    pub offset: u64,
    /// The file.
    pub file: &'a str,
}

impl<'a> MappedCode<'a> {
    /// From a line of `/proc/PID/maps`. `None` when the line is not the code of a file.
    fn of(line: &'a str) -> Option<MappedCode<'a>> {
        let file = &line[line.find('/')?..];
        let mut columns = line.split(' ');
        let (start, end) = columns.next()?.split_once('-')?;
        columns.next().filter(|it| it.contains('x'))?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        Some(MappedCode {
            start: number(start)?,
            end: number(end)?,
            offset: number(columns.next()?)?,
            file,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
55e0-55e1 r--p 00000000 08:01 1 /opt/a b/prog
55e1-55e2 r-xp 00001000 08:01 1 /opt/a b/prog
7f00-7f01 r-xp 00000000 08:01 2 /usr/lib/libone.so.1
7f02-7f03 rw-p 00000000 00:00 0
7f04-7f05 r-xp 00000000 00:00 0 [vdso]";

    #[test]
    fn the_binary_scope_names_modules() {
        let memory = Memory {
            maps: MAPS.into(),
            main: "/opt/a b/prog".into(),
        };
        let cases: [(&[&str], &[&str]); 4] = [
            (&[], &["/opt/a b/prog"]),
            (&["MAIN"], &["/opt/a b/prog"]),
            (&["%libone%"], &["/usr/lib/libone.so.1"]),
            (&["%"], &["/opt/a b/prog", "/usr/lib/libone.so.1"]),
        ];
        for (scope, expected) in cases {
            let scope: Vec<String> = scope.iter().map(|it| (*it).to_owned()).collect();
            let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
            assert_eq!(memory.in_scope(&scope), expected, "{scope:?}");
        }
    }

    #[test]
    fn this_process_is_alive_and_one_that_was_waited_for_is_not() {
        assert!(is_alive(std::process::id()));
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = child.id();
        child.wait().unwrap();
        assert!(!is_alive(pid));
    }
}
