//! Stack maps (JVMS §4.7.4): reads them, moves each frame with its instruction, and writes them.

use crate::bytes::{Malformed, Reader, Write};
use crate::code::{Code, Moved};

/// A verification type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    /// A type that is only a tag.
    Simple(u8),
    /// A class by its constant.
    Object(u16),
    /// The object created by the `new` at this place, before its constructor is called.
    Uninitialized(u16),
}

impl Type {
    /// An unknown type.
    pub(crate) const TOP: Type = Type::Simple(0);
    pub(crate) const INTEGER: Type = Type::Simple(1);
    pub(crate) const FLOAT: Type = Type::Simple(2);
    pub(crate) const DOUBLE: Type = Type::Simple(3);
    pub(crate) const LONG: Type = Type::Simple(4);
    /// `this` before the parent's constructor was called.
    pub(crate) const THIS: Type = Type::Simple(6);

    fn read(reader: &mut Reader<'_>) -> Result<Type, Malformed> {
        match reader.u8()? {
            tag @ 0..=6 => Ok(Type::Simple(tag)),
            7 => reader.u16().map(Type::Object),
            8 => reader.u16().map(Type::Uninitialized),
            _ => Err(reader.error("a type of a stack map")),
        }
    }

    fn write(self, out: &mut Vec<u8>) {
        match self {
            Type::Simple(tag) => out.push(tag),
            Type::Object(class) => {
                out.push(7);
                out.put16(class);
            }
            Type::Uninitialized(at) => {
                out.push(8);
                out.put16(at);
            }
        }
    }
}

/// How a frame differs from the one before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FrameDelta {
    Same,
    /// The same variables, and one value on the stack.
    Stack(Type),
    /// So many variables fewer.
    Chop(u8),
    /// More variables.
    Append(Vec<Type>),
    Full {
        locals: Vec<Type>,
        stack: Vec<Type>,
    },
}

/// A frame and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) at: u32,
    pub(crate) kind: FrameDelta,
}

/// Reads the data of a `StackMapTable`.
pub(crate) fn read(data: &[u8]) -> Result<Vec<Frame>, Malformed> {
    let mut reader = Reader::new(data);
    let count = reader.u16()?;
    let mut frames: Vec<Frame> = Vec::new();
    for _ in 0..count {
        let tag = reader.u8()?;
        let mut delta = u32::from(tag & 63);
        let mut long = |reader: &mut Reader<'_>| reader.u16().map(|it| delta = u32::from(it));
        let kind = match tag {
            0..=63 => FrameDelta::Same,
            64..=127 => FrameDelta::Stack(Type::read(&mut reader)?),
            247 => {
                long(&mut reader)?;
                FrameDelta::Stack(Type::read(&mut reader)?)
            }
            248..=250 => {
                long(&mut reader)?;
                FrameDelta::Chop(251 - tag)
            }
            251 => {
                long(&mut reader)?;
                FrameDelta::Same
            }
            252..=254 => {
                long(&mut reader)?;
                FrameDelta::Append(types(&mut reader, u16::from(tag - 251))?)
            }
            255 => {
                long(&mut reader)?;
                let locals = reader.u16()?;
                let locals = types(&mut reader, locals)?;
                let stack = reader.u16()?;
                let stack = types(&mut reader, stack)?;
                FrameDelta::Full { locals, stack }
            }
            _ => return Err(reader.error("a stack map frame")),
        };
        let at = frames.last().map_or(delta, |last| last.at + delta + 1);
        frames.push(Frame { at, kind });
    }
    match reader.is_empty() {
        true => Ok(frames),
        false => Err(reader.error("the end of the stack map")),
    }
}

fn types(reader: &mut Reader<'_>, count: u16) -> Result<Vec<Type>, Malformed> {
    (0..count).map(|_| Type::read(reader)).collect()
}

/// Writes the data of a `StackMapTable`. The frames are in the order of their places.
pub(crate) fn write(frames: &[Frame]) -> Vec<u8> {
    let mut out = Vec::new();
    out.put16(frames.len() as u16);
    let mut next = 0;
    for frame in frames {
        let delta = (frame.at - next) as u16;
        next = frame.at + 1;
        let short = u8::try_from(delta).ok().filter(|delta| *delta < 64);
        let mut tagged = |tag: u8| {
            out.push(tag);
            out.put16(delta);
        };
        match &frame.kind {
            FrameDelta::Same => match short {
                Some(delta) => out.push(delta),
                None => tagged(251),
            },
            FrameDelta::Stack(it) => {
                match short {
                    Some(delta) => out.push(64 + delta),
                    None => tagged(247),
                }
                it.write(&mut out);
            }
            FrameDelta::Chop(count) => tagged(251 - count),
            FrameDelta::Append(types) => {
                tagged(251 + types.len() as u8);
                types.iter().for_each(|it| it.write(&mut out));
            }
            FrameDelta::Full { locals, stack } => {
                tagged(255);
                for types in [locals, stack] {
                    out.put16(types.len() as u16);
                    types.iter().for_each(|it| it.write(&mut out));
                }
            }
        }
    }
    out
}

/// Moves frames to where their instructions are now.
pub(crate) fn relocate(
    frames: &mut [Frame],
    code: &Code<'_>,
    moved: &Moved,
) -> Result<(), Malformed> {
    let one = |it: &mut Type| -> Result<(), Malformed> {
        if let Type::Uninitialized(at) = it {
            *at = moved.instruction(code, u32::from(*at))? as u16;
        }
        Ok(())
    };
    for frame in frames {
        frame.at = moved.target(code, frame.at)?;
        match &mut frame.kind {
            FrameDelta::Same | FrameDelta::Chop(_) => {}
            FrameDelta::Stack(it) => one(it)?,
            FrameDelta::Append(types) => types.iter_mut().try_for_each(one)?,
            FrameDelta::Full { locals, stack } => {
                locals.iter_mut().chain(stack).try_for_each(one)?
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_frame_is_written_as_it_was_read() {
        let kinds = [
            FrameDelta::Same,
            FrameDelta::Stack(Type::Object(300)),
            FrameDelta::Chop(2),
            FrameDelta::Append(vec![Type::Simple(1), Type::Uninitialized(7)]),
            FrameDelta::Full {
                locals: vec![Type::THIS],
                stack: vec![Type::Simple(4), Type::Object(1)],
            },
        ];
        for step in [1, 64, 65, 66, 5000] {
            let frames = kinds.iter().enumerate().map(|(n, kind)| Frame {
                at: (n as u32 + 1) * step,
                kind: kind.clone(),
            });
            let frames: Vec<_> = frames.collect();
            let data = write(&frames);
            assert_eq!(read(&data), Ok(frames));
            for cut in 0..data.len() {
                assert!(read(&data[..cut]).is_err());
            }
        }
        // The shortest form, as compilers write it.
        let data = [0, 2, 5, 64 + 3, 7, 0, 9];
        assert_eq!(write(&read(&data).unwrap()), data);
        assert!(
            read(&[0, 1, 128]).is_err(),
            "frames of unknown kinds are refused"
        );
    }
}
