//! Python's statistics, from `cProfile` and `profile`: functions with their callers. `decode::marshal` says which libraries
//! read the encoding.

use crate::Format;
use crate::collect::collected::Collected;
use crate::collect::graphs::Graphs;
use crate::collect::units::{value, whole};
use crate::decode::fault::Fault;
use crate::decode::input::Input;
use crate::decode::marshal::{self, Entry, Value};
use crate::decode::texts::cut;

/// Detects a marshalled dictionary.
pub(crate) fn detect(input: &Input) -> bool {
    marshal::is_dictionary(input.bytes)
}

/// Reads a profile.
pub(crate) fn read(input: &Input) -> Result<Collected, Fault> {
    let Value::Dict(functions) = marshal::read(input.bytes)? else {
        return Err(Fault::byte(0, "expected a dictionary of functions"));
    };
    let mut reader = Reader {
        graphs: Graphs::new(vec![value("time", "ns")]),
        counted: false,
        // A caller takes at least one byte, unless functions share their callers, which no profiler writes.
        callers: input.bytes.len(),
    };
    for entry in functions.iter().filter(|entry| !is_mark(&entry.key)) {
        let read = reader.function(entry);
        read.map_err(|fault| fault.at_byte(entry.at))?;
    }
    let Reader {
        mut graphs,
        counted,
        ..
    } = reader;
    if counted {
        let note = "The statistics count calls without their times, so calls are left out; cProfile records times.";
        graphs.notes.push(note.into());
    }
    graphs.finish(Format::Pstats)
}

struct Reader {
    graphs: Graphs,
    /// Calls were counted without their times.
    counted: bool,
    /// How many more callers may follow.
    callers: usize,
}

impl Reader {
    /// Reads a function's statistics: primitive calls, calls, own time, cumulative time, callers.
    fn function(&mut self, entry: &Entry) -> Result<(), Fault> {
        let row = function(&entry.key, &mut self.graphs)?;
        let Value::Tuple(stats) = &entry.value else {
            return Err(wrong("statistics of a function"));
        };
        let [_, _, own, total, Value::Dict(callers)] = &stats[..] else {
            return Err(wrong("statistics of a function"));
        };
        self.graphs.add_base(row, &[time(own)?])?;
        self.graphs.set_cum(row, &[time(total)?]);
        let left = self.callers.checked_sub(callers.len());
        self.callers = left
            .ok_or_else(|| Fault::whole("functions have more callers than the file has bytes"))?;
        for entry in callers.iter() {
            let called = self.caller(row, entry);
            called.map_err(|fault| fault.at_byte(entry.at))?;
        }
        Ok(())
    }

    fn caller(&mut self, row: u32, entry: &Entry) -> Result<(), Fault> {
        let caller = function(&entry.key, &mut self.graphs)?;
        match &entry.value {
            Value::Tuple(stats) if stats.len() == 4 => {
                let (own, total) = (time(&stats[2])?, time(&stats[3])?);
                self.graphs.add_call(caller, row, Some(&[own]), &[total])
            }
            Value::Number(_) => {
                self.counted = true;
                Ok(())
            }
            _ => Err(wrong("statistics of a caller")),
        }
    }
}

/// Whether a key is `("__sampled__",)`, which the sampling profiler of Python 3.15 puts among the functions.
fn is_mark(key: &Value) -> bool {
    matches!(key, Value::Tuple(parts) if matches!(&parts[..], [Value::Text(_)]))
}

/// The row of a function, by file, line and name. Built-in functions have no file.
fn function(key: &Value, graphs: &mut Graphs) -> Result<u32, Fault> {
    let Value::Tuple(parts) = key else {
        return Err(wrong("file, line and name of a function"));
    };
    let [Value::Text(file), Value::Number(line), Value::Text(name)] = &parts[..] else {
        return Err(wrong("file, line and name of a function"));
    };
    match cut(file) {
        "~" => graphs.function(name, ""),
        file => graphs.function(&format!("{} ({file}:{line})", cut(name)), ""),
    }
}

