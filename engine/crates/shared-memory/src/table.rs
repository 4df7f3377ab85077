//! A map by address. The entries that were looked up last are found without hashing.

use crate::numbers::Map;

/// The number of entries that are found without hashing, a power of two.
const RECENT: usize = 1 << 10;
/// No entry's address.
const NOTHING: u64 = u64::MAX;

/// A map from addresses to values.
#[derive(Debug)]
pub(crate) struct Table<V> {
    places: Map<u64, u32>,
    values: Vec<V>,
    free: Vec<u32>,
    /// Addresses and their places.
    recent: Vec<(u64, u32)>,
}

/// Where an address would be among the recent ones.
#[inline]
fn slot(address: u64) -> usize {
    (address >> 2 ^ address >> 13) as usize % RECENT
}

impl<V: Copy> Table<V> {
    pub(crate) fn new() -> Self {
        Table {
            places: Map::default(),
            values: Vec::new(),
            free: Vec::new(),
            recent: vec![(NOTHING, 0); RECENT],
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    #[inline]
    pub(crate) fn get(&self, address: u64) -> Option<&V> {
        let recent = self.recent[slot(address)];
        let place = match recent.0 == address {
            true => recent.1,
            false => *self.places.get(&address)?,
        };
        self.values.get(place as usize)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, address: u64) -> Option<&mut V> {
        let recent = self.recent[slot(address)];
        if recent.0 == address {
            return self.values.get_mut(recent.1 as usize);
        }
        let place = *self.places.get(&address)?;
        self.recent[slot(address)] = (address, place);
        self.values.get_mut(place as usize)
    }

    /// Adds an entry at an address that has none.
    pub(crate) fn insert(&mut self, address: u64, value: V) {
        let place = match self.free.pop() {
            Some(place) => {
                self.values[place as usize] = value;
                place
            }
            None => {
                self.values.push(value);
                (self.values.len() - 1) as u32
            }
        };
        let before = self.places.insert(address, place);
        debug_assert!(before.is_none(), "one entry for each address");
        self.recent[slot(address)] = (address, place);
    }

    pub(crate) fn remove(&mut self, address: u64) -> Option<V> {
        let place = self.places.remove(&address)?;
        let recent = &mut self.recent[slot(address)];
        if recent.0 == address {
            recent.0 = NOTHING;
        }
        self.free.push(place);
        self.values.get(place as usize).copied()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &V)> {
        let places = self.places.iter();
        places.map(|(address, place)| (*address, &self.values[*place as usize]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn it_has_what_a_hash_map_has() {
        let mut random = 5_u64;
        let mut below = |bound: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % bound
        };
        let (mut table, mut map) = (Table::new(), HashMap::new());
        for step in 0..50_000 {
            // Many share their slots.
            let address = below(4) << 20 | below(700) << 2;
            match below(4) {
                0 => assert_eq!(table.remove(address), map.remove(&address)),
                1 if !map.contains_key(&address) => {
                    table.insert(address, step);
                    map.insert(address, step);
                }
                2 => {
                    assert_eq!(table.get_mut(address), map.get_mut(&address));
                    if let (Some(a), Some(b)) = (table.get_mut(address), map.get_mut(&address)) {
                        (*a, *b) = (step, step);
                    }
                }
                _ => assert_eq!(table.get(address), map.get(&address)),
            }
            assert_eq!(table.len(), map.len());
        }
        let all: HashMap<u64, i32> = table.iter().map(|it| (it.0, *it.1)).collect();
        assert_eq!(all, map);
    }
}
