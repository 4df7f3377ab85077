//! Puts probes into methods of a class file (JPMT §4.2, Fig. 3).
//!
//! A selected method calls one static method when it is entered, one before each return, and one when an exception leaves it:
//! from a handler after its own, which rethrows the exception. Everything else in the file stays byte for byte as it is; new
//! constants follow the class's own.
//!
//! Constructors are entered when `super(…)` has returned: see `constructor.rs`. Methods with gates keep the gate's answer in
//! a variable: see `gate.rs`. For probes that get a call's objects, see `objects.rs`; for its values, `values.rs`. Type
//! annotations inside code, and attributes that no virtual machine reads, are left out of rewritten methods: they would have
//! to be moved, and nothing reads them.

use crate::bytes::{Malformed, Reader, Write};
use crate::calls::{self, ProbeArguments};
use crate::class::{self, Attribute, ClassFile, Method};
use crate::code::{Code, Inserted, Moved};
use crate::constructor::{self, Regions};
use crate::frames::{self, Frame, FrameDelta, Type};
use crate::gate;
use crate::pool::Pool;
use crate::probes::{Probes, Refusal, Selected};

/// The result of rewriting a class.
#[derive(Clone, Debug)]
pub struct Rewritten {
    /// The new class file. `None` when no method got probes: the class stays as it is.
    pub bytes: Option<Vec<u8>>,
    /// Selected methods without probes.
    pub refused: Vec<(Selected, Refusal)>,
    /// Methods whose probes pass on no values, because the code or the class has no room for that.
    pub plain_instead: Vec<Selected>,
}

/// HotSpot does not compile methods with more byte code than this.
const HUGE_METHOD: usize = 8000;
const STACK_MAPS: u16 = 50;

/// Rewrites the selected methods, which are in the order of the class's methods.
pub fn rewrite(class: &ClassFile<'_>, selected: &[Selected], probes: &Probes<'_>) -> Rewritten {
    let mut pool = Pool::new(class);
    let (mut refused, mut plain_instead) = (Vec::new(), Vec::new());
    // Everything after the constants, with new code in place of old.
    let mut rest = Vec::new();
    let mut copied = class.constants_end;
    for one in selected {
        let Some(method) = class.methods.get(one.method) else {
            continue;
        };
        let mut code = new_code(class, method, *one, probes, &mut pool);
        if code.is_err() && one.values.is_some() {
            // Probes for values take more room than others.
            let plain = Selected {
                values: None,
                ..*one
            };
            code = new_code(class, method, plain, probes, &mut pool);
            if code.is_ok() {
                plain_instead.push(*one);
            }
        }
        let code = match code {
            Ok(code) => code,
            Err(why) => {
                refused.push((*one, why));
                continue;
            }
        };
        let Some(old) = &method.code else { continue };
        rest.extend_from_slice(&class.bytes[copied..old.attribute.start]);
        rest.put16(old.name);
        rest.put32(code.len() as u32);
        rest.extend_from_slice(&code);
        copied = old.attribute.end;
    }
    if copied == class.constants_end {
        return Rewritten {
            bytes: None,
            refused,
            plain_instead,
        };
    }
    rest.extend_from_slice(&class.bytes[copied..]);
    let mut bytes = class.bytes[..8].to_vec();
    bytes.put16(pool.count());
    bytes.extend_from_slice(&class.bytes[10..class.constants_end]);
    bytes.extend_from_slice(&pool.bytes);
    bytes.extend_from_slice(&rest);
    Rewritten {
        bytes: Some(bytes),
        refused,
        plain_instead,
    }
}

/// The parts of a `Code` attribute.
struct Parts<'a> {
    max_stack: u16,
    max_locals: u16,
    code: &'a [u8],
    handlers: &'a [u8],
    attributes: Vec<Attribute>,
}

fn parts(data: &[u8]) -> Result<Parts<'_>, Malformed> {
    let mut reader = Reader::new(data);
    let (max_stack, max_locals) = (reader.u16()?, reader.u16()?);
    let length = reader.u32()? as usize;
    let code = reader.take(length)?;
    let count = usize::from(reader.u16()?);
    let handlers = reader.take(8 * count)?;
    let attributes = class::attributes(&mut reader)?;
    match reader.is_empty() {
        true => Ok(Parts {
            max_stack,
            max_locals,
            code,
            handlers,
            attributes,
        }),
        false => Err(reader.error("the end of the code")),
    }
}

