//! What is known of the classes of objects that events are about.

use std::sync::{PoisonError, RwLock};

/// What is known of the classes of objects.
#[derive(Default)]
pub struct Classes(RwLock<Vec<Class>>);

/// A class of objects.
#[derive(Clone, Copy)]
pub struct Class {
    /// Its number in the log.
    pub number: u32,
    /// Each of its objects is observed from its allocation on.
    pub observed: bool,
}

impl Classes {
    /// The class that was added at a place.
    pub fn get(&self, index: usize) -> Option<Class> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.get(index).copied()
    }

    /// Adds a class when `accepted` says yes to the place that it is to have.
    pub fn add(&self, class: Class, accepted: impl FnOnce(usize) -> bool) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if accepted(all.len()) {
            all.push(class);
        }
    }
}
