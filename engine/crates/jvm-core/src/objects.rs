//! Probes that get a call's objects: the one that it is made on, its first object argument, and its result.
//!
//! Nothing is asked of these objects, and no variable is needed for them: when the method is entered, its arguments are still
//! in their variables, and what it returns is on top of the stack.

use crate::class::Method;
use crate::code::{self, op};

const STATIC: u16 = 0x8;

/// What a method returns, as far as probes distinguish it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Returns {
    /// An object.
    Object,
    /// A `boolean`.
    Boolean,
    /// A number, or nothing.
    Other,
}

/// What a method with this descriptor returns.
pub(crate) fn returns(descriptor: &str) -> Returns {
    let kind = descriptor.rsplit_once(')').map_or("", |(_, kind)| kind);
    match kind.as_bytes().first() {
        Some(b'L' | b'[') => Returns::Object,
        Some(b'Z') => Returns::Boolean,
        _ => Returns::Other,
    }
}

/// Pushes the object that a method is called on, and its first object argument; `null` where there is none.
pub(crate) fn push_objects(method: &Method<'_>) -> Vec<u8> {
    let load = |variable: Option<u16>| match variable {
        Some(variable) => code::variable(op::ALOAD, variable),
        None => vec![op::ACONST_NULL],
    };
    let is_static = method.access & STATIC != 0;
    let own = u16::from(!is_static);
    let argument = first_object(&method.descriptor).map(|at| at + own);
    [load((!is_static).then_some(0)), load(argument)].concat()
}

/// The variable of the first object, counted from that of the first argument.
fn first_object(descriptor: &str) -> Option<u16> {
    let parameters = descriptor.strip_prefix('(')?.bytes();
    let mut at = 0;
    for kind in parameters {
        match kind {
            b'L' | b'[' => return Some(at),
            b'J' | b'D' => at += 2,
            b')' => return None,
            _ => at += 1,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_object_is_found_behind_wide_arguments() {
        for (descriptor, expect) in [
            ("()V", None),
            ("(I)Ljava/lang/Object;", None),
            ("(La/B;I)V", Some(0)),
            ("(I[I)V", Some(1)),
            ("(JDZLa/B;La/C;)V", Some(5)),
            ("", None),
        ] {
            assert_eq!(first_object(descriptor), expect, "{descriptor}");
        }
    }

    #[test]
    fn what_returns_nothing_that_can_be_told_is_other() {
        for (descriptor, expect) in [
            ("(La/B;)V", Returns::Other),
            ("(La/B;)Z", Returns::Boolean),
            ("()[I", Returns::Object),
            ("()La/B;", Returns::Object),
            ("(Z)I", Returns::Other),
        ] {
            assert_eq!(returns(descriptor), expect, "{descriptor}");
        }
    }
}
