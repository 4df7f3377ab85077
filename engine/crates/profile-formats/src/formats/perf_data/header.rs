//! The header of `perf.data`: where its sections are, and which events were counted.

use std::collections::HashMap;

use super::events::Event;
use crate::decode::cursor::{Cursor, Order};
use crate::decode::fault::Fault;

/// The first bytes, of today's files and of those of 2012 and before, whose layout is the same.
pub(crate) const MAGICS: [&[u8]; 2] = [b"PERFILE2", b"PERFFILE"];
/// The first bytes on a big-endian machine.
pub(crate) const SWAPPED: [&[u8]; 2] = [b"2ELIFREP", b"ELIFFREP"];
const MAGIC_SIZE: usize = 8;

/// The most events that a file may have.
const EVENTS: usize = 64;
/// The size of a file's header. A pipe's has only the first 16 bytes.
const FILE: u64 = 104;
const PIPE: u64 = 16;
// Features by their bits.
const BUILD_ID: u32 = 2;
const HOSTNAME: u32 = 3;
const MACHINE: u32 = 6;
const EVENT_DESC: u32 = 12;

/// How far the records go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Extent {
    /// As far as the header says.
    #[default]
    Known,
    /// To the end of the file: the recorder was killed before it wrote the length of the data.
    Unclosed,
    /// To the end of the file: a pipe's header has no length.
    Pipe,
}

/// What is known before the first record.
#[derive(Debug, Default)]
pub(crate) struct Header<'a> {
    /// The records.
    pub(crate) data: Option<Cursor<'a>>,
    /// In the order of the file.
    pub(crate) events: Vec<Event>,
    /// Rows of events by the ids in samples.
    pub(crate) rows: HashMap<u64, usize>,
    /// Build ids that are stored outside of the maps, by the file's name.
    pub(crate) build_ids: HashMap<String, Vec<u8>>,
    /// Names of tracepoints by number, when a pipe has them.
    pub(crate) tracepoints: HashMap<u64, String>,
    /// The order of bytes in numbers.
    pub(crate) order: Order,
    /// The architecture, `x86_64`, if the recorder wrote it.
    pub(crate) machine: Option<String>,
    /// How far the records go.
    pub(crate) extent: Extent,
}

