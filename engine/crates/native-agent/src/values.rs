//! Calls whose values are logged (`observe_values`). The recorder's plan says where arguments and results are; it is made
//! from the program's debug information (`values.plan` in the run's folder).
//!
//! A thread's own stack is read directly. The kernel reads all other memory, and refuses addresses that are not mapped.
//!
//! The plan is Fulcrum's own line format, which recorder and agent share. It is read by hand, so that no parser is loaded
//! into other people's programs.

use std::collections::BTreeMap;
use std::path::Path;

use fulcrum_preload::sys;
use fulcrum_wire::log::{LONGEST_TEXT, PayloadBuffer, Value};

/// The plan's name in the run's folder.
const FILE: &str = "values.plan";

/// The recorder's plan.
#[derive(Default)]
pub(crate) struct Plan {
    /// The program's file that it is about.
    path: String,
    /// Functions, by their start in the file.
    functions: BTreeMap<u64, Function>,
}

/// A function's values.
pub(crate) struct Function {
    start: u64,
    result: Option<Typed>,
    arguments: Vec<Option<Typed>>,
    /// Calls of the probes, by their return address.
    calls: BTreeMap<u64, Call>,
}

struct Call {
    result: Option<Place>,
    arguments: Vec<Option<Place>>,
}

#[derive(Clone, Copy)]
enum Place {
    Register(u16),
    Memory(u16, i64),
    Constant(i64),
}

enum Typed {
    Signed(u8),
    Unsigned(u8),
    Character(u8),
    Boolean,
    Single,
    Double,
    Text,
    Address,
    Named(u8, Vec<(i64, Box<str>)>),
}

/// The callee-saved registers, with the values of a probe's caller.
#[repr(C)]
pub(crate) struct Saved {
    rbx: u64,
    rbp: u64,
    r12: u64,
    r13: u64,
    r14: u64,
    r15: u64,
}

/// A call of a probe.
pub(crate) struct Probed<'p> {
    /// The address of the function that is entered or left.
    pub(crate) function: usize,
    /// The stack pointer with which the probe was called.
    pub(crate) sp: usize,
    pub(crate) saved: &'p Saved,
    /// Whether an address is on the thread's own stack.
    pub(crate) is_own: &'p dyn Fn(usize) -> bool,
    /// The most bytes of a text that are logged.
    pub(crate) longest: usize,
}

impl Plan {
    /// An empty plan.
    pub(crate) const fn new() -> Plan {
        Plan {
            path: String::new(),
            functions: BTreeMap::new(),
        }
    }

    /// Whether the recorder wrote a plan for a run.
    pub(crate) fn is_there(run: &Path) -> bool {
        run.join(FILE).exists()
    }

    /// Reads the plan of a run; an empty one if there is none.
    pub(crate) fn read(run: &Path) -> Plan {
        let text = std::fs::read_to_string(run.join(FILE)).unwrap_or_default();
        let mut plan = Plan::default();
        let mut last = None;
        for line in text.lines() {
            let (what, rest) = line.split_once(' ').unwrap_or((line, ""));
            let mut words = rest.split(' ');
            let number = |word: Option<&str>| u64::from_str_radix(word?, 16).ok();
            match what {
                "file" => plan.path = rest.into(),
                "function" => {
                    let Some(start) = number(words.next()) else {
                        continue;
                    };
                    last = Some(start);
                    let result = words.next().and_then(typed);
                    let arguments = words.map(typed).collect();
                    let function = Function {
                        start,
                        result,
                        arguments,
                        calls: BTreeMap::new(),
                    };
                    plan.functions.insert(start, function);
                }
                "at" => {
                    let Some(at) = number(words.next()) else {
                        continue;
                    };
                    let result = words.next().and_then(place);
                    let arguments = words.map(place).collect();
                    let function = last.and_then(|start| plan.functions.get_mut(&start));
                    if let Some(function) = function {
                        function.calls.insert(at, Call { result, arguments });
                    }
                }
                _ => {}
            }
        }
        plan
    }

