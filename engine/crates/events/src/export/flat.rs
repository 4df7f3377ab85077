//! FlatBuffers, as much as Arrow's metadata needs: tables, vectors of tables and of structs, texts.

/// A buffer that is written from its end: what is referred to comes before what refers to it.
#[derive(Default)]
pub struct Flat {
    /// The bytes in reverse order.
    reversed: Vec<u8>,
}

/// Where something is: bytes from the buffer's end.
#[derive(Clone, Copy)]
pub struct At(usize);

/// A field of a table.
#[derive(Clone, Copy)]
pub enum Value {
    /// Absent.
    None,
    Byte(u8),
    Short(i16),
    Int(i32),
    Long(i64),
    To(At),
}

impl Value {
    fn size(self) -> usize {
        match self {
            Value::None => 0,
            Value::Byte(_) => 1,
            Value::Short(_) => 2,
            Value::Int(_) | Value::To(_) => 4,
            Value::Long(_) => 8,
        }
    }
}

impl Flat {
    fn push(&mut self, bytes: &[u8]) {
        self.reversed.extend(bytes.iter().rev());
    }

    /// Zeros, so that after `more` further bytes the length is a multiple of `to`.
    fn align(&mut self, more: usize, to: usize) {
        while !(self.reversed.len() + more).is_multiple_of(to) {
            self.reversed.push(0);
        }
    }

    fn here(&self) -> At {
        At(self.reversed.len())
    }

    /// An offset to something that is written already. The place must be aligned.
    fn offset(&mut self, to: At) {
        let distance = self.reversed.len() + 4 - to.0;
        self.push(&(distance as u32).to_le_bytes());
    }

    pub fn text(&mut self, text: &str) -> At {
        self.align(text.len() + 1, 4);
        self.push(&[0]);
        self.push(text.as_bytes());
        self.push(&(text.len() as u32).to_le_bytes());
        self.here()
    }

    pub fn tables(&mut self, tables: &[At]) -> At {
        self.align(4 * tables.len(), 4);
        for table in tables.iter().rev() {
            self.offset(*table);
        }
        self.push(&(tables.len() as u32).to_le_bytes());
        self.here()
    }

    /// A vector of structs of 64-bit words.
    pub fn structs(&mut self, words: &[i64], each: usize) -> At {
        self.align(8 * words.len(), 8);
        for word in words.iter().rev() {
            self.push(&word.to_le_bytes());
        }
        self.push(&((words.len() / each) as u32).to_le_bytes());
        self.here()
    }

    /// A table with these fields, the first one the field of number 0.
    pub fn table(&mut self, fields: &[Value]) -> At {
        // The widest fields first, which keeps all of them aligned.
        let mut order: Vec<usize> = (0..fields.len())
            .filter(|it| fields[*it].size() > 0)
            .collect();
        order.sort_by_key(|it| std::cmp::Reverse(fields[*it].size()));
        let size: usize = order.iter().map(|it| fields[*it].size()).sum();
        // The table begins with 4 bytes that lead to its list of fields; 8-byte fields follow after 4 more.
        let wide = order.first().is_some_and(|it| fields[*it].size() == 8);
        let gap = if wide { 4 } else { 0 };
        self.align(size, 8);
        let end = self.here().0;
        let mut places = vec![0_u16; fields.len()];
        let mut at = 4 + gap;
        for it in &order {
            places[*it] = at as u16;
            at += fields[*it].size();
        }
        for it in order.iter().rev() {
            match fields[*it] {
                Value::None => {}
                Value::Byte(value) => self.push(&[value]),
                Value::Short(value) => self.push(&value.to_le_bytes()),
                Value::Int(value) => self.push(&value.to_le_bytes()),
                Value::Long(value) => self.push(&value.to_le_bytes()),
                Value::To(to) => self.offset(to),
            }
        }
        self.push(&vec![0; gap]);
        let fields_bytes = 4 + 2 * places.len();
        // The list of fields is in front of the table.
        let padding = (4 - fields_bytes % 4) % 4;
        self.push(&((fields_bytes + padding) as i32).to_le_bytes());
        let table = self.here();
        self.push(&vec![0; padding]);
        for place in places.iter().rev() {
            self.push(&place.to_le_bytes());
        }
        self.push(&((table.0 - end) as u16).to_le_bytes());
        self.push(&(fields_bytes as u16).to_le_bytes());
        table
    }

    /// The buffer, whose root is a table; its length is a multiple of 8.
    pub fn finish(mut self, root: At) -> Vec<u8> {
        self.align(4, 8);
        self.offset(root);
        self.reversed.reverse();
        self.reversed
    }
}
