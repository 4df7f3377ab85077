//! Breakpoint progress points (COZ §3.3): visits to a line counted without a change of the source (`--progress`).
//!
//! Everything is decided and encoded here, while the process waits for its answer; the runtime only copies bytes. The
//! mechanisms, best first: a jump to a counting stub, a uprobe, a hardware breakpoint, samples in the line.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::mem::{offset_of, size_of};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU32;

use fulcrum_model::Location;
use fulcrum_symbols::{Scope, SymbolsError, breakpoint_sites, jump_to, line_ranges};
use fulcrum_wire::{
    COUNTER_STRIDE, JUMP, MOST_POINTS, NONE, POINTS_MAGIC, PointEntry, PointsHeader, STUBS_AT,
    SiteEntry, Stretch, Text, VERSION, mechanism,
};

use crate::program::launch::RUNTIME_FILE;
use crate::program::open_folder;
use crate::program::proc::Memory;
use crate::{Counting, Error, Options};

/// The file in which the kernel gives the type number of uprobes.
const UPROBE_TYPE: &str = "/sys/bus/event_source/devices/uprobe/type";
/// The farthest that the stubs may be from the first site, in bytes: jumps reach 2 GB, and the module takes its part of that.
const REACH: u64 = 1 << 30;

/// Checks whether the program has the lines whose visits are to be counted. A file unknown to it may belong to a library: that
/// is checked when the program's libraries are loaded, before it begins.
pub(crate) fn check(options: &Options, program: &Path) -> Result<(), Error> {
    for text in &options.progress {
        let location: Location = text
            .parse()
            .map_err(|error| Error::CannotStart(format!("--progress {text}: {error}")))?;
        if let Err(SymbolsError::NoSuchLine(why)) = breakpoint_sites(program, &location) {
            return Err(Error::CannotStart(format!("--progress {text}: {why}")));
        }
    }
    Ok(())
}

/// The points of one process, as written for its runtime.
pub(crate) struct Points {
    path: PathBuf,
    points: Vec<PlacedPoint>,
}

struct PlacedPoint {
    name: String,
    sites: usize,
    /// Why a stub is impossible at some site.
    refused: Option<String>,
}

/// A point that was found in its process.
struct FoundPoint {
    name: String,
    sites: Vec<Site>,
    stretches: Vec<Stretch>,
}

/// One place in the code of a line.
struct Site {
    address: u64,
    offset: u64,
    module: PathBuf,
    window: Result<fulcrum_symbols::Window, String>,
}

/// A requested line that a process lacks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Unplaced {
    /// As it was requested.
    pub line: String,
    /// Why visits to it cannot be counted; a part of a sentence.
    pub why: String,
}

/// Finds the points in a process and writes the file from which its runtime sets them. Also returns the lines not found.
pub(crate) fn prepare(
    path: &Path,
    memory: &Memory,
    options: &Options,
) -> std::io::Result<(Option<Points>, Vec<Unplaced>)> {
    let mut unplaced = Vec::new();
    let mut found = Vec::new();
    let lines: BTreeSet<&String> = options.progress.iter().collect();
    for text in lines.into_iter().take(MOST_POINTS) {
        match find(text, memory) {
            Ok(point) => found.push(point),
            Err(why) => unplaced.push(Unplaced {
                line: text.clone(),
                why,
            }),
        }
    }
    if found.is_empty() {
        return Ok((None, unplaced));
    }
    let arena = found
        .iter()
        .flat_map(|point| &point.sites)
        .find(|site| site.window.is_ok())
        .and_then(|site| gap(&memory.maps, site.address, arena_length(&found)));
    let file = File::lay_out(&found, arena, options.counting);
    let mut written = fs::File::create(path)?;
    open_folder::share(&written)?;
    written.write_all(&file.bytes)?;
    let points = Points {
        path: path.into(),
        points: found
            .into_iter()
            .zip(file.refused)
            .map(|(point, refused)| PlacedPoint {
                name: point.name,
                sites: point.sites.len(),
                refused,
            })
            .collect(),
    };
    Ok((Some(points), unplaced))
}

