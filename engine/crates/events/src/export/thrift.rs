//! Thrift's compact protocol, as much as Parquet's metadata needs.

const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// A struct that is being written: its fields, in the order of their numbers.
#[derive(Default)]
pub struct Thrift {
    bytes: Vec<u8>,
    last: u8,
}

impl Thrift {
    pub fn int(&mut self, number: u8, value: i32) {
        self.field(number, I32);
        self.zigzag(i64::from(value));
    }

    pub fn long(&mut self, number: u8, value: i64) {
        self.field(number, I64);
        self.zigzag(value);
    }

    pub fn binary(&mut self, number: u8, bytes: &[u8]) {
        self.field(number, BINARY);
        self.text(bytes);
    }

    pub fn ints(&mut self, number: u8, values: &[i32]) {
        self.begin_list(number, values.len(), I32);
        values.iter().for_each(|it| self.zigzag(i64::from(*it)));
    }

    pub fn binaries(&mut self, number: u8, values: &[&[u8]]) {
        self.begin_list(number, values.len(), BINARY);
        values.iter().for_each(|it| self.text(it));
    }

    pub fn inner(&mut self, number: u8, write: impl FnOnce(&mut Thrift)) {
        self.field(number, STRUCT);
        self.element(write);
    }

    /// A list of so many structs, which are to follow by [`Self::element`] or [`Self::raw`].
    pub fn list(&mut self, number: u8, length: usize) {
        self.begin_list(number, length, STRUCT);
    }

    pub fn element(&mut self, write: impl FnOnce(&mut Thrift)) {
        let mut inner = Thrift::default();
        write(&mut inner);
        self.raw(&inner.end());
    }

    /// A struct that has been written.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }

    fn field(&mut self, number: u8, kind: u8) {
        // All of Parquet's are less than 16 behind the one before.
        self.bytes.push((number - self.last) << 4 | kind);
        self.last = number;
    }

    fn begin_list(&mut self, number: u8, length: usize, kind: u8) {
        self.field(number, LIST);
        match u8::try_from(length) {
            Ok(length @ ..15) => self.bytes.push(length << 4 | kind),
            _ => {
                self.bytes.push(0xf0 | kind);
                varint(&mut self.bytes, length as u64);
            }
        }
    }

    fn zigzag(&mut self, value: i64) {
        varint(&mut self.bytes, (value << 1 ^ value >> 63).cast_unsigned());
    }

    fn text(&mut self, bytes: &[u8]) {
        varint(&mut self.bytes, bytes.len() as u64);
        self.raw(bytes);
    }
}

/// 7 bits a byte, lowest first.
pub fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
