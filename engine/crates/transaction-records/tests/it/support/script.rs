//! Scripts of what processes do, step by step, and the resulting profile.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use fulcrum_transaction_records::names::{Frame, NameFile, NamesOf, ProcessKey, Resolver};
use fulcrum_transaction_records::run::{self, Options, Run};
use fulcrum_transaction_records::samples::{self, Sample, SampleWriter};
use fulcrum_transactions::crosstalk::Holder;
use fulcrum_wire::transactions::{
    Address, Calling, Head, Interest, LOG_SUFFIX, LockKind, Record, StreamKind, Via, WINDOWS_FILE,
    state, word,
};

use super::file::LogFile;

/// Nanoseconds in a millisecond, the length of each step.
pub(crate) const MS: u64 = 1_000_000;
/// The time of the first step.
const BEGIN: u64 = 1000 * MS;
/// The distance between two functions, in bytes.
const FUNCTION: u64 = 0x1000;

/// A thread of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Thread {
    pub process: usize,
    pub number: u32,
}

impl Thread {
    /// The kernel's thread number.
    pub(crate) fn tid(self, script: &Script) -> u32 {
        script.processes[self.process].pid * 10 + self.number
    }
}

/// The world: its processes, and the time.
pub(crate) struct Script {
    processes: Vec<Process>,
    functions: Functions,
    samples: SampleWriter<Vec<u8>>,
    /// The start of the next receive, if it is earlier than now.
    receives_from_ns: Option<u64>,
    /// When recording paused and went on, in turn.
    switches: Vec<u64>,
    pub now_ns: u64,
}

struct Process {
    pid: u32,
    turn: u32,
    log: LogFile,
    paths: HashMap<String, u32>,
    /// Bytes sent and received, by stream.
    sent: HashMap<u32, u64>,
    received: HashMap<u32, u64>,
    skew_ns: i64,
}

/// Logs with their names.
pub(crate) type Logs = Vec<(String, Vec<u8>)>;

/// Functions by address.
#[derive(Clone, Debug, Default)]
pub(crate) struct Functions(Vec<String>);

impl Functions {
    fn address(&mut self, name: &str) -> u64 {
        let known = self.0.iter().position(|it| it == name);
        let row = known.unwrap_or_else(|| {
            self.0.push(name.to_owned());
            self.0.len() - 1
        });
        (row as u64 + 1) * FUNCTION
    }
}

impl Resolver for Functions {
    fn code(&self, _: ProcessKey, address: u64) -> Option<Vec<Frame>> {
        let row = (address / FUNCTION).checked_sub(1)?;
        let name = self.0.get(row as usize)?.clone();
        // A stripped function.
        if name.starts_with('?') {
            return None;
        }
        Some(vec![Frame {
            name,
            file: None,
            line: None,
        }])
    }

    fn data(&self, _: ProcessKey, address: u64) -> Option<String> {
        (address == 0xcafe).then(|| "cart_lock".into())
    }
}

impl Default for Script {
    fn default() -> Self {
        Script {
            processes: Vec::new(),
            functions: Functions::default(),
            samples: SampleWriter::new(Vec::new()).unwrap(),
            receives_from_ns: None,
            switches: Vec::new(),
            now_ns: BEGIN,
        }
    }
}

impl Script {
    /// A process that executes a program. Its first thread has the program's name.
    pub(crate) fn process(&mut self, pid: u32, program: &str) -> Thread {
        self.program(pid, 0, program)
    }

    /// The same, after it has executed `turn` other programs.
    pub(crate) fn program(&mut self, pid: u32, turn: u32, program: &str) -> Thread {
        self.called(pid, turn, (program, program))
    }

    /// The same, invoked by a name other than the file's.
    pub(crate) fn called(&mut self, pid: u32, turn: u32, (name, program): (&str, &str)) -> Thread {
        let first = self.log(pid, turn, name);
        let file = format!("/usr/bin/{program}");
        self.say(first, "", Record::Program(file.as_bytes()));
        first
    }

    /// A process that another one forks. Returns its first thread.
    pub(crate) fn child(&mut self, parent: Thread, pid: u32, name: &str) -> Thread {
        let first = self.log(pid, 0, name);
        let of = &self.processes[parent.process];
        let (parent_pid, turn) = (of.pid, of.turn);
        let counts = (of.sent.clone(), of.received.clone());
        let new = &mut self.processes[first.process];
        // A child continues its parent's counts.
        (new.sent, new.received) = counts;
        let log = &mut new.log;
        log.set(word::PARENT, u64::from(parent_pid));
        log.set(word::PARENT_TURN, u64::from(turn));
        log.set(word::PARENT_THREAD, u64::from(parent.number));
        first
    }

