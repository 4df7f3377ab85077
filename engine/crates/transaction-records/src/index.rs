//! An index of all logs, made before they are replayed: which streams belong together, and which events are still to come.

mod ends;
mod lives;
mod ranges;

use std::collections::{HashMap, HashSet};

use fulcrum_model::{Cancelled, Progress};
use fulcrum_wire::transactions::{Address, Record, StreamKind, Via};

use crate::log::Log;
use crate::process::{ProcessInfo, processes, text};
use crate::windows::Windows;

pub(crate) use ends::{Channel, ChannelId, End, EndId};
use ranges::Ranges;

/// The number of records between two checks for cancellation.
const RECORDS_BETWEEN_CHECKS: usize = 1 << 14;

/// Everything known before the replay.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) processes: Vec<ProcessInfo>,
    pub(crate) ends: Vec<End>,
    pub(crate) channels: Vec<Channel>,
    /// By process and stream number.
    pub(crate) end_of: HashMap<(usize, u32), EndId>,
    /// Threads whose creation is recorded, by process and number.
    pub(crate) spawned: HashSet<(usize, u32)>,
    /// The recorded creators of a process and the times, by the child's process number.
    pub(crate) forked: HashMap<u32, Vec<(i64, usize)>>,
    /// By process and item.
    pub(crate) items: HashMap<(usize, u64), ItemUse>,
    /// Names of functions without an address, by process.
    functions: HashMap<(usize, u64), String>,
    /// Lists of producers and consumers without flow, by process.
    demoted: HashSet<(usize, u32)>,
    /// What is added to each process's times to convert them to the first process's clock, in nanoseconds.
    pub(crate) shifts: Vec<i64>,
    /// When each run was recorded.
    windows: Vec<Windows>,
}

/// How an item is used.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ItemUse {
    pub(crate) produced: bool,
    /// How often threads consume it.
    pub(crate) consumed: u32,
    /// How often an event library calls what was registered.
    pub(crate) handled: u32,
}

impl Index {
    /// Indexes logs, which belong to these runs, recorded in these windows.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub(crate) fn of(
        logs: &[Log<'_>],
        runs: &[usize],
        windows: Vec<Windows>,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let processes = processes(logs, runs);
        let Clocks { shifts, machines } = Clocks::of(&processes);
        let mut index = Index {
            processes,
            ends: Vec::new(),
            channels: Vec::new(),
            end_of: HashMap::new(),
            spawned: HashSet::new(),
            forked: HashMap::new(),
            items: HashMap::new(),
            functions: HashMap::new(),
            demoted: HashSet::new(),
            shifts,
            windows,
        };
        for (process, log) in logs.iter().enumerate() {
            for thread in 0..log.threads().len() {
                for (at, (head, record)) in log.records(thread).enumerate() {
                    if at.is_multiple_of(RECORDS_BETWEEN_CHECKS) {
                        progress.check()?;
                    }
                    if !record.lasts() && !index.is_open(process, head.time_ns) {
                        continue;
                    }
                    let time_ns = index.shared_time(process, head.time_ns);
                    index.take(process, time_ns, &record);
                }
            }
        }
        for end in &mut index.ends {
            end.sent.finish();
        }
        index.find_spawners();
        index.channels = lives::channels(&mut index.ends, &index.processes, &machines);
        Ok(index)
    }

    /// Finds the parents of programs that were spawned rather than forked, since these do not know them.
    fn find_spawners(&mut self) {
        for row in 0..self.processes.len() {
            let info = &self.processes[row];
            if info.parent.is_some() || info.before.is_some() {
                continue;
            }
            let began = self.shared_time(row, info.header.start_ns);
            let makers = self.forked.get(&info.key.pid).into_iter().flatten();
            // The call returns after the child has started. Process numbers are reused, so the nearest call counts.
            let maker = makers
                .filter(|(_, maker)| *maker != row && self.processes[*maker].run == info.run)
                .min_by_key(|(time, _)| time.abs_diff(began));
            self.processes[row].parent = maker.map(|&(_, maker)| maker);
        }
    }

    /// Whether transactions flow through a list of a process.
    pub(crate) fn has_flow(&self, process: usize, list: u32) -> bool {
        !self.demoted.contains(&(process, list))
    }

    /// The name of a function without an address.
    pub(crate) fn function(&self, process: usize, function: u64) -> Option<&str> {
        self.functions.get(&(process, function)).map(String::as_str)
    }

    /// When the run of a process was recorded. Always, if there are no windows.
    pub(crate) fn windows(&self, process: usize) -> Option<&Windows> {
        self.windows.get(self.processes[process].run)
    }

    /// Whether a process recorded everything at this time, by its own clock, or paused.
    pub(crate) fn is_open(&self, process: usize, time_ns: u64) -> bool {
        self.windows(process).is_none_or(|it| it.is_open(time_ns))
    }

    /// When windows ended: on the first process's clock, of which run, and on its own clock. Ascending.
    pub(crate) fn window_ends(&self) -> Vec<(i64, usize, u64)> {
        let mut ends = Vec::new();
        for (run, windows) in self.windows.iter().enumerate() {
            if let Some(process) = self.processes.iter().position(|it| it.run == run) {
                ends.extend(
                    windows
                        .ends()
                        .map(|it| (self.shared_time(process, it), run, it)),
                );
            }
        }
        ends.sort_unstable();
        ends
    }

    /// Whether a process recorded that it created this one.
    pub(crate) fn is_made_by(&self, child: usize, parent: usize) -> bool {
        let makers = self.forked.get(&self.processes[child].key.pid);
        makers.is_some_and(|it| it.iter().any(|&(_, maker)| maker == parent))
    }

