//! Gated probes: a method asks its gate when it is entered, and keeps the answer in a new variable, so that its exit does
//! what its entry did, even if the gate has changed in between.
//!
//! The variable comes after all others, and every frame of the stack map must name it. Its value at a handler is known,
//! because it is set before the first guarded instruction.

use crate::class::{ClassFile, Method};
use crate::code::Code;
use crate::constructor::{self, Regions};
use crate::frames::{Frame, FrameDelta, Type};
use crate::pool::{Pool, PoolFull};

const STATIC: u16 = 0x8;

/// The types of a method's variables when it is entered. `None` for a malformed descriptor.
pub(crate) fn parameters(
    class: &ClassFile<'_>,
    method: &Method<'_>,
    pool: &mut Pool,
) -> Result<Option<Vec<Type>>, PoolFull> {
    let mut types = match (method.access & STATIC != 0, &*method.name) {
        (true, _) => Vec::new(),
        (false, "<init>") => vec![Type::THIS],
        (false, _) => vec![Type::Object(class.this)],
    };
    let inside = method.descriptor.strip_prefix('(');
    let Some((mut rest, _)) = inside.and_then(|it| it.split_once(')')) else {
        return Ok(None);
    };
    while let Some(first) = rest.chars().next() {
        let element = rest.trim_start_matches('[');
        let brackets = rest.len() - element.len();
        let length = match element.chars().next() {
            Some('L') => element.find(';').map(|at| at + 1),
            Some(_) => element.chars().next().map(char::len_utf8),
            None => None,
        };
        let Some(length) = length else {
            return Ok(None);
        };
        let (text, behind) = rest.split_at(brackets + length);
        types.push(match first {
            'J' => Type::LONG,
            'D' => Type::DOUBLE,
            'F' => Type::FLOAT,
            'Z' | 'B' | 'C' | 'S' | 'I' => Type::INTEGER,
            '[' => Type::Object(pool.class(text)?),
            'L' => Type::Object(pool.class(&text[1..text.len() - 1])?),
            _ => return Ok(None),
        });
        rest = behind;
    }
    Ok(Some(types))
}

/// The variables of a frame, with an `int` at `variable` after them.
pub(crate) fn with_variable(locals: &[Type], variable: u16) -> Vec<Type> {
    let mut all = locals.to_vec();
    let wide = |it: &&Type| matches!(**it, Type::LONG | Type::DOUBLE);
    let slots = locals.len() + locals.iter().filter(wide).count();
    all.resize(
        all.len() + usize::from(variable).saturating_sub(slots),
        Type::TOP,
    );
    all.push(Type::INTEGER);
    all
}

/// Adds the variable to the frames of guarded instructions. The frames still have their old places.
pub(crate) fn add_variable(
    frames: &mut [Frame],
    mut locals: Vec<Type>,
    variable: u16,
    code: &Code<'_>,
    regions: &Regions,
) {
    let mut before = false;
    for frame in frames {
        let stack = constructor::apply(&mut locals, &frame.kind);
        let at = code.find(frame.at);
        let has = at.is_some_and(|n| {
            regions
                .guarded
                .iter()
                .any(|(from, to)| (*from..*to).contains(&n))
        });
        let same = matches!(frame.kind, FrameDelta::Same | FrameDelta::Stack(_));
        if has != before || (has && !same) {
            let locals = match has {
                true => with_variable(&locals, variable),
                false => locals.clone(),
            };
            frame.kind = FrameDelta::Full { locals, stack };
        }
        before = has;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_is_behind_those_that_are_there_and_those_that_are_not() {
        let long = [Type::Object(7), Type::LONG];
        let expect = [Type::Object(7), Type::LONG, Type::TOP, Type::INTEGER];
        assert_eq!(with_variable(&long, 4), expect);
        assert_eq!(with_variable(&[], 0), [Type::INTEGER]);
    }

    #[test]
    fn frames_that_differ_little_stay_short() {
        // nop, nop, nop, return
        let code = Code::decode(&[0, 0, 0, 0xb1]).unwrap();
        let frame = |at: u32, kind: FrameDelta| Frame { at, kind };
        let mut frames = [
            frame(0, FrameDelta::Same),
            frame(1, FrameDelta::Append(vec![Type::INTEGER])),
            frame(2, FrameDelta::Stack(Type::Object(3))),
            frame(3, FrameDelta::Chop(1)),
        ];
        let regions = Regions {
            entered_after: Vec::new(),
            guarded: vec![(1, 4)],
        };
        add_variable(&mut frames, vec![Type::Object(9)], 3, &code, &regions);
        let full = |locals: &[Type]| FrameDelta::Full {
            locals: locals.to_vec(),
            stack: Vec::new(),
        };
        let (object, int, top) = (Type::Object(9), Type::INTEGER, Type::TOP);
        let kinds = frames.map(|frame| frame.kind);
        let expect = [
            FrameDelta::Same,
            full(&[object, int, top, int]),
            FrameDelta::Stack(Type::Object(3)),
            full(&[object, top, top, int]),
        ];
        assert_eq!(kinds, expect);
    }
}
