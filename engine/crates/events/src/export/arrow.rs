//! Arrow IPC files (the columnar format's version 5): a schema, batches of rows, a footer that tells where they are.

use std::io::{self, Write};

use super::flat::{At, Flat, Value};
use super::{Holds, number_bytes};
use crate::query::Cell;

const MAGIC: &[u8; 6] = b"ARROW1";

/// Rows of a batch.
const ROWS: usize = 1 << 16;

/// Bytes of texts that end a batch early: offsets have 32 bits.
const TEXTS: usize = 32 << 20;

// Numbers of Arrow's Schema.fbs, Message.fbs and File.fbs.
const V5: i16 = 4;
const HEADER_SCHEMA: u8 = 1;
const HEADER_BATCH: u8 = 3;
const TYPE_INT: u8 = 2;
const TYPE_FLOAT: u8 = 3;
const TYPE_UTF8: u8 = 5;
const DOUBLE: i16 = 2;

/// Writes a file.
pub struct Writer {
    fields: Vec<(String, Holds)>,
    columns: Vec<Column>,
    rows: usize,
    /// Bytes written so far.
    at: i64,
    /// Each batch: where it is, bytes of its header, bytes of its body.
    blocks: Vec<i64>,
}

/// A column of the batch that is being filled.
#[derive(Default)]
struct Column {
    /// A bit a row: whether there is something.
    valid: Vec<u8>,
    nothing: i64,
    /// Numbers; of texts where each ends.
    fixed: Vec<u8>,
    texts: Vec<u8>,
}

impl Writer {
    pub fn new(out: &mut dyn Write, names: &[String], holds: &[Holds]) -> io::Result<Writer> {
        let mut writer = Writer {
            fields: names.iter().cloned().zip(holds.iter().copied()).collect(),
            columns: Vec::new(),
            rows: 0,
            at: 0,
            blocks: Vec::new(),
        };
        writer.begin();
        writer.write(out, MAGIC)?;
        writer.write(out, &[0; 2])?;
        let mut flat = Flat::default();
        let schema = writer.schema(&mut flat);
        let message = message(flat, HEADER_SCHEMA, schema, 0);
        writer.metadata(out, &message)?;
        Ok(writer)
    }

    pub fn row(&mut self, out: &mut dyn Write, cells: &[Cell]) -> io::Result<()> {
        let mut texts = 0;
        for ((column, (_, holds)), cell) in self.columns.iter_mut().zip(&self.fields).zip(cells) {
            column.add(self.rows, *holds, cell);
            texts += column.texts.len();
        }
        self.rows += 1;
        match self.rows == ROWS || texts > TEXTS {
            true => self.batch(out),
            false => Ok(()),
        }
    }

    pub fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.rows > 0 {
            self.batch(out)?;
        }
        self.write(out, &[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0])?;
        let mut flat = Flat::default();
        let batches = flat.structs(&self.blocks, 3);
        let dictionaries = flat.structs(&[], 3);
        let schema = self.schema(&mut flat);
        let fields = [
            Value::Short(V5),
            Value::To(schema),
            Value::To(dictionaries),
            Value::To(batches),
        ];
        let root = flat.table(&fields);
        let footer = flat.finish(root);
        self.write(out, &footer)?;
        self.write(out, &(footer.len() as i32).to_le_bytes())?;
        self.write(out, MAGIC)
    }

    fn begin(&mut self) {
        self.rows = 0;
        self.columns = self
            .fields
            .iter()
            .map(|(_, holds)| Column::new(*holds))
            .collect();
    }

    fn schema(&self, flat: &mut Flat) -> At {
        let fields: Vec<At> = self
            .fields
            .iter()
            .map(|(name, holds)| {
                let name = flat.text(name);
                let (kind, of_kind) = match holds {
                    Holds::Text => (TYPE_UTF8, flat.table(&[])),
                    Holds::Whole => (TYPE_INT, flat.table(&[Value::Int(64), Value::Byte(1)])),
                    Holds::Real => (TYPE_FLOAT, flat.table(&[Value::Short(DOUBLE)])),
                };
                let children = flat.tables(&[]);
                flat.table(&[
                    Value::To(name),
                    Value::Byte(1),
                    Value::Byte(kind),
                    Value::To(of_kind),
                    Value::None,
                    Value::To(children),
                ])
            })
            .collect();
        let fields = flat.tables(&fields);
        flat.table(&[Value::Short(0), Value::To(fields)])
    }

    fn batch(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let (mut nodes, mut buffers) = (Vec::new(), Vec::new());
        let mut body: Vec<u8> = Vec::new();
        for (column, (_, holds)) in self.columns.iter().zip(&self.fields) {
            nodes.extend([self.rows as i64, column.nothing]);
            let texts = matches!(holds, Holds::Text).then_some(&column.texts);
            for buffer in [Some(&column.valid), Some(&column.fixed), texts]
                .into_iter()
                .flatten()
            {
                buffers.extend([body.len() as i64, buffer.len() as i64]);
                body.extend_from_slice(buffer);
                body.resize(body.len().next_multiple_of(8), 0);
            }
        }
        let mut flat = Flat::default();
        let buffers = flat.structs(&buffers, 2);
        let nodes = flat.structs(&nodes, 2);
        let fields = [
            Value::Long(self.rows as i64),
            Value::To(nodes),
            Value::To(buffers),
        ];
        let batch = flat.table(&fields);
        let message = message(flat, HEADER_BATCH, batch, body.len() as i64);
        let at = self.at;
        self.metadata(out, &message)?;
        self.blocks.extend([at, self.at - at, body.len() as i64]);
        self.write(out, &body)?;
        self.begin();
        Ok(())
    }

    /// A message's header in its frame.
    fn metadata(&mut self, out: &mut dyn Write, message: &[u8]) -> io::Result<()> {
        self.write(out, &[0xff; 4])?;
        self.write(out, &(message.len() as i32).to_le_bytes())?;
        self.write(out, message)
    }

    fn write(&mut self, out: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
        self.at += bytes.len() as i64;
        out.write_all(bytes)
    }
}

fn message(mut flat: Flat, kind: u8, header: At, body: i64) -> Vec<u8> {
    let fields = [
        Value::Short(V5),
        Value::Byte(kind),
        Value::To(header),
        Value::Long(body),
    ];
    let root = flat.table(&fields);
    flat.finish(root)
}

impl Column {
    fn new(holds: Holds) -> Column {
        let fixed = match holds {
            // Where the first text begins.
            Holds::Text => vec![0; 4],
            Holds::Whole | Holds::Real => Vec::new(),
        };
        Column {
            fixed,
            ..Column::default()
        }
    }

    fn add(&mut self, row: usize, holds: Holds, cell: &Cell) {
        if row.is_multiple_of(8) {
            self.valid.push(0);
        }
        let there = match (holds, cell) {
            (Holds::Text, Cell::Text(text)) => {
                self.texts.extend_from_slice(text.as_bytes());
                true
            }
            _ => number_bytes(holds, cell).is_some(),
        };
        if holds == Holds::Text {
            self.fixed
                .extend_from_slice(&(self.texts.len() as i32).to_le_bytes());
        } else {
            let bytes = number_bytes(holds, cell).unwrap_or_default();
            self.fixed.extend_from_slice(&bytes);
        }
        match there {
            true => self.valid[row / 8] |= 1 << (row % 8),
            false => self.nothing += 1,
        }
    }
}
