//! Runs programs under the library, answers them like the engine, and reads their logs.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use fulcrum_symbols::{Base, UnwindRow, UnwindRule, unwind_rows};
use fulcrum_test_support::libraries;
use fulcrum_test_support::programs::Recipe;
use fulcrum_wire::transactions::{
    CHUNK, CHUNK_HEADER, CHUNK_MAGIC, HEADER, Head, LOG_SUFFIX, MAGIC, Record, SESSION_VARIABLE,
    SETTINGS_FILE, UNWIND_SUFFIX, VERSION, chunk_check, chunk_word, setting, state, word,
};
use fulcrum_wire::{UNWIND_MAGIC, Unwind, base};
use tempfile::TempDir;

/// A built program and a session.
pub(crate) struct Lab {
    pub program: PathBuf,
    folder: TempDir,
}

/// The settings of a session.
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    pub limit: u64,
    pub head: u64,
    /// Critical sections are watched if this is not 0.
    pub shared_memory: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            limit: 1 << 28,
            head: 64,
            shared_memory: 1,
        }
    }
}

/// The output and the logs of a program.
pub(crate) struct Ran {
    pub output: Output,
    pub logs: Vec<Log>,
}

impl Lab {
    /// A session for an existing program.
    pub(crate) fn of(program: PathBuf) -> Lab {
        Lab {
            program,
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// Compiles `tests/programs/<source>`.
    pub(crate) fn build(source: &str) -> Lab {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
        let (path, common) = (folder.join(source), folder.join("common.h"));
        let name = source.split('.').next().unwrap();
        let program = Recipe::new(name)
            .reads(&path)
            .reads(&common)
            .command(
                [
                    "gcc",
                    "-g",
                    "-O1",
                    "-pthread",
                    "-D_GNU_SOURCE",
                    "-w",
                    "-o",
                    name,
                ]
                .map(std::ffi::OsStr::new)
                .into_iter()
                .chain([path.as_os_str(), std::ffi::OsStr::new("-ldl")]),
            )
            .build()
            .join(name);
        Lab::of(program)
    }

    /// Runs the program without the library.
    pub(crate) fn alone(&self, arguments: &[&str]) -> Output {
        Command::new(&self.program)
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    /// Runs the program under the library.
    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(Settings::default(), arguments)
    }

    pub(crate) fn run_with(&self, settings: Settings, arguments: &[&str]) -> Ran {
        let engine = Engine::start(self.folder.path(), settings);
        let output = self.command(arguments).output().unwrap();
        drop(engine);
        Ran {
            output,
            logs: logs(self.folder.path()),
        }
    }

    /// The session's folder.
    pub(crate) fn session(&self) -> &Path {
        self.folder.path()
    }

    /// The command that runs the program under the library. Something must answer it.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .stdin(Stdio::null())
            .env("LD_PRELOAD", libraries::transaction_runtime())
            .env(SESSION_VARIABLE, self.folder.path());
        command
    }
}

impl Ran {
    /// The program's standard output.
    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.output.stdout.clone()).unwrap()
    }

    /// The only log.
    pub(crate) fn log(&self) -> &Log {
        assert_eq!(self.logs.len(), 1);
        &self.logs[0]
    }

    /// The log of a process.
    pub(crate) fn log_of(&self, pid: u64, turn: u64) -> &Log {
        let found = self
            .logs
            .iter()
            .find(|log| (log.pid(), log.turn()) == (pid, turn));
        found.unwrap_or_else(|| panic!("{pid}-{turn}: no log"))
    }
}

