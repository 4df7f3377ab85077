//! Lists of free objects that some threads only fill and others only empty (rule 10).
//!
//! Such a list looks like a queue: what one thread puts in, another one takes out. Its objects go in a circle: a thread takes a
//! free object and hands it over through a queue, and whoever takes it from the queue puts it back into the list. Seen from the
//! queue, the circle is the same. The contents make the difference: who takes an object from a queue reads what was written into it,
//! and who takes a free object overwrites it.
//!
//! So a list is one of free objects if its objects come from another list, and if whoever takes one writes to it, reads nothing else of
//! it, and puts it into that other list. What happens to an object is known if the thread is watched from taking it to
//! putting it elsewhere, without a gap. What is read later is not seen, so objects with an unknown fate say nothing.

use crate::ids::ListId;
use crate::{Effect, Place, Span};

/// How many objects must have been seen to come from another list, and to go there.
const ENOUGH: u32 = 8;
/// How many objects are followed. Then a list counts as a queue.
const TRIALS: u32 = 256;
/// The most other lists.
const PARTNERS: usize = 8;
/// The parts of an object are at most this far from where a pointer to it points, on either side.
const REACH: u64 = 512;
/// The number of objects that a thread has taken and that are remembered, a power of two.
const REMEMBERED: usize = 16;

/// What is known about a list's objects.
#[derive(Clone, Debug)]
pub(crate) enum Recycling {
    Undecided(Evidence),
    /// Something is read from its objects, or nothing suggests that they are free.
    Queue,
}

/// What suggests that objects are free.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evidence {
    trials: u32,
    /// Where objects are put: always the same word if the list is a stack.
    head: Head,
    partners: Vec<Partner>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Head {
    #[default]
    Unknown,
    At(u64),
    Changes,
}

/// Another list with the same objects.
#[derive(Clone, Copy, Debug)]
struct Partner {
    list: ListId,
    /// Objects that came from there.
    came: u32,
    /// Objects that went there, overwritten and not read.
    went: u32,
}

/// What happened to an object after it was taken from a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It was written to and not read, and was put into another list.
    Overwritten { put_into: ListId },
    /// Something was read that the thread had not written.
    Read,
}

impl Recycling {
    pub(crate) fn new() -> Self {
        Recycling::Undecided(Evidence::default())
    }

    pub(crate) fn is_undecided(&self) -> bool {
        matches!(self, Recycling::Undecided(_))
    }

    /// An object is about to be followed. Returns whether it should be.
    pub(crate) fn tries(&mut self) -> bool {
        if let Recycling::Undecided(evidence) = self {
            evidence.trials += 1;
            if evidence.trials > TRIALS {
                *self = Recycling::Queue;
            }
        }
        self.is_undecided()
    }

    /// An object, possibly from another list, is put into this one.
    pub(crate) fn put_in(&mut self, address: u64, source: Option<ListId>) {
        let Recycling::Undecided(evidence) = self else {
            return;
        };
        evidence.head = match evidence.head {
            Head::Unknown => Head::At(address),
            Head::At(it) if it == address => Head::At(it),
            _ => Head::Changes,
        };
        if let Some(source) = source
            && let Some(partner) = evidence.partner(source)
        {
            partner.came = partner.came.saturating_add(1);
        }
    }

    /// The head of a stack of free objects.
    pub(crate) fn head(&self) -> Option<u64> {
        match self {
            Recycling::Undecided(Evidence {
                head: Head::At(it), ..
            }) if self.is_of_free_objects() => Some(*it),
            _ => None,
        }
    }

    /// An object was taken out.
    pub(crate) fn taken_out(&mut self, fate: Fate) {
        match (&mut *self, fate) {
            (Recycling::Undecided(evidence), Fate::Overwritten { put_into }) => {
                if let Some(partner) = evidence.partner(put_into) {
                    partner.went = partner.went.saturating_add(1);
                }
            }
            (_, Fate::Read) => *self = Recycling::Queue,
            (Recycling::Queue, _) => {}
        }
    }

