//! Interned data: names, frames and stacks that a writer numbers once and refers to by number.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use super::deobfuscated::{Deobfuscated, Package};
use crate::collect::stacks::{FrameId, MAX_DEPTH, Stacks};
use crate::collect::symbols::{At, bracketed};
use crate::decode::fault::Fault;
use crate::decode::input::Input;
use crate::decode::texts::MAX_NAME;
use crate::decode::wire::Message;

/// The interned data of one writer since it was last cleared.
#[derive(Default)]
pub(crate) struct Sequence<'t> {
    functions: HashMap<u64, &'t [u8]>,
    paths: HashMap<u64, &'t [u8]>,
    builds: HashMap<u64, &'t [u8]>,
    sources: HashMap<u64, &'t [u8]>,
    mappings: HashMap<u64, Mapping>,
    /// The path of each mapping, once known.
    files: HashMap<u64, Rc<str>>,
    frames: HashMap<u64, Frame>,
    /// Outermost first.
    stacks: HashMap<u64, Vec<u64>>,
    /// The range in `named` of each frame, by the package of the process. It has several frames when functions were inlined.
    known: HashMap<u64, Vec<Named>>,
    /// Frames, outermost first in each range.
    named: Vec<FrameId>,
}

/// The frames that a frame becomes in a process of a package.
type Named = (Option<Package>, Range<usize>);

/// An executable or library.
#[derive(Default)]
struct Mapping {
    build: u64,
    /// The parts of the path.
    path: Vec<u64>,
    /// The difference between the linker's addresses and file offsets.
    bias: u64,
}

#[derive(Clone, Copy, Default)]
struct Frame {
    function: u64,
    mapping: u64,
    address: u64,
    source: u64,
    line: u64,
}

/// Names that were added after the trace was recorded.
#[derive(Default)]
pub(crate) struct Added {
    pub(crate) modules: Modules,
    pub(crate) deobfuscated: Deobfuscated,
}

/// Names of addresses.
#[derive(Default)]
pub(crate) struct Modules {
    /// By path and address: function, file and line, innermost first.
    lines: HashMap<String, HashMap<u64, Vec<Line>>>,
}

#[derive(Default)]
struct Line {
    function: String,
    file: String,
    number: u32,
}

impl Modules {
    /// Adds the symbols of an executable or library.
    pub(crate) fn add(&mut self, mut message: Message) -> Result<(), Fault> {
        let mut path = String::new();
        let mut addresses = Vec::new();
        while let Some((number, field)) = message.field()? {
            match (number, field.message()) {
                (1, Some(text)) => path = text.text(),
                (3, Some(symbols)) => addresses.push(symbols),
                _ => {}
            }
        }
        let of_module = self.lines.entry(path).or_default();
        for mut symbols in addresses {
            let (mut address, mut lines) = (0, Vec::new());
            while let Some((number, field)) = symbols.field()? {
                match (number, field.message()) {
                    (1, None) => address = field.number(),
                    (2, Some(part)) => lines.push(line(part)?),
                    _ => {}
                }
            }
            of_module.insert(address, lines);
        }
        Ok(())
    }
}

fn line(mut message: Message) -> Result<Line, Fault> {
    let mut line = Line::default();
    while let Some((number, field)) = message.field()? {
        match (number, field.message()) {
            (1, Some(text)) => line.function = text.text(),
            (2, Some(text)) => line.file = text.text(),
            (3, None) => line.number = field.number() as u32,
            _ => {}
        }
    }
    Ok(line)
}

