//! The parts of a class file (JVMS §4), of any version from JDK 1.0.2 on.

use std::borrow::Cow;
use std::ops::Range;

use crate::bytes::{Malformed, Reader};

/// A class file, parsed as far as probes need it. Everything refers to the bytes that it was read from.
#[derive(Clone, Debug)]
pub struct ClassFile<'a> {
    pub(crate) bytes: &'a [u8],
    /// 45 is JDK 1.1, 52 is 8, 69 is 25.
    pub major: u16,
    pub(crate) minor: u16,
    /// Where each constant begins; 0 for numbers without a constant.
    pub(crate) constants: Vec<u32>,
    /// Where the constants end.
    pub(crate) constants_end: usize,
    pub(crate) this: u16,
    pub(crate) parent: u16,
    pub(crate) source: Option<u16>,
    /// Its methods, in their order.
    pub methods: Vec<Method<'a>>,
}

/// A method of a class file.
#[derive(Clone, Debug)]
pub struct Method<'a> {
    /// `ACC_…` bits.
    pub access: u16,
    /// Its name.
    pub name: Cow<'a, str>,
    /// Its descriptor: `(I)V`.
    pub descriptor: Cow<'a, str>,
    /// Its first line, 0 when it is not known.
    pub line: u16,
    pub(crate) code: Option<Code>,
    bytes: &'a [u8],
}

impl<'a> Method<'a> {
    /// The method as it is in the class file.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

/// Where a method's `Code` attribute is, with its name and length.
#[derive(Clone, Debug)]
pub(crate) struct Code {
    pub(crate) name: u16,
    pub(crate) attribute: Range<usize>,
    pub(crate) data: Range<usize>,
}

/// An attribute's name and data.
pub(crate) struct Attribute {
    pub(crate) name: u16,
    pub(crate) data: Range<usize>,
}

pub(crate) mod tag {
    pub(crate) const UTF8: u8 = 1;
    pub(crate) const INTEGER: u8 = 3;
    pub(crate) const CLASS: u8 = 7;
    pub(crate) const METHOD: u8 = 10;
    pub(crate) const NAME_AND_TYPE: u8 = 12;
}

impl<'a> ClassFile<'a> {
    /// Reads a class file.
    pub fn parse(bytes: &'a [u8]) -> Result<ClassFile<'a>, Malformed> {
        let mut reader = Reader::new(bytes);
        if reader.u32()? != 0xcafe_babe {
            return Err(Malformed {
                at: 0,
                expected: "a class file (CAFEBABE)",
            });
        }
        let (minor, major) = (reader.u16()?, reader.u16()?);
        let constants = constants(&mut reader)?;
        let constants_end = reader.at;
        let _access = reader.u16()?;
        let (this, parent) = (reader.u16()?, reader.u16()?);
        let interfaces = usize::from(reader.u16()?);
        reader.take(2 * interfaces)?;
        let mut class = ClassFile {
            bytes,
            major,
            minor,
            constants,
            constants_end,
            this,
            parent,
            source: None,
            methods: Vec::new(),
        };
        for _ in 0..reader.u16()? {
            reader.take(6)?;
            attributes(&mut reader)?;
        }
        for _ in 0..reader.u16()? {
            let method = class.method(&mut reader)?;
            class.methods.push(method);
        }
        for attribute in attributes(&mut reader)? {
            if class.utf8(attribute.name)? == b"SourceFile" {
                class.source = Some(Reader::new(&bytes[attribute.data]).u16()?);
            }
        }
        match reader.is_empty() {
            true => Ok(class),
            false => Err(reader.error("the end of the class file")),
        }
    }

    /// Its name with slashes: `java/util/Map$Entry`.
    pub fn name(&self) -> Cow<'a, str> {
        self.class_name(self.this).unwrap_or_default()
    }

    /// The name of the class that it extends, empty for `Object` and modules.
    pub fn parent(&self) -> Cow<'a, str> {
        self.class_name(self.parent).unwrap_or_default()
    }

