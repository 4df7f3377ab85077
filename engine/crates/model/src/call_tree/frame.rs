//! Frames: what a node of a call tree stands for.

use super::CallTreeError;
use crate::hashing::{fold, hash, seed};

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
///
/// Programs have tens of thousands, whose texts are far apart in memory: they are looked at only where hashes are alike.
#[derive(Debug)]
pub(super) struct Frames {
    frames: Vec<Frame>,
    /// A power of two, at least twice as many as frames.
    slots: Vec<Slot>,
    seed: u64,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    /// The frame's hash.
    hash: u64,
    number: u32,
}

const EMPTY: Slot = Slot {
    hash: 0,
    number: u32::MAX,
};

impl Default for Frames {
    fn default() -> Self {
        Frames {
            frames: Vec::new(),
            slots: vec![EMPTY; 64],
            seed: seed(),
        }
    }
}

impl Frames {
    pub(crate) fn len(&self) -> usize {
        self.frames.len()
    }

    /// Makes room for so many more.
    pub(crate) fn reserve(&mut self, more: usize) {
        self.frames.reserve(more);
        while self.slots.len() < 2 * (self.frames.len() + more) {
            self.grow();
        }
    }

    /// The frame's number, a new one if it is new.
    pub(crate) fn intern(&mut self, frame: Frame, limit: u32) -> Result<FrameId, CallTreeError> {
        let hash = self.hash(&frame);
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot.number == EMPTY.number {
                break;
            }
            if slot.hash == hash && self.frames[slot.number as usize] == frame {
                return Ok(FrameId(slot.number));
            }
            at = (at + 1) & mask;
        }
        let number = self.frames.len() as u32;
        if number >= limit {
            return Err(CallTreeError::TooManyFrames { limit });
        }
        self.slots[at] = Slot { hash, number };
        self.frames.push(frame);
        if self.frames.len() * 2 > self.slots.len() {
            self.grow();
        }
        Ok(FrameId(number))
    }

    fn hash(&self, frame: &Frame) -> u64 {
        let text =
            |text: &Option<String>| hash(text.as_deref().unwrap_or("").as_bytes(), self.seed);
        let kind = u64::from(frame.kind == FrameKind::Container);
        let line = u64::from(frame.line.unwrap_or(0));
        let mut state = hash(frame.name.as_bytes(), self.seed);
        for next in [text(&frame.file), text(&frame.binary), line << 1 | kind] {
            state = fold(state.rotate_left(7) ^ next);
        }
        state
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 2 - 1;
        let mut slots = vec![EMPTY; mask + 1];
        for slot in self.slots.iter().filter(|it| it.number != EMPTY.number) {
            let mut at = slot.hash as usize & mask;
            while slots[at].number != EMPTY.number {
                at = (at + 1) & mask;
            }
            slots[at] = *slot;
        }
        self.slots = slots;
    }

    pub(crate) fn in_order(self) -> Vec<Frame> {
        self.frames
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_frames_have_one_number_and_others_their_own() {
        let frames = || {
            (0..5000_u32).map(|n| Frame {
                kind: match n % 2 {
                    0 => FrameKind::Function,
                    _ => FrameKind::Container,
                },
                name: format!("f{}", n / 16),
                file: (n / 2 % 2 == 0).then(|| "a.c".to_owned()),
                line: Some(n / 4 % 2),
                binary: (n / 8 % 2 == 0).then(|| "a.c".to_owned()),
            })
        };
        let mut table = Frames::default();
        for _ in 0..2 {
            for (n, frame) in (0..).zip(frames()) {
                assert_eq!(table.intern(frame, 5000), Ok(FrameId(n)));
            }
        }
        let more = table.intern(Frame::function("more"), 5000);
        assert_eq!(more, Err(CallTreeError::TooManyFrames { limit: 5000 }));
        assert!(table.in_order().into_iter().eq(frames()));
    }
}
