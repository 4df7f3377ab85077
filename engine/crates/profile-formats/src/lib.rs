//! Profiles of calls in every common format, told apart by content: bytes in, the model's call trees or graphs out.
//!
//! Nothing here opens files or panics on input. What cannot be read is a [`fulcrum_model::ReadError`] that says where, what
//! was expected, and what to do next; what can be read around is a note in the result.
//!
//! What a file claims is never believed before it is checked: memory grows with the bytes that are there, up to the
//! limits of [`Limits`] and of the model's call tree.

#![forbid(unsafe_code)]

mod callgrind;
mod chrome_trace;
mod collected;
mod cursor;
mod dhat;
mod dtrace;
mod elsewhere;
mod fault;
mod firefox;
mod folded;
mod foreign;
mod format;
mod gprof;
mod gprof2dot;
mod graphs;
mod haskell;
mod ids;
mod input;
mod instruments;
mod interner;
mod jfr;
mod json;
mod legacy;
mod limits;
mod marshal;
mod massif;
pub mod names;
mod nested;
mod otlp;
mod parents;
mod perf_data;
mod perf_script;
mod perfetto;
mod pprof;
mod pstats;
mod pyinstrument;
mod safari;
mod scalene;
mod simpleperf;
mod slabs;
mod speedscope;
mod stackprof;
mod stacks;
mod symbols;
#[cfg(test)]
mod testing;
mod texts;
mod units;
mod unwrap;
mod v8;
mod v8_heap;
mod v8_log;
mod v8_old;
mod valgrind;
mod wire;
mod write;

use fulcrum_model::Progress;

use self::collected::Collected;
use self::fault::Fault;
use self::input::Input;
pub use folded::text::ReadAt;
pub use format::{Calls, Format, Grain, Profile};
use fulcrum_model::{Place, ReadError};
pub use limits::{ALLOW_MORE, Limits};
pub use stacks::MAX_DEPTH;
pub use symbols::{At, Caller, Code, NoSymbols, Registers, Symbols};
pub use write::{Target, WriteError, open_telemetry, write, write_in_order};

/// One row of the registry.
struct Reader {
    format: Format,
    detect: fn(&Input) -> bool,
    read: fn(&Input) -> Result<Collected, Fault>,
}

impl Reader {
    const fn new(
        format: Format,
        detect: fn(&Input) -> bool,
        read: fn(&Input) -> Result<Collected, Fault>,
    ) -> Self {
        Reader {
            format,
            detect,
            read,
        }
    }
}

/// Every format, most specific first.
const READERS: [Reader; 30] = [
    Reader::new(Format::Jfr, jfr::detect, jfr::read),
    Reader::new(Format::PerfData, perf_data::detect, perf_data::read),
    Reader::new(Format::Pstats, pstats::detect, pstats::read),
    Reader::new(Format::Gperftools, legacy::detect_cpu, legacy::read_cpu),
    Reader::new(Format::Simpleperf, simpleperf::detect, simpleperf::read),
    Reader::new(Format::Perfetto, perfetto::detect, perfetto::read),
    Reader::new(Format::Otlp, otlp::detect, otlp::read),
    Reader::new(Format::Pprof, pprof::detect, pprof::read),
    Reader::new(Format::Speedscope, speedscope::detect, speedscope::read),
    Reader::new(
        Format::ChromeTrace,
        chrome_trace::detect,
        chrome_trace::read,
    ),
    Reader::new(Format::Firefox, firefox::detect, firefox::read),
    Reader::new(Format::Stackprof, stackprof::detect, stackprof::read),
    Reader::new(Format::HeapProfile, v8_heap::detect, v8_heap::read),
    Reader::new(Format::V8Log, v8_log::detect, v8_log::read),
    Reader::new(
        Format::Pyinstrument,
        pyinstrument::detect,
        pyinstrument::read,
    ),
    Reader::new(Format::Scalene, scalene::detect, scalene::read),
    Reader::new(Format::Dhat, dhat::detect, dhat::read),
    Reader::new(Format::Haskell, haskell::detect, haskell::read),
    Reader::new(Format::Gprof2dot, gprof2dot::detect, gprof2dot::read),
    Reader::new(Format::CpuProfile, v8::detect, v8::read),
    Reader::new(Format::CpuProfile, v8_old::detect, v8_old::read),
    Reader::new(Format::Safari, safari::detect, safari::read),
    Reader::new(Format::PprofText, legacy::detect_text, legacy::read_text),
    Reader::new(Format::Massif, massif::detect, massif::read),
    Reader::new(Format::Instruments, instruments::detect, instruments::read),
    Reader::new(Format::Callgrind, callgrind::detect, callgrind::read),
    Reader::new(Format::Gprof, gprof::detect, gprof::read),
    Reader::new(Format::PerfScript, perf_script::detect, perf_script::read),
    Reader::new(Format::DTrace, dtrace::detect, dtrace::read),
    Reader::new(Format::Folded, folded::detect, folded::read),
];

