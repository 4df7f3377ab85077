//! From the ids in a file to the rows of a table.

use std::collections::HashMap;

use crate::decode::fault::Fault;
use crate::decode::json::Step;

/// Rows by id. Ids are mostly 1, 2, 3…, but may be anything.
pub(crate) struct Ids {
    /// The row plus one; 0 means none.
    dense: Vec<u32>,
    sparse: HashMap<u64, u32>,
}

impl Ids {
    /// The n-th id belongs to row n. A repeated id is an error.
    pub(crate) fn new(ids: impl ExactSizeIterator<Item = u64>, what: &str) -> Result<Self, Fault> {
        let count = ids.len();
        // A large id must not make a large table.
        let mut dense = vec![0; 2 * count + 2];
        let mut sparse = HashMap::new();
        for (id, row) in ids.zip(1_u32..) {
            let slot = usize::try_from(id).ok().and_then(|id| dense.get_mut(id));
            let slot = match slot {
                Some(slot) => slot,
                None => sparse.entry(id).or_insert(0),
            };
            if *slot != 0 {
                let fault = Fault::whole(format!("{what} {id} occurs twice"));
                return Err(fault.at_step(Step::Item(row as usize - 1)));
            }
            *slot = row;
        }
        Ok(Ids { dense, sparse })
    }

    /// The row of an id.
    pub(crate) fn get(&self, id: u64) -> Option<usize> {
        let slot = usize::try_from(id).ok().and_then(|id| self.dense.get(id));
        let row = match slot {
            Some(&row) => row,
            None => *self.sparse.get(&id)?,
        };
        (row as usize).checked_sub(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_and_sparse_ids_are_found() {
        let ids = Ids::new([1, 3, 900, u64::MAX].into_iter(), "node").expect("unique");
        for (id, row) in [
            (0, None),
            (1, Some(0)),
            (2, None),
            (3, Some(1)),
            (900, Some(2)),
            (901, None),
            (u64::MAX, Some(3)),
        ] {
            assert_eq!(ids.get(id), row, "{id}");
        }
    }

    #[test]
    fn an_id_twice_is_an_error() {
        for twice in [7, 70_000] {
            let fault = Ids::new([twice, 1, twice].into_iter(), "node").map(|_| ());
            let fault = fault.expect_err("twice");
            assert_eq!(fault.problem, format!("node {twice} occurs twice"));
        }
    }
}