fn new_code(
    class: &ClassFile<'_>,
    method: &Method<'_>,
    selected: Selected,
    probes: &Probes<'_>,
    pool: &mut Pool,
) -> Result<Vec<u8>, Refusal> {
    let place = method.code.as_ref().ok_or(Refusal::NoCode)?;
    // Before JDK 1.0.2, lengths in code had fewer bytes.
    if class.major < 45 || (class.major == 45 && class.minor < 3) {
        return Err(Refusal::NoCode);
    }
    let data = &class.bytes[place.data.clone()];
    let old = parts(data)?;
    let code = Code::decode(old.code)?;
    // After all others.
    let variable = old.max_locals;
    let arguments = calls::probe_arguments(probes, selected, &method.name, variable);
    let has_gate = matches!(arguments, ProbeArguments::Gate { .. });
    if has_gate && variable == u16::MAX {
        return Err(Refusal::TooManyVariables);
    }
    let calls = calls::calls(method, probes, selected.number, arguments, pool)?;

    let stack_map = find(class, data, &old.attributes, b"StackMapTable")?;
    let mut frames = stack_map.map_or(Ok(Vec::new()), frames::read)?;
    let regions = regions(class, method, &code, &frames)?;
    if has_gate && !frames.is_empty() {
        let locals = gate::parameters(class, method, pool)?;
        let locals = locals.ok_or(Malformed {
            at: place.data.start,
            expected: "a method with a descriptor",
        })?;
        gate::add_variable(&mut frames, locals, variable, &code, &regions);
    }
    let inserted = Inserted {
        at_entry: calls.at_entry,
        before_return: calls.before_return,
        entered_after: regions.entered_after.clone(),
    };

    let moved = Moved::new(&code, &inserted)?;
    let mut bytes = moved.write(&code, &inserted)?;
    let handler_at = bytes.len();
    bytes.extend_from_slice(&calls.handler);
    check_length(old.code.len(), bytes.len())?;
    let relocation = Relocation {
        code: &code,
        moved: &moved,
    };

    let mut out = Vec::new();
    // Above what is returned; in the handler, above the exception.
    let more = arguments.stack();
    out.put16(old.max_stack.saturating_add(more).max(1 + more));
    out.put16(old.max_locals + u16::from(has_gate));
    out.put32(bytes.len() as u32);
    out.extend_from_slice(&bytes);
    let guarded = relocation.places(&regions.guarded)?;
    handler_table(
        &mut out,
        old.handlers,
        relocation,
        &guarded,
        handler_at as u16,
    )?;

    let mut attributes = debug_attributes(class, data, &old.attributes, relocation)?;
    if class.major >= STACK_MAPS {
        frames::relocate(&mut frames, &code, &moved)?;
        let gate = has_gate.then_some(variable);
        frames.push(handler_frame(handler_at as u32, gate, pool)?);
        attributes.push((pool.utf8("StackMapTable")?, frames::write(&frames)));
    }
    put_attributes(&mut out, attributes);
    Ok(out)
}

/// The frame where the handler begins. Only the exception and the gate's answer are known there: other variables may have had any type.
fn handler_frame(at: u32, gate: Option<u16>, pool: &mut Pool) -> Result<Frame, Refusal> {
    let throwable = pool.class("java/lang/Throwable")?;
    Ok(Frame {
        at,
        kind: FrameDelta::Full {
            locals: gate.map_or_else(Vec::new, |variable| gate::with_variable(&[], variable)),
            stack: vec![Type::Object(throwable)],
        },
    })
}

fn check_length(old: usize, new: usize) -> Result<(), Refusal> {
    if new > 65535 {
        return Err(Refusal::TooLong);
    }
    if old <= HUGE_METHOD && new > HUGE_METHOD {
        return Err(Refusal::TooLongToCompile);
    }
    Ok(())
}

/// Where a method is entered, and what its handler guards.
fn regions(
    class: &ClassFile<'_>,
    method: &Method<'_>,
    code: &Code<'_>,
    frames: &[Frame],
) -> Result<Regions, Refusal> {
    match &*method.name {
        "<init>" if !class.parent().is_empty() => {
            let parameters = constructor::parameters(&method.descriptor);
            constructor::regions(class, code, frames, parameters)?.ok_or(Refusal::Constructor)
        }
        _ => Ok(Regions {
            entered_after: Vec::new(),
            guarded: vec![(0, code.instructions.len())],
        }),
    }
}