    fn log(&mut self, pid: u32, turn: u32, name: &str) -> Thread {
        let mut log = LogFile::new(pid, turn);
        log.set(word::START_NS, self.now_ns);
        log.set(word::START_UNIX_NS, self.now_ns + 1_700_000_000_000_000_000);
        self.processes.push(Process {
            pid,
            turn,
            log,
            paths: HashMap::new(),
            sent: HashMap::new(),
            received: HashMap::new(),
            skew_ns: 0,
        });
        self.thread(self.processes.len() - 1, 1, name)
    }

    /// An existing thread.
    pub(crate) fn thread(&mut self, process: usize, number: u32, name: &str) -> Thread {
        let of = &mut self.processes[process];
        let tid = of.pid * 10 + number;
        of.log.chunk(number, tid, name, self.now_ns);
        Thread { process, number }
    }

    /// These functions belong to a file.
    pub(crate) fn file(&mut self, thread: Thread, file: &str, functions: &[&str]) {
        for name in functions {
            let start = self.functions.address(name);
            let record = Record::Module {
                start,
                end: start + FUNCTION,
                offset: start,
                file: file.as_bytes(),
            };
            self.say(thread, "", record);
        }
    }

    /// Sets a word of a process's header.
    pub(crate) fn set(&mut self, process: usize, word: usize, value: u64) {
        self.processes[process].log.set(word, value);
    }

    pub(crate) fn is_killed(&mut self, process: usize) {
        self.set(process, word::STATE, state::OPEN);
    }

    /// A process's clock differs from here on.
    pub(crate) fn skew(&mut self, process: usize, by_ns: i64) {
        self.processes[process].skew_ns = by_ns;
    }

    pub(crate) fn rest(&mut self, ms: u64) {
        self.now_ns += ms * MS;
    }

    /// Recording pauses, or goes on.
    pub(crate) fn switch(&mut self) {
        self.now_ns += MS;
        self.switches.push(self.now_ns);
    }

    /// Recording pauses for a while.
    pub(crate) fn pause(&mut self) {
        self.switch();
        self.rest(100);
        self.switch();
    }

    /// Bytes that pass through a stream while recording pauses.
    pub(crate) fn unseen(&mut self, thread: Thread, stream: u32, sent: u64, received: u64) {
        let of = &mut self.processes[thread.process];
        *of.sent.entry(stream).or_default() += sent;
        *of.received.entry(stream).or_default() += received;
    }

    /// A record, one millisecond after the previous one. `path` is outermost first, such as `main > serve`, or empty if
    /// unknown.
    pub(crate) fn say(&mut self, thread: Thread, path: &str, record: Record<'_>) {
        self.now_ns += MS;
        let path = self.path(thread, path);
        self.write(thread, path, record);
    }

    fn write(&mut self, thread: Thread, path: u32, record: Record<'_>) {
        let of = &mut self.processes[thread.process];
        let time_ns = self.now_ns.checked_add_signed(of.skew_ns).unwrap();
        of.log.write(thread.number, Head { time_ns, path }, record);
    }

    fn path(&mut self, thread: Thread, path: &str) -> u32 {
        if path.is_empty() {
            return 0;
        }
        if let Some(&known) = self.processes[thread.process].paths.get(path) {
            return known;
        }
        let innermost_first = path.split(" > ").collect::<Vec<_>>().into_iter().rev();
        let addresses: Vec<u8> = innermost_first
            .flat_map(|it| (self.functions.address(it) + 5).to_le_bytes())
            .collect();
        let paths = &mut self.processes[thread.process].paths;
        let id = paths.len() as u32 + 1;
        paths.insert(path.to_owned(), id);
        let addresses = &addresses;
        self.write(thread, 0, Record::Path { id, addresses });
        id
    }

    fn began(&self, thread: Thread, ms: u64) -> u64 {
        let skew = self.processes[thread.process].skew_ns;
        (self.now_ns - ms * MS).checked_add_signed(skew).unwrap()
    }