    pub(crate) fn is_of_free_objects(&self) -> bool {
        let Recycling::Undecided(evidence) = self else {
            return false;
        };
        let both = evidence.partners.iter().map(|it| it.came.min(it.went));
        both.sum::<u32>() >= ENOUGH
    }
}

impl Evidence {
    fn partner(&mut self, list: ListId) -> Option<&mut Partner> {
        let known = self.partners.iter().position(|it| it.list == list);
        if known.is_none() && self.partners.len() < PARTNERS {
            let (came, went) = (0, 0);
            self.partners.push(Partner { list, came, went });
        }
        let at = known.unwrap_or(self.partners.len() - 1);
        self.partners.get_mut(at).filter(|it| it.list == list)
    }
}

/// The objects that a thread took last, and from where.
#[derive(Debug)]
pub(crate) struct Taken {
    objects: [(u64, ListId); REMEMBERED],
    next: usize,
}

impl Taken {
    pub(crate) fn new() -> Self {
        Taken {
            objects: [(0, ListId(0)); REMEMBERED],
            next: 0,
        }
    }

    pub(crate) fn add(&mut self, object: u64, list: ListId) {
        self.objects[self.next] = (object, list);
        self.next = (self.next + 1) % REMEMBERED;
    }

    /// The list from which the thread took this object last.
    pub(crate) fn from(&self, object: u64) -> Option<ListId> {
        let (later, earlier) = self.objects.split_at(self.next);
        let newest_first = later.iter().rev().chain(earlier.iter().rev());
        let mut of_object = newest_first.filter(|it| object != 0 && it.0 == object);
        of_object.next().map(|it| it.1)
    }
}

/// An object on its way from one list to another.
#[derive(Debug)]
pub(crate) struct Trial {
    object: u64,
    list: ListId,
    /// The bytes that were written, a bit each, starting `REACH` bytes before the object.
    written: [u64; 2 * REACH as usize / 64],
    is_written: bool,
    /// The section that follows without a gap.
    section: Option<u64>,
}

impl Trial {
    /// A thread has taken an object from a list.
    pub(crate) fn new(object: u64, list: ListId) -> Self {
        Trial {
            object,
            list,
            written: [0; 2 * REACH as usize / 64],
            is_written: false,
            section: None,
        }
    }

    pub(crate) fn list(&self) -> ListId {
        self.list
    }

    /// Takes an effect into account. Returns whether it reads of the object what the thread has not written.
    pub(crate) fn reads(&mut self, effect: Effect) -> bool {
        let (from, to) = match effect {
            Effect::Move { from, to, .. } => (Some(from), Some(to)),
            Effect::Overwrite { to, .. } => (None, Some(to)),
            Effect::Use { of, .. } => (Some(of), None),
            Effect::NativeCall => (None, None),
        };
        let is_new = |bytes: u64| !self.is_own(bytes);
        if let Some(Place::Memory(span)) = from
            && self.bytes_of(span).any(is_new)
        {
            return true;
        }
        if let Some(Place::Memory(span)) = to {
            for byte in self.bytes_of(span) {
                self.written[byte as usize / 64] |= 1 << (byte % 64);
                self.is_written = true;
            }
        }
        false
    }

    /// The bytes of a span that may belong to the object, by their bits.
    fn bytes_of(&self, span: Span) -> impl Iterator<Item = u64> + use<> {
        let start = self.object.wrapping_sub(REACH);
        let bytes = (0..span.bytes).map(move |it| span.address + it);
        bytes
            .map(move |it| it.wrapping_sub(start))
            .filter(|it| *it < 2 * REACH)
    }

    fn is_own(&self, byte: u64) -> bool {
        self.written[byte as usize / 64] >> (byte % 64) & 1 != 0
    }

    /// The next section begins. Nothing has happened unseen until now.
    pub(crate) fn goes_on_in(&mut self, section: u64) {
        self.section = Some(section);
    }

    /// The list from which the object came that a section stores, if it was overwritten in between.
    pub(crate) fn is_put_back(&self, value: u64, section: u64) -> Option<ListId> {
        let is_it = value == self.object && self.section == Some(section) && self.is_written;
        is_it.then_some(self.list)
    }
}
