//! Android's `simpleperf report-sample --protobuf`: samples, files with their symbols, and threads.
//!
//! Libraries: linux-perf-data reads simpleperf's recordings, not this report. `decode::wire` says why prost is not used.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::Format;
use crate::collect::collected::Collected;
use crate::collect::parents::too_large;
use crate::collect::stacks::{FrameId, Recorded, Stacks};
use crate::collect::symbols::bracketed;
use crate::collect::units::value;
use crate::decode::cursor::Cursor;
use crate::decode::fault::{Fault, dangling};
use crate::decode::input::Input;
use crate::decode::wire::Message;

/// The magic number. The version follows it in two bytes.
const MAGIC: &[u8] = b"SIMPLEPERF";
const VERSION: u16 = 1;
/// Records between two progress reports.
const PROGRESS_STEP: usize = 1 << 12;

/// Detects the magic number.
pub(crate) fn detect(input: &Input) -> bool {
    input.bytes.starts_with(MAGIC)
}

/// Everything that samples refer to, wherever it is in the file.
#[derive(Default)]
struct Tables<'a> {
    files: HashMap<u64, File<'a>>,
    /// Process and name, by thread.
    threads: HashMap<u64, (u64, Cow<'a, str>)>,
    events: Vec<Cow<'a, str>>,
    samples: Vec<Sample>,
    /// The recorder's own counts: samples taken and lost.
    stated: Option<(u64, u64)>,
    /// The file has its end record.
    closed: bool,
}

#[derive(Default)]
struct File<'a> {
    path: Cow<'a, str>,
    symbols: Vec<Cow<'a, str>>,
}

#[derive(Default)]
struct Sample {
    thread: u64,
    event: u64,
    count: u64,
    /// Files and symbols, innermost first.
    chain: Vec<(u64, i32)>,
    /// The stack could not be unwound to its end.
    cut: bool,
    at: usize,
}

/// Reads a report.
pub(crate) fn read(input: &Input) -> Result<Collected, Fault> {
    let tables = tables(input)?;
    let used: BTreeSet<u64> = tables.samples.iter().map(|it| it.event).collect();
    let mut types = vec![value("samples", "count")];
    let mut columns = BTreeMap::new();
    for event in used {
        let row = usize::try_from(event).ok();
        let name = row
            .and_then(|row| tables.events.get(row))
            .map_or("event count", |it| it);
        columns.insert(event, types.len());
        types.push(value(
            name,
            if name.ends_with("-clock") {
                "ns"
            } else {
                "count"
            },
        ));
    }
    let mut stacks = Stacks::new(types, usize::from(!columns.is_empty()))?;
    let threads: BTreeSet<u64> = tables.samples.iter().map(|it| it.thread).collect();
    let mut frames = HashMap::new();
    let mut stack = Vec::new();
    for (n, sample) in tables.samples.iter().enumerate() {
        if n.is_multiple_of(PROGRESS_STEP) {
            input.progress.at(n as f64 / tables.samples.len() as f64)?;
        }
        let wrong = |fault: Fault| fault.at_byte(sample.at);
        stack.clear();
        for &key in sample.chain.iter().rev() {
            stack.push(frame(&tables, key, &mut frames, &mut stacks).map_err(wrong)?);
        }
        let container = match threads.len() > 1 {
            true => Some(stacks.container(&thread(&tables, sample.thread))?),
            false => None,
        };
        let mut values = vec![0; stacks.width()];
        values[0] = 1;
        values[columns[&sample.event]] =
            i64::try_from(sample.count).map_err(|_| wrong(too_large()))?;
        stacks
            .add_recorded(container, &stack, Recorded::from_cut(sample.cut), &values)
            .map_err(wrong)?;
    }
    notes(&tables, &mut stacks);
    stacks.finish(Format::Simpleperf)
}

fn notes(tables: &Tables, stacks: &mut Stacks) {
    if !tables.closed {
        stacks.note("The file is cut short: the record that ends it is missing.");
    }
    let Some((taken, lost)) = tables.stated else {
        return;
    };
    let found = tables.samples.len() as u64;
    if taken != found {
        stacks.note(format!(
            "The file has {found} samples, but says that it has {taken}."
        ));
    }
    if lost > 0 {
        stacks.note(format!("simpleperf lost {lost} samples."));
    }
}

