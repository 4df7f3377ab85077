//! pprof's `profile.proto`, compressed, written while the tree is walked. [`super::proto`] says why not with prost.

use std::collections::HashMap;
use std::io::{self, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use fulcrum_model::CallTree;
use fulcrum_model::call_tree::{FrameKind, ValueType};

use super::names::container;
use super::proto::Message;
use super::samples::{Order, for_each};
use crate::formats::pprof::LABEL;

/// Writes all value types; `default_value` is the one to show first.
pub(crate) fn write(
    tree: &CallTree,
    order: Order,
    default_value: usize,
    to: &mut impl Write,
) -> io::Result<()> {
    let mut to = GzEncoder::new(to, Compression::default());
    let mut strings = Strings::default();
    let mut out = Message::default();
    for kind in tree.value_types() {
        out.message(1, &value_type(kind, &mut strings));
    }
    samples(tree, order, &mut strings, &mut out, &mut to)?;
    let mut binaries: Vec<&str> = Vec::new();
    for (id, frame) in (1..).zip(tree.frames()) {
        if frame.kind == FrameKind::Container {
            continue;
        }
        let (mut location, mut line, mut function) =
            (Message::default(), Message::default(), Message::default());
        line.number(1, id);
        location.number(1, id);
        if let Some(binary) = frame.binary.as_deref() {
            let known = binaries.iter().position(|&it| it == binary);
            let row = known.unwrap_or_else(|| {
                binaries.push(binary);
                binaries.len() - 1
            });
            location.number(2, row as u64 + 1);
        }
        location.message(4, &line);
        out.message(4, &location);
        function.number(1, id);
        function.number(2, strings.row(&frame.name));
        function.number(4, strings.row(frame.file.as_deref().unwrap_or("")));
        function.number(5, frame.line.unwrap_or(0).into());
        out.message(5, &function);
    }
    for (id, binary) in (1..).zip(binaries) {
        let mut mapping = Message::default();
        mapping.number(1, id);
        mapping.number(5, strings.row(binary));
        // has_functions: the functions are known.
        mapping.number(7, 1);
        out.message(3, &mapping);
    }
    let default = strings.row(&tree.value_types()[default_value].name);
    out.number(14, default);
    for text in strings.in_order() {
        out.text(6, text);
    }
    to.write_all(out.bytes())?;
    to.finish()?;
    Ok(())
}

fn samples(
    tree: &CallTree,
    order: Order,
    strings: &mut Strings,
    out: &mut Message,
    to: &mut impl Write,
) -> io::Result<()> {
    const CHUNK: usize = 1 << 20;
    let columns: Vec<&[i64]> = (0..tree.value_types().len())
        .map(|value| tree.values(value))
        .collect();
    let mut labels: HashMap<Vec<u32>, u64> = HashMap::new();
    let mut sample = Message::default();
    let wanted = |node: u32| columns.iter().any(|column| column[node as usize] != 0);
    for_each(tree, order, wanted, |it| {
        sample.clear();
        sample.numbers(
            1,
            it.functions.iter().rev().map(|&frame| u64::from(frame) + 1),
        );
        let values = columns.iter().map(|column| column[it.node as usize]);
        sample.numbers(2, values.map(i64::cast_unsigned));
        if !it.containers.is_empty() {
            let text = match labels.get(it.containers) {
                Some(&text) => text,
                None => {
                    let text = strings.row(&container(tree, it.containers));
                    labels.insert(it.containers.to_vec(), text);
                    text
                }
            };
            let mut label = Message::default();
            label.number(1, strings.row(LABEL));
            label.number(2, text);
            sample.message(3, &label);
        }
        out.message(2, &sample);
        if out.bytes().len() > CHUNK {
            to.write_all(out.bytes())?;
            out.clear();
        }
        Ok(())
    })
}

fn value_type(kind: &ValueType, strings: &mut Strings) -> Message {
    let mut message = Message::default();
    message.number(1, strings.row(&kind.name));
    message.number(2, strings.row(unit(&kind.unit)));
    message
}

/// pprof's name of a unit.
pub(crate) fn unit(unit: &str) -> &str {
    match unit {
        "" => "count",
        "ns" => "nanoseconds",
        "us" => "microseconds",
        "ms" => "milliseconds",
        "s" => "seconds",
        other => other,
    }
}

/// The string table. The empty string is 0.
struct Strings {
    rows: HashMap<String, u64>,
}

impl Default for Strings {
    fn default() -> Self {
        Strings {
            rows: HashMap::from([(String::new(), 0)]),
        }
    }
}

impl Strings {
    fn row(&mut self, text: &str) -> u64 {
        if let Some(&row) = self.rows.get(text) {
            return row;
        }
        let row = self.rows.len() as u64;
        self.rows.insert(text.to_owned(), row);
        row
    }

    fn in_order(&self) -> Vec<&str> {
        let mut texts: Vec<(u64, &str)> = self
            .rows
            .iter()
            .map(|(text, &row)| (row, &**text))
            .collect();
        texts.sort_unstable();
        texts.into_iter().map(|(_, text)| text).collect()
    }
}
