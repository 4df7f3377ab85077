//! Constants that a class gets in addition. Those that it has keep their numbers.

use crate::bytes::Write;
use crate::class::{ClassFile, tag};

/// Constants behind a class's own.
pub struct Pool {
    /// How many there are in all, with number 0.
    count: usize,
    /// The new ones' bytes.
    pub bytes: Vec<u8>,
    known: Vec<(Vec<u8>, u16)>,
}

/// There is no number left for another constant.
#[derive(Debug, PartialEq, Eq)]
pub struct PoolFull;

impl Pool {
    pub fn new(class: &ClassFile<'_>) -> Pool {
        Pool {
            count: class.constants.len(),
            bytes: Vec::new(),
            known: Vec::new(),
        }
    }

    /// The number of constants, as class files have it.
    pub fn count(&self) -> u16 {
        self.count as u16
    }

    pub fn utf8(&mut self, text: &str) -> Result<u16, PoolFull> {
        let mut constant = vec![tag::UTF8];
        constant.put16(text.len() as u16);
        constant.extend_from_slice(text.as_bytes());
        self.add(constant)
    }

    pub fn class(&mut self, name: &str) -> Result<u16, PoolFull> {
        let name = self.utf8(name)?;
        self.add([&[tag::CLASS][..], &name.to_be_bytes()].concat())
    }

    pub fn method(&mut self, class: &str, name: &str, descriptor: &str) -> Result<u16, PoolFull> {
        let class = self.class(class)?;
        let (name, descriptor) = (self.utf8(name)?, self.utf8(descriptor)?);
        let kind = [
            &[tag::NAME_AND_TYPE][..],
            &name.to_be_bytes(),
            &descriptor.to_be_bytes(),
        ];
        let kind = self.add(kind.concat())?;
        self.add(
            [
                &[tag::METHOD][..],
                &class.to_be_bytes(),
                &kind.to_be_bytes(),
            ]
            .concat(),
        )
    }

    pub fn integer(&mut self, value: u32) -> Result<u16, PoolFull> {
        self.add([&[tag::INTEGER][..], &value.to_be_bytes()].concat())
    }

    fn add(&mut self, constant: Vec<u8>) -> Result<u16, PoolFull> {
        if let Some((_, number)) = self.known.iter().find(|(known, _)| *known == constant) {
            return Ok(*number);
        }
        // The count itself has 16 bits.
        if self.count >= 0xffff {
            return Err(PoolFull);
        }
        let number = self.count as u16;
        self.count += 1;
        self.bytes.extend_from_slice(&constant);
        self.known.push((constant, number));
        Ok(number)
    }
}
