//! Protobuf messages as bytes.
//!
//! Libraries: prost would need an owned struct for each message. Here a message of a profile is written while the tree is
//! walked.

/// A message that grows field by field. Zeros are omitted, as by protobuf's own writers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Message(Vec<u8>);

impl Message {
    /// The bytes so far.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Removes all fields.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds a number, unless it is 0.
    pub(crate) fn number(&mut self, field: u64, value: u64) {
        if value != 0 {
            self.present(field, value);
        }
    }

    /// Adds a number even if it is 0: in a `oneof`, it says which field is set.
    pub(crate) fn present(&mut self, field: u64, value: u64) {
        varint(&mut self.0, field << 3);
        varint(&mut self.0, value);
    }

    /// Adds a text even if it is empty: tables count on it.
    pub(crate) fn text(&mut self, field: u64, text: &str) {
        self.raw(field, text.as_bytes());
    }

    /// Adds bytes, even if there are none.
    pub(crate) fn bytes_field(&mut self, field: u64, bytes: &[u8]) {
        self.raw(field, bytes);
    }

    /// Adds a number of eight bytes, unless it is 0.
    pub(crate) fn fixed64(&mut self, field: u64, value: u64) {
        if value != 0 {
            varint(&mut self.0, field << 3 | 1);
            self.0.extend_from_slice(&value.to_le_bytes());
        }
    }

    /// Adds a number of four bytes, unless it is 0.
    pub(crate) fn fixed32(&mut self, field: u64, value: u32) {
        if value != 0 {
            varint(&mut self.0, field << 3 | 5);
            self.0.extend_from_slice(&value.to_le_bytes());
        }
    }

    /// Adds a nested message.
    pub(crate) fn message(&mut self, field: u64, inner: &Message) {
        self.raw(field, &inner.0);
    }

    /// Adds packed numbers.
    pub(crate) fn numbers(&mut self, field: u64, values: impl IntoIterator<Item = u64>) {
        let mut packed = Vec::new();
        for value in values {
            varint(&mut packed, value);
        }
        self.raw(field, &packed);
    }

    fn raw(&mut self, field: u64, bytes: &[u8]) {
        varint(&mut self.0, field << 3 | 2);
        varint(&mut self.0, bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }
}

fn varint(into: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        into.push(value as u8 | 0x80);
        value >>= 7;
    }
    into.push(value as u8);
}
