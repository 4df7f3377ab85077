//! Protobuf messages as bytes.

/// A message that grows field by field. Zeros and empty texts are left out, as protobuf's own writers do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Message(Vec<u8>);

impl Message {
    /// Its bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Forgets all fields.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }

    /// A number.
    pub(crate) fn number(&mut self, field: u64, value: u64) {
        if value != 0 {
            self.present(field, value);
        }
    }

    /// A number, also zero: it says which of several fields is there.
    pub(crate) fn present(&mut self, field: u64, value: u64) {
        varint(&mut self.0, field << 3);
        varint(&mut self.0, value);
    }

    /// A text, also an empty one: tables count them.
    pub(crate) fn text(&mut self, field: u64, text: &str) {
        self.raw(field, text.as_bytes());
    }

    /// Bytes, also none.
    pub(crate) fn bytes_field(&mut self, field: u64, bytes: &[u8]) {
        self.raw(field, bytes);
    }

    /// A number of always eight bytes.
    pub(crate) fn fixed64(&mut self, field: u64, value: u64) {
        if value != 0 {
            varint(&mut self.0, field << 3 | 1);
            self.0.extend_from_slice(&value.to_le_bytes());
        }
    }

    /// A number of always four bytes.
    pub(crate) fn fixed32(&mut self, field: u64, value: u32) {
        if value != 0 {
            varint(&mut self.0, field << 3 | 5);
            self.0.extend_from_slice(&value.to_le_bytes());
        }
    }

    /// A message inside.
    pub(crate) fn message(&mut self, field: u64, inner: &Message) {
        self.raw(field, &inner.0);
    }

    /// Numbers, packed.
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
