//! Probes that get a call's values: its arguments and its result.
//!
//! Nothing is boxed, and no variable is needed: when the method is entered, its arguments are in their variables, and what it
//! returns is on top of the stack. Each value is passed on by its own call, because the methods that probes call have fixed
//! descriptors.

use crate::bytes::Write;
use crate::class::Method;
use crate::code::{self, op, push};
use crate::pool::Pool;
use crate::probes::{Refusal, ValueProbes};

const STATIC: u16 = 0x8;

/// The `int` that comes with a value.
pub mod tag {
    /// The bits of its type: a character of descriptors, `I` for `int`, `L` for all objects.
    pub const TYPE: i32 = 0x7f;
    /// It is the first value of a call's entry or exit.
    pub const FIRST: i32 = 0x80;
    /// It is the method's result.
    pub const RESULT: i32 = 0x100;
}

/// A value: its type as a character of descriptors, `L` for all objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Typed(u8);

impl Typed {
    /// `None` for `void`, and for what is no type.
    fn new(descriptor: u8) -> Option<Typed> {
        match descriptor {
            b'[' => Some(Typed(b'L')),
            b'Z' | b'B' | b'C' | b'S' | b'I' | b'J' | b'F' | b'D' | b'L' => Some(Typed(descriptor)),
            _ => None,
        }
    }

    fn is_wide(self) -> bool {
        matches!(self.0, b'J' | b'D')
    }

    fn load(self) -> u8 {
        match self.0 {
            b'J' => op::LLOAD,
            b'F' => op::FLOAD,
            b'D' => op::DLOAD,
            b'L' => op::ALOAD,
            _ => op::ILOAD,
        }
    }

    /// Calls the probe for the value, which is on the stack.
    fn pass_on(
        self,
        tag: i32,
        probes: ValueProbes<'_>,
        pool: &mut Pool,
    ) -> Result<Vec<u8>, Refusal> {
        let (name, descriptor) = match self.0 {
            b'J' => (probes.long, "(JI)V"),
            b'F' => (probes.float, "(FI)V"),
            b'D' => (probes.double, "(DI)V"),
            b'L' => (probes.object, "(Ljava/lang/Object;I)V"),
            _ => (probes.int, "(II)V"),
        };
        let constant = pool.method(probes.class, name, descriptor)?;
        let tag = (tag | i32::from(self.0)).cast_unsigned();
        let mut bytes = push(tag, || None).ok_or(Refusal::ConstantsFull)?;
        bytes.push(op::INVOKESTATIC);
        bytes.put16(constant);
        Ok(bytes)
    }
}

/// Passes on the first `most` arguments, and pushes how many there are. Empty for a method without arguments.
pub(crate) fn pass_on_arguments(
    method: &Method<'_>,
    most: u8,
    probes: ValueProbes<'_>,
    pool: &mut Pool,
) -> Result<Vec<u8>, Refusal> {
    let mut variable = u16::from(method.access & STATIC == 0);
    let arguments = arguments(&method.descriptor);
    let mut bytes = Vec::new();
    for (n, argument) in arguments.iter().take(usize::from(most)).enumerate() {
        let first = if n == 0 { tag::FIRST } else { 0 };
        bytes.extend(code::variable(argument.load(), variable));
        bytes.extend(argument.pass_on(first, probes, pool)?);
        variable += 1 + u16::from(argument.is_wide());
    }
    if !arguments.is_empty() {
        let all = push(arguments.len() as u32, || None).ok_or(Refusal::ConstantsFull)?;
        bytes.extend(all);
    }
    Ok(bytes)
}

/// Passes on what is about to be returned, and leaves it on the stack. Empty for a method that returns nothing.
pub(crate) fn pass_on_result(
    method: &Method<'_>,
    probes: ValueProbes<'_>,
    pool: &mut Pool,
) -> Result<Vec<u8>, Refusal> {
    let kind = method.descriptor.rsplit_once(')').map_or("", |(_, it)| it);
    let Some(result) = kind.bytes().next().and_then(Typed::new) else {
        return Ok(Vec::new());
    };
    let twice = match result.is_wide() {
        true => op::DUP2,
        false => op::DUP,
    };
    let passed = result.pass_on(tag::FIRST | tag::RESULT, probes, pool)?;
    Ok([&[twice][..], &passed].concat())
}

/// The types of a method's arguments, as far as its descriptor is well-formed.
fn arguments(descriptor: &str) -> Vec<Typed> {
    let inside = descriptor.strip_prefix('(').unwrap_or("");
    let mut rest = inside.split(')').next().unwrap_or("").as_bytes();
    let mut found = Vec::new();
    while let Some(typed) = rest.first().copied().and_then(Typed::new) {
        found.push(typed);
        let brackets = rest.iter().take_while(|it| **it == b'[').count();
        rest = &rest[brackets..];
        let length = match rest.first() {
            Some(b'L') => rest.iter().position(|it| *it == b';').map(|at| at + 1),
            Some(_) => Some(1),
            None => None,
        };
        rest = length.map_or(&[], |length| &rest[length..]);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_found_by_their_types() {
        for (descriptor, expect) in [
            ("()V", ""),
            ("(ZBCSIJFD)V", "ZBCSIJFD"),
            ("(La/J;[I[[La/D;I[[J)La/B;", "LLLIL"),
            ("(I", "I"),
            ("(La/B", "L"),
            ("([", "L"),
            ("(IV)V", "I"),
            ("", ""),
        ] {
            let found = arguments(descriptor);
            let types: String = found.iter().map(|it| char::from(it.0)).collect();
            assert_eq!(types, expect, "{descriptor}");
        }
    }
}
