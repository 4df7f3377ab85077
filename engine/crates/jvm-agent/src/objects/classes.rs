//! The classes of objects that events are about.

use std::sync::{PoisonError, RwLock};

/// Classes of objects, by place.
#[derive(Default)]
pub(crate) struct Classes(RwLock<Vec<Class>>);

/// A class of objects.
#[derive(Clone, Copy)]
pub(crate) struct Class {
    /// Its number in the log.
    pub(crate) number: u32,
    /// Whether each of its objects is observed from its allocation on.
    pub(crate) observed: bool,
}

impl Classes {
    /// The class at a place.
    pub(crate) fn get(&self, index: usize) -> Option<Class> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.get(index).copied()
    }

    /// Adds a class if `accepted` agrees to its place.
    pub(crate) fn add(&self, class: Class, accepted: impl FnOnce(usize) -> bool) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if accepted(all.len()) {
            all.push(class);
        }
    }
}
