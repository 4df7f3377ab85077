//! Lock sites at which nothing flows: their sections begin without asking anybody (rule 7).
//!
//! Which sites rest, and how long, the observer has learned from all threads. Asking it takes its lock; so a thread that was
//! told no asks less and less often.

/// Sites that a thread remembers. Two in one place forget each other.
const SITES: usize = 64;
/// The most sections between two questions.
const LONGEST_REST: u32 = 32;
/// The same where sections are so long that they are not watched to their ends: that costs most, and shows least.
const LONGEST_REST_OF_LONG: u32 = 1024;

#[derive(Clone, Copy, Default)]
struct Rest {
    site: u64,
    /// Sections until the next question.
    left: u32,
    last: u32,
}

/// What a thread knows of lock sites.
pub struct Rests([Rest; SITES]);

impl Rests {
    /// Nothing.
    pub fn new() -> Self {
        Rests([Rest::default(); SITES])
    }

    /// A section begins at a site. Whether it is native for certain.
    #[inline]
    pub fn rests(&mut self, site: u64) -> bool {
        let rest = self.of(site);
        if rest.site != site || rest.left == 0 {
            return false;
        }
        rest.left -= 1;
        true
    }

    /// The observer wants nothing of a site.
    pub fn unwanted(&mut self, site: u64) {
        self.rest(site, LONGEST_REST);
    }

    /// A section was too long to be watched to its end.
    pub fn too_long(&mut self, site: u64) {
        self.rest(site, LONGEST_REST_OF_LONG);
    }

    /// A section was watched to its end.
    pub fn watched(&mut self, site: u64) {
        *self.of(site) = Rest {
            site,
            left: 0,
            last: 0,
        };
    }

    /// Twice as long as the last time.
    fn rest(&mut self, site: u64, longest: u32) {
        let rest = self.of(site);
        let last = match rest.site == site {
            true => rest.last.saturating_mul(2).clamp(1, longest),
            false => 1,
        };
        *rest = Rest {
            site,
            left: last,
            last,
        };
    }

    fn of(&mut self, site: u64) -> &mut Rest {
        let place = (site ^ site >> 7) as usize % SITES;
        &mut self.0[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After how many sections each the observer is asked, when it always says no.
    #[test]
    fn questions_become_rarer_and_a_yes_ends_the_rest() {
        let mut rests = Rests::new();
        let mut between = Vec::new();
        for _ in 0..8 {
            rests.unwanted(0x1234);
            between.push((0..100).take_while(|_| rests.rests(0x1234)).count());
        }
        assert_eq!(between, [1, 2, 4, 8, 16, 32, 32, 32]);
        assert!(!rests.rests(0x4321));
        rests.watched(0x1234);
        assert!(!rests.rests(0x1234));
    }

    #[test]
    fn long_sections_rest_longer_until_one_is_watched_to_its_end() {
        let mut rests = Rests::new();
        let mut between = Vec::new();
        for _ in 0..12 {
            rests.too_long(0x1234);
            between.push((0..5000).take_while(|_| rests.rests(0x1234)).count());
        }
        assert_eq!(between[4..], [16, 32, 64, 128, 256, 512, 1024, 1024]);
        rests.watched(0x1234);
        rests.too_long(0x1234);
        assert_eq!((0..9).take_while(|_| rests.rests(0x1234)).count(), 1);
    }

    #[test]
    fn sites_in_one_place_forget_each_other() {
        let mut rests = Rests::new();
        let other = (1..)
            .find(|it| std::ptr::eq(rests.of(*it), rests.of(0x1234)))
            .unwrap();
        rests.unwanted(0x1234);
        rests.watched(other);
        assert!(!rests.rests(0x1234));
        assert!(!rests.rests(other));
    }
}