/// Reads a profile of any known format, compressed or not. `name` is what errors call the file.
///
/// # Errors
/// What is wrong, where, and what to do about it.
pub fn read(bytes: &[u8], name: &str) -> Result<Profile, ReadError> {
    read_with(bytes, name, Limits::default(), &NoSymbols)
}

/// The same with other limits, and with names for code of which the file knows only the place. Bytes that are given away
/// are let go as soon as they were decompressed or read.
///
/// # Errors
/// As [`read`].
pub fn read_with(
    bytes: impl AsRef<[u8]>,
    name: &str,
    limits: Limits,
    symbols: &dyn Symbols,
) -> Result<Profile, ReadError> {
    let read = read_with_progress(bytes, name, limits, symbols, &Progress::default())?;
    Ok(read.expect(UNSTOPPED))
}

/// The same with a frame for each line of a function that ran. `None` for formats that do not tell lines.
///
/// # Errors
/// As [`read`].
pub fn read_lines(
    bytes: impl AsRef<[u8]>,
    name: &str,
    limits: Limits,
    symbols: &dyn Symbols,
) -> Result<Option<Profile>, ReadError> {
    const TOLD: [Format; 16] = [
        Format::Perfetto,
        Format::Dhat,
        Format::Massif,
        Format::Scalene,
        Format::Pyinstrument,
        Format::PprofText,
        Format::Gperftools,
        Format::Otlp,
        Format::Pprof,
        Format::Folded,
        Format::PerfData,
        Format::CpuProfile,
        Format::Speedscope,
        Format::Firefox,
        Format::Jfr,
        Format::Stackprof,
    ];
    let kind = (limits, Grain::Lines);
    let nobody = Progress::default();
    let format = detect_with(bytes.as_ref(), name, kind, symbols)?;
    match TOLD.contains(&format) {
        true => finish(Some(format), bytes, name, kind, symbols, &nobody),
        false => Ok(None),
    }
}

/// Reads as [`read_with`] does; `progress` hears which fraction of the work is done, and may stop it. `None` when it did.
///
/// # Errors
/// As [`read`].
pub fn read_with_progress(
    bytes: impl AsRef<[u8]>,
    name: &str,
    limits: Limits,
    symbols: &dyn Symbols,
    progress: &Progress,
) -> Result<Option<Profile>, ReadError> {
    let kind = (limits, Grain::Functions);
    finish(None, bytes, name, kind, symbols, progress)
}

const UNSTOPPED: &str = "nobody stops it";

/// How much of the work is done when everything is decompressed, and when everything is read.
const DECOMPRESSED: f64 = 0.25;
const TAKEN: f64 = 0.85;

/// The same of a format that the caller knows, without looking whether the content is of that format.
///
/// # Errors
/// As [`read`].
pub fn read_as(
    format: Format,
    bytes: impl AsRef<[u8]>,
    name: &str,
    limits: Limits,
    symbols: &dyn Symbols,
) -> Result<Profile, ReadError> {
    let kind = (limits, Grain::Functions);
    let read = finish(
        Some(format),
        bytes,
        name,
        kind,
        symbols,
        &Progress::default(),
    )?;
    Ok(read.expect(UNSTOPPED))
}