/// A method's code, and where it has moved.
#[derive(Clone, Copy)]
struct Relocation<'a> {
    code: &'a Code<'a>,
    moved: &'a Moved,
}

impl Relocation<'_> {
    /// Where a jump to this old place leads.
    fn target(self, old: u32) -> Result<u32, Malformed> {
        self.moved.target(self.code, old)
    }

    /// Where a line or a variable begins that began at this old place. The probe at the entry belongs to the first line, and sees
    /// the parameters.
    fn start(self, old: u32) -> Result<u32, Malformed> {
        if old == 0 { Ok(0) } else { self.target(old) }
    }

    /// Where ranges of instructions begin and end.
    fn places(self, ranges: &[(usize, usize)]) -> Result<Vec<(u32, u32)>, Malformed> {
        let old = |n: usize| {
            let instruction = self.code.instructions.get(n);
            instruction.map_or(self.code.bytes.len() as u32, |it| it.at)
        };
        let places = ranges
            .iter()
            .map(|(from, to)| Ok((self.target(old(*from))?, self.target(old(*to))?)));
        places.collect()
    }
}

/// The attributes of the code that debuggers and stack traces use, with their places moved: names and data.
fn debug_attributes(
    class: &ClassFile<'_>,
    data: &[u8],
    old: &[Attribute],
    relocation: Relocation<'_>,
) -> Result<Vec<(u16, Vec<u8>)>, Malformed> {
    let mut attributes = Vec::new();
    for attribute in old {
        let bytes = &data[attribute.data.clone()];
        let moved = match class.utf8(attribute.name)? {
            b"LineNumberTable" => lines(bytes, relocation)?,
            b"LocalVariableTable" | b"LocalVariableTypeTable" => variables(bytes, relocation)?,
            _ => continue,
        };
        attributes.push((attribute.name, moved));
    }
    Ok(attributes)
}

fn put_attributes(out: &mut Vec<u8>, attributes: Vec<(u16, Vec<u8>)>) {
    out.put16(attributes.len() as u16);
    for (name, bytes) in attributes {
        out.put16(name);
        out.put32(bytes.len() as u32);
        out.extend_from_slice(&bytes);
    }
}

fn find<'a>(
    class: &ClassFile<'_>,
    data: &'a [u8],
    attributes: &[Attribute],
    name: &[u8],
) -> Result<Option<&'a [u8]>, Malformed> {
    for attribute in attributes {
        if class.utf8(attribute.name)? == name {
            return Ok(Some(&data[attribute.data.clone()]));
        }
    }
    Ok(None)
}

/// Appends the exception table: the method's own handlers first, then ours for whatever is thrown in what is guarded.
fn handler_table(
    out: &mut Vec<u8>,
    old: &[u8],
    relocation: Relocation<'_>,
    guarded: &[(u32, u32)],
    handler: u16,
) -> Result<(), Refusal> {
    let count = old.len() / 8 + guarded.len();
    out.put16(u16::try_from(count).map_err(|_| Refusal::TooLong)?);
    let mut reader = Reader::new(old);
    while !reader.is_empty() {
        for _ in 0..3 {
            let at = u32::from(reader.u16()?);
            out.put16(relocation.target(at)? as u16);
        }
        out.put16(reader.u16()?);
    }
    for (from, to) in guarded {
        out.put16(*from as u16);
        out.put16(*to as u16);
        out.put16(handler);
        out.put16(0);
    }
    Ok(())
}

fn lines(bytes: &[u8], relocation: Relocation<'_>) -> Result<Vec<u8>, Malformed> {
    let mut reader = Reader::new(bytes);
    let mut out = Vec::new();
    out.put16(reader.u16()?);
    while !reader.is_empty() {
        out.put16(relocation.start(u32::from(reader.u16()?))? as u16);
        out.put16(reader.u16()?);
    }
    Ok(out)
}

fn variables(bytes: &[u8], relocation: Relocation<'_>) -> Result<Vec<u8>, Malformed> {
    let mut reader = Reader::new(bytes);
    let mut out = Vec::new();
    out.put16(reader.u16()?);
    while !reader.is_empty() {
        let (from, length) = (u32::from(reader.u16()?), u32::from(reader.u16()?));
        let to = relocation.target(from + length)?;
        let from = relocation.start(from)?;
        out.put16(from as u16);
        out.put16((to - from) as u16);
        out.extend_from_slice(reader.take(6)?);
    }
    Ok(out)
}