    /// Removes and returns the function that starts at an address of a file, if it is in the plan.
    pub(crate) fn take(&mut self, path: &Path, address: u64) -> Option<Function> {
        match path == Path::new(&self.path) {
            true => self.functions.remove(&address),
            false => None,
        }
    }
}

fn typed(word: &str) -> Option<Typed> {
    let bytes = |rest: &str| rest.parse().ok().filter(|it| matches!(it, 1 | 2 | 4 | 8));
    let (kind, rest) = word.split_at_checked(1)?;
    Some(match kind {
        "i" => Typed::Signed(bytes(rest)?),
        "u" => Typed::Unsigned(bytes(rest)?),
        "c" => Typed::Character(bytes(rest)?),
        "b" => Typed::Boolean,
        "f" => Typed::Single,
        "d" => Typed::Double,
        "t" => Typed::Text,
        "a" => Typed::Address,
        "e" => {
            let (size, names) = rest.split_once(':')?;
            let names = names.split(',').filter_map(|it| {
                let (value, name) = it.split_once('=')?;
                Some((value.parse().ok()?, name.into()))
            });
            Typed::Named(bytes(size)?, names.collect())
        }
        _ => return None,
    })
}

fn place(word: &str) -> Option<Place> {
    let (kind, rest) = word.split_at_checked(1)?;
    Some(match kind {
        "r" => Place::Register(rest.parse().ok()?),
        "c" => Place::Constant(rest.parse().ok()?),
        "m" => {
            let sign = rest.find(['+', '-'])?;
            let (register, offset) = rest.split_at(sign);
            Place::Memory(register.parse().ok()?, offset.parse().ok()?)
        }
        _ => return None,
    })
}

impl Typed {
    fn size(&self) -> usize {
        match self {
            Typed::Signed(bytes)
            | Typed::Unsigned(bytes)
            | Typed::Character(bytes)
            | Typed::Named(bytes, _) => usize::from(*bytes),
            Typed::Boolean => 1,
            Typed::Single => 4,
            Typed::Double | Typed::Text | Typed::Address => 8,
        }
    }
}

impl Function {
    /// Whether calls have arguments.
    pub(crate) fn has_arguments(&self) -> bool {
        !self.arguments.is_empty()
    }

    /// Appends how many arguments there are, how many follow, and the first `most`.
    pub(crate) fn add_arguments(
        &self,
        probed: &Probed<'_>,
        most: usize,
        payload: &mut PayloadBuffer,
    ) {
        let count = self.arguments.len().min(most);
        payload.put_number(self.arguments.len() as u64);
        payload.put_number(count as u64);
        let call = self.call(probed);
        for n in 0..count {
            let place = call.and_then(|it| it.arguments.get(n).copied().flatten());
            add(self.arguments[n].as_ref(), place, probed, payload);
        }
    }

    /// Appends the result. `false` when the function has none.
    pub(crate) fn add_result(&self, probed: &Probed<'_>, payload: &mut PayloadBuffer) -> bool {
        let Some(of) = &self.result else { return false };
        let place = self.call(probed).and_then(|it| it.result);
        add(Some(of), place, probed, payload);
        true
    }

    /// The plan's entry for this call of the probe. `None` when the function was inlined elsewhere.
    fn call(&self, probed: &Probed<'_>) -> Option<&Call> {
        // SAFETY: the probe's return address is at the stack pointer.
        let returns_to = unsafe { *(probed.sp as *const usize) };
        let offset = returns_to.wrapping_sub(probed.function) as u64;
        self.calls.get(&self.start.wrapping_add(offset))
    }
}

