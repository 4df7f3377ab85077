//! What is known of all logs before they are replayed: which streams belong together, and what is still to come.

mod ends;
mod lives;
mod ranges;

use std::collections::{HashMap, HashSet};

use fulcrum_model::{Cancelled, Progress};
use fulcrum_wire::transactions::{Address, Record, StreamKind, Via};

use crate::log::Log;
use crate::process::{ProcessInfo, processes, text};

pub(crate) use ends::{Channel, ChannelId, End, EndId};
use ranges::Ranges;

/// After so many records it is asked again whether anybody still waits.
const RECORDS_BETWEEN_CHECKS: usize = 1 << 14;

/// Everything that is known before the replay.
#[derive(Debug)]
pub(crate) struct Index {
    pub(crate) processes: Vec<ProcessInfo>,
    pub(crate) ends: Vec<End>,
    pub(crate) channels: Vec<Channel>,
    /// By process and the number of the stream there.
    pub(crate) end_of: HashMap<(usize, u32), EndId>,
    /// Threads that another thread says to make, by process and number.
    pub(crate) spawned: HashSet<(usize, u32)>,
    /// Who says to have made a process, and when, by the child's number.
    pub(crate) forked: HashMap<u32, Vec<(i64, usize)>>,
    /// By process and item.
    pub(crate) items: HashMap<(usize, u64), ItemUse>,
    /// What functions are called that have no address, by process.
    functions: HashMap<(usize, u64), String>,
    /// Lists of producers and consumers by which nothing flows, by process.
    demoted: HashSet<(usize, u32)>,
    /// By how much each process's clock is moved to be that of the first one, nanoseconds.
    pub(crate) shifts: Vec<i64>,
}

/// What happens to an item.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ItemUse {
    pub(crate) produced: bool,
    /// How often threads take it over.
    pub(crate) consumed: u32,
    /// How often an event library calls what was registered.
    pub(crate) handled: u32,
}

impl Index {
    /// The index of logs, which are from these runs.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub(crate) fn of(
        logs: &[Log<'_>],
        runs: &[usize],
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
        };
        for (process, log) in logs.iter().enumerate() {
            for thread in 0..log.threads().len() {
                for (at, (head, record)) in log.records(thread).enumerate() {
                    if at.is_multiple_of(RECORDS_BETWEEN_CHECKS) {
                        progress.check()?;
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

    /// Programs that were spawned rather than forked do not know by whom.
    fn find_spawners(&mut self) {
        for row in 0..self.processes.len() {
            let info = &self.processes[row];
            if info.parent.is_some() || info.before.is_some() {
                continue;
            }
            let began = self.shared_time(row, info.header.start_ns);
            let makers = self.forked.get(&info.key.pid).into_iter().flatten();
            // The call returns after the child has begun. Numbers are used again, so the nearest counts.
            let maker = makers
                .filter(|(_, maker)| *maker != row && self.processes[*maker].run == info.run)
                .min_by_key(|(time, _)| time.abs_diff(began));
            self.processes[row].parent = maker.map(|&(_, maker)| maker);
        }
    }

    /// Whether transactions flow by a list of a process.
    pub(crate) fn has_flow(&self, process: usize, list: u32) -> bool {
        !self.demoted.contains(&(process, list))
    }

    /// The name of a function that has no address.
    pub(crate) fn function(&self, process: usize, function: u64) -> Option<&str> {
        self.functions.get(&(process, function)).map(String::as_str)
    }

    /// Whether a process says that it made this one.
    pub(crate) fn is_made_by(&self, child: usize, parent: usize) -> bool {
        let makers = self.forked.get(&self.processes[child].key.pid);
        makers.is_some_and(|it| it.iter().any(|&(_, maker)| maker == parent))
    }

    /// A time of a process on the clock of the first one.
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

    /// The end, a new one of which nothing is known when its opening was lost.
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
                channel: 0,
                side: 0,
            });
            self.ends.len() - 1
        })
    }

    /// Whom an end speaks with, in words.
    pub(crate) fn peer(&self, end: EndId) -> String {
        let end = &self.ends[end];
        match end.kind {
            StreamKind::Tcp if end.via == Via::Accepted => ip_text(end.peer),
            StreamKind::Tcp => format!("{}:{}", ip_text(end.peer), end.peer.port),
            StreamKind::Unix => "a unix socket".into(),
            StreamKind::Pipe => "a pipe".into(),
            StreamKind::Other => "something that is no connection".into(),
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

/// Runs of one machine share `CLOCK_MONOTONIC`, so their beginnings differ from 1970 by the same; those of others are moved.
/// What clocks were set by meanwhile is less than this.
const SAME_MACHINE_NS: i128 = 100_000_000;

/// What clocks the processes have.
struct Clocks {
    /// What is added to the times of each process to be times of the first one.
    shifts: Vec<i64>,
    /// The machine of each process.
    machines: Vec<usize>,
}

impl Clocks {
    fn of(processes: &[ProcessInfo]) -> Self {
        // A run is recorded on one machine, even if its date is set meanwhile. Its first process stands for it.
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
    /// When the machine's `CLOCK_MONOTONIC` was 0, nanoseconds since 1970.
    fn boot_ns(&self) -> i128 {
        i128::from(self.start_unix_ns) - i128::from(self.start_ns)
    }
}
