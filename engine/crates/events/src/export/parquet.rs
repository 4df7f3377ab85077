//! Parquet files: groups of rows, in each a chunk a column, and a footer that tells where they are. Texts have a dictionary in
//! each group, since methods and threads are the same again and again; nothing is compressed beside that.

use std::collections::HashMap;
use std::io::{self, Write};

use super::thrift::{Thrift, varint};
use super::{Holds, number_bytes as number};
use crate::query::Cell;

const MAGIC: &[u8; 4] = b"PAR1";

/// Rows of a group.
const ROWS: usize = 1 << 17;

/// Bytes of a column's different texts that end a group early: what tells a page's size has 31 bits.
const TEXTS: usize = 32 << 20;

// Numbers of Parquet's parquet.thrift.
const INT64: i32 = 2;
const DOUBLE: i32 = 5;
const BYTE_ARRAY: i32 = 6;
const OPTIONAL: i32 = 1;
const UTF8: i32 = 0;
const PLAIN: i32 = 0;
const RLE: i32 = 3;
const RLE_DICTIONARY: i32 = 8;
const DATA_PAGE: i32 = 0;
const DICTIONARY_PAGE: i32 = 2;

/// Writes a file.
pub struct Writer {
    fields: Vec<(String, Holds)>,
    columns: Vec<Column>,
    rows: usize,
    all_rows: i64,
    /// Bytes written so far.
    at: i64,
    /// Each group's description, in Thrift.
    groups: Vec<Vec<u8>>,
}

/// A column of the group that is being filled.
#[derive(Default)]
struct Column {
    /// A bit a row: whether there is something.
    valid: Vec<u8>,
    /// Numbers that are there; the different texts, each behind its length.
    plain: Vec<u8>,
    /// Of texts: which one, in the order of the rows that have one.
    indices: Vec<u32>,
    known: HashMap<String, u32>,
}

impl Writer {
    pub fn new(out: &mut dyn Write, names: &[String], holds: &[Holds]) -> io::Result<Writer> {
        let mut writer = Writer {
            fields: names.iter().cloned().zip(holds.iter().copied()).collect(),
            columns: Vec::new(),
            rows: 0,
            all_rows: 0,
            at: 0,
            groups: Vec::new(),
        };
        writer.begin();
        writer.write(out, MAGIC)?;
        Ok(writer)
    }

    pub fn row(&mut self, out: &mut dyn Write, cells: &[Cell]) -> io::Result<()> {
        let mut texts = 0;
        for ((column, (_, holds)), cell) in self.columns.iter_mut().zip(&self.fields).zip(cells) {
            column.add(self.rows, *holds, cell);
            texts = texts.max(column.plain.len());
        }
        self.rows += 1;
        match self.rows == ROWS || texts > TEXTS {
            true => self.group(out),
            false => Ok(()),
        }
    }

