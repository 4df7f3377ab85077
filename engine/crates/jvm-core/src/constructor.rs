//! Where in a constructor `this` becomes initialised: there the observed call begins.
//!
//! No exception handler may guard the call of `super(…)` itself (JVMS §4.10.1.9), so its exceptions could not be observed. So a
//! constructor's observed call begins when `super(…)` has returned.

use crate::bytes::Malformed;
use crate::class::ClassFile;
use crate::code::{Code, op};
use crate::frames::{Frame, FrameDelta, Type};

/// Where a method is entered and what is guarded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Regions {
    /// The instructions after which the method is entered; none when that is its beginning.
    pub(crate) entered_after: Vec<usize>,
    /// The instructions within the observed call: from one number up to another.
    pub(crate) guarded: Vec<(usize, usize)>,
}

/// Divides a constructor. `None` when that is impossible; compilers do not write such code.
///
/// Before `this(…)` or `super(…)`, code may create other objects, jump and catch. In straight code, `new` and calls of
/// constructors pair like brackets; after jumps, the stack map says which objects are uninitialised.
pub(crate) fn regions(
    class: &ClassFile<'_>,
    code: &Code<'_>,
    frames: &[Frame],
    parameters: usize,
) -> Result<Option<Regions>, Malformed> {
    let mut regions = Regions::default();
    let mut locals = vec![Type::THIS];
    locals.resize(1 + parameters, Type::Simple(0));
    let mut uninitialized = true;
    // Objects whose constructors have not been called yet: the place of `new`, and the class.
    let mut made: Vec<(u32, u16)> = Vec::new();
    let mut frames = frames.iter().peekable();
    let has_frames = frames.peek().is_some();
    for (n, instruction) in code.instructions.iter().enumerate() {
        while let Some(frame) = frames.next_if(|frame| frame.at <= instruction.at) {
            let stack = apply(&mut locals, &frame.kind);
            uninitialized = locals.contains(&Type::THIS);
            if uninitialized && locals.first() != Some(&Type::THIS) {
                return Ok(None);
            }
            made = made_objects(code, stack.iter().chain(&locals))?;
        }
        if !uninitialized {
            match regions.guarded.last_mut() {
                Some((_, to)) if *to == n => *to = n + 1,
                _ => regions.guarded.push((n, n + 1)),
            }
        }
        match instruction.opcode {
            op::NEW => made.push((instruction.at, code.operands(instruction).u16()?)),
            op::ASTORE_0 if uninitialized => return Ok(None),
            op::ASTORE if uninitialized && code.operands(instruction).u8()? == 0 => {
                return Ok(None);
            }
            op::INVOKESPECIAL => {
                let reference = code.operands(instruction).u16()?;
                let (of, name) = class.method_reference(reference)?;
                if name != b"<init>" {
                    continue;
                }
                let last = made
                    .last()
                    .map(|(_, made)| class.class_name(*made))
                    .transpose()?;
                match last {
                    Some(made_class) if made_class == of => {
                        made.pop();
                    }
                    None if uninitialized && (of == class.name() || of == class.parent()) => {
                        uninitialized = false;
                        regions.entered_after.push(n);
                    }
                    _ if uninitialized => return Ok(None),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    // Without stack maps, it is not known which of two calls applies where.
    let known = match regions.entered_after.len() {
        0 => false,
        1 => true,
        _ => has_frames,
    };
    Ok(known.then_some(regions))
}

/// The objects among these types whose constructors have not been called: the place of `new`, and the class.
fn made_objects<'t>(
    code: &Code<'_>,
    types: impl Iterator<Item = &'t Type>,
) -> Result<Vec<(u32, u16)>, Malformed> {
    let mut made: Vec<(u32, u16)> = Vec::new();
    for it in types {
        if let Type::Uninitialized(at) = it
            && let Some(n) = code.find(u32::from(*at))
        {
            // Copies of an object count once.
            let of = code.operands(&code.instructions[n]).u16()?;
            if !made.iter().any(|(other, _)| *other == u32::from(*at)) {
                made.push((u32::from(*at), of));
            }
        }
    }
    Ok(made)
}

/// Applies a frame to the variables, and returns the stack.
pub(crate) fn apply(locals: &mut Vec<Type>, kind: &FrameDelta) -> Vec<Type> {
    match kind {
        FrameDelta::Same => Vec::new(),
        FrameDelta::Stack(it) => vec![*it],
        FrameDelta::Chop(count) => {
            locals.truncate(locals.len().saturating_sub(usize::from(*count)));
            Vec::new()
        }
        FrameDelta::Append(types) => {
            locals.extend_from_slice(types);
            Vec::new()
        }
        FrameDelta::Full { locals: all, stack } => {
            locals.clone_from(all);
            stack.clone()
        }
    }
}

/// How many parameters a descriptor has.
pub(crate) fn parameters(descriptor: &str) -> usize {
    let inside = descriptor
        .trim_start_matches('(')
        .split(')')
        .next()
        .unwrap_or("");
    let mut count = 0;
    let mut rest = inside.trim_start_matches('[');
    while let Some(first) = rest.chars().next() {
        count += 1;
        rest = match first {
            'L' => rest.split_once(';').map_or("", |(_, rest)| rest),
            _ => &rest[first.len_utf8()..],
        };
        rest = rest.trim_start_matches('[');
    }
    count
}

#[cfg(test)]
mod tests {
    #[test]
    fn parameters_are_counted() {
        for (descriptor, count) in [
            ("()V", 0),
            ("(I)V", 1),
            ("(JD[[I[Ljava/lang/String;Z)V", 5),
            ("(Ljava/lang/Object;Ljava/util/Map;)Z", 2),
            ("(L", 1),
        ] {
            assert_eq!(super::parameters(descriptor), count, "{descriptor}");
        }
    }
}
