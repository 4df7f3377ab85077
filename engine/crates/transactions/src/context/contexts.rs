//! Contexts: sequences of elements without loops, each kept once (Whodunit §2.1, §4.1).

use std::collections::HashMap;
use std::hash::Hash;
use std::iter;

use fulcrum_shared_memory::Synopsis;

use super::interner::Interner;

/// Limits on a table's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most contexts.
    pub contexts: u32,
    /// The most distinct elements.
    pub elements: u32,
    /// The most elements of one context.
    pub length: u32,
}

impl Default for Limits {
    /// 262,144 contexts and as many elements, 64 elements a context.
    fn default() -> Self {
        Limits {
            contexts: 1 << 18,
            elements: 1 << 18,
            length: 64,
        }
    }
}

/// How often a limit kept a context from growing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cuts {
    /// The context had reached its maximum length. It ends with a mark, and stays unchanged until a loop leads back.
    pub long: u64,
    /// The table was full. The context stayed unchanged.
    pub full: u64,
}

/// A table of contexts. A context is its prefix and its last element, so equal contexts have equal numbers.
///
/// Appending an element that the context already has is a loop, whether consecutive or not: the context becomes its own
/// prefix up to that element (§4.1). So no context has an element twice, except once before and once after a point since
/// which loops count ([`Contexts::append_since`]).
#[derive(Clone, Debug)]
pub struct Contexts<E> {
    limits: Limits,
    elements: Interner<E>,
    /// [`Synopsis::EMPTY`] has no node.
    nodes: Vec<Node>,
    index: HashMap<(Synopsis, Last), Synopsis>,
    cuts: Cuts,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    prefix: Synopsis,
    last: Last,
    length: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Last {
    Element(u32),
    Cut,
}

impl<E: Clone + Eq + Hash> Default for Contexts<E> {
    fn default() -> Self {
        Contexts::with_limits(Limits::default())
    }
}

impl<E: Clone + Eq + Hash> Contexts<E> {
    /// A table that contains only [`Synopsis::EMPTY`].
    pub fn with_limits(limits: Limits) -> Self {
        Contexts {
            limits,
            elements: Interner::new(limits.elements),
            nodes: Vec::new(),
            index: HashMap::new(),
            cuts: Cuts::default(),
        }
    }

    /// The context that continues `to` with this element.
    ///
    /// # Panics
    /// If `to` belongs to another table.
    pub fn append(&mut self, to: Synopsis, element: E) -> Synopsis {
        self.append_since(Synopsis::EMPTY, to, element)
    }

    /// The same, where only what follows `since`, a prefix of `to`, can be a loop. The prefix itself stays.
    ///
    /// # Panics
    /// If `to` belongs to another table.
    pub fn append_since(&mut self, since: Synopsis, to: Synopsis, element: E) -> Synopsis {
        let Some(element) = self.elements.intern(element) else {
            self.cuts.full += 1;
            return to;
        };
        let last = Last::Element(element);
        let mut loops = self.prefixes(to).take_while(|&it| it != since);
        let earlier = loops.find(|&it| self.last(it) == Some(last));
        drop(loops);
        if let Some(earlier) = earlier {
            return earlier;
        }
        if self.length(to) >= self.limits.length {
            self.cuts.long += 1;
            return self.cut(to);
        }
        self.child(to, last)
    }

    /// The context, marked as cut off after its last element.
    ///
    /// # Panics
    /// If it belongs to another table.
    pub fn cut(&mut self, context: Synopsis) -> Synopsis {
        match self.is_cut(context) {
            true => context,
            false => self.child(context, Last::Cut),
        }
    }

    fn child(&mut self, prefix: Synopsis, last: Last) -> Synopsis {
        if let Some(&known) = self.index.get(&(prefix, last)) {
            return known;
        }
        if self.nodes.len() >= self.limits.contexts as usize {
            self.cuts.full += 1;
            return prefix;
        }
        let length = self.length(prefix) + u32::from(last != Last::Cut);
        self.nodes.push(Node {
            prefix,
            last,
            length,
        });
        let new = Synopsis::from_number(self.nodes.len() as u32);
        self.index.insert((prefix, last), new);
        new
    }

    /// The context of these elements.
    pub fn of(&mut self, elements: impl IntoIterator<Item = E>) -> Synopsis {
        let elements = elements.into_iter();
        elements.fold(Synopsis::EMPTY, |to, element| self.append(to, element))
    }

    /// The context's elements in order of execution.
    ///
    /// # Panics
    /// If it belongs to another table.
    pub fn elements(&self, context: Synopsis) -> Vec<&E> {
        let mut elements: Vec<&E> = self
            .prefixes(context)
            .filter_map(|it| self.last_element(it))
            .collect();
        elements.reverse();
        elements
    }

    /// The context and its prefixes, the longest first, without [`Synopsis::EMPTY`].
    ///
    /// # Panics
    /// If it belongs to another table.
    pub fn prefixes(&self, context: Synopsis) -> impl Iterator<Item = Synopsis> {
        let some = |it: Synopsis| (!it.is_empty()).then_some(it);
        iter::successors(some(context), move |&it| some(self.node(it)?.prefix))
    }

