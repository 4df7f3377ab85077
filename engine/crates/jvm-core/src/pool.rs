//! New constants of a class. Those that it has keep their numbers.

use crate::bytes::Write;
use crate::class::{ClassFile, tag};

/// Constants that are added after a class's own.
pub(crate) struct Pool {
    /// How many constants there are in all, number 0 included.
    count: usize,
    /// The bytes of the new ones.
    pub(crate) bytes: Vec<u8>,
    known: Vec<(Vec<u8>, u16)>,
}

/// No number is left for another constant.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PoolFull;

impl Pool {
    pub(crate) fn new(class: &ClassFile<'_>) -> Pool {
        Pool {
            count: class.constants.len(),
            bytes: Vec::new(),
            known: Vec::new(),
        }
    }

    /// The number of constants, as class files have it.
    pub(crate) fn count(&self) -> u16 {
        self.count as u16
    }

    pub(crate) fn utf8(&mut self, text: &str) -> Result<u16, PoolFull> {
        let mut constant = vec![tag::UTF8];
        constant.put16(text.len() as u16);
        constant.extend_from_slice(text.as_bytes());
        self.add(constant)
    }

    pub(crate) fn class(&mut self, name: &str) -> Result<u16, PoolFull> {
        let name = self.utf8(name)?;
        self.add([&[tag::CLASS][..], &name.to_be_bytes()].concat())
    }

    pub(crate) fn method(
        &mut self,
        class: &str,
        name: &str,
        descriptor: &str,
    ) -> Result<u16, PoolFull> {
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

    pub(crate) fn integer(&mut self, value: u32) -> Result<u16, PoolFull> {
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
