//! The calls of probes that are put into a method.

use crate::bytes::Write;
use crate::class::Method;
use crate::code::{self, op, push};
use crate::objects::{self, Returns};
use crate::pool::Pool;
use crate::probes::{ObjectProbes, Probes, Refusal, Selected, ValueProbes};
use crate::values;

/// What is passed to probes besides the method's number.
#[derive(Clone, Copy)]
pub(crate) enum ProbeArguments<'a> {
    /// Nothing else.
    Nothing,
    /// To those at exits: the gate's answer, which is kept in a variable.
    Gate { gate: &'a str, variable: u16 },
    /// The call's objects.
    Objects(ObjectProbes<'a>),
    /// The call's values: its first arguments, so many at most, and its result.
    Values(ValueProbes<'a>, u8),
}

impl ProbeArguments<'_> {
    /// Places on the stack that calls of probes take above what the method has there.
    pub(crate) fn stack(&self) -> u16 {
        match self {
            // The number.
            ProbeArguments::Nothing => 1,
            // The gate's answer, or a copy of what is returned; at an entry, two objects.
            ProbeArguments::Gate { .. } | ProbeArguments::Objects(_) => 2,
            // A value, which may take two places, and its tag.
            ProbeArguments::Values(..) => 3,
        }
    }
}

/// What is passed to the probes of a method.
pub(crate) fn probe_arguments<'a>(
    probes: &Probes<'a>,
    selected: Selected,
    name: &str,
    variable: u16,
) -> ProbeArguments<'a> {
    // A constructor's arguments may be gone from their variables when `super(…)` has returned.
    let has_arguments = name != "<init>";
    match (probes.objects, probes.values, selected.values, probes.gate) {
        (Some(probes), ..) if has_arguments && selected.objects => ProbeArguments::Objects(probes),
        (_, Some(probes), Some(most), _) if has_arguments => ProbeArguments::Values(probes, most),
        (.., Some(gate)) if selected.gated => ProbeArguments::Gate { gate, variable },
        _ => ProbeArguments::Nothing,
    }
}

/// The byte code that a method gets.
pub(crate) struct Calls {
    /// Where the method is entered.
    pub(crate) at_entry: Vec<u8>,
    /// Before each return.
    pub(crate) before_return: Vec<u8>,
    /// The exception handler, which rethrows the exception.
    pub(crate) handler: Vec<u8>,
}

/// The probes' calls for a method with this number.
pub(crate) fn calls(
    method: &Method<'_>,
    probes: &Probes<'_>,
    number: u32,
    arguments: ProbeArguments<'_>,
    pool: &mut Pool,
) -> Result<Calls, Refusal> {
    let mut caller = Caller { number, pool };
    let class = probes.class;
    let (mut at_entry, before_return) = match arguments {
        ProbeArguments::Nothing => (caller.call(class, probes.enter, "(I)V", [&[], &[]])?, None),
        ProbeArguments::Values(values, most) => caller.value_calls(method, probes, values, most)?,
        ProbeArguments::Gate { gate, .. } => (caller.call(class, gate, "(I)I", [&[], &[]])?, None),
        ProbeArguments::Objects(probes) => caller.object_calls(method, probes)?,
    };
    let (exits, answer) = match arguments {
        ProbeArguments::Gate { variable, .. } => {
            at_entry.extend(code::variable(op::ISTORE, variable));
            ("(II)V", code::variable(op::ILOAD, variable))
        }
        _ => ("(I)V", Vec::new()),
    };
    let before_return = match before_return {
        Some(it) => it,
        None => caller.call(class, probes.exit, exits, [&[], &answer])?,
    };
    let mut handler = caller.call(class, probes.thrown, exits, [&[], &answer])?;
    handler.push(op::ATHROW);
    Ok(Calls {
        at_entry,
        before_return,
        handler,
    })
}

/// Makes calls that pass a method's number.
struct Caller<'p> {
    number: u32,
    pool: &'p mut Pool,
}

impl Caller<'_> {
    /// A call of a static method with the number, which is pushed between `first` and `last`.
    fn call(
        &mut self,
        class: &str,
        name: &str,
        descriptor: &str,
        [first, last]: [&[u8]; 2],
    ) -> Result<Vec<u8>, Refusal> {
        let method = self.pool.method(class, name, descriptor)?;
        let constant = match self.number > 32767 {
            true => Some(self.pool.integer(self.number)?),
            false => None,
        };
        let number = push(self.number, || constant).ok_or(Refusal::ConstantsFull)?;
        let mut bytes = [first, &number, last, &[op::INVOKESTATIC]].concat();
        bytes.put16(method);
        Ok(bytes)
    }

    /// The calls at the entry, with the arguments if there are any, and before a return of a value.
    fn value_calls(
        &mut self,
        method: &Method<'_>,
        probes: &Probes<'_>,
        values: ValueProbes<'_>,
        most: u8,
    ) -> Result<(Vec<u8>, Option<Vec<u8>>), Refusal> {
        let arguments = values::pass_on_arguments(method, most, values, self.pool)?;
        let result = values::pass_on_result(method, values, self.pool)?;
        let entered = match arguments.is_empty() {
            true => self.call(probes.class, probes.enter, "(I)V", [&[], &[]])?,
            false => self.call(values.class, values.given, "(II)V", [&arguments, &[]])?,
        };
        let returned = match result.is_empty() {
            true => None,
            false => Some(self.call(values.class, values.gives, "(I)V", [&result, &[]])?),
        };
        Ok((entered, returned))
    }

    /// The calls at the entry, and before a return of an object or a `boolean`.
    fn object_calls(
        &mut self,
        method: &Method<'_>,
        probes: ObjectProbes<'_>,
    ) -> Result<(Vec<u8>, Option<Vec<u8>>), Refusal> {
        let objects = objects::push_objects(method);
        let again = [&[op::DUP][..], &[]];
        let returned = match objects::returns(&method.descriptor) {
            Returns::Object => {
                let descriptor = "(Ljava/lang/Object;I)V";
                Some(self.call(probes.class, probes.returns, descriptor, again)?)
            }
            Returns::Boolean => Some(self.call(probes.class, probes.says, "(II)V", again)?),
            Returns::Other => None,
        };
        let descriptor = "(Ljava/lang/Object;Ljava/lang/Object;I)V";
        let entered = self.call(probes.class, probes.entered, descriptor, [&objects, &[]])?;
        Ok((entered, returned))
    }
}
