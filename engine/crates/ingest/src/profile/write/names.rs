//! Names of containers, and values in the units that they were read in.

use fulcrum_model::CallTree;
use fulcrum_model::call_tree::ValueType;

/// One name for nested containers: `process / thread`.
pub fn container(tree: &CallTree, containers: &[u32]) -> String {
    let names = containers
        .iter()
        .map(|&id| &*tree.frames()[id as usize].name);
    names.collect::<Vec<_>>().join(" / ")
}

/// A unit without the decimal part that [`Decimals`](crate::profile::units::Decimals) puts before it, and the number of
/// its decimals: `count` and 3 of `0.001 count`.
pub fn decimals(kind: &ValueType) -> (&str, usize) {
    let part = kind.unit.split_once(' ').filter(|(part, _)| {
        let zeros = part
            .strip_prefix("0.")
            .and_then(|part| part.strip_suffix('1'));
        zeros.is_some_and(|zeros| zeros.bytes().all(|byte| byte == b'0'))
    });
    match part {
        Some((part, unit)) => (unit, part.len() - 2),
        None => (&kind.unit, 0),
    }
}

/// `value` with its decimals: `1.25` of 125 and 2.
pub fn decimal(value: i64, decimals: usize) -> String {
    if decimals == 0 {
        return value.to_string();
    }
    let sign = if value < 0 { "-" } else { "" };
    let digits = format!("{:0width$}", value.unsigned_abs(), width = decimals + 1);
    let (whole, part) = digits.split_at(digits.len() - decimals);
    format!("{sign}{whole}.{part}")
}
