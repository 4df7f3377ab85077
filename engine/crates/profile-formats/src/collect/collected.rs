//! What a reader returns. The tree is built later, when the file's bytes are freed, because building it takes the most memory.

use crate::collect::stacks::Stacks;
use crate::decode::fault::Fault;
use crate::{Format, Profile};

/// A profile whose tree is not built yet.
pub(crate) enum Collected {
    /// Stacks that will become a tree.
    Stacks(Box<Stacks>, Format),
    /// Call graphs, which need little memory.
    Graphs(Profile),
}

impl Collected {
    /// Adds a note, a whole sentence.
    pub(crate) fn note(&mut self, note: &str) {
        match self {
            Collected::Stacks(stacks, _) => stacks.note(note),
            Collected::Graphs(profile) => profile.notes.push(note.to_owned()),
        }
    }

    /// Builds the profile.
    pub(crate) fn profile(self) -> Result<Profile, Fault> {
        match self {
            Collected::Stacks(stacks, format) => stacks.profile(format),
            Collected::Graphs(profile) => Ok(profile),
        }
    }
}

impl Stacks {
    /// Ends collecting.
    pub(crate) fn finish(self, format: Format) -> Result<Collected, Fault> {
        Ok(Collected::Stacks(Box::new(self), format))
    }
}