/// Answers the processes of a session until it is dropped.
pub(crate) struct Engine {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Engine {
    pub(crate) fn start(folder: &Path, settings: Settings) -> Engine {
        let mut words = [0_u64; setting::COUNT];
        words[setting::MAGIC] = MAGIC;
        words[setting::VERSION] = VERSION;
        words[setting::LIMIT] = settings.limit;
        words[setting::HEAD] = settings.head;
        words[setting::SHARED_MEMORY] = settings.shared_memory;
        words[setting::ENGINE] = u64::from(std::process::id());
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        fs::write(folder.join(SETTINGS_FILE), bytes).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let (folder, stopped) = (folder.to_path_buf(), Arc::clone(&stop));
        let thread = std::thread::spawn(move || {
            let mut known = HashMap::new();
            let mut tables = HashMap::new();
            while !stopped.load(Ordering::Relaxed) {
                answer(&folder, &mut known, &mut tables);
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        Engine {
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

/// The mapped header of a log.
pub(crate) struct Header(*mut AtomicU64);

impl Header {
    pub(crate) fn map(path: &Path) -> Option<Header> {
        use std::os::fd::AsRawFd;
        let file = fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .ok()?;
        if file.metadata().ok()?.len() < HEADER {
            return None;
        }
        // SAFETY: a fresh mapping of a file that is long enough; it lives as long as the test.
        let at = unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let length = HEADER as usize;
            libc::mmap(
                std::ptr::null_mut(),
                length,
                access,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        assert_ne!(at, libc::MAP_FAILED);
        let header = Header(at.cast());
        (header.word(word::MAGIC).load(Ordering::Acquire) == MAGIC).then_some(header)
    }

    pub(crate) fn word(&self, at: usize) -> &AtomicU64 {
        // SAFETY: within the mapped header.
        unsafe { &*self.0.add(at) }
    }
}

fn answer(
    folder: &Path,
    known: &mut HashMap<PathBuf, Header>,
    tables: &mut HashMap<PathBuf, Vec<UnwindRow>>,
) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let Some(stem) = name.strip_suffix(LOG_SUFFIX) else {
            continue;
        };
        if !known.contains_key(&path) {
            let Some(header) = Header::map(&path) else {
                continue;
            };
            known.insert(path.clone(), header);
        }
        let header = &known[&path];
        let wanted = header.word(word::UNWIND_WANTED).load(Ordering::Acquire);
        let ready = header.word(word::UNWIND_READY);
        if wanted == ready.load(Ordering::Acquire) {
            continue;
        }
        let pid = header.word(word::PID).load(Ordering::Acquire);
        let file = folder.join(format!("{stem}.{wanted}{UNWIND_SUFFIX}"));
        fs::write(file, table(pid, tables)).unwrap();
        ready.store(wanted, Ordering::Release);
        let low = ready.as_ptr().cast::<AtomicU32>();
        // SAFETY: wakes waiters on a mapped word.
        unsafe { libc::syscall(libc::SYS_futex, low, libc::FUTEX_WAKE, i32::MAX) };
    }
}

/// The unwind table for all of a process's code except the system's libraries and our own.
fn table(pid: u64, tables: &mut HashMap<PathBuf, Vec<UnwindRow>>) -> Vec<u8> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    let mut starts: BTreeMap<&str, u64> = BTreeMap::new();
    for line in maps.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let start = u64::from_str_radix(words[0].split('-').next().unwrap(), 16).unwrap();
        if let Some(file) = words.get(5).filter(|file| file.contains("test-programs")) {
            starts.entry(file).or_insert(start);
        }
    }
    let mut rows = Vec::new();
    for (file, bias) in starts {
        let table = tables
            .entry(file.into())
            .or_insert_with(|| unwind_rows(Path::new(file)).unwrap());
        rows.extend(table.iter().map(|row| to_wire(row, bias)));
    }
    rows.sort_by_key(|row| row.start);
    let mut bytes = UNWIND_MAGIC.to_le_bytes().to_vec();
    bytes.extend(fulcrum_wire::VERSION.to_le_bytes());
    bytes.extend((rows.len() as u32).to_le_bytes());
    for row in rows {
        bytes.extend(row.start.to_le_bytes());
        bytes.extend(row.cfa_offset.to_le_bytes());
        bytes.extend(row.rbp_offset.to_le_bytes());
        bytes.extend([row.base, 0]);
    }
    bytes
}

fn to_wire(row: &UnwindRow, bias: u64) -> Unwind {
    let (kind, cfa_offset) = match row.rule {
        UnwindRule::End => (base::END, 0),
        UnwindRule::Cfa {
            base: Base::Rsp,
            offset,
        } => (base::RSP, offset),
        UnwindRule::Cfa {
            base: Base::Rbp,
            offset,
        } => (base::RBP, offset),
        UnwindRule::Plt => (base::PLT, 0),
    };
    Unwind {
        start: row.start + bias,
        cfa_offset,
        rbp_offset: row.rbp.unwrap_or(0) as i16,
        base: kind,
        unused: 0,
    }
}

/// A record of a log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub thread: u32,
    pub head: Head,
    pub record: Record<'static>,
}

/// A process's log.
pub(crate) struct Log {
    words: Vec<u64>,
    /// The records, thread by thread.
    pub entries: Vec<Entry>,
    /// The kernel's thread numbers.
    pub ids: BTreeMap<u32, u32>,
    /// The names of threads when they began.
    pub names: BTreeMap<u32, String>,
}

impl Log {
    /// A word of the header.
    pub(crate) fn word(&self, at: usize) -> u64 {
        self.words[at]
    }

    pub(crate) fn pid(&self) -> u64 {
        self.word(word::PID)
    }

    pub(crate) fn turn(&self) -> u64 {
        self.word(word::TURN)
    }

    /// Maps each record.
    pub(crate) fn each<T>(&self, of: impl Fn(&Entry) -> Option<T>) -> Vec<T> {
        self.entries.iter().filter_map(of).collect()
    }

    /// The addresses of a path.
    pub(crate) fn path(&self, id: u32) -> Vec<u64> {
        let found = self.each(|entry| match entry.record {
            Record::Path { id: it, addresses } if it == id => Some(addresses),
            _ => None,
        });
        assert_eq!(found.len(), 1, "path {id}");
        let words = found[0].chunks_exact(8);
        words
            .map(|word| u64::from_le_bytes(word.try_into().unwrap()))
            .collect()
    }

    /// Reads a log, and checks every used byte.
    pub(crate) fn read(path: &Path) -> Log {
        let mut file = fs::File::open(path).unwrap();
        let length = file.metadata().unwrap().len();
        // The file has its maximum length. The unused part is not read.
        let mut bytes = vec![0; HEADER as usize];
        file.read_exact(&mut bytes).unwrap();
        let next = bytes[8 * word::NEXT..][..8].try_into().unwrap();
        bytes.resize(u64::from_le_bytes(next) as usize, 0);
        file.read_exact(&mut bytes[HEADER as usize..]).unwrap();
        let bytes: &'static [u8] = Vec::leak(bytes);
        let words = |at: usize, count: usize| -> Vec<u64> {
            let bytes = bytes[at..at + 8 * count].chunks_exact(8);
            bytes
                .map(|word| u64::from_le_bytes(word.try_into().unwrap()))
                .collect()
        };
        let header = words(0, word::COUNT);
        assert_eq!(
            (header[word::MAGIC], header[word::VERSION]),
            (MAGIC, VERSION)
        );
        assert_eq!(header[word::LIMIT], length);
        let mut chunks = BTreeMap::new();
        let mut log = Log {
            words: header,
            entries: Vec::new(),
            ids: BTreeMap::new(),
            names: BTreeMap::new(),
        };
        let mut at = HEADER;
        while at < log.word(word::NEXT) {
            let chunk = words(at as usize, CHUNK_HEADER / 8);
            let space = HEADER + (at - HEADER) / CHUNK * CHUNK;
            let is_first = at == space;
            if chunk[chunk_word::THREAD] as u32 != CHUNK_MAGIC {
                // No other thread took the rest, or one was killed before it could begin its chunk.
                assert!(!is_first || log.word(word::STATE) == state::OPEN);
                at = space + CHUNK;
                continue;
            }
            assert_eq!(chunk[chunk_word::OFFSET], at);
            let check = chunk_check(chunk[..].try_into().unwrap());
            assert_eq!(chunk[chunk_word::CHECK], check);
            let thread = (chunk[chunk_word::THREAD] >> 32) as u32;
            let sequence = chunk[chunk_word::SEQUENCE] as u32;
            let id = (chunk[chunk_word::SEQUENCE] >> 32) as u32;
            assert_eq!(*log.ids.entry(thread).or_insert(id), id);
            let name: Vec<u8> = chunk[chunk_word::NAME..][..2]
                .iter()
                .flat_map(|word| word.to_le_bytes())
                .take_while(|byte| *byte != 0)
                .collect();
            log.names
                .entry(thread)
                .or_insert(String::from_utf8(name).unwrap());
            let begin = at as usize + CHUNK_HEADER;
            let end = begin + chunk[chunk_word::USED] as usize;
            assert!(end as u64 <= space + CHUNK);
            assert!(
                chunks
                    .insert((thread, sequence), &bytes[begin..end])
                    .is_none()
            );
            at = end.next_multiple_of(CHUNK_HEADER) as u64;
            if at + CHUNK_HEADER as u64 > space + CHUNK {
                at = space + CHUNK;
            }
        }
        let mut next: BTreeMap<u32, u32> = BTreeMap::new();
        for ((thread, sequence), mut records) in chunks {
            let expected = next.entry(thread).or_default();
            assert_eq!(sequence, *expected, "thread {thread}");
            *expected += 1;
            while !records.is_empty() {
                let (head, record, length) = Record::read(records).unwrap();
                log.entries.push(Entry {
                    thread,
                    head,
                    record,
                });
                records = &records[length..];
            }
        }
        log
    }
}

/// All logs of a session, by process and turn.
pub(crate) fn logs(folder: &Path) -> Vec<Log> {
    let mut logs: Vec<Log> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_str().unwrap().ends_with(LOG_SUFFIX))
        .map(|path| Log::read(&path))
        .collect();
    logs.sort_by_key(|log| (log.word(word::START_NS), log.turn()));
    logs
}

/// A line of a program's output, split into numbers. Those with `0x` are hexadecimal.
pub(crate) fn numbers(line: &str) -> Vec<u64> {
    let number = |word: &str| match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    };
    line.split_whitespace().filter_map(number).collect()
}
