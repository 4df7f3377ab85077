//! What a reader leaves when it is done with the file: its bytes can go before the tree is built, which takes most memory.

use super::fault::Fault;
use super::stacks::Stacks;
use super::{Format, Profile};

/// A profile but for its tree.
pub enum Collected {
    /// Stacks that are to become a tree.
    Stacks(Box<Stacks>, Format),
    /// Call graphs, which take little.
    Graphs(Profile),
}

impl Collected {
    /// Adds a sentence to what a reader of the profile should know.
    pub fn note(&mut self, note: &str) {
        match self {
            Collected::Stacks(stacks, _) => stacks.note(note),
            Collected::Graphs(profile) => profile.notes.push(note.to_owned()),
        }
    }

    /// The profile.
    pub fn profile(self) -> Result<Profile, Fault> {
        match self {
            Collected::Stacks(stacks, format) => stacks.profile(format),
            Collected::Graphs(profile) => Ok(profile),
        }
    }
}

impl Stacks {
    /// All stacks, when the reader is done.
    pub fn finish(self, format: Format) -> Result<Collected, Fault> {
        Ok(Collected::Stacks(Box::new(self), format))
    }
}
