//! The plan by which the agent for native programs finds arguments and results: debug information never enters the program.
//!
//! The plan is a text, `values.plan` in the run's folder. Addresses are hexadecimal, as in the file:
//! ```text
//! file /home/me/program
//! function 1149 i4 t u8 -
//! at 1167 r3 m7+16 m6-24 -
//! ```
//! A function line has the type of the result, then those of the arguments. Below it, each place to which a call in the
//! function returns has a line that says where these values are then. Types are `i`, `u` and `c` with bytes (signed and unsigned numbers, characters), `b` (boolean), `f`, `d`, `t` (text), `a`
//! (address) and `e4:0=Red,1=Green`. Places are `r` with a register, `m` with a register and an offset, and `c` with a constant.
//! `-` stands for what is unknown.
//!
//! It is text by design: the agent reads it inside the profiled program, where it may link no parser.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use fulcrum_filter::Filter;
use fulcrum_symbols::{FunctionValues, Place, ValueType, function_values};

/// The name of the plan's file, which the agent knows too.
const FILE: &str = "values.plan";

/// Writes the plan for a program if its filter asks for values. Returns a sentence when values will be missing.
pub(crate) fn write(run: &Path, program: &Path, filter: Option<&str>) -> Option<String> {
    let filter = Filter::parse(filter?).ok()?;
    if filter.values.is_empty() {
        return None;
    }
    let failed = |why: &dyn std::fmt::Display| {
        Some(format!(
            "No values of native functions are recorded: {why}."
        ))
    };
    let path = match fs::canonicalize(program) {
        Ok(path) => path,
        Err(error) => return failed(&error),
    };
    let chosen =
        |class: &str, name: &str, descriptor: &str| filter.logs_values(class, name, descriptor);
    let functions = match function_values(&path, &chosen) {
        Ok(functions) => functions,
        Err(error) => return failed(&error),
    };
    match fs::write(run.join(FILE), plan(&path, &functions)) {
        Ok(()) => None,
        Err(error) => failed(&error),
    }
}

fn plan(path: &Path, functions: &[FunctionValues]) -> String {
    let mut text = format!("file {}\n", path.display());
    for function in functions {
        let mut line = format!(
            "function {:x} {}",
            function.start,
            of_type(function.result.as_ref())
        );
        for argument in &function.arguments {
            line += " ";
            line += &of_type(argument.as_ref());
        }
        for call in &function.calls {
            // Writing to a string cannot fail.
            let _ = write!(line, "\nat {:x} {}", call.returns_to, of_place(call.result));
            for place in &call.arguments {
                line += " ";
                line += &of_place(*place);
            }
        }
        text += &line;
        text += "\n";
    }
    text
}

fn of_type(of: Option<&ValueType>) -> String {
    match of {
        None => "-".to_owned(),
        Some(ValueType::Signed(bytes)) => format!("i{bytes}"),
        Some(ValueType::Unsigned(bytes)) => format!("u{bytes}"),
        Some(ValueType::Character(bytes)) => format!("c{bytes}"),
        Some(ValueType::Boolean) => "b".to_owned(),
        Some(ValueType::Single) => "f".to_owned(),
        Some(ValueType::Double) => "d".to_owned(),
        Some(ValueType::Text) => "t".to_owned(),
        Some(ValueType::Address) => "a".to_owned(),
        Some(ValueType::Named(bytes, names)) => {
            let sayable = |name: &str| !name.contains([' ', ',', '=', '\n']);
            let names = names.iter().filter(|(_, name)| sayable(name));
            let names: Vec<String> = names
                .map(|(value, name)| format!("{value}={name}"))
                .collect();
            format!("e{bytes}:{}", names.join(","))
        }
    }
}

fn of_place(place: Option<Place>) -> String {
    match place {
        None => "-".to_owned(),
        Some(Place::Register(register)) => format!("r{register}"),
        Some(Place::Memory(register, offset)) => format!("m{register}{offset:+}"),
        Some(Place::Constant(value)) => format!("c{value}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulcrum_symbols::CallSite;

    #[test]
    fn a_plan_says_types_and_places() {
        let names = vec![
            (0, "Red".to_owned()),
            (-1, "a b".to_owned()),
            (2, "Blue".to_owned()),
        ];
        let function = FunctionValues {
            start: 0x1149,
            arguments: vec![
                Some(ValueType::Text),
                None,
                Some(ValueType::Named(4, names)),
            ],
            result: Some(ValueType::Signed(4)),
            calls: vec![CallSite {
                returns_to: 0x1167,
                arguments: vec![
                    Some(Place::Memory(7, 16)),
                    None,
                    Some(Place::Memory(6, -24)),
                ],
                result: Some(Place::Register(3)),
            }],
        };
        assert_eq!(
            plan("/p/prog".as_ref(), &[function]),
            "file /p/prog\nfunction 1149 i4 t - e4:0=Red,2=Blue\nat 1167 r3 m7+16 - m6-24\n"
        );
    }
}
