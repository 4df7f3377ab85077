//! Names for addresses: from the file's own symbols, or else from the executables and libraries in its memory map.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use crate::collect::stacks::{FrameId, Stacks};
use crate::collect::symbols::At;
use crate::decode::fault::Fault;
use crate::decode::input::Input;

/// The advice for Java's profiles, whose addresses are numbers of functions.
pub(crate) const JAVA: &str = "convert it with `go tool pprof -proto FILE > FILE.pb.gz`, or record with JDK Flight Recorder or \
                    async-profiler";

/// Everything that a file says about its addresses.
#[derive(Default)]
pub(crate) struct Addresses {
    /// The functions at an address, outermost first; several when functions were inlined.
    symbols: HashMap<u64, Vec<String>>,
    /// Mappings by their first address.
    maps: BTreeMap<u64, Mapping>,
    /// What `$build` at the beginning of a file's name stands for.
    build: String,
    /// The range in `named` of each address's frames.
    known: HashMap<u64, (usize, usize)>,
    /// Frames, innermost first in each address.
    named: Vec<FrameId>,
    /// Addresses without a name.
    unnamed: u64,
}

struct Mapping {
    end: u64,
    /// The file offset of the first byte.
    offset: u64,
    file: String,
}

impl Addresses {
    /// Reads a line of the symbol section: an address and its functions, separated by `--` where they were inlined.
    pub(crate) fn symbol(&mut self, line: &str) {
        let Some((address, names)) = line.split_once(' ') else {
            return;
        };
        if let Some(address) = hexadecimal(address) {
            let names = names.trim().split("--").map(str::to_owned);
            self.symbols.insert(address, names.collect());
        }
    }

    /// Reads a line of the memory map, in the format of the kernel or of glog. Other lines are ignored.
    pub(crate) fn map(&mut self, line: &str) {
        let line = line.trim();
        if let Some(build) = line.strip_prefix("build=") {
            self.build = build.trim().to_owned();
            return;
        }
        let Some((start, mapping)) = mapping(line) else {
            return;
        };
        self.maps.insert(start, mapping);
    }

    /// The frames of a stack of addresses, innermost first. Return addresses must already point into their calls.
    pub(crate) fn frames(
        &mut self,
        chain: &[u64],
        input: &Input,
        stacks: &mut Stacks,
    ) -> Result<Vec<FrameId>, Fault> {
        let mut frames = Vec::with_capacity(chain.len());
        for &address in chain {
            let (from, to) = self.frames_of(address, input, stacks)?;
            frames.extend_from_slice(&self.named[from..to]);
        }
        frames.reverse();
        Ok(frames)
    }

    /// A note about addresses without a name.
    pub(crate) fn note(&self) -> Option<String> {
        (self.unnamed > 0).then(|| {
            format!(
                "{} addresses have no names: the file knows none, and the programs and libraries that it was recorded from \
                 are not here.",
                self.unnamed
            )
        })
    }

    fn frames_of(
        &mut self,
        address: u64,
        input: &Input,
        stacks: &mut Stacks,
    ) -> Result<(usize, usize), Fault> {
        if let Some(&range) = self.known.get(&address) {
            return Ok(range);
        }
        let from = self.named.len();
        let before = self.maps.range(..=address).next_back();
        let place = before.filter(|(_, mapping)| address < mapping.end);
        let (file, offset) = place.map_or(("".into(), address), |(start, mapping)| {
            let offset = (address - start).saturating_add(mapping.offset);
            (path(&mapping.file, &self.build), offset)
        });
        let file = &*file;
        // Some writers move a return address into its call before they name it, others do not.
        let symbols = [address, address.wrapping_add(1)];
        if let Some(names) = symbols.iter().find_map(|it| self.symbols.get(it)) {
            for name in names.iter().rev() {
                self.named.push(stacks.frame_in(name, "", 0, file)?);
            }
        } else {
            let code = match file {
                "" => Vec::new(),
                file => input.symbols.code(file, None, At::Byte(offset)),
            };
            for it in code.iter().rev() {
                let (source, line) = match input.lines() {
                    true => (&*it.file, it.line),
                    false => ("", 0),
                };
                self.named
                    .push(stacks.frame_in(&it.name, source, line, file)?);
            }
            if code.is_empty() {
                self.unnamed += 1;
                let name = match file.rsplit('/').next() {
                    None | Some("") => format!("{address:#x}"),
                    Some(base) => format!("{offset:#x} ({base})"),
                };
                self.named.push(stacks.frame_in(&name, "", 0, file)?);
            }
        }
        let range = (from, self.named.len());
        self.known.insert(address, range);
        Ok(range)
    }
}

/// The path of a file, with `$build` replaced by the program's folder.
fn path<'f>(file: &'f str, build: &str) -> Cow<'f, str> {
    match file.strip_prefix("$build") {
        Some(rest) => format!("{build}{rest}").into(),
        None => file.into(),
    }
}

/// Parses a hexadecimal number, with or without `0x`.
pub(crate) fn hexadecimal(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let all = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_hexdigit());
    all.then(|| u64::from_str_radix(digits, 16).ok()).flatten()
}

/// Parses a mapping: `400000-401000 r-xp 1000 08:01 12 /bin/app` or `400000-401000: /bin/app`. Returns `None` for mappings
/// without code.
fn mapping(line: &str) -> Option<(u64, Mapping)> {
    let (range, rest) = line.split_once(char::is_whitespace)?;
    let (start, end) = range.trim_end_matches(':').split_once('-')?;
    let (start, end) = (hexadecimal(start)?, hexadecimal(end)?);
    let (offset, file) = match range.ends_with(':') {
        true => (0, rest.trim()),
        false => {
            let mut rest = rest.trim_start();
            let mut word = || {
                let (word, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
                rest = after.trim_start();
                word
            };
            let code = word().contains('x');
            let offset = hexadecimal(word())?;
            let (_device, _inode) = (word(), word());
            if !code {
                return None;
            }
            (offset, rest)
        }
    };
    let file = file.strip_suffix(" (deleted)").unwrap_or(file).to_owned();
    Some((start, Mapping { end, offset, file }))
}
