//! The names in paths: one sorted table for all trees of a profile.

use std::cmp::Ordering;

use fulcrum_model::CallTree;
use fulcrum_model::call_tree::{Frame, FrameKind};

/// The number of a name. Numbers sort like the names.
pub(crate) type NameId = u32;

/// Stands for a frame that cannot be part of a path.
pub(crate) const NO_NAME: NameId = NameId::MAX;

/// Groups of at most this many names are sorted by whole comparisons.
const FEW: usize = 16;

/// Names by number, in one text: binary searches in the names of large programs are frequent.
#[derive(Debug)]
pub(crate) struct Names {
    text: String,
    /// Where each name ends in the text.
    ends: Vec<usize>,
}

impl Names {
    /// The names of all functions in these trees, and the name's number for each frame of each tree.
    pub(crate) fn of(trees: &[&CallTree]) -> (Self, Vec<Vec<NameId>>) {
        let frames = trees.iter().flat_map(|tree| tree.frames());
        let is_function = |frame: &Frame| frame.kind == FrameKind::Function;
        let texts = frames.clone().map(|frame| match is_function(frame) {
            true => frame.name.as_str(),
            false => "",
        });
        let texts: Vec<&str> = texts.collect();
        let functions = (0_u32..).zip(frames.clone());
        let mut rows: Vec<(u64, u32)> = functions
            .filter(|(_, frame)| is_function(frame))
            .map(|(row, _)| (0, row))
            .collect();
        sort(&mut rows, &texts);
        let mut names = Names {
            text: String::new(),
            ends: Vec::new(),
        };
        let mut ids = vec![NO_NAME; texts.len()];
        let mut last = None;
        for (_, row) in rows {
            let text = texts[row as usize];
            if last != Some(text) {
                names.text.push_str(text);
                names.ends.push(names.text.len());
                last = Some(text);
            }
            ids[row as usize] = names.len() as NameId - 1;
        }
        let mut rest = ids.into_iter();
        let of_tree = |tree: &&CallTree| rest.by_ref().take(tree.frames().len()).collect();
        let of_frames = trees.iter().map(of_tree).collect();
        (names, of_frames)
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, id: NameId) -> &str {
        let id = id as usize;
        let start = id.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[id]]
    }

    pub(crate) fn find(&self, name: &str) -> Option<NameId> {
        let (mut low, mut high) = (0, self.len() as NameId);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.get(middle).cmp(name) {
                Ordering::Less => low = middle + 1,
                Ordering::Equal => return Some(middle),
                Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// The numbers of a path's names. `None` when one is unknown or there is none.
    pub(crate) fn path(&self, path: &[&str]) -> Option<Vec<NameId>> {
        let ids: Option<Vec<_>> = path.iter().map(|name| self.find(name)).collect();
        ids.filter(|ids| !ids.is_empty())
    }
}

/// Sorts rows by their texts. The keys are scratch space.
///
/// Names in one program have long common prefixes. So they are sorted by the next eight bytes alone, and those that are still
/// equal by the following eight: common prefixes are not compared again and again.
fn sort(rows: &mut [(u64, u32)], texts: &[&str]) {
    let text = |row: u32| texts[row as usize].as_bytes();
    let mut open = vec![(0, rows.len(), 0)];
    while let Some((start, end, depth)) = open.pop() {
        let group = &mut rows[start..end];
        let rest = |row: u32| text(row).get(depth..).unwrap_or_default();
        // Keys of exhausted texts are padded with zeros, which texts may contain, too.
        let ended = group.iter().all(|it| text(it.1).len() <= depth);
        if group.len() <= FEW || ended {
            group.sort_unstable_by(|a, b| text(a.1).cmp(text(b.1)));
            continue;
        }
        for (key, row) in &mut *group {
            *key = key_of(rest(*row));
        }
        group.sort_unstable_by_key(|it| it.0);
        let mut at = start;
        for alike in group.chunk_by(|a, b| a.0 == b.0) {
            if alike.len() > 1 {
                open.push((at, at + alike.len(), depth + KEY));
            }
            at += alike.len();
        }
    }
}

/// The number of bytes in a key.
const KEY: usize = 8;

/// The first bytes as a number, big-endian.
fn key_of(bytes: &[u8]) -> u64 {
    match bytes.first_chunk::<KEY>() {
        Some(first) => u64::from_be_bytes(*first),
        None => {
            let mut padded = [0; KEY];
            padded[..bytes.len()].copy_from_slice(bytes);
            u64::from_be_bytes(padded)
        }
    }
}

#[cfg(test)]
mod tests {
    use fulcrum_model::CallTreeBuilder;
    use fulcrum_model::call_tree::ValueType;

    use super::*;

    fn tree(frames: impl IntoIterator<Item = Frame>) -> CallTree {
        let types = vec![ValueType::new("cpu", "ns")];
        let mut builder = CallTreeBuilder::new(types).expect("a type");
        for frame in frames {
            let id = builder.intern(frame).expect("room");
            builder.add(&[id], &[1]).expect("fits");
        }
        builder.finish().expect("room")
    }

    #[test]
    fn numbers_sort_like_names_and_equal_names_have_one() {
        let mut texts: Vec<String> = (0..400)
            .map(|n| format!("shop.cart.Item{}", n * 7 % 90))
            .collect();
        texts.extend((0..40).map(|n| "\0".repeat(n)));
        texts.extend((0..40).map(|n| format!("abcdefgh{}", "\0".repeat(n % 20))));
        texts.extend(["é", "e", "zzzzzzzzzzzzzzzz", "zzzzzzzzzzzzzzzy"].map(String::from));
        let halves = texts.split_at(texts.len() / 3);
        let function = |(n, text): (u32, &String)| Frame {
            line: Some(n + 1),
            ..Frame::function(text)
        };
        let trees = [halves.0, halves.1].map(|texts| tree((0..).zip(texts).map(function)));
        let (names, ids) = Names::of(&[&trees[0], &trees[1]]);
        let mut expect = texts.clone();
        expect.sort();
        expect.dedup();
        let found: Vec<_> = (0..names.len()).map(|n| names.get(n as NameId)).collect();
        assert_eq!(found, expect);
        for (tree, ids) in trees.iter().zip(&ids) {
            for (frame, &id) in tree.frames().iter().zip(ids) {
                assert_eq!(names.get(id), frame.name);
                assert_eq!(names.find(&frame.name), Some(id));
            }
        }
        assert_eq!(names.find("absent"), None);
        assert_eq!(names.path(&["e", "absent"]), None);
    }

    #[test]
    fn containers_have_no_name() {
        let tree = tree([Frame::function("f"), Frame::container("f")]);
        let (names, ids) = Names::of(&[&tree]);
        assert_eq!((names.len(), ids), (1, vec![vec![0, NO_NAME]]));
    }
}