    pub fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.rows > 0 {
            self.group(out)?;
        }
        let mut footer = Thrift::default();
        footer.int(1, 1);
        footer.list(2, self.fields.len() + 1);
        footer.element(|root| {
            root.binary(4, b"schema");
            root.int(5, self.fields.len() as i32);
        });
        for (name, holds) in &self.fields {
            footer.element(|field| {
                field.int(1, physical(*holds));
                field.int(3, OPTIONAL);
                field.binary(4, name.as_bytes());
                if *holds == Holds::Text {
                    field.int(6, UTF8);
                }
            });
        }
        footer.long(3, self.all_rows);
        footer.list(4, self.groups.len());
        self.groups.iter().for_each(|it| footer.raw(it));
        footer.binary(6, b"fulcrum");
        let footer = footer.end();
        self.write(out, &footer)?;
        self.write(out, &(footer.len() as u32).to_le_bytes())?;
        self.write(out, MAGIC)
    }

    fn begin(&mut self) {
        self.rows = 0;
        self.columns = self.fields.iter().map(|_| Column::default()).collect();
    }

    fn group(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let columns = std::mem::take(&mut self.columns);
        let start = self.at;
        let mut group = Thrift::default();
        group.list(1, columns.len());
        for (at, column) in columns.iter().enumerate() {
            let holds = self.fields[at].1;
            let begin = self.at;
            if holds == Holds::Text {
                let texts = column.known.len() as i32;
                self.page(out, DICTIONARY_PAGE, (texts, PLAIN), &column.plain)?;
            }
            let data = self.at;
            let values = column.values(self.rows, holds);
            let encoding = match holds {
                Holds::Text => RLE_DICTIONARY,
                Holds::Whole | Holds::Real => PLAIN,
            };
            self.page(out, DATA_PAGE, (self.rows as i32, encoding), &values)?;
            let (name, size) = (&self.fields[at].0, self.at - begin);
            group.element(|chunk| {
                chunk.long(2, begin);
                chunk.inner(3, |of| {
                    of.int(1, physical(holds));
                    of.ints(2, &[PLAIN, RLE, RLE_DICTIONARY]);
                    of.binaries(3, &[name.as_bytes()]);
                    of.int(4, 0);
                    of.long(5, self.rows as i64);
                    of.long(6, size);
                    of.long(7, size);
                    of.long(9, data);
                    if holds == Holds::Text {
                        of.long(11, begin);
                    }
                });
            });
        }
        group.long(2, self.at - start);
        group.long(3, self.rows as i64);
        self.groups.push(group.end());
        self.all_rows += self.rows as i64;
        self.begin();
        Ok(())
    }

    /// A page with so many values in an encoding.
    fn page(
        &mut self,
        out: &mut dyn Write,
        kind: i32,
        (values, encoding): (i32, i32),
        bytes: &[u8],
    ) -> io::Result<()> {
        let mut header = Thrift::default();
        header.int(1, kind);
        header.int(2, bytes.len() as i32);
        header.int(3, bytes.len() as i32);
        let about = if kind == DICTIONARY_PAGE { 7 } else { 5 };
        header.inner(about, |of| {
            of.int(1, values);
            of.int(2, encoding);
            if kind == DATA_PAGE {
                of.int(3, RLE);
                of.int(4, RLE);
            }
        });
        self.write(out, &header.end())?;
        self.write(out, bytes)
    }

    fn write(&mut self, out: &mut dyn Write, bytes: &[u8]) -> io::Result<()> {
        self.at += bytes.len() as i64;
        out.write_all(bytes)
    }
}

fn physical(holds: Holds) -> i32 {
    match holds {
        Holds::Text => BYTE_ARRAY,
        Holds::Whole => INT64,
        Holds::Real => DOUBLE,
    }
}

impl Column {
    fn add(&mut self, row: usize, holds: Holds, cell: &Cell) {
        if row.is_multiple_of(8) {
            self.valid.push(0);
        }
        let there = match (holds, cell) {
            (Holds::Text, Cell::Text(text)) => {
                self.text(text);
                true
            }
            _ => number(holds, cell).is_some_and(|bytes| {
                self.plain.extend_from_slice(&bytes);
                true
            }),
        };
        self.valid[row / 8] |= u8::from(there) << (row % 8);
    }

    fn text(&mut self, text: &str) {
        let index = match self.known.get(text) {
            Some(index) => *index,
            None => {
                let index = self.known.len() as u32;
                self.known.insert(text.to_owned(), index);
                self.plain
                    .extend_from_slice(&(text.len() as u32).to_le_bytes());
                self.plain.extend_from_slice(text.as_bytes());
                index
            }
        };
        self.indices.push(index);
    }

    /// The data page of so many rows: which are there, then those that are.
    fn values(&self, rows: usize, holds: Holds) -> Vec<u8> {
        // One run of bits, in groups of eight.
        let mut levels = Vec::new();
        varint(&mut levels, (rows.div_ceil(8) as u64) << 1 | 1);
        levels.extend_from_slice(&self.valid);
        let mut page = (levels.len() as u32).to_le_bytes().to_vec();
        page.extend_from_slice(&levels);
        if holds != Holds::Text {
            page.extend_from_slice(&self.plain);
            return page;
        }
        let greatest = (self.known.len() as u32).saturating_sub(1).max(1);
        let width = u32::BITS - greatest.leading_zeros();
        page.push(width as u8);
        if self.indices.is_empty() {
            return page;
        }
        varint(&mut page, (self.indices.len().div_ceil(8) as u64) << 1 | 1);
        let (mut bits, mut held) = (0_u64, 0);
        let padded = self.indices.len().next_multiple_of(8);
        for at in 0..padded {
            let index = self.indices.get(at).copied().unwrap_or(0);
            bits |= u64::from(index) << held;
            held += width;
            while held >= 8 {
                page.push(bits as u8);
                bits >>= 8;
                held -= 8;
            }
        }
        page
    }
}