fn find(text: &str, memory: &Memory) -> Result<FoundPoint, String> {
    let location: Location = text.parse().map_err(|error| format!("{error}"))?;
    let main = memory.in_scope(&[]);
    let users = Scope::default();
    let mut others = memory.code();
    others.retain(|it| !main.contains(it) && !is_ours(it) && users.contains(&it.to_string_lossy()));
    let mut why = None;
    for module in main.into_iter().chain(others) {
        let sites = match breakpoint_sites(&module, &location) {
            Ok(sites) => sites,
            // Many libraries have no debug information: that explains nothing.
            Err(SymbolsError::NoDebugInfo(_)) => continue,
            Err(error) => {
                why.get_or_insert(error.to_string());
                continue;
            }
        };
        let Some(bias) = memory.bias(&module).filter(|_| !sites.is_empty()) else {
            continue;
        };
        let code = line_ranges(&module, &Scope::new([location.file.as_str()]));
        let code = code.map_err(|error| error.to_string())?;
        let ours = |it: &&fulcrum_symbols::Range| {
            let line = code.lines.get(it.line as usize);
            line.is_some_and(|line| line.line == location.line)
        };
        let stretches = code.ranges.iter().filter(ours).map(|range| Stretch {
            start: range.start.wrapping_add(bias),
            end: range.end.wrapping_add(bias),
        });
        return Ok(FoundPoint {
            name: text.into(),
            stretches: stretches.collect(),
            sites: sites
                .into_iter()
                .map(|site| Site {
                    address: site.address.wrapping_add(bias),
                    offset: site.offset,
                    module: module.clone(),
                    window: site.window,
                })
                .collect(),
        });
    }
    Err(why.unwrap_or_else(|| {
        "neither the program nor a library that it is linked to has code from that file; check its path, and that it \
         was compiled with -g"
            .into()
    }))
}

/// Whether a module is our own runtime.
fn is_ours(module: &Path) -> bool {
    module.file_name().is_some_and(|it| it == RUNTIME_FILE)
}

/// More than the longest stub: an instruction has 15 bytes at most, and a window no more than five.
const STUB_ROOM: usize = 256;

fn arena_length(points: &[FoundPoint]) -> u64 {
    let sites: usize = points.iter().map(|point| point.sites.len()).sum();
    (STUBS_AT + (sites * STUB_ROOM).next_multiple_of(STUBS_AT)) as u64
}

/// A free range for the arena within reach of `near`: preferably below it, where no heap grows.
fn gap(maps: &str, near: u64, length: u64) -> Option<u64> {
    // Well above the lowest page that programs may map.
    let mut free = 0x1_0000;
    let mut below = None;
    let mut above = None;
    for line in maps.lines() {
        let (range, _) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let start = u64::from_str_radix(start, 16).ok()?;
        let end = u64::from_str_radix(end, 16).ok()?;
        // Not next to a mapping: a gap below it leaves room for stacks to grow.
        let guard = 0x10_0000;
        let first = free.max(near.saturating_sub(REACH));
        let last = start.min(near.saturating_add(REACH)).saturating_sub(length);
        if first <= last {
            let at = last.saturating_sub(guard).max(first) & !0xfff;
            let at = if at < first {
                first.next_multiple_of(0x1000)
            } else {
                at
            };
            if start <= near && at <= last {
                below = Some(at);
            } else if above.is_none() && at <= last {
                above = Some(at);
            }
        }
        free = end;
    }
    below.or(above)
}

/// The bytes of the file, and for each point, why a stub is impossible.
struct File {
    bytes: Vec<u8>,
    refused: Vec<Option<String>>,
}