    /// Converts a process's time to the first process's clock.
    pub(crate) fn shared_time(&self, process: usize, time_ns: u64) -> i64 {
        let time = i64::try_from(time_ns).unwrap_or(i64::MAX);
        time.saturating_add(self.shifts[process])
    }

    fn take(&mut self, process: usize, time_ns: i64, record: &Record<'_>) {
        match *record {
            Record::Open { stream, .. } => self.open(process, time_ns, stream, record),
            Record::Close { stream } => {
                let end = self.end(process, stream, time_ns);
                self.ends[end].closed_ns = Some(time_ns);
            }
            Record::Send {
                stream,
                offset,
                length,
                ..
            } => {
                let end = self.end(process, stream, time_ns);
                let end = &mut self.ends[end];
                end.sends += 1;
                end.sent.add(offset..offset.saturating_add(length));
            }
            Record::Receive { stream, offset, .. } => {
                let end = self.end(process, stream, time_ns);
                let first = &mut self.ends[end].first_received;
                *first = Some(first.map_or(offset, |it| it.min(offset)));
            }
            Record::Spawn { thread } => {
                self.spawned.insert((process, thread));
            }
            Record::Fork { child } => {
                self.forked
                    .entry(child)
                    .or_default()
                    .push((time_ns, process));
            }
            Record::Produce { item } => {
                self.items.entry((process, item)).or_default().produced = true;
            }
            Record::Consume { item, .. } => {
                self.items.entry((process, item)).or_default().consumed += 1;
            }
            Record::Handler { item, .. } => {
                self.items.entry((process, item)).or_default().handled += 1;
            }
            Record::Function { function, name } => {
                self.functions.insert((process, function), text(name));
            }
            Record::Demote { list } => {
                self.demoted.insert((process, list));
            }
            _ => {}
        }
    }

    fn open(&mut self, process: usize, time_ns: i64, stream: u32, record: &Record<'_>) {
        let &Record::Open {
            kind,
            via,
            inode,
            peer_inode,
            local,
            peer,
            ..
        } = record
        else {
            return;
        };
        let end = self.end(process, stream, time_ns);
        let end = &mut self.ends[end];
        end.kind = kind;
        end.via = via;
        end.inode = inode;
        // A later record may know more.
        if peer_inode != 0 {
            end.peer_inode = peer_inode;
        }
        end.local = local;
        end.peer = peer;
        end.opened_ns = time_ns;
    }

    /// The end of this stream. Creates an unknown one if the record of its opening was lost.
    fn end(&mut self, process: usize, stream: u32, time_ns: i64) -> EndId {
        *self.end_of.entry((process, stream)).or_insert_with(|| {
            self.ends.push(End {
                process,
                kind: StreamKind::Other,
                via: Via::Found,
                inode: 0,
                peer_inode: 0,
                local: Address::default(),
                peer: Address::default(),
                opened_ns: time_ns,
                closed_ns: None,
                sent: Ranges::default(),
                sends: 0,
                first_received: None,
                channel: ChannelId(0),
                side: 0,
            });
            EndId(self.ends.len() - 1)
        })
    }

    /// The peer of an end, as text.
    pub(crate) fn peer(&self, end: EndId) -> String {
        let end = &self.ends[end];
        match end.kind {
            StreamKind::Tcp if end.via == Via::Accepted => ip_text(end.peer),
            StreamKind::Tcp => format!("{}:{}", ip_text(end.peer), end.peer.port),
            StreamKind::Unix => "a unix socket".into(),
            StreamKind::Pipe => "a pipe".into(),
            StreamKind::Other => "something other than a connection".into(),
        }
    }
}

fn ip_text(address: Address) -> String {
    let ip = std::net::Ipv6Addr::from(address.ip);
    match ip.to_ipv4_mapped() {
        Some(ip) => ip.to_string(),
        None => format!("[{ip}]"),
    }
}

/// The runs of one machine share `CLOCK_MONOTONIC`, so their boot times are equal. Runs of other machines are shifted.
/// Clock adjustments during recording are smaller than this.
const SAME_MACHINE_NS: i128 = 100_000_000;

/// The clocks of the processes.
struct Clocks {
    /// What is added to each process's times to convert them to the first process's clock.
    shifts: Vec<i64>,
    /// The machine of each process.
    machines: Vec<usize>,
}

impl Clocks {
    fn of(processes: &[ProcessInfo]) -> Self {
        // A run is recorded on one machine, even if its date is changed meanwhile. Its first process represents it.
        let mut boots: Vec<(usize, i128)> = Vec::new();
        let mut clocks = Clocks {
            shifts: Vec::new(),
            machines: Vec::new(),
        };
        for it in processes {
            let known = boots.iter().find(|(run, _)| *run == it.run);
            let boot = known.map_or_else(|| it.header.boot_ns(), |(_, boot)| *boot);
            if known.is_none() {
                boots.push((it.run, boot));
            }
            let same = |(_, other): &(usize, i128)| (boot - other).abs() < SAME_MACHINE_NS;
            let machine = boots.iter().position(same).unwrap_or(0);
            clocks.machines.push(machine);
            let shift = boots[machine].1 - boots[0].1;
            clocks.shifts.push(i64::try_from(shift).unwrap_or(0));
        }
        clocks
    }
}

impl crate::log::Header {
    /// When the machine's `CLOCK_MONOTONIC` was 0, in nanoseconds since 1970.
    fn boot_ns(&self) -> i128 {
        i128::from(self.start_unix_ns) - i128::from(self.start_ns)
    }
}