impl<'t> Sequence<'t> {
    /// Adds interned data.
    pub(crate) fn add(&mut self, mut message: Message<'t>) -> Result<(), Fault> {
        while let Some((number, field)) = message.field()? {
            let Some(part) = field.message() else {
                continue;
            };
            match number {
                5 => text(part, &mut self.functions)?,
                17 => text(part, &mut self.paths)?,
                16 => text(part, &mut self.builds)?,
                18 => text(part, &mut self.sources)?,
                19 => self.mapping(part)?,
                6 => self.frame(part)?,
                7 => self.callstack(part)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn mapping(&mut self, mut message: Message) -> Result<(), Fault> {
        let (mut id, mut mapping) = (0, Mapping::default());
        while let Some((number, field)) = message.field()? {
            match number {
                1 => id = field.number(),
                2 => mapping.build = field.number(),
                6 => mapping.bias = field.number(),
                7 => field.numbers(&mut mapping.path)?,
                _ => {}
            }
        }
        self.mappings.insert(id, mapping);
        self.files.remove(&id);
        Ok(())
    }

    fn frame(&mut self, mut message: Message) -> Result<(), Fault> {
        let (mut id, mut frame) = (0, Frame::default());
        while let Some((number, field)) = message.field()? {
            match number {
                1 => id = field.number(),
                2 => frame.function = field.number(),
                3 => frame.mapping = field.number(),
                4 => frame.address = field.number(),
                5 => frame.source = field.number(),
                6 => frame.line = field.number(),
                _ => {}
            }
        }
        self.frames.insert(id, frame);
        self.known.remove(&id);
        Ok(())
    }

    fn callstack(&mut self, mut message: Message) -> Result<(), Fault> {
        let (mut id, mut frames) = (0, Vec::new());
        while let Some((number, field)) = message.field()? {
            match number {
                1 => id = field.number(),
                2 => field.numbers(&mut frames)?,
                _ => {}
            }
        }
        self.stacks.insert(id, frames);
        Ok(())
    }

    /// The frames of a stack in a process of this package, outermost first. Returns `None` when the stack or one of its frames is
    /// missing.
    pub(crate) fn stack(
        &mut self,
        (id, package): (u64, Option<Package>),
        added: &Added,
        input: &Input,
        stacks: &mut Stacks,
    ) -> Result<Option<Vec<FrameId>>, Fault> {
        let Some(ids) = self.stacks.get(&id) else {
            return Ok(None);
        };
        // One frame more than is kept shows that the stack was deeper.
        let ids: Vec<u64> = ids[ids.len().saturating_sub(MAX_DEPTH + 1)..].to_vec();
        let mut all = Vec::with_capacity(ids.len());
        for id in ids {
            let known = self.known.get(&id);
            let known = known.and_then(|all| all.iter().find(|(of, _)| *of == package));
            let range = match known {
                Some((_, range)) => range.clone(),
                None => {
                    let Some(&frame) = self.frames.get(&id) else {
                        return Ok(None);
                    };
                    let from = self.named.len();
                    self.name((frame, package), added, input, stacks)?;
                    let range = from..self.named.len();
                    let known = self.known.entry(id).or_default();
                    known.push((package, range.clone()));
                    range
                }
            };
            all.extend_from_slice(&self.named[range]);
        }
        Ok(Some(all))
    }

    /// The path of a mapping.
    fn path(&mut self, mapping: u64) -> Rc<str> {
        let Some(found) = self.mappings.get(&mapping) else {
            return "".into();
        };
        let known = self.files.entry(mapping).or_insert_with(|| {
            let parts = found.path.iter().map(|&part| text_of(part, &self.paths));
            let mut path = String::new();
            for part in parts {
                if !part.starts_with('/') {
                    path.push('/');
                }
                path.push_str(&part);
                if path.len() > MAX_NAME {
                    break;
                }
            }
            path.into()
        });
        Rc::clone(known)
    }

    fn name(
        &mut self,
        (frame, package): (Frame, Option<Package>),
        added: &Added,
        input: &Input,
        stacks: &mut Stacks,
    ) -> Result<(), Fault> {
        let path = self.path(frame.mapping);
        let mapping = self.mappings.get(&frame.mapping);
        let number = |line: u32| match input.lines() {
            true => line,
            false => 0,
        };
        let found = added
            .modules
            .lines
            .get(&*path)
            .and_then(|it| it.get(&frame.address));
        if let Some(lines) = found.filter(|lines| !lines.is_empty()) {
            for line in lines.iter().rev() {
                let frame =
                    stacks.frame_in(&line.function, &line.file, number(line.number), &path)?;
                self.named.push(frame);
            }
            return Ok(());
        }
        let name = text_of(frame.function, &self.functions);
        let package = added.deobfuscated.of_file(&path).or(package);
        let methods = package.map(|it| added.deobfuscated.methods(it, &name, frame.line));
        if let Some(methods) = methods.filter(|it| !it.is_empty()) {
            for (method, line) in methods.iter().rev() {
                self.named
                    .push(stacks.frame_in(method, "", number(*line), &path)?);
            }
            return Ok(());
        }
        if !name.is_empty() {
            let source = text_of(frame.source, &self.sources);
            let line = u32::try_from(frame.line).unwrap_or(0);
            self.named
                .push(stacks.frame_in(&name, &source, number(line), &path)?);
            return Ok(());
        }
        let code = mapping.map_or(Vec::new(), |it| {
            let build = self
                .builds
                .get(&it.build)
                .copied()
                .filter(|id| !id.is_empty());
            let byte = At::Byte(frame.address.wrapping_sub(it.bias));
            input.symbols.code(&path, build, byte)
        });
        for it in &code {
            let file = if input.lines() { &*it.file } else { "" };
            self.named
                .push(stacks.frame_in(&it.name, file, number(it.line), &path)?);
        }
        if code.is_empty() {
            self.named
                .push(stacks.frame_in(&bracketed(&path), "", 0, &path)?);
        }
        Ok(())
    }
}

fn text_of<'t>(number: u64, table: &HashMap<u64, &'t [u8]>) -> Cow<'t, str> {
    String::from_utf8_lossy(table.get(&number).copied().unwrap_or_default())
}

/// Adds a text by its number.
fn text<'t>(mut message: Message<'t>, into: &mut HashMap<u64, &'t [u8]>) -> Result<(), Fault> {
    let (mut id, mut text) = (0, &b""[..]);
    while let Some((number, field)) = message.field()? {
        match (number, field.message()) {
            (1, None) => id = field.number(),
            // Any number of frames may use it, so its length is limited.
            (2, Some(bytes)) => text = &bytes.bytes()[..bytes.bytes().len().min(MAX_NAME)],
            _ => {}
        }
    }
    into.insert(id, text);
    Ok(())
}