    /// One end of a TCP connection between two ports.
    pub(crate) fn tcp(
        &mut self,
        thread: Thread,
        path: &str,
        stream: u32,
        via: Via,
        ports: (u16, u16),
    ) {
        let address = |port| Address {
            ip: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1],
            port,
        };
        let record = Record::Open {
            stream,
            kind: StreamKind::Tcp,
            via,
            inode: 0,
            peer_inode: 0,
            local: address(ports.0),
            peer: address(ports.1),
        };
        self.say(thread, path, record);
    }

    /// One end of a TCP connection between machines.
    pub(crate) fn remote_tcp(
        &mut self,
        thread: Thread,
        stream: u32,
        via: Via,
        local: ([u8; 4], u16),
        peer: ([u8; 4], u16),
    ) {
        let address = |(ip, port): ([u8; 4], u16)| Address {
            ip: std::net::Ipv4Addr::from(ip).to_ipv6_mapped().octets(),
            port,
        };
        let record = Record::Open {
            stream,
            kind: StreamKind::Tcp,
            via,
            inode: 0,
            peer_inode: 0,
            local: address(local),
            peer: address(peer),
        };
        self.say(thread, "", record);
    }

    /// The names of functions, for all processes.
    pub(crate) fn names(&self) -> NameFile {
        let frame = |name: &String| Frame {
            name: name.clone(),
            file: None,
            line: None,
        };
        let addresses = |(row, name): (usize, &String)| {
            let begin = (row as u64 + 1) * FUNCTION;
            [begin, begin + 3, begin + 2, begin + 4].map(|it| (it, vec![frame(name)]))
        };
        let processes = self.processes.iter();
        let names = NamesOf {
            processes: processes
                .map(|it| ProcessKey {
                    pid: it.pid,
                    turn: it.turn,
                })
                .collect(),
            code: self
                .functions
                .0
                .iter()
                .enumerate()
                .flat_map(addresses)
                .collect(),
            ..NamesOf::default()
        };
        NameFile {
            processes: vec![names],
            ..NameFile::default()
        }
    }

    /// A unix socket or a pipe, by inodes. A pipe has no peer.
    pub(crate) fn inode(
        &mut self,
        thread: Thread,
        stream: u32,
        kind: StreamKind,
        via: Via,
        of: (u64, u64),
    ) {
        let record = Record::Open {
            stream,
            kind,
            via,
            inode: of.0,
            peer_inode: of.1,
            local: Address::default(),
            peer: Address::default(),
        };
        self.say(thread, "", record);
    }

    pub(crate) fn send(&mut self, thread: Thread, path: &str, stream: u32, length: u64) {
        let sent = self.processes[thread.process]
            .sent
            .entry(stream)
            .or_default();
        let offset = *sent;
        *sent += length;
        let record = Record::Send {
            stream,
            offset,
            length,
            began_ns: self.began(thread, 0),
        };
        self.say(thread, path, record);
    }

    /// The next receive begins now, and waits.
    pub(crate) fn begin_receive(&mut self) {
        self.receives_from_ns = Some(self.now_ns);
    }

    /// Receives bytes. `head` are the first bytes since the last send, of which none was received before.
    pub(crate) fn receive(
        &mut self,
        thread: Thread,
        path: &str,
        stream: u32,
        length: u64,
        head: &str,
    ) {
        let from_ns = self.receives_from_ns.take().unwrap_or(self.now_ns);
        let of = &mut self.processes[thread.process];
        let began_ns = from_ns.checked_add_signed(of.skew_ns).unwrap();
        let received = of.received.entry(stream).or_default();
        let offset = *received;
        *received += length;
        let record = Record::Receive {
            stream,
            offset,
            length,
            began_ns,
            head: head.as_bytes(),
        };
        self.say(thread, path, record);
    }

    pub(crate) fn close(&mut self, thread: Thread, stream: u32) {
        self.say(thread, "", Record::Close { stream });
    }

    pub(crate) fn idle(&mut self, thread: Thread, path: &str) {
        let began_ns = self.began(thread, 0);
        self.say(thread, path, Record::Idle { began_ns });
    }

    pub(crate) fn event(&mut self, thread: Thread, stream: u32) {
        let data = u64::from(stream);
        self.say(thread, "", Record::Event { stream, data });
    }

    /// The thread registers a stream with its event loop.
    pub(crate) fn register(&mut self, thread: Thread, stream: u32, interest: Interest) {
        self.say(thread, "", Record::Register { stream, interest });
    }

    /// A wait that has lasted this many milliseconds when it ends.
    pub(crate) fn wait(
        &mut self,
        thread: Thread,
        path: &str,
        kind: LockKind,
        ms: u64,
        holder: u32,
    ) {
        self.now_ns += MS;
        let record = Record::Wait {
            lock: lock(kind),
            kind,
            began_ns: self.began(thread, ms),
            holder,
            timed_out: false,
        };
        let path = self.path(thread, path);
        self.write(thread, path, record);
    }

    pub(crate) fn release(&mut self, thread: Thread, path: &str, kind: LockKind) {
        let lock = lock(kind);
        self.say(thread, path, Record::Release { lock, kind });
    }

    pub(crate) fn produce(&mut self, thread: Thread, path: &str, item: u64) {
        self.say(thread, path, Record::Produce { item });
    }

    /// Consumes through the script's only list.
    pub(crate) fn consume(&mut self, thread: Thread, path: &str, item: u64) {
        self.say(thread, path, Record::Consume { item, list: 0 });
    }

    /// Nothing flows through that list.
    pub(crate) fn demote(&mut self, thread: Thread) {
        self.say(thread, "", Record::Demote { list: 0 });
    }

    /// A library calls a handler.
    pub(crate) fn handler(&mut self, thread: Thread, item: u64, function: &str) {
        self.handler_of(thread, (item, 0), function, (1, Calling::First));
    }

    /// The same, for a product and a stream, at a depth, with a reason.
    pub(crate) fn handler_of(
        &mut self,
        thread: Thread,
        (item, stream): (u64, u32),
        function: &str,
        (depth, how): (u32, Calling),
    ) {
        let function = self.functions.address(function);
        let record = Record::Handler {
            item,
            function,
            stream,
            depth,
            how,
        };
        self.say(thread, "", record);
    }

    /// The handler at this depth has returned.
    pub(crate) fn returned(&mut self, thread: Thread, depth: u32) {
        self.say(thread, "", Record::Returned { depth });
    }

    pub(crate) fn spawn(&mut self, thread: Thread, path: &str, number: u32, name: &str) -> Thread {
        self.say(thread, path, Record::Spawn { thread: number });
        let new = self.thread(thread.process, number, name);
        let by = thread.number;
        self.say(new, "", Record::Begin { by });
        new
    }

    /// A new thread with this kernel thread number.
    pub(crate) fn spawn_as(&mut self, thread: Thread, number: u32, tid: u32) -> Thread {
        self.say(thread, "main > start", Record::Spawn { thread: number });
        let now_ns = self.now_ns;
        let log = &mut self.processes[thread.process].log;
        log.chunk(number, tid, "worker", now_ns);
        Thread {
            process: thread.process,
            number,
        }
    }

    pub(crate) fn fork(&mut self, thread: Thread, path: &str, pid: u32, name: &str) -> Thread {
        self.say(thread, path, Record::Fork { child: pid });
        self.child(thread, pid, name)
    }

    /// A sample of this many milliseconds of CPU time, between two steps.
    pub(crate) fn sample(&mut self, thread: Thread, stack: &str, ms: u64) {
        let of = &self.processes[thread.process];
        let (pid, skew_ns) = (of.pid, of.skew_ns);
        let tid = thread.tid(self);
        self.sample_of((pid, tid), skew_ns, stack, ms);
    }

    /// The same for the first process and the thread with this kernel thread number.
    pub(crate) fn sample_as(&mut self, tid: u32, stack: &str, ms: u64) {
        let pid = self.processes[0].pid;
        self.sample_of((pid, tid), 0, stack, ms);
    }

    fn sample_of(&mut self, (pid, tid): (u32, u32), skew_ns: i64, stack: &str, ms: u64) {
        self.now_ns += MS;
        let innermost_first = stack.split(" > ").collect::<Vec<_>>().into_iter().rev();
        let stack: Vec<u64> = innermost_first
            .map(|it| self.functions.address(it) + 3)
            .collect();
        let sample = Sample {
            pid,
            tid,
            time_ns: (self.now_ns - MS / 2).checked_add_signed(skew_ns).unwrap(),
            weight_ns: ms * MS,
            thread: b"",
            stack: &stack,
        };
        self.samples.sample(&sample).unwrap();
    }

    pub(crate) fn samples(&mut self) -> &mut SampleWriter<Vec<u8>> {
        &mut self.samples
    }

    /// The names and bytes of all logs, the samples, and the names of functions.
    pub(crate) fn bytes(self) -> (Logs, Vec<u8>, Functions) {
        let log = |it: &Process| {
            let name = format!("{}-{}{LOG_SUFFIX}", it.pid, it.turn);
            (name, it.log.bytes().to_vec())
        };
        let logs = self.processes.iter().map(log).collect();
        (logs, self.samples.finish().unwrap(), self.functions)
    }

    /// Writes everything into a folder, except the logs of some processes.
    pub(crate) fn write_to(self, folder: &Path, lost: &[usize]) -> Functions {
        if !self.switches.is_empty() {
            let words = self.switches.iter().flat_map(|it| it.to_le_bytes());
            fs::write(folder.join(WINDOWS_FILE), words.collect::<Vec<u8>>()).unwrap();
        }
        let (logs, samples, functions) = self.bytes();
        for (row, (name, bytes)) in logs.into_iter().enumerate() {
            if !lost.contains(&row) {
                fs::write(folder.join(name), bytes).unwrap();
            }
        }
        fs::write(folder.join(samples::FILE), samples).unwrap();
        functions
    }

    pub(crate) fn open(self) -> Shown {
        self.open_without(&[])
    }

    /// The profile without the logs of some processes.
    pub(crate) fn open_without(self, lost: &[usize]) -> Shown {
        let folder = tempfile::tempdir().unwrap();
        let functions = self.write_to(folder.path(), lost);
        Shown(run::open_with(folder.path(), &Options::default(), &functions).unwrap())
    }
}

