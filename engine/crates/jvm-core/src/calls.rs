//! The calls of probes that a method gets.

use crate::bytes::Write;
use crate::class::Method;
use crate::code::{self, op, push};
use crate::objects::{self, Returns};
use crate::pool::Pool;
use crate::probes::{ObjectProbes, Probes, Refusal, Selected, ValueProbes};
use crate::values;

/// What probes are told besides the method's number.
#[derive(Clone, Copy)]
pub enum ProbeArguments<'a> {
    /// That is all.
    Nothing,
    /// Those of exits: what the gate said, which is kept in a variable.
    Gate { gate: &'a str, variable: u16 },
    /// The call's objects.
    Objects(ObjectProbes<'a>),
    /// The call's values: so many of its arguments, and its result.
    Values(ValueProbes<'a>, u8),
}

impl ProbeArguments<'_> {
    /// Places on the stack that calls of probes take above what the method has there.
    pub fn stack(&self) -> u16 {
        match self {
            // The number.
            ProbeArguments::Nothing => 1,
            // What the gate said, or what is returned once more; at an entry, two objects.
            ProbeArguments::Gate { .. } | ProbeArguments::Objects(_) => 2,
            // A value, which may take two, and what it is.
            ProbeArguments::Values(..) => 3,
        }
    }
}

/// What the probes of a method are told.
pub fn told<'a>(
    probes: &Probes<'a>,
    selected: Selected,
    name: &str,
    variable: u16,
) -> ProbeArguments<'a> {
    // What a constructor was given may be gone from its variable when `super(…)` has returned.
    let tells = name != "<init>";
    match (probes.objects, probes.values, selected.values, probes.gate) {
        (Some(probes), ..) if tells && selected.objects => ProbeArguments::Objects(probes),
        (_, Some(probes), Some(most), _) if tells => ProbeArguments::Values(probes, most),
        (.., Some(gate)) if selected.gated => ProbeArguments::Gate { gate, variable },
        _ => ProbeArguments::Nothing,
    }
}

/// Code.
pub struct Calls {
    pub at_entry: Vec<u8>,
    pub before_return: Vec<u8>,
    /// Throws the exception on.
    pub handler: Vec<u8>,
}

/// The calls of a method with this number.
pub fn calls(
    method: &Method<'_>,
    probes: &Probes<'_>,
    number: u32,
    told: ProbeArguments<'_>,
    pool: &mut Pool,
) -> Result<Calls, Refusal> {
    let (entry, exit) = match told {
        ProbeArguments::Values(probes, most) => (
            values::tell_arguments(method, most, probes, pool)?,
            values::tell_result(method, probes, pool)?,
        ),
        _ => (Vec::new(), Vec::new()),
    };
    // The number is between what is pushed first and what is pushed last.
    let mut call = |class: &str, name: &str, descriptor: &str, [first, last]: [&[u8]; 2]| {
        let method = pool.method(class, name, descriptor)?;
        let constant = match number > 32767 {
            true => Some(pool.integer(number)?),
            false => None,
        };
        let number = push(number, || constant).ok_or(Refusal::ConstantsFull)?;
        let mut bytes = [first, &number, last, &[op::INVOKESTATIC]].concat();
        bytes.put16(method);
        Ok::<_, Refusal>(bytes)
    };
    let class = probes.class;
    let (exits, said) = match told {
        ProbeArguments::Gate { variable, .. } => ("(II)V", code::variable(op::ILOAD, variable)),
        _ => ("(I)V", Vec::new()),
    };
    let (mut at_entry, before_return) = match told {
        ProbeArguments::Nothing => (call(class, probes.enter, "(I)V", [&[], &[]])?, None),
        ProbeArguments::Values(values, _) => {
            let entered = match entry.is_empty() {
                true => call(class, probes.enter, "(I)V", [&[], &[]])?,
                false => call(values.class, values.given, "(II)V", [&entry, &[]])?,
            };
            let left = match exit.is_empty() {
                true => None,
                false => Some(call(values.class, values.gives, "(I)V", [&exit, &[]])?),
            };
            (entered, left)
        }
        ProbeArguments::Gate { gate, .. } => (call(class, gate, "(I)I", [&[], &[]])?, None),
        ProbeArguments::Objects(probes) => {
            let objects = objects::push_objects(method);
            let entered = "(Ljava/lang/Object;Ljava/lang/Object;I)V";
            let again = [&[op::DUP][..], &[]];
            let returned = match objects::returns(&method.descriptor) {
                Returns::Object => Some((probes.returns, "(Ljava/lang/Object;I)V")),
                Returns::Boolean => Some((probes.says, "(II)V")),
                Returns::Other => None,
            };
            let returned = returned.map(|(name, kind)| call(probes.class, name, kind, again));
            let entered = call(probes.class, probes.entered, entered, [&objects, &[]])?;
            (entered, returned.transpose()?)
        }
    };
    if let ProbeArguments::Gate { variable, .. } = told {
        at_entry.extend(code::variable(op::ISTORE, variable));
    }
    let before_return = match before_return {
        Some(it) => it,
        None => call(class, probes.exit, exits, [&[], &said])?,
    };
    let mut handler = call(class, probes.thrown, exits, [&[], &said])?;
    handler.push(op::ATHROW);
    Ok(Calls {
        at_entry,
        before_return,
        handler,
    })
}