    /// The context's last element, or `None` if it is empty or was cut off.
    pub fn last_element(&self, context: Synopsis) -> Option<&E> {
        match self.last(context)? {
            Last::Element(element) => Some(&self.elements.values()[element as usize]),
            Last::Cut => None,
        }
    }

    /// The context without its last element, or without its mark if it was cut off. The empty context is its own prefix.
    pub fn prefix(&self, context: Synopsis) -> Synopsis {
        self.node(context).map_or(context, |node| node.prefix)
    }

    /// Whether the transaction went further than the context shows.
    pub fn is_cut(&self, context: Synopsis) -> bool {
        self.last(context) == Some(Last::Cut)
    }

    /// The number of its elements.
    pub fn length(&self, context: Synopsis) -> u32 {
        self.node(context).map_or(0, |node| node.length)
    }

    /// Whether the table contains the synopsis.
    pub fn contains(&self, context: Synopsis) -> bool {
        context.number() as usize <= self.nodes.len()
    }

    /// All contexts except the empty one. A prefix comes before its continuations, and numbers have no gaps.
    pub fn all(&self) -> impl Iterator<Item = Synopsis> {
        (1..=self.nodes.len() as u32).map(Synopsis::from_number)
    }

    /// How often a limit was reached.
    pub fn cuts(&self) -> Cuts {
        self.cuts
    }

    fn last(&self, context: Synopsis) -> Option<Last> {
        self.node(context).map(|node| node.last)
    }

    fn node(&self, context: Synopsis) -> Option<&Node> {
        let row = context.number().checked_sub(1)?;
        Some(&self.nodes[row as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fulcrum_stats::Random;

    /// The letters of the context that results from appending these letters.
    fn pruned(contexts: &mut Contexts<char>, letters: &str) -> String {
        let context = contexts.of(letters.chars());
        let mut found: String = contexts.elements(context).into_iter().collect();
        found.extend(contexts.is_cut(context).then_some('…'));
        found
    }

    #[test]
    fn repeats_collapse_and_loops_lead_back() {
        for (letters, expect) in [
            ("", ""),
            ("abbbc", "abc"),
            ("arwr", "ar"),
            ("arwrw", "arw"),
            ("abcdb", "ab"),
            ("abcda", "a"),
            ("abab", "ab"),
        ] {
            let mut contexts = Contexts::default();
            assert_eq!(pruned(&mut contexts, letters), expect, "{letters}");
        }
    }

    #[test]
    fn equal_contexts_have_equal_numbers_and_pruning_twice_is_pruning_once() {
        let mut random = Random::new(7);
        let mut contexts = Contexts::default();
        let mut known: HashMap<String, Synopsis> = HashMap::new();
        for _ in 0..2000 {
            let length = random.index(12);
            let letters: String = (0..length)
                .map(|_| (b'a' + random.index(6) as u8) as char)
                .collect();
            let context = contexts.of(letters.chars());
            let once = pruned(&mut contexts, &letters);
            assert_eq!(pruned(&mut contexts, &once), once, "{letters}");
            let before = *known.entry(once.clone()).or_insert(context);
            assert_eq!(before, context, "{letters}");
            let mut distinct: Vec<char> = once.chars().collect();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), once.len(), "{letters}: twice in {once}");
        }
        let numbers: std::collections::HashSet<_> = known.values().collect();
        assert_eq!(numbers.len(), known.len(), "two contexts have one number");
    }

    #[test]
    fn a_context_that_would_grow_for_ever_is_cut_and_counted() {
        let limits = Limits {
            length: 3,
            ..Limits::default()
        };
        let mut contexts = Contexts::with_limits(limits);
        assert_eq!(pruned(&mut contexts, "abcdefg"), "abc…");
        assert_eq!(contexts.cuts(), Cuts { long: 4, full: 0 });
        assert_eq!(pruned(&mut contexts, "abcdeb"), "ab", "a loop leads back");
        assert_eq!(contexts.all().count(), 4);
    }

    #[test]
    fn a_full_table_keeps_the_longest_prefix_it_knows() {
        let limits = Limits {
            contexts: 2,
            elements: 3,
            length: 9,
        };
        let mut contexts = Contexts::with_limits(limits);
        assert_eq!(pruned(&mut contexts, "abc"), "ab");
        assert_eq!(pruned(&mut contexts, "abd"), "ab");
        assert_eq!(pruned(&mut contexts, "ab"), "ab");
        assert_eq!(contexts.cuts(), Cuts { long: 0, full: 2 });
    }

    #[test]
    fn prefixes_are_contexts_of_their_own() {
        let mut contexts = Contexts::default();
        let abc = contexts.of("abc".chars());
        let found: Vec<_> = contexts.prefixes(abc).collect();
        let expect = ["abc", "ab", "a"].map(|it| contexts.of(it.chars()));
        assert_eq!(found, expect);
        assert_eq!(contexts.prefix(expect[2]), Synopsis::EMPTY);
        assert_eq!(contexts.prefix(Synopsis::EMPTY), Synopsis::EMPTY);
        assert_eq!(contexts.length(abc), 3);
        assert!(contexts.contains(abc) && !contexts.contains(Synopsis::from_number(4)));
    }
}