fn add(of: Option<&Typed>, place: Option<Place>, probed: &Probed<'_>, payload: &mut PayloadBuffer) {
    let word = of.and_then(|of| read(place?, of.size(), probed));
    let (Some(of), Some(word)) = (of, word) else {
        payload.put(&Value::Unknown);
        return;
    };
    let signed = |bytes: u8| {
        let unused = 64 - 8 * u32::from(bytes);
        (word << unused).cast_signed() >> unused
    };
    let unsigned = |bytes: u8| {
        let unused = 64 - 8 * u32::from(bytes);
        word << unused >> unused
    };
    match of {
        Typed::Signed(bytes) => payload.put(&Value::Integer(signed(*bytes))),
        Typed::Unsigned(bytes) => payload.put(&Value::Unsigned(unsigned(*bytes))),
        Typed::Character(bytes) => payload.put(&Value::Character(unsigned(*bytes) as u32)),
        Typed::Boolean => payload.put(&Value::Boolean(word & 0xff != 0)),
        Typed::Single => payload.put(&Value::Single(word as u32)),
        Typed::Double => payload.put(&Value::Double(word)),
        Typed::Address | Typed::Text if word == 0 => payload.put(&Value::Null),
        Typed::Address => payload.put(&Value::Address(word)),
        Typed::Text => add_text(word as usize, probed.longest, payload),
        Typed::Named(bytes, names) => {
            let value = signed(*bytes);
            let other = unsigned(*bytes).cast_signed();
            let found = names.iter().find(|(it, _)| *it == value || *it == other);
            match found {
                Some((value, name)) => payload.put(&Value::Named {
                    value: *value,
                    name: name.as_bytes(),
                }),
                None => payload.put(&Value::Integer(value)),
            }
        }
    }
}

/// The bytes at a place, as the lower ones of a word.
fn read(place: Place, size: usize, probed: &Probed<'_>) -> Option<u64> {
    let register = |number: u16| {
        let saved = probed.saved;
        Some(match number {
            3 => saved.rbx,
            6 => saved.rbp,
            7 => probed.sp as u64 + 8,
            12 => saved.r12,
            13 => saved.r13,
            14 => saved.r14,
            15 => saved.r15,
            _ => return None,
        })
    };
    match place {
        Place::Constant(value) => Some(value.cast_unsigned()),
        Place::Register(number) => register(number),
        Place::Memory(number, offset) => {
            let at = usize::try_from(register(number)?.wrapping_add_signed(offset)).ok()?;
            let mut bytes = [0; 8];
            let into = bytes.get_mut(..size)?;
            let last = at.checked_add(size - 1)?;
            if (probed.is_own)(at) && (probed.is_own)(last) && at > probed.sp {
                // SAFETY: between the thread's stack pointer and the end of its stack.
                unsafe { std::ptr::copy_nonoverlapping(at as *const u8, into.as_mut_ptr(), size) };
            } else if copy(at, into) < size {
                return None;
            }
            Some(u64::from_le_bytes(bytes))
        }
    }
}

fn add_text(at: usize, longest: usize, payload: &mut PayloadBuffer) {
    let mut bytes = [0; LONGEST_TEXT + 1];
    let longest = longest.min(LONGEST_TEXT);
    let copied = copy(at, &mut bytes[..longest + 1]);
    if copied == 0 {
        return payload.put(&Value::Address(at as u64));
    }
    let end = bytes[..copied].iter().position(|it| *it == 0);
    let cut = end.is_none();
    let mut bytes = &bytes[..end.unwrap_or(copied).min(longest)];
    if cut
        && let Err(error) = std::str::from_utf8(bytes)
        && error.error_len().is_none()
    {
        // The last character was cut.
        bytes = &bytes[..error.valid_up_to()];
    }
    payload.put(&Value::Text { bytes, cut });
}

/// Copies memory that may not be mapped. Returns how many bytes were copied: none after the first page that is not mapped.
fn copy(at: usize, into: &mut [u8]) -> usize {
    const PAGE: usize = 4096;
    let first = into.len().min(PAGE - at % PAGE);
    let Some(second) = at.checked_add(first) else {
        return 0;
    };
    let local = [into.as_mut_ptr().addr(), into.len()];
    let remote = [[at, first], [second, into.len() - first]];
    // SAFETY: the kernel writes only into `into`, and reads what is mapped.
    let copied = unsafe {
        sys::call(
            libc::SYS_process_vm_readv,
            [
                sys::process_id() as usize,
                local.as_ptr().addr(),
                1,
                remote.as_ptr().addr(),
                if second == at + into.len() { 1 } else { 2 },
                0,
            ],
        )
    };
    usize::try_from(copied).unwrap_or(0)
}