fn finish(
    format: Option<Format>,
    bytes: impl AsRef<[u8]>,
    name: &str,
    (limits, grain): (Limits, Grain),
    symbols: &dyn Symbols,
    progress: &Progress,
) -> Result<Option<Profile>, ReadError> {
    let work = || {
        let content = unwrap::unwrap(bytes, limits, &progress.part(0.0, DECOMPRESSED))?;
        let from = match content.compressed {
            true => DECOMPRESSED,
            false => 0.0,
        };
        let progress = progress.part(from, 1.0);
        let mut input = Input::new(content.bytes(), limits, symbols, progress.part(0.0, TAKEN));
        input.grain = grain;
        let collected = look(&input, content.compressed, format, |reader| {
            (reader.read)(&input)
        })?;
        drop(input);
        drop(content);
        progress.at(TAKEN)?;
        collected.profile()
    };
    told(work(), name)
}

fn told(read: Result<Profile, Fault>, name: &str) -> Result<Option<Profile>, ReadError> {
    match read {
        Ok(profile) => Ok(Some(profile)),
        Err(fault) if fault.cancelled => Ok(None),
        Err(fault) => Err(fault.of(name)),
    }
}

/// A text of folded stacks that is read piece by piece and never held as a whole.
pub struct LargeText<'t> {
    /// The whole text, with its beginning.
    pub bytes: &'t dyn ReadAt,
    /// Its beginning, which [`begins_folded`] knows.
    pub head: &'t [u8],
}

/// Whether a text that begins with these bytes, and goes on, is of folded stacks: it can be read as a [`LargeText`]. What
/// such bytes cannot tell is no such text.
pub fn begins_folded(head: &[u8]) -> bool {
    // The last line may go on.
    let end = memchr::memrchr(b'\n', head).map_or(0, |at| at + 1);
    if !unwrap::is_bare(head) {
        return false;
    }
    let input = Input::new(
        &head[..end],
        Limits::default(),
        &NoSymbols,
        Progress::default(),
    );
    let format = look(&input, false, None, |reader| Ok(reader.format));
    input.tells() && matches!(format, Ok(Format::Folded))
}

/// Reads folded stacks as [`read_with_progress`] does, without holding their text.
///
/// # Errors
/// As [`read`], and when the text cannot be read.
pub fn read_large_text(
    text: &LargeText<'_>,
    name: &str,
    limits: Limits,
    progress: &Progress,
) -> Result<Option<Profile>, ReadError> {
    let work = || {
        let input = Input::new(text.head, limits, &NoSymbols, progress.part(0.0, TAKEN));
        let collected = folded::read_text(&input, folded::text::Text::Elsewhere(text.bytes))?;
        progress.at(TAKEN)?;
        collected.profile()
    };
    told(work(), name)
}

/// The format of a profile, or why it is none.
///
/// # Errors
/// When no reader knows the content, or it cannot be decompressed.
pub fn detect(bytes: &[u8], name: &str) -> Result<Format, ReadError> {
    let kind = (Limits::default(), Grain::Functions);
    detect_with(bytes, name, kind, &NoSymbols)
}

fn detect_with(
    bytes: &[u8],
    name: &str,
    (limits, grain): (Limits, Grain),
    symbols: &dyn Symbols,
) -> Result<Format, ReadError> {
    let work = || {
        let content = unwrap::unwrap(bytes, limits, &Progress::default())?;
        let mut input = Input::new(content.bytes(), limits, symbols, Progress::default());
        input.grain = grain;
        look(&input, content.compressed, None, |reader| Ok(reader.format))
    };
    work().map_err(|fault: Fault| fault.of(name))
}

/// Does something with the reader of a file, and says where in the file its trouble is.
fn look<T>(
    input: &Input,
    compressed: bool,
    format: Option<Format>,
    then: impl FnOnce(&Reader) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let foreign = foreign::is_foreign(input);
    let reader = READERS.iter().find(|reader| match format {
        Some(format) => reader.format == format,
        None => !foreign && (reader.detect)(input),
    });
    let result = match reader {
        Some(reader) => then(reader),
        None => Err(foreign::problem(input)),
    };
    result.map_err(|mut fault| {
        if input.json.is_some() && fault.place.is_none() && !fault.path.is_empty() {
            let line = json::line(input.text(), &fault.path);
            fault.place = line.map(|line| Place::Line(line as u64));
        }
        if compressed && matches!(fault.place, Some(Place::Byte(_))) {
            fault
                .problem
                .push_str(" (bytes counted after decompression)");
        }
        fault
    })
}