    /// Its source file's name without folders, or empty.
    pub fn source(&self) -> Cow<'a, str> {
        let name = self.source.and_then(|at| self.utf8(at).ok());
        name.map(String::from_utf8_lossy).unwrap_or_default()
    }

    /// A method by name and descriptor.
    pub fn find(&self, name: &str, descriptor: &str) -> Option<usize> {
        let is = |it: &Method<'_>| it.name == name && it.descriptor == descriptor;
        self.methods.iter().position(is)
    }

    pub(crate) fn utf8(&self, index: u16) -> Result<&'a [u8], Malformed> {
        let mut reader = self.constant(index, tag::UTF8, "a text constant")?;
        let length = usize::from(reader.u16()?);
        reader.take(length)
    }

    /// The name of a class constant.
    pub(crate) fn class_name(&self, index: u16) -> Result<Cow<'a, str>, Malformed> {
        let name = self
            .constant(index, tag::CLASS, "a class constant")?
            .u16()?;
        self.utf8(name).map(String::from_utf8_lossy)
    }

    /// Class and name of a method constant, also of an interface method.
    pub(crate) fn method_reference(
        &self,
        index: u16,
    ) -> Result<(Cow<'a, str>, &'a [u8]), Malformed> {
        let mut reader = self
            .constant(index, tag::METHOD, "a method constant")
            .or_else(|_| self.constant(index, tag::METHOD + 1, "a method constant"))?;
        let (class, name) = (reader.u16()?, reader.u16()?);
        let name = self
            .constant(name, tag::NAME_AND_TYPE, "a name and type")?
            .u16()?;
        Ok((self.class_name(class)?, self.utf8(name)?))
    }

    fn constant(
        &self,
        index: u16,
        wanted: u8,
        expected: &'static str,
    ) -> Result<Reader<'a>, Malformed> {
        let at = self.constants.get(usize::from(index)).copied().unwrap_or(0) as usize;
        let mut reader = Reader {
            bytes: self.bytes,
            at,
        };
        match at != 0 && reader.u8()? == wanted {
            true => Ok(reader),
            false => Err(Malformed { at, expected }),
        }
    }

    fn method(&self, reader: &mut Reader<'a>) -> Result<Method<'a>, Malformed> {
        let start = reader.at;
        let access = reader.u16()?;
        let (name, descriptor) = (reader.u16()?, reader.u16()?);
        let mut method = Method {
            access,
            name: String::from_utf8_lossy(self.utf8(name)?),
            descriptor: String::from_utf8_lossy(self.utf8(descriptor)?),
            line: 0,
            code: None,
            bytes: &[],
        };
        for attribute in attributes(reader)? {
            if self.utf8(attribute.name)? == b"Code" {
                let data = attribute.data;
                method.line = self.first_line(&self.bytes[data.clone()]).unwrap_or(0);
                method.code = Some(Code {
                    name: attribute.name,
                    attribute: data.start - 6..data.end,
                    data,
                });
            }
        }
        method.bytes = &self.bytes[start..reader.at];
        Ok(method)
    }

    fn first_line(&self, code: &[u8]) -> Option<u16> {
        let mut reader = Reader { bytes: code, at: 4 };
        let length = reader.u32().ok()?;
        reader.take(length as usize).ok()?;
        let handlers = reader.u16().ok()?;
        reader.take(8 * usize::from(handlers)).ok()?;
        let lines = attributes(&mut reader)
            .ok()?
            .into_iter()
            .filter(|it| self.utf8(it.name) == Ok(b"LineNumberTable"));
        let numbers = lines.flat_map(|it| {
            let entries = code[it.data].get(2..).unwrap_or_default().chunks_exact(4);
            entries.map(|entry| u16::from_be_bytes([entry[2], entry[3]]))
        });
        numbers.min()
    }
}

/// The constants' places. Leaves the reader after them.
fn constants(reader: &mut Reader<'_>) -> Result<Vec<u32>, Malformed> {
    let count = usize::from(reader.u16()?);
    let mut constants = vec![0];
    while constants.len() < count {
        let at = reader.at as u32;
        let length = match reader.u8()? {
            1 => usize::from(reader.u16()?),
            3 | 4 | 9 | 10 | 11 | 12 | 17 | 18 => 4,
            5 | 6 => 8,
            7 | 8 | 16 | 19 | 20 => 2,
            15 => 3,
            _ => {
                reader.at -= 1;
                return Err(reader.error("a constant"));
            }
        };
        let two = length == 8 && matches!(reader.bytes[at as usize], 5 | 6);
        reader.take(length)?;
        constants.push(at);
        if two {
            constants.push(0);
        }
    }
    Ok(constants)
}

/// Reads the attributes that come next.
pub(crate) fn attributes(reader: &mut Reader<'_>) -> Result<Vec<Attribute>, Malformed> {
    let count = reader.u16()?;
    let mut attributes = Vec::new();
    for _ in 0..count {
        let name = reader.u16()?;
        let length = reader.u32()? as usize;
        let start = reader.at;
        reader.take(length)?;
        attributes.push(Attribute {
            name,
            data: start..start + length,
        });
    }
    Ok(attributes)
}
