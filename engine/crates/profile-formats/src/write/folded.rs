//! Folded stacks: `outer;inner;innermost 12`.

use std::io::{self, Write};

use fulcrum_model::CallTree;

use super::names::decimal;
use super::samples::{Order, for_each};

/// Writes the stacks of one value type.
pub(crate) fn write(
    tree: &CallTree,
    order: Order,
    value: usize,
    to: &mut impl Write,
) -> io::Result<()> {
    let (_, decimals) = tree.value_types()[value].decimals();
    let values = tree.values(value);
    let names: Vec<String> = tree
        .frames()
        .iter()
        .map(|frame| clean(&frame.name))
        .collect();
    for_each(
        tree,
        order,
        |node| values[node as usize] != 0,
        |sample| {
            let stack = sample.containers.iter().chain(sample.functions);
            for (depth, &frame) in stack.enumerate() {
                let name = &names[frame as usize];
                match depth {
                    // Without the space, the line would be a comment.
                    0 if name.starts_with('#') || name.starts_with("//") => write!(to, " {name}")?,
                    0 => to.write_all(name.as_bytes())?,
                    _ => write!(to, ";{name}")?,
                }
            }
            writeln!(to, " {}", decimal(values[sample.node as usize], decimals))
        },
    )
}

/// A name without the characters that separate names and lines.
fn clean(name: &str) -> String {
    let name = name.replace(';', ":").replace(['\n', '\r'], " ");
    name.trim().to_owned()
}
