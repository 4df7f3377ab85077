//! The memory maps of processes and the names of threads, updated while the records are read in order.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::events::Address;
use super::records::{KERNEL_FILE, Map};
use crate::decode::fault::Fault;

/// The most mappings of all processes together. A child begins with its parent's.
const MAX_MAPPINGS: usize = 10_000_000;

/// All processes so far.
#[derive(Debug, Default)]
pub(crate) struct Processes {
    files: Vec<File>,
    rows: HashMap<(String, Option<Vec<u8>>), u32>,
    /// The mappings of each process by their first address. `None` is the kernel.
    maps: HashMap<Option<u32>, Rc<BTreeMap<u64, Mapping>>>,
    /// How many mappings were ever made.
    made: usize,
    names: HashMap<(u32, u32), String>,
}

/// An executable or library.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) name: String,
    id: Option<Vec<u8>>,
}

impl File {
    /// The build id.
    pub(crate) fn build_id(&self) -> Option<&[u8]> {
        self.id.as_deref()
    }
}

#[derive(Clone, Copy, Debug)]
struct Mapping {
    end: u64,
    offset: u64,
    file: u32,
}

/// Where an address belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// An offset in a file, or in the kernel from its symbol `_text` on.
    File {
        file: u32,
        offset: u64,
    },
    /// The kernel, without a known map.
    Kernel,
    Unknown,
}

impl Processes {
    /// The file with this number.
    pub(crate) fn file(&self, file: u32) -> &File {
        &self.files[file as usize]
    }

    /// Maps a file into a process.
    pub(crate) fn map(&mut self, map: &Map) -> Result<(), Fault> {
        let owner = (!map.kernel).then_some(map.pid);
        let end = map.start.saturating_add(map.length);
        if end == map.start {
            return Ok(());
        }
        let next = self.files.len() as u32;
        let key = (map.file.clone(), map.build_id.clone());
        let file = *self.rows.entry(key).or_insert(next);
        if file == next {
            self.files.push(File {
                name: map.file.clone(),
                id: map.build_id.clone(),
            });
        }
        let mappings = self.maps.entry(owner).or_default();
        // A child shares its parent's map until one of them changes.
        self.made += 2 + if Rc::strong_count(mappings) > 1 {
            mappings.len()
        } else {
            0
        };
        if self.made > MAX_MAPPINGS {
            let problem = format!("processes have more than {MAX_MAPPINGS} mappings");
            return Err(Fault::whole(problem));
        }
        let mappings = Rc::make_mut(mappings);
        cut(mappings, map.start, end);
        let offset = map.offset;
        mappings.insert(map.start, Mapping { end, offset, file });
        Ok(())
    }

    /// Names a thread. With `exec`, the process runs another program from now on.
    pub(crate) fn name(&mut self, pid: u32, tid: u32, name: &str, exec: bool) {
        if exec {
            self.maps.remove(&Some(pid));
        }
        self.names.insert((pid, tid), name.to_owned());
    }

    /// Adds a thread or process. It has its parent's name; a process also has its parent's maps if `maps`.
    pub(crate) fn fork(&mut self, child: (u32, u32), parent: (u32, u32), maps: bool) {
        if let Some(name) = self.names.get(&parent).cloned() {
            self.names.insert(child, name);
        }
        if child.0 == parent.0 {
            return;
        }
        // Process ids are reused.
        self.maps.remove(&Some(child.0));
        if maps && let Some(maps) = self.maps.get(&Some(parent.0)).cloned() {
            self.maps.insert(Some(child.0), maps);
        }
    }

    /// The name of a thread, or else of its process.
    pub(crate) fn name_of(&self, pid: u32, tid: u32) -> &str {
        let name = self
            .names
            .get(&(pid, tid))
            .or_else(|| self.names.get(&(pid, pid)));
        match (name, pid) {
            (Some(name), _) => name,
            (None, 0) => "swapper",
            (None, _) => "thread",
        }
    }

