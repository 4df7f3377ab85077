//! Profiles of calls in every common format: bytes in, the model's call trees or call graphs out. The content decides the
//! format, never the file's name.
//!
//! Nothing here opens files or panics on input. A file that cannot be read gives a [`fulcrum_model::ReadError`], which says
//! where, what was expected, and what to do next. Damage that a reader can work around becomes a note in the result.
//!
//! A file's claims are checked before they are believed: memory grows with the bytes that are there, up to [`Limits`] and
//! the limits of the model's call tree.
//!
//! - `formats`: the readers, one for each format
//! - `decode`: bytes to values, for all readers
//! - `collect`: what readers collect into
//! - `unsupported`: files that no reader reads, with advice
//! - [`names`]: rules that unify names; `write`: the output formats

#![forbid(unsafe_code)]

mod collect;
mod decode;
mod format;
mod formats;
pub mod names;
#[cfg(test)]
mod testing;
mod unsupported;
mod write;

use fulcrum_model::{Place, Progress, ReadError};

use self::collect::collected::Collected;
use self::decode::fault::Fault;
use self::decode::input::Input;
use self::decode::{json, unwrap};
use self::formats::{
    bpftrace, callgrind, chrome_trace, dhat, dtrace, firefox, folded, go_trace, gprof, gprof2dot,
    haskell, instruments, jfr, legacy, massif, otlp, perf_data, perf_script, perfetto, pprof,
    pstats, pyinstrument, safari, scalene, simpleperf, speedscope, stackprof, v8, v8_heap, v8_log,
    v8_old,
};
use self::unsupported::foreign;

pub use collect::stacks::MAX_DEPTH;
pub use collect::symbols::{At, Caller, Code, NoSymbols, Registers, Symbols};
pub use decode::limits::{ALLOW_MORE, Limits};
pub use format::{Calls, Format, Grain, Profile};
pub use formats::folded::text::ReadAt;
pub use write::{OutputFormat, WriteError, open_telemetry, write, write_in_order};

/// One row of the registry.
struct Reader {
    format: Format,
    /// Whether a file is in this format. It looks at the file's beginning only.
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

/// The registry: every reader, most specific first. The first that detects its format reads the file.
const READERS: [Reader; 32] = [
    Reader::new(Format::Jfr, jfr::detect, jfr::read),
    Reader::new(Format::GoTrace, go_trace::detect, go_trace::read),
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
    Reader::new(Format::Bpftrace, bpftrace::detect, bpftrace::read),
    Reader::new(Format::Massif, massif::detect, massif::read),
    Reader::new(Format::Instruments, instruments::detect, instruments::read),
    Reader::new(Format::Callgrind, callgrind::detect, callgrind::read),
    Reader::new(Format::Gprof, gprof::detect, gprof::read),
    Reader::new(Format::PerfScript, perf_script::detect, perf_script::read),
    Reader::new(Format::DTrace, dtrace::detect, dtrace::read),
    Reader::new(Format::Folded, folded::detect, folded::read),
];

/// The formats that record which line of a function ran, for [`read_lines`].
const WITH_LINES: [Format; 17] = [
    Format::GoTrace,
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

/// How a file is read.
#[derive(Clone, Copy)]
struct Options<'o> {
    /// What errors call the file.
    name: &'o str,
    limits: Limits,
    grain: Grain,
    symbols: &'o dyn Symbols,
}

/// Reads a profile of any known format, compressed or not. Errors call the file `name`.
///
/// # Errors
/// What is wrong, where, and what to do about it.
pub fn read(bytes: &[u8], name: &str) -> Result<Profile, ReadError> {
    read_with(bytes, name, Limits::default(), &NoSymbols)
}

/// Reads as [`read`] does, with other limits and with names for code that the file knows only by its place. Owned bytes are
/// freed as soon as they are decompressed or read.
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
    Ok(read.expect(NEVER_CANCELLED))
}

/// Reads as [`read_with`] does, with a frame for each line of a function that ran. Returns `None` for formats that do not
/// record lines.
///
/// # Errors
/// As [`read`].
pub fn read_lines(
    bytes: impl AsRef<[u8]>,
    name: &str,
    limits: Limits,
    symbols: &dyn Symbols,
) -> Result<Option<Profile>, ReadError> {
    let options = Options {
        name,
        limits,
        grain: Grain::Lines,
        symbols,
    };
    let format = detect_with(bytes.as_ref(), &options)?;
    match WITH_LINES.contains(&format) {
        true => read_format(Some(format), bytes, &options, &Progress::default()),
        false => Ok(None),
    }
}

