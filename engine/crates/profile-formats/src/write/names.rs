//! Names of containers, and values as decimals in the unit that they were read in.

use fulcrum_model::CallTree;

/// The name of nested containers: `process / thread`.
pub(crate) fn container(tree: &CallTree, containers: &[u32]) -> String {
    let names = containers
        .iter()
        .map(|&id| &*tree.frames()[id as usize].name);
    names.collect::<Vec<_>>().join(" / ")
}

/// `value` with that many decimals: 125 and 2 give `1.25`.
pub(crate) fn decimal(value: i64, decimals: usize) -> String {
    if decimals == 0 {
        return value.to_string();
    }
    let sign = if value < 0 { "-" } else { "" };
    let digits = format!("{:0width$}", value.unsigned_abs(), width = decimals + 1);
    let (whole, part) = digits.split_at(digits.len() - decimals);
    format!("{sign}{whole}.{part}")
}
