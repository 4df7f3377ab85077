//! Progress points in Rust: where `fulcrum_progress::progress!();` goes.
//!
//! Macros are written with their full path, which needs no `use`, or with their short names in a file that imports them. Rust has braces
//! around every body, but blocks have values: nothing may follow the expression that is a block's value.

mod nodes;
mod place;
pub(crate) mod points;
mod write;

use crate::progress_points::kind::{ProgressPointKind, Refused};
use crate::progress_points::names;
use crate::syntax::text::{self, Edit};
use crate::syntax::tree::{Syntax, children, upwards};
use place::find_target;
use points::{CRATE, is_imported, uses};
use write::Writer;

/// The edits that insert a point. `kind` must not be [`ProgressPointKind::Remove`].
pub(crate) fn insert(
    syntax: &Syntax<'_>,
    at: usize,
    kind: ProgressPointKind,
) -> Result<Vec<Edit>, Refused> {
    let line = syntax.text[..at].matches('\n').count() + 1;
    let target = find_target(syntax, at, kind, line)?;
    let (name, argument) = match kind {
        ProgressPointKind::LatencyBegin => ("begin", latency_name(syntax, at, kind)),
        ProgressPointKind::LatencyEnd => ("end", latency_name(syntax, at, kind)),
        _ => ("progress", String::new()),
    };
    let path = if is_imported(syntax, name) {
        name.to_owned()
    } else {
        format!("{CRATE}::{name}")
    };
    let writer = Writer {
        text: syntax.text,
        newline: text::newline(syntax.text),
        unit: text::indent_unit(syntax.text),
        what: format!("{path}!({argument});"),
    };
    writer.write(target).ok_or(Refused::unparseable(line))
}

/// The name of a latency point, in quotes.
fn latency_name(syntax: &Syntax<'_>, at: usize, kind: ProgressPointKind) -> String {
    let used = |name| {
        uses(syntax, name)
            .into_iter()
            .filter_map(|invocation| {
                let arguments = children(invocation)
                    .into_iter()
                    .find(|child| child.kind() == "token_tree")?;
                let name = syntax.of(arguments.named_child(0)?);
                let name = name.strip_prefix('"')?.strip_suffix('"')?;
                Some((invocation.start_byte(), name.to_owned()))
            })
            .collect::<Vec<_>>()
    };
    let function = || {
        let node = syntax.root().descendant_for_byte_range(at, at)?;
        let function = upwards(node).find(|node| node.kind() == "function_item")?;
        Some(
            syntax
                .of(function.child_by_field_name("name")?)
                .trim_start_matches("r#")
                .to_owned(),
        )
    };
    format!(
        "\"{}\"",
        names::choose(&used("begin"), &used("end"), at, kind, function)
    )
}