/// Reads as [`read_with`] does. `progress` receives the fraction of the work that is done, and can cancel it. Returns `None`
/// when it was cancelled.
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
    let options = Options {
        name,
        limits,
        grain: Grain::Functions,
        symbols,
    };
    read_format(None, bytes, &options, progress)
}

const NEVER_CANCELLED: &str = "the default progress is never cancelled";

/// How much of the work is done once the file is decompressed, and once it is read.
const DECOMPRESSED: f64 = 0.25;
const COLLECTED: f64 = 0.85;

/// Reads as [`read_with`] does, with the reader of `format`, whatever the content looks like.
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
    let options = Options {
        name,
        limits,
        grain: Grain::Functions,
        symbols,
    };
    let read = read_format(Some(format), bytes, &options, &Progress::default())?;
    Ok(read.expect(NEVER_CANCELLED))
}

/// Reads with the reader of `format`; detects the format when it is `None`.
fn read_format(
    format: Option<Format>,
    bytes: impl AsRef<[u8]>,
    options: &Options<'_>,
    progress: &Progress,
) -> Result<Option<Profile>, ReadError> {
    let Options {
        name,
        limits,
        grain,
        symbols,
    } = *options;
    let work = || {
        let content = unwrap::unwrap(bytes, limits, &progress.part(0.0, DECOMPRESSED))?;
        let from = match content.compressed {
            true => DECOMPRESSED,
            false => 0.0,
        };
        let progress = progress.part(from, 1.0);
        let part = progress.part(0.0, COLLECTED);
        let mut input = Input::new(content.bytes(), limits, symbols, part);
        input.grain = grain;
        input.compressed = content.compressed;
        let collected = with_reader(&input, format, |reader| (reader.read)(&input))?;
        // Building the tree takes the most memory: the file goes first.
        drop(input);
        drop(content);
        progress.at(COLLECTED)?;
        collected.profile()
    };
    unless_cancelled(work(), name)
}

fn unless_cancelled(
    read: Result<Profile, Fault>,
    name: &str,
) -> Result<Option<Profile>, ReadError> {
    match read {
        Ok(profile) => Ok(Some(profile)),
        Err(fault) if fault.cancelled => Ok(None),
        Err(fault) => Err(fault.of(name)),
    }
}

/// A text of folded stacks that is read in pieces and never held in memory as a whole.
pub struct LargeText<'t> {
    /// The whole text.
    pub bytes: &'t dyn ReadAt,
    /// Its beginning, for which [`begins_folded`] returned true.
    pub head: &'t [u8],
}

/// Whether a text with this beginning has folded stacks, so that it can be read as a [`LargeText`]. Returns false when the
/// beginning is too short to tell.
pub fn begins_folded(head: &[u8]) -> bool {
    // The last line may be incomplete.
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
    let format = with_reader(&input, None, |reader| Ok(reader.format));
    input.is_conclusive() && matches!(format, Ok(Format::Folded))
}

/// Reads folded stacks as [`read_with_progress`] does, without holding their text in memory.
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
        let part = progress.part(0.0, COLLECTED);
        let input = Input::new(text.head, limits, &NoSymbols, part);
        let collected = folded::read_text(&input, folded::text::Text::Elsewhere(text.bytes))?;
        progress.at(COLLECTED)?;
        collected.profile()
    };
    unless_cancelled(work(), name)
}

/// Detects the format of a profile.
///
/// # Errors
/// When no reader knows the content, or it cannot be decompressed.
pub fn detect(bytes: &[u8], name: &str) -> Result<Format, ReadError> {
    let options = Options {
        name,
        limits: Limits::default(),
        grain: Grain::Functions,
        symbols: &NoSymbols,
    };
    detect_with(bytes, &options)
}

fn detect_with(bytes: &[u8], options: &Options<'_>) -> Result<Format, ReadError> {
    let work = || {
        let content = unwrap::unwrap(bytes, options.limits, &Progress::default())?;
        let (limits, symbols) = (options.limits, options.symbols);
        let mut input = Input::new(content.bytes(), limits, symbols, Progress::default());
        input.grain = options.grain;
        input.compressed = content.compressed;
        with_reader(&input, None, |reader| Ok(reader.format))
    };
    work().map_err(|fault: Fault| fault.of(options.name))
}

/// Calls `then` with the reader of a file, and completes the place of a fault.
fn with_reader<T>(
    input: &Input,
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
        if input.compressed && matches!(fault.place, Some(Place::Byte(_))) {
            fault
                .problem
                .push_str(" (bytes counted after decompression)");
        }
        fault
    })
}