fn lock(kind: LockKind) -> u64 {
    match kind {
        LockKind::Mutex => 0xcafe,
        other => 0x1000 + other as u64,
    }
}

/// A profile as lines of text.
pub(crate) struct Shown(pub Run);

impl Shown {
    /// Each type with CPU time: its context, and where the time was spent.
    pub(crate) fn costs(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for it in self.0.stitched.types() {
            for stage in it.stages.into_iter().filter(|it| it.cpu.cpu_ns > 0) {
                lines.push(format!(
                    "{} ms of {} in {}/{}",
                    stage.cpu.cpu_ns / MS,
                    it.name,
                    stage.process,
                    stage.thread
                ));
            }
        }
        lines
    }

    /// Each type with instances: their number, the number without an answer, and the longest.
    pub(crate) fn instances(&self) -> Vec<String> {
        let types = self.0.stitched.types().into_iter();
        let line = |it: fulcrum_transactions::stitch::TypeProfile| {
            let latency = it.latency?;
            let (count, unreplied) = (latency.count, latency.unreplied);
            let longest = latency.p99_ns / MS;
            Some(format!("{} × {count} ({unreplied}), {longest} ms", it.name))
        };
        let mut lines: Vec<String> = types.filter_map(line).collect();
        lines.sort();
        lines
    }

