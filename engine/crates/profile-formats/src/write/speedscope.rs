//! speedscope's JSON, with a sampled profile for each container. serde_json escapes the texts.

use std::collections::BTreeMap;
use std::io::{self, Write};

use fulcrum_model::CallTree;
use fulcrum_model::call_tree::FrameKind;
use serde_json::{Value, json};

use super::names::{container, decimal};
use super::samples::{Order, for_each};

const SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";
const EXPORTER: &str = concat!("fulcrum@", env!("CARGO_PKG_VERSION"));

/// One profile of the file.
#[derive(Default)]
struct OneProfile {
    name: String,
    /// The stacks as JSON, outermost frame first.
    samples: Vec<String>,
    /// The weights as JSON.
    weights: Vec<String>,
    total: i64,
}

/// Writes the stacks of one value type.
pub(crate) fn write(
    tree: &CallTree,
    order: Order,
    value: usize,
    to: &mut impl Write,
) -> io::Result<()> {
    let kind = &tree.value_types()[value];
    let (unit, decimals) = kind.decimals();
    let (frames, rows) = frames(tree);
    let profiles = profiles(tree, order, value, &rows)?;
    write!(
        to,
        "{{\"$schema\":\"{SCHEMA}\",\"exporter\":\"{EXPORTER}\","
    )?;
    write!(to, "\"shared\":{{\"frames\":{frames}}},\"profiles\":[")?;
    for (n, one) in profiles.iter().enumerate() {
        let comma = if n == 0 { "" } else { "," };
        let (name, unit) = (Value::from(&*one.name), Value::from(long(unit)));
        write!(
            to,
            "{comma}{{\"type\":\"sampled\",\"name\":{name},\"unit\":{unit},"
        )?;
        write!(
            to,
            "\"startValue\":0,\"endValue\":{},",
            decimal(one.total, decimals)
        )?;
        write!(to, "\"samples\":[{}],", one.samples.join(","))?;
        write!(to, "\"weights\":[{}]}}", one.weights.join(","))?;
    }
    to.write_all(b"]}\n")
}

/// The stacks, by container, in the order of their first stacks.
fn profiles(
    tree: &CallTree,
    order: Order,
    value: usize,
    rows: &[u32],
) -> io::Result<Vec<OneProfile>> {
    let kind = &tree.value_types()[value];
    let (_, decimals) = kind.decimals();
    let values = tree.values(value);
    let mut profiles: Vec<OneProfile> = Vec::new();
    let mut by_containers: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
    let wanted = |node: u32| values[node as usize] != 0;
    for_each(tree, order, wanted, |sample| {
        let next = profiles.len();
        let row = match by_containers.get(sample.containers) {
            Some(&row) => row,
            None => *by_containers
                .entry(sample.containers.to_vec())
                .or_insert(next),
        };
        if row == next {
            let name = match sample.containers {
                [] => kind.name.clone(),
                containers => container(tree, containers),
            };
            profiles.push(OneProfile {
                name,
                ..OneProfile::default()
            });
        }
        let one = &mut profiles[row];
        let stack: Vec<String> = sample
            .functions
            .iter()
            .map(|&id| rows[id as usize].to_string())
            .collect();
        let weight = values[sample.node as usize];
        one.samples.push(format!("[{}]", stack.join(",")));
        one.weights.push(decimal(weight, decimals));
        one.total += weight;
        Ok::<_, io::Error>(())
    })?;
    Ok(profiles)
}

/// The functions, and the row of each frame among them.
fn frames(tree: &CallTree) -> (Value, Vec<u32>) {
    let mut frames = Vec::new();
    let mut rows = Vec::with_capacity(tree.frames().len());
    for frame in tree.frames() {
        rows.push(frames.len() as u32);
        if frame.kind == FrameKind::Container {
            continue;
        }
        let mut row = json!({ "name": frame.name });
        if let Some(file) = &frame.file {
            row["file"] = json!(file);
        }
        if let Some(line) = frame.line {
            row["line"] = json!(line);
        }
        frames.push(row);
    }
    (Value::Array(frames), rows)
}

/// speedscope's name of a unit. It knows no others.
fn long(unit: &str) -> &'static str {
    match unit {
        "ns" => "nanoseconds",
        "us" => "microseconds",
        "ms" => "milliseconds",
        "s" => "seconds",
        "bytes" => "bytes",
        _ => "none",
    }
}