    /// Where an address of a process belongs.
    pub(crate) fn place(&self, pid: u32, Address { address, kernel }: Address) -> Place {
        let mappings = self.maps.get(&(!kernel).then_some(pid));
        let before = mappings.and_then(|mappings| mappings.range(..=address).next_back());
        // The kernel's map does not cover all of its code.
        let inside = |mapping: &Mapping| {
            address < mapping.end || kernel && self.file(mapping.file).name == KERNEL_FILE
        };
        match before.filter(|(_, mapping)| inside(mapping)) {
            Some((start, mapping)) => Place::File {
                file: mapping.file,
                offset: (address - start).saturating_add(mapping.offset),
            },
            None if kernel => Place::Kernel,
            None => Place::Unknown,
        }
    }
}

/// Unmaps a range, keeping what is before and after it.
fn cut(mappings: &mut BTreeMap<u64, Mapping>, start: u64, end: u64) {
    if let Some((&first, mapping)) = mappings.range_mut(..start).next_back()
        && mapping.end > start
    {
        let old = *mapping;
        mapping.end = start;
        if old.end > end {
            let offset = old.offset.saturating_add(end - first);
            mappings.insert(end, Mapping { offset, ..old });
        }
    }
    let inside: Vec<u64> = mappings
        .range(start..end)
        .map(|(&start, _)| start)
        .collect();
    for first in inside {
        if let Some(old) = mappings.remove(&first)
            && old.end > end
        {
            let offset = old.offset.saturating_add(end - first);
            mappings.insert(end, Mapping { offset, ..old });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(processes: &mut Processes, pid: u32, range: (u64, u64), offset: u64, file: &str) {
        let map = Map {
            pid,
            start: range.0,
            length: range.1 - range.0,
            offset,
            file: file.to_owned(),
            build_id: None,
            kernel: false,
        };
        processes.map(&map).expect("few");
    }

    fn at(processes: &Processes, pid: u32, address: u64) -> String {
        match processes.place(pid, Address::user(address)) {
            Place::File { file, offset } => format!("{} {offset}", processes.file(file).name),
            place => format!("{place:?}"),
        }
    }

    #[test]
    fn a_new_map_covers_what_was_there() {
        let mut processes = Processes::default();
        map(&mut processes, 1, (100, 200), 1000, "a");
        map(&mut processes, 1, (130, 150), 0, "b");
        for (address, expect) in [
            (99, "Unknown"),
            (100, "a 1000"),
            (129, "a 1029"),
            (130, "b 0"),
            (149, "b 19"),
            (150, "a 1050"),
            (199, "a 1099"),
            (200, "Unknown"),
        ] {
            assert_eq!(at(&processes, 1, address), expect, "{address}");
        }
        map(&mut processes, 1, (90, 160), 7, "c");
        assert_eq!(at(&processes, 1, 159), "c 76");
        assert_eq!(at(&processes, 1, 160), "a 1060");
        assert_eq!(at(&processes, 2, 160), "Unknown");
    }

    #[test]
    fn maps_that_multiply_are_refused() {
        let mut processes = Processes::default();
        for page in 0..4000 {
            map(&mut processes, 1, (page, page + 1), 0, "a");
        }
        let mut child = Map {
            pid: 2,
            start: 5000,
            length: 1,
            offset: 0,
            file: "b".into(),
            build_id: None,
            kernel: false,
        };
        let mut forked = |pid: u32, processes: &mut Processes| {
            processes.fork((pid, pid), (1, 1), true);
            child.pid = pid;
            processes.map(&child)
        };
        let refused = (2..10_000).find(|&pid| forked(pid, &mut processes).is_err());
        assert!(refused.is_some_and(|pid| pid > 1000), "{refused:?}");
    }

    #[test]
    fn children_have_their_parents_maps_until_they_start_a_program() {
        let mut processes = Processes::default();
        map(&mut processes, 1, (100, 200), 0, "a");
        processes.name(1, 1, "sh", false);
        processes.fork((2, 2), (1, 1), true);
        assert_eq!(
            (at(&processes, 2, 150), processes.name_of(2, 2)),
            ("a 50".into(), "sh")
        );
        processes.name(2, 2, "ls", true);
        assert_eq!(
            (at(&processes, 2, 150), processes.name_of(2, 9)),
            ("Unknown".into(), "ls")
        );
        let kernel = Address {
            address: 150,
            kernel: true,
        };
        assert_eq!(processes.place(2, kernel), Place::Kernel);
    }
}
