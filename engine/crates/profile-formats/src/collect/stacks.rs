//! Stacks, as readers collect them. They become the model's call tree.

use std::collections::HashMap;

pub(crate) use fulcrum_model::call_tree::FrameId;
use fulcrum_model::call_tree::{CallTreeBuilder, CallTreeError, Frame, Limits, Sorted, ValueType};

use crate::decode::fault::{Fault, quote};
use crate::decode::texts::{Texts, cut};
use crate::names::placed;
use crate::{Calls, Format, Profile};

/// How many frames of a stack are kept: the innermost ones, below a frame that says so.
pub const MAX_DEPTH: usize = 4096;
/// How many frames of a deeper stack are kept when the file stores each call once, below its caller. Keeping all of them
/// would take the square of the file's size for one long chain of calls.
const MAX_DEPTH_IF_DEEPER: usize = 64;
/// The most value types of one profile.
const MAX_TYPES: usize = 256;
const TRUNCATED: &str = "[truncated]";
/// The frame of samples without a stack.
const NO_STACK: &str = "[no stack]";

/// Whether a stack was complete when it was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recorded {
    Whole,
    /// The recorder left out the outermost frames.
    Cut,
}

impl Recorded {
    /// From what a file says about a stack.
    pub(crate) fn from_cut(cut: bool) -> Self {
        match cut {
            true => Recorded::Cut,
            false => Recorded::Whole,
        }
    }
}

/// A call tree that grows stack by stack.
pub(crate) struct Stacks {
    builder: CallTreeBuilder,
    /// Frames that have only a name.
    names: HashMap<Box<str>, FrameId>,
    /// The number of frames.
    frames: u32,
    texts: Texts,
    width: usize,
    default_value: usize,
    notes: Vec<String>,
    truncated: u64,
    cut_already: u64,
    signed: bool,
    buffer: Vec<FrameId>,
}

impl Stacks {
    /// No stacks yet. Each will have a value of each type.
    pub(crate) fn new(types: Vec<ValueType>, default_value: usize) -> Result<Self, Fault> {
        let width = types.len();
        check_types(width)?;
        // Containers and the frame of truncated stacks are extra.
        let limits = Limits {
            depth: MAX_DEPTH as u32 + 8,
            ..Limits::default()
        };
        Ok(Stacks {
            builder: CallTreeBuilder::with_limits(types, limits)?,
            names: HashMap::new(),
            frames: 0,
            texts: Texts::default(),
            width,
            default_value,
            notes: Vec::new(),
            truncated: 0,
            cut_already: 0,
            signed: false,
            buffer: Vec::new(),
        })
    }

    /// As [`Stacks::new`], for a format with negative values: a profile may be the difference of two.
    pub(crate) fn signed(types: Vec<ValueType>, default_value: usize) -> Result<Self, Fault> {
        let stacks = Stacks::new(types, default_value)?;
        Ok(Stacks {
            signed: true,
            ..stacks
        })
    }

    /// The number of value types.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Makes room for so many more frames.
    pub(crate) fn reserve_frames(&mut self, more: usize) {
        self.builder.reserve_frames(more);
    }

    /// A function. An empty file and line 0 mean unknown.
    pub(crate) fn frame(&mut self, name: &str, file: &str, line: u32) -> Result<FrameId, Fault> {
        self.frame_in(name, file, line, "")
    }

    /// A function whose name may end with the line that ran: `sort (loop.py:14)`.
    pub(crate) fn placed(&mut self, text: &str) -> Result<FrameId, Fault> {
        match placed(text) {
            Some(place) => self.frame(text, place.file, place.line),
            None => self.frame(text, "", 0),
        }
    }

    /// A function in an executable or library. Empty texts and line 0 mean unknown.
    pub(crate) fn frame_in(
        &mut self,
        name: &str,
        file: &str,
        line: u32,
        binary: &str,
    ) -> Result<FrameId, Fault> {
        let name = match cut(name) {
            "" => "[unknown]",
            name => name,
        };
        let (file, binary) = (cut(file), cut(binary));
        if file.is_empty() && line == 0 && binary.is_empty() {
            return self.function(name);
        }
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let frame = Frame {
            file: text(file),
            line: (line > 0).then_some(line),
            binary: text(binary),
            ..Frame::function(name)
        };
        self.intern(frame, [name, file, binary])
    }

    fn intern(&mut self, frame: Frame, texts: [&str; 3]) -> Result<FrameId, Fault> {
        let id = self.builder.intern(frame)?;
        // Numbers are given in order, so a new frame has the next one.
        if id.0 == self.frames {
            self.frames += 1;
            texts.iter().try_for_each(|text| self.texts.add(text))?;
        }
        Ok(id)
    }

    fn function(&mut self, name: &str) -> Result<FrameId, Fault> {
        if let Some(&id) = self.names.get(name) {
            return Ok(id);
        }
        let id = self.intern(Frame::function(name), [name, "", ""])?;
        self.names.insert(name.into(), id);
        Ok(id)
    }

    /// A process or thread.
    pub(crate) fn container(&mut self, name: &str) -> Result<FrameId, Fault> {
        let name = cut(name);
        self.intern(Frame::container(name), [name, "", ""])
    }

    /// Adds values to a stack, outermost frame first. Negative values are refused, unless the format has them.
    pub(crate) fn add(&mut self, stack: &[FrameId], values: &[i64]) -> Result<(), Fault> {
        self.add_in(None, stack, values)
    }

    /// As [`Stacks::add`], in a process or thread.
    pub(crate) fn add_in(
        &mut self,
        container: Option<FrameId>,
        stack: &[FrameId],
        values: &[i64],
    ) -> Result<(), Fault> {
        self.add_recorded(container, stack, Recorded::Whole, values)
    }

