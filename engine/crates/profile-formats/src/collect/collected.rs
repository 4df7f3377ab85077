//! What a reader leaves when it is done with the file: its bytes can go before the tree is built, which takes most memory.

use crate::collect::stacks::Stacks;
use crate::decode::fault::Fault;
use crate::{Format, Profile};

/// A profile but for its tree.
pub(crate) enum Collected {
    /// Stacks that are to become a tree.
    Stacks(Box<Stacks>, Format),
    /// Call graphs, which take little.
    Graphs(Profile),
}

impl Collected {
    /// Adds a sentence to what a reader of the profile should know.
    pub(crate) fn note(&mut self, note: &str) {
        match self {
            Collected::Stacks(stacks, _) => stacks.note(note),
            Collected::Graphs(profile) => profile.notes.push(note.to_owned()),
        }
    }

    /// The profile.
    pub(crate) fn profile(self) -> Result<Profile, Fault> {
        match self {
            Collected::Stacks(stacks, format) => stacks.profile(format),
            Collected::Graphs(profile) => Ok(profile),
        }
    }
}

impl Stacks {
    /// All stacks, when the reader is done.
    pub(crate) fn finish(self, format: Format) -> Result<Collected, Fault> {
        Ok(Collected::Stacks(Box::new(self), format))
    }
}