fn time(seconds: &Value) -> Result<i64, Fault> {
    match seconds {
        Value::Number(seconds) => whole(*seconds, 1e9),
        _ => Err(wrong("a time")),
    }
}

fn wrong(what: &str) -> Fault {
    Fault::whole(format!("expected {what}"))
}

#[cfg(test)]
mod tests {
    use crate::read;
    use crate::testing::{check, check_fault, text};

    /// `{(file, line, name): (1, 1, own, total, {(file, line, name): callers})}` as Python 3 writes it.
    fn stats(callers: &[u8]) -> Vec<u8> {
        let mut bytes = b"\xfb\xa9\x03\xda\x04a.pyi\x07\0\0\0\xda\x01f".to_vec();
        bytes.extend(b")\x05\xe9\x01\0\0\0r\x04\0\0\0");
        bytes.extend(b"g\0\0\0\0\0\0\xf8\x3fg\0\0\0\0\0\0\0\x40");
        bytes.extend(b"{)\x03\xda\x01~i\0\0\0\0z\x04exec");
        bytes.extend(callers);
        bytes.extend(b"00");
        bytes
    }

    #[test]
    fn what_the_sampling_profiler_says_of_itself_is_no_function() {
        let callers = b")\x04i\x01\0\0\0i\x01\0\0\0g\0\0\0\0\0\0\xe0\x3fg\0\0\0\0\0\0\xf0\x3f";
        let mut marked = b"\xfb)\x01z\x0b__sampled__T".to_vec();
        marked.extend(&stats(callers)[1..]);
        let shown = |bytes: &[u8]| text(&read(bytes, "x").expect("statistics"));
        assert_eq!(shown(&marked), shown(&stats(callers)));
    }

    #[test]
    fn functions_and_callers_are_read() {
        check(
            stats(b")\x04i\x01\0\0\0i\x01\0\0\0g\0\0\0\0\0\0\xe0\x3fg\0\0\0\0\0\0\xf0\x3f"),
            "time ns*
             f (a.py:7) 1500000000/2000000000
             exec 0/1000000000
             exec > f (a.py:7) 500000000/1000000000",
        );
    }

    #[test]
    fn callers_without_times_are_left_out() {
        check(
            stats(b"i\x03\0\0\0"),
            "time ns*
             f (a.py:7) 1500000000/2000000000
             exec 0/0
             note: The statistics count calls without their times, so calls are left out; cProfile records times.",
        );
    }

    #[test]
    fn callers_that_multiply_are_refused() {
        // A thousand functions that all have the same callers, which the file has once.
        let mut bytes = b"{".to_vec();
        let key = |number: u32| {
            let mut key = b")\x03z\x01fi".to_vec();
            key.extend(number.to_le_bytes());
            key.extend(b"z\x01f");
            key
        };
        for function in 0..1000_u32 {
            bytes.extend(key(function));
            bytes.extend(b")\x05NNg\0\0\0\0\0\0\0\0g\0\0\0\0\0\0\0\0");
            if function > 0 {
                bytes.extend(b"r\0\0\0\0");
                continue;
            }
            bytes.push(b'{' | 0x80);
            for caller in 0..1000 {
                bytes.extend(key(caller));
                bytes.extend(b"i\x01\0\0\0");
            }
            bytes.push(b'0');
        }
        bytes.push(b'0');
        let expect = "functions have more callers than the file has bytes";
        check_fault(bytes, 0, expect);
    }

    #[test]
    fn wrong_shapes_are_errors() {
        check_fault(stats(b"N"), 0, "expected statistics of a caller");
        check_fault(b"{)\x01N", 0, "expected 1 bytes, but 0 are left");
        check_fault(
            b"{)\x01N0",
            0,
            "expected a value of statistics, got type 48",
        );
        check_fault(
            b"{)\x01NN0",
            0,
            "expected file, line and name of a function",
        );
    }
}