impl File {
    fn lay_out(points: &[FoundPoint], arena: Option<u64>, counting: Counting) -> File {
        let site_count: usize = points.iter().map(|point| point.sites.len()).sum();
        let stretch_count: usize = points.iter().map(|point| point.stretches.len()).sum();
        let points_at = size_of::<PointsHeader>();
        let sites_at = points_at + points.len() * size_of::<PointEntry>();
        let stretches_at = sites_at + site_count * size_of::<SiteEntry>();
        let mut layout = Layout {
            text_at: stretches_at + stretch_count * size_of::<Stretch>(),
            ..Layout::default()
        };
        let (mut entries, mut refused) = (Vec::new(), Vec::new());
        for (index, point) in points.iter().enumerate() {
            let counter = arena.map_or(0, |at| at + (index * COUNTER_STRIDE) as u64);
            entries.push(PointEntry {
                name: layout.text(point.name.as_bytes()),
                counter,
                first_site: layout.sites.len() as u32,
                site_count: point.sites.len() as u32,
                first_stretch: layout.stretches.len() as u32,
                stretch_count: point.stretches.len() as u32,
                may_sample: u32::from(counting.allows(mechanism::SAMPLED)),
                used: AtomicU32::new(0),
            });
            layout.stretches.extend_from_slice(&point.stretches);
            let mut why = None;
            for site in &point.sites {
                if let Err(reason) = layout.site(site, arena, counter, counting) {
                    why.get_or_insert(reason);
                }
            }
            refused.push(why);
        }
        let code_at = (layout.text_at + layout.texts.len()).next_multiple_of(8);
        let code_length = layout.code.len();
        let header = PointsHeader {
            magic: POINTS_MAGIC,
            version: VERSION,
            point_count: points.len() as u32,
            site_count: site_count as u32,
            stretch_count: stretch_count as u32,
            uprobe_type: uprobe_type(),
            unused: 0,
            points_at: points_at as u64,
            sites_at: sites_at as u64,
            stretches_at: stretches_at as u64,
            code_at: code_at as u64,
            code_length: code_length as u64,
            arena: arena.filter(|_| code_length > 0).unwrap_or(0),
            length: (code_at + code_length) as u64,
        };
        let mut bytes = Vec::with_capacity(code_at + code_length);
        // SAFETY: the types are `repr(C)`, with fields named `unused` in place of padding.
        unsafe {
            put(&mut bytes, &[header]);
            put(&mut bytes, &entries);
            put(&mut bytes, &layout.sites);
            put(&mut bytes, &layout.stretches);
        }
        bytes.extend(layout.texts);
        bytes.resize(code_at, 0);
        bytes.extend(layout.code);
        File { bytes, refused }
    }
}

/// The parts of the file that grow point by point.
#[derive(Default)]
struct Layout {
    /// Where the texts are in the file.
    text_at: usize,
    texts: Vec<u8>,
    sites: Vec<SiteEntry>,
    stretches: Vec<Stretch>,
    code: Vec<u8>,
}

impl Layout {
    /// Adds a text, with a zero after it.
    fn text(&mut self, value: &[u8]) -> Text {
        let at = (self.text_at + self.texts.len()) as u64;
        self.texts.extend_from_slice(value);
        self.texts.push(0);
        Text {
            at,
            length: value.len() as u64,
        }
    }

    /// Adds a site, with its stub when one is possible. The error says why none is.
    fn site(
        &mut self,
        site: &Site,
        arena: Option<u64>,
        counter: u64,
        counting: Counting,
    ) -> Result<(), String> {
        let stub = arena.map(|at| at + (STUBS_AT + self.code.len()) as u64);
        let jump = site.stub(stub, counter);
        let mut allowed = mechanism::UPROBE | mechanism::HARDWARE;
        let (mut before, mut after) = ([0; 8], [0; 8]);
        let made = jump.map(|(bytes, jump)| {
            allowed |= mechanism::TRAMPOLINE;
            before[..JUMP].copy_from_slice(&site.original()[..JUMP]);
            after[..JUMP].copy_from_slice(&jump);
            self.code.extend(bytes);
            self.code.resize(self.code.len().next_multiple_of(16), 0xcc);
        });
        let file = self.text(site.module.as_os_str().as_encoded_bytes());
        self.sites.push(SiteEntry {
            address: site.address,
            offset: site.offset,
            file,
            original: before,
            jump: after,
            allowed: allowed & counting.mask(),
            unused: 0,
        });
        made
    }
}

impl Site {
    fn original(&self) -> &[u8] {
        self.window.as_ref().map_or(&[], |window| &window.bytes)
    }

    /// The stub's code and the jump to it, or why a stub is impossible.
    fn stub(&self, at: Option<u64>, counter: u64) -> Result<(Vec<u8>, [u8; JUMP]), String> {
        let window = self.window.as_ref().map_err(Clone::clone)?;
        let far = || "there is no room for code near it".to_owned();
        let at = at.ok_or_else(far)?;
        let jump = jump_to(self.address, at).ok_or_else(far)?;
        let code = window.stub(self.address, at, counter)?;
        Ok((code, jump))
    }
}