    /// As [`Stacks::add`], in nested containers such as a thread of a process, outermost first.
    pub(crate) fn add_under(
        &mut self,
        containers: &[FrameId],
        stack: &[FrameId],
        values: &[i64],
    ) -> Result<(), Fault> {
        self.push(containers, stack, (Recorded::Whole, MAX_DEPTH), values)
    }

    /// As [`Stacks::add_in`], for a stack that the recorder may have cut.
    pub(crate) fn add_recorded(
        &mut self,
        container: Option<FrameId>,
        stack: &[FrameId],
        recorded: Recorded,
        values: &[i64],
    ) -> Result<(), Fault> {
        self.push(container.as_slice(), stack, (recorded, MAX_DEPTH), values)
    }

    /// As [`Stacks::add_in`], for a call in a tree that the file stores with each call once.
    pub(crate) fn add_call(
        &mut self,
        container: Option<FrameId>,
        stack: &[FrameId],
        values: &[i64],
    ) -> Result<(), Fault> {
        let kept = match stack.len() > MAX_DEPTH {
            true => MAX_DEPTH_IF_DEEPER,
            false => MAX_DEPTH,
        };
        self.push(container.as_slice(), stack, (Recorded::Whole, kept), values)
    }

    /// Adds values to a stack, of which the innermost `kept` frames are kept.
    fn push(
        &mut self,
        containers: &[FrameId],
        stack: &[FrameId],
        (recorded, kept): (Recorded, usize),
        values: &[i64],
    ) -> Result<(), Fault> {
        if let Some(value) = values.iter().find(|&&value| value < 0 && !self.signed) {
            let problem = format!("expected a value of at least 0, got {value}");
            return Err(Fault::whole(problem));
        }
        let over = stack.len().saturating_sub(kept);
        let is_cut = recorded == Recorded::Cut;
        if containers.is_empty() && over == 0 && !is_cut && !stack.is_empty() {
            // Most are added as they are.
            return Ok(self.builder.add(stack, values)?);
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        buffer.extend_from_slice(containers);
        self.truncated += u64::from(over > 0);
        self.cut_already += u64::from(is_cut);
        if over > 0 || is_cut {
            buffer.push(self.function(TRUNCATED)?);
        }
        if stack.is_empty() {
            buffer.push(self.function(NO_STACK)?);
        }
        buffer.extend_from_slice(&stack[over..]);
        let added = self.builder.add(&buffer, values);
        self.buffer = buffer;
        Ok(added?)
    }

    /// Adds sorted contexts, none of them deeper than [`MAX_DEPTH`].
    pub(crate) fn graft(&mut self, contexts: Sorted) -> Result<(), Fault> {
        Ok(self.builder.graft(contexts)?)
    }

    /// Adds a note, a whole sentence.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Builds the profile. A profile without stacks is an error.
    pub(crate) fn profile(mut self, format: Format) -> Result<Profile, Fault> {
        if self.truncated > 0 {
            self.notes.push(format!(
                "{} stacks have more than {MAX_DEPTH} frames; their innermost ones are under {TRUNCATED}.",
                self.truncated
            ));
        }
        if self.cut_already > 0 {
            self.notes.push(format!(
                "{} stacks were cut when they were recorded; their innermost frames are under {TRUNCATED}.",
                self.cut_already
            ));
        }
        let tree = self.builder.finish()?;
        if tree.is_empty() {
            return Err(Fault::whole("the profile has no samples"));
        }
        let types = tree.value_types().iter().enumerate();
        let negative = types.filter(|(row, _)| tree.values(*row).iter().any(|&value| value < 0));
        let negative: Vec<_> = negative.map(|(_, kind)| quote(&kind.name)).collect();
        if !negative.is_empty() {
            self.notes.push(format!(
                "Some values of {} are negative, as in the difference of two profiles.",
                negative.join(", ")
            ));
        }
        Ok(Profile {
            format,
            calls: Calls::Tree(tree),
            default_value: self.default_value,
            notes: self.notes,
            renamed: Vec::new(),
        })
    }
}

/// Refuses more value types than a profile may have.
pub(crate) fn check_types(count: usize) -> Result<(), Fault> {
    if count > MAX_TYPES {
        let problem = format!("the profile has more than {MAX_TYPES} value types");
        return Err(Fault::whole(problem));
    }
    Ok(())
}

impl From<CallTreeError> for Fault {
    fn from(error: CallTreeError) -> Self {
        Fault::whole(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_that_is_too_deep_keeps_its_innermost_frames() {
        let mut stacks = Stacks::new(vec![ValueType::new("samples", "")], 0).expect("a type");
        let [outer, inner] = ["outer", "inner"].map(|it| stacks.frame(it, "", 0).expect("room"));
        let mut deep = vec![inner; MAX_DEPTH];
        stacks.add(&deep, &[2]).expect("fits");
        deep.insert(0, outer);
        stacks.add(&deep, &[3]).expect("is cut");
        let profile = stacks.profile(Format::Folded).expect("has samples");
        let Calls::Tree(tree) = &profile.calls else {
            panic!("expected a tree");
        };
        let roots: Vec<_> = tree.roots().map(|n| &*tree.frame(n).name).collect();
        assert_eq!(roots, ["inner", TRUNCATED]);
        assert_eq!((tree.total(0), tree.len()), (5, 2 * MAX_DEPTH as u32 + 1));
        assert_eq!(
            profile.notes,
            ["1 stacks have more than 4096 frames; their innermost ones are under [truncated]."]
        );
    }
}
