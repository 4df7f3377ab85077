//! The windows in which a run was recorded: the recorder pauses when recording costs too much.

/// The windows of a run: the first begins with it, and each ends with a pause.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Windows {
    /// When recording paused and went on, in turn. Ascending.
    switches: Vec<u64>,
}

impl Windows {
    /// Reads the contents of the file, up to where they are damaged.
    pub(crate) fn read(bytes: &[u8]) -> Windows {
        let mut switches: Vec<u64> = Vec::new();
        for word in bytes.chunks_exact(8) {
            let time_ns = u64::from_le_bytes(word.try_into().unwrap_or_default());
            if switches.last().is_some_and(|last| time_ns < *last) {
                break;
            }
            switches.push(time_ns);
        }
        Windows { switches }
    }

    /// Whether something at this time was recorded.
    pub(crate) fn is_open(&self, time_ns: u64) -> bool {
        let before = self.switches.partition_point(|it| *it <= time_ns);
        before.is_multiple_of(2)
    }

    /// When the window or the pause at this time began; 0 for the first.
    pub(crate) fn since(&self, time_ns: u64) -> u64 {
        let before = self.switches.partition_point(|it| *it <= time_ns);
        self.switches[..before].last().copied().unwrap_or(0)
    }

    /// When windows ended.
    pub(crate) fn ends(&self) -> impl Iterator<Item = u64> + '_ {
        self.switches.iter().copied().step_by(2)
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.switches.len() / 2 + 1
    }

    /// The time of all pauses up to a moment.
    pub(crate) fn paused_ns(&self, until_ns: u64) -> u64 {
        let pauses = self.switches.chunks(2);
        pauses
            .map(|it| {
                let to = it.get(1).map_or(until_ns, |it| (*it).min(until_ns));
                to.saturating_sub(it[0])
            })
            .sum()
    }

    /// The last change, or `None` if there never was a pause.
    pub(crate) fn last(&self) -> Option<u64> {
        self.switches.last().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[u64]) -> Windows {
        let bytes: Vec<u8> = words.iter().flat_map(|it| it.to_le_bytes()).collect();
        Windows::read(&bytes)
    }

    #[test]
    fn a_moment_is_in_a_window_or_in_a_pause() {
        let windows = of(&[100, 200, 300]);
        let open = [0, 99, 100, 199, 200, 299, 300, u64::MAX].map(|it| windows.is_open(it));
        assert_eq!(open, [true, true, false, false, true, true, false, false]);
        assert_eq!(
            [50, 100, 250, 400].map(|it| windows.since(it)),
            [0, 100, 200, 300]
        );
        assert_eq!(windows.ends().collect::<Vec<_>>(), [100, 300]);
        assert_eq!(
            [50, 150, 250, 340].map(|it| windows.paused_ns(it)),
            [0, 50, 100, 140]
        );
        assert_eq!(
            [&[][..], &[1], &[1, 2], &[1, 2, 3]].map(|it| of(it).count()),
            [1, 1, 2, 2]
        );
        assert_eq!(Windows::default().last(), None);
        assert!(Windows::default().is_open(7));
    }

    #[test]
    fn damage_ends_the_list() {
        let mut bytes: Vec<u8> = [5_u64, 7, 6, 9]
            .iter()
            .flat_map(|it| it.to_le_bytes())
            .collect();
        bytes.push(1);
        assert_eq!(Windows::read(&bytes), of(&[5, 7]));
    }
}