fn tables<'a>(input: &Input<'a>) -> Result<Tables<'a>, Fault> {
    let mut cursor = Cursor::new(input.bytes);
    let magic = cursor.take(MAGIC.len())?;
    if magic.bytes() != MAGIC {
        return Err(Fault::byte(0, "expected SIMPLEPERF"));
    }
    let version = cursor.u16()?;
    if version != VERSION {
        let problem = format!("expected version {VERSION} of simpleperf's reports, got {version}");
        return Err(Fault::byte(MAGIC.len(), problem));
    }
    let mut tables = Tables::default();
    while !cursor.is_empty() {
        let at = cursor.at();
        let size = cursor.u32()?;
        if size == 0 {
            tables.closed = true;
            break;
        }
        let record = cursor.take(size as usize).map_err(|_| {
            let left = cursor.bytes().len();
            Fault::byte(
                at,
                format!("a record claims {size} bytes, but {left} are left"),
            )
        })?;
        tables.record(Message::part(record.bytes(), record.at()))?;
    }
    Ok(tables)
}

impl<'a> Tables<'a> {
    fn record(&mut self, mut record: Message<'a>) -> Result<(), Fault> {
        while let Some((number, field)) = record.field()? {
            let Some(mut inside) = field.message() else {
                continue;
            };
            match number {
                1 => self.samples.push(sample(inside)?),
                2 => {
                    let (mut taken, mut lost) = (0, 0);
                    while let Some((number, field)) = inside.field()? {
                        match number {
                            1 => taken = field.number(),
                            2 => lost = field.number(),
                            _ => {}
                        }
                    }
                    self.stated = Some((taken, lost));
                }
                3 => self.file(inside)?,
                4 => self.thread(inside)?,
                5 => {
                    while let Some((number, field)) = inside.field()? {
                        if let (1, Some(name)) = (number, field.message()) {
                            self.events.push(text(name));
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn file(&mut self, mut message: Message<'a>) -> Result<(), Fault> {
        let (mut id, mut file) = (0, File::default());
        while let Some((number, field)) = message.field()? {
            match (number, field.message()) {
                (1, _) => id = field.number(),
                (2, Some(path)) => file.path = text(path),
                (3, Some(symbol)) => file.symbols.push(text(symbol)),
                _ => {}
            }
        }
        self.files.insert(id, file);
        Ok(())
    }

    fn thread(&mut self, mut message: Message<'a>) -> Result<(), Fault> {
        let (mut id, mut process, mut name) = (0, 0, Cow::Borrowed(""));
        while let Some((number, field)) = message.field()? {
            match (number, field.message()) {
                (1, _) => id = field.number(),
                (2, _) => process = field.number(),
                (3, Some(text_of)) => name = text(text_of),
                _ => {}
            }
        }
        self.threads.insert(id, (process, name));
        Ok(())
    }
}

fn text(message: Message<'_>) -> Cow<'_, str> {
    String::from_utf8_lossy(message.bytes())
}

fn sample(mut message: Message) -> Result<Sample, Fault> {
    let mut sample = Sample {
        at: message.at(),
        ..Sample::default()
    };
    while let Some((number, field)) = message.field()? {
        match (number, field.message()) {
            (2, _) => sample.thread = field.number() & u64::from(u32::MAX),
            (3, Some(mut entry)) => {
                let (mut file, mut symbol) = (0, -1);
                while let Some((number, field)) = entry.field()? {
                    match number {
                        2 => file = field.number(),
                        3 => symbol = field.number() as i32,
                        _ => {}
                    }
                }
                sample.chain.push((file, symbol));
            }
            (4, _) => sample.count = field.number(),
            (5, _) => sample.event = field.number(),
            (6, Some(mut result)) => {
                while let Some((number, field)) = result.field()? {
                    sample.cut |= number == 3 && field.number() != 0;
                }
            }
            _ => {}
        }
    }
    Ok(sample)
}

fn frame(
    tables: &Tables,
    (file, symbol): (u64, i32),
    frames: &mut HashMap<(u64, i32), FrameId>,
    stacks: &mut Stacks,
) -> Result<FrameId, Fault> {
    if let Some(&frame) = frames.get(&(file, symbol)) {
        return Ok(frame);
    }
    let found = tables.files.get(&file);
    let found = found.ok_or_else(|| dangling("a frame", file, "file"))?;
    let frame = match usize::try_from(symbol) {
        Ok(row) => {
            let name = found.symbols.get(row);
            let name = name.ok_or_else(|| dangling("a frame", symbol, "symbol"))?;
            stacks.frame_in(name, "", 0, &found.path)?
        }
        Err(_) => stacks.frame_in(&bracketed(&found.path), "", 0, &found.path)?,
    };
    frames.insert((file, symbol), frame);
    Ok(frame)
}

fn thread(tables: &Tables, id: u64) -> String {
    match tables.threads.get(&id) {
        Some((process, name)) => format!("{name} ({process}/{id})"),
        None => format!("thread {id}"),
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{check, check_fault};

    fn field(number: u8, content: &[u8]) -> Vec<u8> {
        [&[(number << 3) | 2, content.len() as u8], content].concat()
    }

    fn number(number: u8, value: u8) -> Vec<u8> {
        vec![number << 3, value]
    }

    fn record(kind: u8, parts: &[Vec<u8>]) -> Vec<u8> {
        let record = field(kind, &parts.concat());
        [&(record.len() as u32).to_le_bytes()[..], &record].concat()
    }

    fn call(file: u8, symbol: u8) -> Vec<u8> {
        field(
            3,
            &[number(1, 9), number(2, file), number(3, symbol)].concat(),
        )
    }

    /// A number below zero has ten bytes.
    fn unnamed(file: u8) -> Vec<u8> {
        let symbol = [&[0x18][..], &[0xff; 9], &[1]].concat();
        field(3, &[number(2, file), symbol].concat())
    }

    fn report(threads: &[u8]) -> Vec<u8> {
        let mut file = b"SIMPLEPERF\x01\0".to_vec();
        for (n, &thread) in threads.iter().enumerate() {
            let chain = [number(1, 5), number(2, thread), call(0, 1), call(0, 0)].concat();
            file.extend(record(1, &[chain, number(4, 100), number(5, n as u8 % 2)]));
        }
        let cut = field(6, &number(3, 4));
        file.extend(record(
            1,
            &[
                number(2, threads[0]),
                unnamed(1),
                number(4, 7),
                number(5, 0),
                cut,
            ],
        ));
        file.extend(record(
            2,
            &[number(1, threads.len() as u8 + 1), number(2, 3)],
        ));
        file.extend(record(
            3,
            &[
                number(1, 0),
                field(2, b"/a/libapp.so"),
                field(3, b"main"),
                field(3, b"work(int)"),
            ],
        ));
        file.extend(record(
            3,
            &[number(1, 1), field(2, b"/system/lib64/libc.so")],
        ));
        file.extend(record(4, &[number(1, 7), number(2, 6), field(3, b"ui")]));
        file.extend(record(
            5,
            &[
                field(1, b"cpu-cycles"),
                field(1, b"task-clock"),
                field(2, b"com.app"),
            ],
        ));
        file.extend([0; 4]);
        file
    }

    const NOTES: &str = "note: simpleperf lost 3 samples.
         note: 1 stacks were cut when they were recorded; their innermost frames are under [truncated].";

    #[test]
    fn samples_are_counted_by_event_and_stack() {
        check(
            report(&[7]),
            &format!(
                "samples 2
                 cpu-cycles* 107
                 [truncated] 0 0
                 [truncated];[libc.so] 1 7
                 main 0 0
                 main;work(int) 1 100
                 {NOTES}"
            ),
        );
    }

    #[test]
    fn threads_are_containers_and_clocks_have_times() {
        check(
            report(&[7, 8]),
            &format!(
                "samples 3
                 cpu-cycles* 107
                 task-clock ns 100
                 {{thread 8}} 0 0 0
                 {{thread 8}};main 0 0 0
                 {{thread 8}};main;work(int) 1 0 100
                 {{ui (6/7)}} 0 0 0
                 {{ui (6/7)}};[truncated] 0 0 0
                 {{ui (6/7)}};[truncated];[libc.so] 1 7 0
                 {{ui (6/7)}};main 0 0 0
                 {{ui (6/7)}};main;work(int) 1 100 0
                 {NOTES}"
            ),
        );
    }

    #[test]
    fn a_cut_or_damaged_report_is_told() {
        let whole = report(&[7]);
        check(
            &whole[..whole.len() - 4],
            &format!(
                "samples 2
                 cpu-cycles* 107
                 [truncated] 0 0
                 [truncated];[libc.so] 1 7
                 main 0 0
                 main;work(int) 1 100
                 note: The file is cut short: the record that ends it is missing.
                 {NOTES}"
            ),
        );
        check_fault(&whole[..20], 0, "a record claims 26 bytes, but 4 are left");
        let mut wrong = whole.clone();
        wrong[10] = 2;
        check_fault(
            wrong,
            0,
            "expected version 1 of simpleperf's reports, got 2",
        );
        let mut wrong = whole;
        let at = wrong
            .windows(2)
            .position(|it| it == [0x18, 1])
            .expect("symbol 1");
        wrong[at + 1] = 5;
        check_fault(
            wrong,
            0,
            "a frame names symbol 5, which the file does not have",
        );
    }
}
