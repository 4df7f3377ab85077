//! Frames: what a node of a call tree stands for.

use std::collections::HashMap;

use super::CallTreeError;

/// Whether a frame can be part of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FrameKind {
    /// A call.
    #[default]
    Function,
    /// A process or a thread. It groups calls and is never part of a path, so that a function costs the same in one
    /// tree for each thread as in one tree for all.
    Container,
}

/// One frame of a call stack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Whether it can be part of a path.
    pub kind: FrameKind,
    /// The name by which paths know it.
    pub name: String,
    /// The file that declares it.
    pub file: Option<String>,
    /// The 1-based line of its declaration. Not that of the call: siblings would no longer be one node.
    pub line: Option<u32>,
    /// The executable or library that holds it.
    pub binary: Option<String>,
}

impl Frame {
    /// A function of which only the name is known.
    pub fn function(name: impl Into<String>) -> Self {
        Frame {
            name: name.into(),
            ..Frame::default()
        }
    }

    /// A process or a thread.
    pub fn container(name: impl Into<String>) -> Self {
        Frame {
            kind: FrameKind::Container,
            ..Frame::function(name)
        }
    }
}

/// The number of a frame in its tree: the order in which the builder first met it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FrameId(pub u32);

/// Frames by number, each once.
#[derive(Debug, Default)]
pub(super) struct Frames(HashMap<Frame, FrameId>);

impl Frames {
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The frame's number, a new one if it is new.
    pub fn intern(&mut self, frame: Frame, limit: u32) -> Result<FrameId, CallTreeError> {
        if let Some(&id) = self.0.get(&frame) {
            return Ok(id);
        }
        let next = self.0.len() as u32;
        if next >= limit {
            return Err(CallTreeError::TooManyFrames { limit });
        }
        self.0.insert(frame, FrameId(next));
        Ok(FrameId(next))
    }

    pub fn in_order(self) -> Vec<Frame> {
        let mut frames: Vec<_> = self.0.into_iter().collect();
        frames.sort_unstable_by_key(|&(_, id)| id);
        frames.into_iter().map(|(frame, _)| frame).collect()
    }
}