impl<'a> Header<'a> {
    /// Reads the header of a file. A pipe has its header in its records.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, Fault> {
        let order = match SWAPPED.iter().any(|magic| bytes.starts_with(magic)) {
            true => Order::Big,
            false => Order::Little,
        };
        let mut header = Header {
            order,
            ..Header::default()
        };
        let mut cursor = Cursor::new(bytes).in_order(order);
        cursor.take(MAGIC_SIZE)?;
        match cursor.u64()? {
            PIPE => {
                header.data = Some(cursor);
                header.extent = Extent::Pipe;
                return Ok(header);
            }
            FILE => {}
            size => {
                let problem = format!("expected a header of {FILE} or {PIPE} bytes, got {size}");
                return Err(Fault::byte(8, problem));
            }
        }
        let attr_size = cursor.u64()?;
        let (attrs, attrs_size) = (cursor.u64()?, cursor.u64()?);
        let (data, mut data_size) = (cursor.u64()?, cursor.u64()?);
        cursor.take(16)?;
        let features = [cursor.u64()?, cursor.u64()?, cursor.u64()?, cursor.u64()?];
        if data_size == 0 && data < bytes.len() as u64 {
            data_size = bytes.len() as u64 - data;
            header.extent = Extent::Unclosed;
        }
        let part = |from, size, what| {
            let part = Cursor::part(bytes, from, size, what);
            part.map(|part| part.in_order(order))
        };
        header.data = Some(part(data, data_size, "the data")?);
        header.attrs(
            bytes,
            part(attrs, attrs_size, "the list of events")?,
            attr_size,
        )?;
        if header.extent == Extent::Known {
            let table = data.saturating_add(data_size);
            header.features(bytes, table, features)?;
        }
        Ok(header)
    }

    fn attrs(&mut self, bytes: &'a [u8], mut attrs: Cursor<'a>, size: u64) -> Result<(), Fault> {
        let at = attrs.at();
        let size = usize::try_from(size).ok().filter(|&size| size > 16);
        let size = size.ok_or_else(|| Fault::byte(16, "expected events of more than 16 bytes"))?;
        while !attrs.is_empty() {
            let mut entry = attrs.take(size)?;
            let attr = entry.take(size - 16)?;
            let (ids, ids_size) = (entry.u64()?, entry.u64()?);
            let ids = Cursor::part(bytes, ids, ids_size, "a list of ids")?;
            self.event(attr, ids.in_order(self.order))
                .map_err(|fault| fault.at_byte(at))?;
        }
        Ok(())
    }

    /// Adds a counted event.
    pub(crate) fn event(&mut self, attr: Cursor, mut ids: Cursor) -> Result<(), Fault> {
        if self.events.len() >= EVENTS {
            let problem = format!("expected at most {EVENTS} kinds of event");
            return Err(Fault::byte(attr.at(), problem));
        }
        let event = Event::read(attr, self.order)?;
        while ids.bytes().len() >= 8 {
            self.rows.entry(ids.u64()?).or_insert(self.events.len());
        }
        self.events.push(event);
        Ok(())
    }

    fn features(&mut self, bytes: &'a [u8], table: u64, bits: [u64; 4]) -> Result<(), Fault> {
        let bits = match self.order {
            Order::Little => bits,
            Order::Big => of_big_endian(bits),
        };
        let count = bits
            .iter()
            .map(|word| u64::from(word.count_ones()))
            .sum::<u64>();
        let table = Cursor::part(bytes, table, count * 16, "the list of features")?;
        let mut table = table.in_order(self.order);
        for bit in (0..256).filter(|bit| bits[bit / 64] >> (bit % 64) & 1 == 1) {
            let (offset, size) = (table.u64()?, table.u64()?);
            let section = Cursor::part(bytes, offset, size, "a feature")?;
            self.feature(bit as u32, section.in_order(self.order))?;
        }
        Ok(())
    }

    /// Reads a feature, if it is needed.
    pub(crate) fn feature(&mut self, bit: u32, mut section: Cursor) -> Result<(), Fault> {
        match bit {
            BUILD_ID => self.build_ids(section),
            MACHINE => {
                let length = section.u32()? as usize;
                self.machine = Some(section.take(length)?.text());
                Ok(())
            }
            EVENT_DESC => self.names(section),
            _ => Ok(()),
        }
    }

    fn build_ids(&mut self, mut section: Cursor) -> Result<(), Fault> {
        while !section.is_empty() {
            section.u32()?;
            let misc = section.u16()?;
            let size = section.u16()?;
            let Some(size) = usize::from(size).checked_sub(8) else {
                return Err(Fault::byte(section.at(), "a build id has no size"));
            };
            self.build_id(misc, section.take(size)?)?;
        }
        Ok(())
    }

    /// Reads a file's build id, without the head of its record.
    pub(crate) fn build_id(&mut self, misc: u16, mut record: Cursor) -> Result<(), Fault> {
        const HAS_SIZE: u16 = 1 << 15;
        record.u32()?;
        let id = record.take(24)?.bytes();
        let size = if misc & HAS_SIZE != 0 {
            id[20].min(20)
        } else {
            20
        };
        let id = id[..usize::from(size)].to_vec();
        self.build_ids.insert(record.text(), id);
        Ok(())
    }

    /// Reads the names of events that the user gave or perf chose.
    fn names(&mut self, mut section: Cursor) -> Result<(), Fault> {
        let count = section.u32()? as usize;
        let size = section.u32()? as usize;
        for row in 0..count.min(EVENTS) {
            section.take(size)?;
            let ids = section.u32()? as usize;
            let length = section.u32()? as usize;
            let name = section.take(length)?.text();
            section.take(ids.saturating_mul(8))?;
            if let Some(event) = self.events.get_mut(row)
                && !name.is_empty()
            {
                event.name = name;
            }
        }
        Ok(())
    }
}

/// The bits of features. The recorder wrote them as words of the machine's size, which the file does not tell. Every recorder
/// since 2011 writes the host's name. Without it, perf expects build ids alone.
fn of_big_endian(words: [u64; 4]) -> [u64; 4] {
    if words == [0; 4] {
        return words;
    }
    let halves = words.map(|word| word.rotate_left(32));
    let has_name = |words: &[u64; 4]| words[0] >> HOSTNAME & 1 == 1;
    let known = [words, halves].into_iter().find(has_name);
    known.unwrap_or([1 << BUILD_ID, 0, 0, 0])
}