impl Counting {
    fn mask(self) -> u32 {
        match self {
            Counting::Auto => u32::MAX,
            Counting::Trampoline => mechanism::TRAMPOLINE,
            Counting::Uprobe => mechanism::UPROBE,
            Counting::Hardware => mechanism::HARDWARE,
            Counting::Sampled => mechanism::SAMPLED,
        }
    }

    fn allows(self, mechanism: u32) -> bool {
        self.mask() & mechanism != 0
    }
}

fn uprobe_type() -> u32 {
    let text = fs::read_to_string(UPROBE_TYPE).unwrap_or_default();
    text.trim().parse().unwrap_or(NONE)
}

/// Appends the bytes of the values.
///
/// # Safety
/// `T` must be a `repr(C)` type without padding.
unsafe fn put<T>(to: &mut Vec<u8>, values: &[T]) {
    // SAFETY: the bytes lie within `values`, and all of them are initialised, as there is no padding.
    let bytes = unsafe {
        std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), std::mem::size_of_val(values))
    };
    to.extend_from_slice(bytes);
}

impl Points {
    /// Sentences on how the visits to each point were counted, and at what cost.
    pub(crate) fn notes(&self) -> Vec<String> {
        let bytes = fs::read(&self.path).unwrap_or_default();
        let used = |index: usize| {
            let at = size_of::<PointsHeader>()
                + index * size_of::<PointEntry>()
                + offset_of!(PointEntry, used);
            let word = bytes.get(at..at + 4).and_then(|it| it.try_into().ok());
            word.map_or(0, u32::from_le_bytes)
        };
        let notes = self.points.iter().enumerate();
        notes.map(|(index, it)| it.note(used(index))).collect()
    }
}

impl PlacedPoint {
    fn note(&self, used: u32) -> String {
        let PlacedPoint { name, sites, .. } = self;
        let mut how = Vec::new();
        if used & mechanism::TRAMPOLINE != 0 {
            how.push("by a jump to a counter (about 5 ns a visit)");
        }
        if used & mechanism::UPROBE != 0 {
            how.push("by a uprobe (about 2 µs a visit)");
        }
        if used & mechanism::HARDWARE != 0 {
            how.push("by a hardware breakpoint (about 12 µs a visit)");
        }
        if used & mechanism::SAMPLED != 0 {
            how.push("by the samples in the line, which stand for visits as long as one visit costs the same");
        }
        let places = if *sites == 1 {
            String::new()
        } else {
            format!(" at {sites} places")
        };
        let why = match &self.refused {
            Some(why) if used != mechanism::TRAMPOLINE => {
                format!("; a jump to a counter is not possible: {why}")
            }
            _ => String::new(),
        };
        if how.is_empty() {
            return format!(
                "Visits to {name} are not counted: neither a jump, nor a uprobe (needs root), nor a hardware \
                 breakpoint (four at most, needs perf) can be put there{why}. Put a progress point into the source."
            );
        }
        format!(
            "Visits to {name} are counted{places} {}{why}.",
            how.join(" and ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::gap;

    #[test]
    fn the_arena_lies_in_a_free_place_near_the_program() {
        let maps = "\
00400000-00401000 r--p 00000000 08:01 1 /prog
00401000-00402000 r-xp 00001000 08:01 1 /prog
01000000-01021000 rw-p 00000000 00:00 0 [heap]
7f0000000000-7f0000001000 r-xp 00000000 08:01 2 /lib.so";
        // Below a program that is linked to a fixed address.
        assert_eq!(gap(maps, 0x40_1100, 0x2000), Some(0x2f_e000));
        // Below the library, within reach.
        assert_eq!(gap(maps, 0x7f00_0000_0500, 0x2000), Some(0x7eff_ffef_e000));
        // Nothing below: above.
        let maps = "00010000-00402000 r-xp 0 0:0 1 /p\n00500000-00501000 rw-p 0 0:0 0 x";
        assert_eq!(gap(maps, 0x40_1100, 0x2000), Some(0x40_2000));
        assert_eq!(
            gap("00010000-00402000 r-xp 0 0:0 1 /p", 0x40_1100, 0x2000),
            None
        );
    }
}