    /// Who waited for whom.
    pub(crate) fn waits(&self) -> Vec<String> {
        let stitched = &self.0.stitched;
        let name = |it| stitched.type_name(it).to_owned();
        let pairs = stitched.crosstalk().into_iter();
        pairs
            .map(|it| {
                let holder = match it.holder {
                    Holder::Transaction(holder) => name(holder),
                    Holder::NoTransaction => "nobody's thread".into(),
                    Holder::Unknown => "?".into(),
                };
                let (waiter, kind) = (name(it.waiter), it.kind.name());
                let (ms, lock) = (it.wait_ns / MS, it.lock);
                let paths = &it.paths[0].0;
                let at = paths.holder.as_deref().unwrap_or("?");
                format!(
                    "{waiter} {ms} ms for {holder}, {kind} {lock}, {} ← {at}",
                    paths.waiter
                )
            })
            .collect()
    }

    pub(crate) fn flows(&self) -> Vec<String> {
        let flows = self.0.stitched.flows().into_iter();
        let line = |it: fulcrum_transactions::Flow<String>| {
            format!("{} {} → {} × {}", it.kind.name(), it.from, it.to, it.count)
        };
        let mut lines: Vec<String> = flows.map(line).collect();
        lines.sort();
        lines
    }

    pub(crate) fn notes(&self) -> &[String] {
        &self.0.notes
    }
}
