//! Where readers put their stacks: the one way to the model's call tree.

use std::collections::HashMap;

pub(crate) use fulcrum_model::call_tree::FrameId;
use fulcrum_model::call_tree::{CallTreeBuilder, CallTreeError, Frame, Limits, Sorted, ValueType};

use crate::decode::fault::{Fault, quote};
use crate::decode::texts::{Texts, cut};
use crate::names::placed;
use crate::{Calls, Format, Profile};

/// Frames of one stack that are kept: the innermost ones, under a frame that says so.
pub const MAX_DEPTH: usize = 4096;
/// Frames that are kept of a deeper stack where the file tells each call once, by its caller: all of a chain of calls would
/// be the square of what is in the file.
const OF_DEEPER: usize = 64;
/// Value types of one profile.
const MAX_TYPES: usize = 256;
const TRUNCATED: &str = "[truncated]";
/// The frame of samples without a stack.
const NO_STACK: &str = "[no stack]";

/// A call tree that grows stack by stack.
pub(crate) struct Stacks {
    builder: CallTreeBuilder,
    /// Frames of which only the name is known.
    names: HashMap<Box<str>, FrameId>,
    /// How many frames there are.
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
    /// No stacks; each will have a value of each type.
    pub(crate) fn new(types: Vec<ValueType>, default_value: usize) -> Result<Self, Fault> {
        let width = types.len();
        check_types(width)?;
        // Containers and the frame of truncated stacks come on top.
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

    /// The same for a format whose values may be negative: a profile may be the difference of two.
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

    /// A function. An empty file and line 0 are unknown.
    pub(crate) fn frame(&mut self, name: &str, file: &str, line: u32) -> Result<FrameId, Fault> {
        self.frame_in(name, file, line, "")
    }

    /// A function whose name may end with the place that ran: `sort (loop.py:14)`.
    pub(crate) fn placed(&mut self, text: &str) -> Result<FrameId, Fault> {
        match placed(text) {
            Some(place) => self.frame(text, place.file, place.line),
            None => self.frame(text, "", 0),
        }
    }

    /// A function in an executable or library. Empty texts and line 0 are unknown.
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
        // Numbers are given in order, so a frame that was not there has the next one.
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

    /// Adds values to a stack, outermost first. Negative values are refused, unless the format may have them.
    pub(crate) fn add(&mut self, stack: &[FrameId], values: &[i64]) -> Result<(), Fault> {
        self.add_in(None, stack, values)
    }

    /// The same in a process or thread.
    pub(crate) fn add_in(
        &mut self,
        container: Option<FrameId>,
        stack: &[FrameId],
        values: &[i64],
    ) -> Result<(), Fault> {
        self.add_cut(container, stack, false, values)
    }

    /// The same in a thread of a process, or whatever else stands in something: the outermost first.
    pub(crate) fn add_under(
        &mut self,
        containers: &[FrameId],
        stack: &[FrameId],
        values: &[i64],
    ) -> Result<(), Fault> {
        self.push(containers, stack, (false, MAX_DEPTH), values)
    }

    /// The same of a stack that may have been cut already: its outermost frames are missing.
    pub(crate) fn add_cut(
        &mut self,
        container: Option<FrameId>,
        stack: &[FrameId],
        cut_already: bool,
        values: &[i64],
    ) -> Result<(), Fault> {
        self.push(
            container.as_slice(),
            stack,
            (cut_already, MAX_DEPTH),
            values,
        )
    }

    /// The same of a call in a tree of calls, of which the file has each one once.
    pub(crate) fn add_call(
        &mut self,
        container: Option<FrameId>,
        stack: &[FrameId],
        values: &[i64],
    ) -> Result<(), Fault> {
        let kept = match stack.len() > MAX_DEPTH {
            true => OF_DEEPER,
            false => MAX_DEPTH,
        };
        self.push(container.as_slice(), stack, (false, kept), values)
    }

    /// Adds values to a stack, of which so many frames are kept.
    fn push(
        &mut self,
        containers: &[FrameId],
        stack: &[FrameId],
        (cut_already, kept): (bool, usize),
        values: &[i64],
    ) -> Result<(), Fault> {
        if let Some(value) = values.iter().find(|&&value| value < 0 && !self.signed) {
            let problem = format!("expected a value of at least 0, got {value}");
            return Err(Fault::whole(problem));
        }
        let over = stack.len().saturating_sub(kept);
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.clear();
        buffer.extend_from_slice(containers);
        self.truncated += u64::from(over > 0);
        self.cut_already += u64::from(cut_already);
        if over > 0 || cut_already {
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

    /// Adds contexts that were told apart before, none of them deeper than [`MAX_DEPTH`].
    pub(crate) fn graft(&mut self, contexts: Sorted) -> Result<(), Fault> {
        Ok(self.builder.graft(contexts)?)
    }

    /// Adds a sentence to what a reader of the profile should know.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// The profile of all stacks. A file without any is an error.
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
