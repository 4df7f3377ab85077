//! Names for latency points: after the enclosing function, so that beginning and end match.

use crate::progress_points::kind::ProgressPointKind;
use crate::progress_points::remove::points;
use crate::syntax::tree::{Syntax, is_function, upwards};

/// The name for a latency point at byte `at`. An end takes the name of a beginning without an end, and vice versa. Otherwise it is
/// the enclosing function's name, with a number if that pair is complete.
pub(crate) fn latency(syntax: &Syntax<'_>, at: usize, kind: ProgressPointKind) -> String {
    let (begins, ends) = (used(syntax, "_BEGIN"), used(syntax, "_END"));
    choose(&begins, &ends, at, kind, || function_name(syntax, at))
}

/// The name for a latency point at byte `at`, given the file's names with their positions.
pub(crate) fn choose(
    begins: &[(usize, String)],
    ends: &[(usize, String)],
    at: usize,
    kind: ProgressPointKind,
    function: impl FnOnce() -> Option<String>,
) -> String {
    let (own, other) = match kind {
        ProgressPointKind::LatencyEnd => (ends, begins),
        _ => (begins, ends),
    };
    let mut open: Vec<_> = other
        .iter()
        .filter(|(_, name)| !own.iter().any(|(_, n)| n == name))
        .collect();
    // The nearest one in the natural order of beginning and end.
    open.sort_by_key(|(pos, _)| {
        let natural = (*pos < at) == (kind == ProgressPointKind::LatencyEnd);
        (!natural, pos.abs_diff(at))
    });
    if let Some((_, name)) = open.first() {
        return name.clone();
    }
    let base = function().unwrap_or_else(|| "latency".to_owned());
    let taken = |name: &str| own.iter().any(|(_, n)| n == name);
    if !taken(&base) {
        return base;
    }
    (2..)
        .map(|n| format!("{base}-{n}"))
        .find(|name| !taken(name))
        .expect("a file has finitely many names")
}

/// The names in `FULCRUM_BEGIN("…")` and the like, with their positions.
fn used(syntax: &Syntax<'_>, suffix: &str) -> Vec<(usize, String)> {
    points(syntax)
        .into_iter()
        .filter_map(|statement| {
            let call = statement
                .named_child(0)
                .filter(|node| node.kind() == "call_expression")?;
            let function = syntax.of(call.child_by_field_name("function")?);
            if function != format!("FULCRUM{suffix}") && function != format!("COZ{suffix}") {
                return None;
            }
            let name = call.child_by_field_name("arguments")?.named_child(0)?;
            let name = syntax.of(name).strip_prefix('"')?.strip_suffix('"')?;
            Some((call.start_byte(), name.to_owned()))
        })
        .collect()
}

fn function_name(syntax: &Syntax<'_>, at: usize) -> Option<String> {
    let node = syntax.root().descendant_for_byte_range(at, at)?;
    let function = upwards(node).find(|n| n.kind() == "function_definition" && is_function(*n))?;
    let mut declarator = function.child_by_field_name("declarator")?;
    while declarator.kind() != "function_declarator" {
        declarator = declarator.child_by_field_name("declarator").or_else(|| {
            declarator.named_child(declarator.named_child_count().checked_sub(1)? as u32)
        })?;
    }
    let name = syntax.of(declarator.child_by_field_name("declarator")?);
    // Such characters are hard to read in a name.
    let name: String = name
        .chars()
        .filter(|c| !c.is_whitespace() && !matches!(c, '"' | '\\' | '(' | ')' | '*'))
        .collect();
    (!name.is_empty() && name.len() <= 60).then_some(name)
}
