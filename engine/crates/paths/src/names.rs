//! The names in paths: one sorted table for all trees of a profile.

use fulcrum_model::CallTree;
use fulcrum_model::call_tree::FrameKind;

/// The number of a name. Numbers sort like their names.
pub(crate) type NameId = u32;

/// Stands for a frame that cannot be part of a path.
pub(crate) const NO_NAME: NameId = NameId::MAX;

/// Names by number.
#[derive(Debug)]
pub(crate) struct Names(Vec<String>);

impl Names {
    /// The names of all functions in these trees.
    pub fn of(trees: &[&CallTree]) -> Self {
        let frames = trees.iter().flat_map(|tree| tree.frames());
        let functions = frames.filter(|frame| frame.kind == FrameKind::Function);
        let mut names: Vec<String> = functions.map(|frame| frame.name.clone()).collect();
        names.sort_unstable();
        names.dedup();
        Names(names)
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn get(&self, id: NameId) -> &str {
        &self.0[id as usize]
    }

    pub fn find(&self, name: &str) -> Option<NameId> {
        let at = self.0.binary_search_by(|it| it.as_str().cmp(name)).ok()?;
        Some(at as NameId)
    }

    /// The numbers of a path's names. `None` when one is unknown or there is none.
    pub fn path(&self, path: &[&str]) -> Option<Vec<NameId>> {
        let ids: Option<Vec<_>> = path.iter().map(|name| self.find(name)).collect();
        ids.filter(|ids| !ids.is_empty())
    }

    /// The name's number for each frame of a tree.
    pub fn of_frames(&self, tree: &CallTree) -> Vec<NameId> {
        let id = |name| self.find(name).expect("the tree's names are in the table");
        let frames = tree.frames().iter();
        frames
            .map(|frame| match frame.kind {
                FrameKind::Function => id(&frame.name),
                FrameKind::Container => NO_NAME,
            })
            .collect()
    }
}
