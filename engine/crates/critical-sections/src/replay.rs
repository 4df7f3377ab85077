//! Derives effects from the values that translated code recorded.

use fulcrum_shared_memory::CodeAddress;
use fulcrum_shared_memory::{Effect, Place, Register, Span};

use crate::list::List;
use crate::memory::tls::Registers;
use crate::step::{Address, Held, Noted, Spot, Step, Value, When};
use crate::translation::emit::RSP;
use crate::translation::unit::Placed;

/// Effects that are reported together.
pub(crate) type Effects = List<(CodeAddress, Effect), 192>;

/// The most effects that one step adds: a string of [`LONGEST_STRING`] bytes.
const MOST_AT_ONCE: usize = 64;
/// The rest of a longer string is not reported. Stale tags of its target are noticed by their values.
const LONGEST_STRING: u64 = 512;
/// How far below the stack pointer values stand while registers exchange them.
const ASIDE: u64 = 1024;

/// What is known about eight bytes of a vector register without a [`Register`] name: those beyond the lower sixteen, and
/// all of registers 16 to 31. Copies of long structures go through them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Lane {
    /// From before the section.
    #[default]
    Before,
    /// Loaded from this address.
    From(u64),
    Other,
}

/// All lanes of a thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes {
    lanes: [[Lane; 8]; 32],
    /// Registers with a lane that may differ from [`Lane::Before`].
    changed: u32,
}

impl Lanes {
    /// All lanes are from before the section.
    pub(crate) fn new() -> Self {
        Lanes {
            lanes: [[Lane::Before; 8]; 32],
            changed: 0,
        }
    }

    /// Resets all lanes to before the section.
    pub(crate) fn reset(&mut self) {
        while self.changed != 0 {
            let register = self.changed.trailing_zeros() as usize;
            self.lanes[register] = [Lane::Before; 8];
            self.changed &= self.changed - 1;
        }
    }

    fn get(&self, (register, which): (u8, u8)) -> Lane {
        self.lanes[usize::from(register % 32)][usize::from(which % 8)]
    }

    fn set(&mut self, (register, which): (u8, u8), lane: Lane) {
        self.changed |= 1 << (register % 32);
        self.lanes[usize::from(register % 32)][usize::from(which % 8)] = lane;
    }
}

/// Makes effects from steps.
pub(crate) struct Replay<'a> {
    pub(crate) slots: &'a [u64],
    /// The registers after the steps.
    pub(crate) registers: &'a Registers,
    pub(crate) thread_pointer: u64,
    pub(crate) in_window: bool,
    pub(crate) lanes: &'a mut Lanes,
    pub(crate) effects: &'a mut Effects,
}

/// The location of a value.
#[derive(Clone, Copy)]
enum At {
    Place(Place),
    Lane(u8, u8),
}

impl Replay<'_> {
    /// Adds the effects of these steps while there is room. Returns the remaining steps.
    pub(crate) fn steps<'s>(&mut self, steps: &'s [Placed]) -> &'s [Placed] {
        let mut rest = steps;
        while let Some((first, others)) = rest.split_first() {
            if !self.effects.has_room(MOST_AT_ONCE) {
                break;
            }
            self.step(first);
            rest = others;
        }
        rest
    }

    fn step(&mut self, placed: &Placed) {
        let at = CodeAddress(placed.at);
        match &placed.step {
            Step::Move {
                from,
                to,
                value,
                when,
            } => {
                if self.happens(*when) {
                    self.moves(at, from, to, *value);
                }
            }
            Step::Overwrite { to, value } => self.overwrites(at, to, *value),
            Step::Use { of, value } => {
                if self.in_window
                    && let Some(At::Place(place)) = self.find(*of)
                {
                    let value = self.value(*value, bytes(of));
                    self.effects.push((at, Effect::Use { of: place, value }));
                }
            }
            Step::Keep {
                register,
                to,
                value,
            } => {
                if !self.in_window {
                    let (from, to) = (Spot::Register(*register), Spot::Memory(*to));
                    self.moves(at, &from, &to, *value);
                }
            }
            Step::Copy {
                from,
                to,
                end,
                bytes,
            } => {
                let shift = self.noted(*from).wrapping_sub(self.noted(*to));
                self.string(at, (*to, *end), *bytes, Some(shift));
            }
            Step::Fill { to, end, bytes } => self.string(at, (*to, *end), *bytes, None),
        }
    }

    fn happens(&self, when: When<Noted>) -> bool {
        match when {
            When::Always => true,
            When::Same(a, b, bytes) => self.low(a, bytes) == self.low(b, bytes),
            When::Differ(a, b, bytes) => self.low(a, bytes) != self.low(b, bytes),
        }
    }

    fn moves(
        &mut self,
        at: CodeAddress,
        from: &Spot<Noted>,
        to: &Spot<Noted>,
        value: Value<Noted>,
    ) {
        let sized = match from {
            Spot::Memory(_) => bytes(from),
            _ => bytes(to),
        };
        let value = self.value(value, sized);
        if let (Some(from), Some(to)) = (self.simple(from), self.simple(to)) {
            return self.copied(at, from, to, value);
        }
        let (Some(source), Some(target)) = (self.find(*from), self.find(*to)) else {
            return;
        };
        match (source, target) {
            (At::Place(from), At::Place(to)) => self.copied(at, from, to, value),
            (At::Place(Place::Memory(_)), At::Lane(register, which)) => {
                let address = match from {
                    Spot::Memory(it) => self.address(it),
                    _ => return,
                };
                self.lanes.set((register, which), Lane::From(address));
            }
            (At::Place(Place::Register(_)), At::Lane(register, which)) => {
                self.lanes.set((register, which), Lane::Other);
            }
            (At::Lane(register, which), At::Place(to)) => {
                let lane = self.lanes.get((register, which));
                match (lane, to) {
                    (Lane::Before, _) => self.copied(at, nothing(), to, value),
                    (Lane::From(address), Place::Memory(_)) => match Span::new(address, 8) {
                        Some(from) => self.copied(at, Place::Memory(from), to, value),
                        None => self.overwritten(at, to, value),
                    },
                    _ => self.overwritten(at, to, value),
                }
            }
            (At::Lane(register, which), At::Lane(to, part)) => {
                let lane = self.lanes.get((register, which));
                self.lanes.set((to, part), lane);
            }
        }
    }

    fn copied(&mut self, at: CodeAddress, from: Place, to: Place, value: u64) {
        self.effects.push((at, Effect::Move { from, to, value }));
    }

    fn overwrites(&mut self, at: CodeAddress, to: &Spot<Noted>, value: Value<Noted>) {
        match self.find(*to) {
            Some(At::Place(place)) => {
                let value = self.value(value, bytes(to));
                self.overwritten(at, place, value);
            }
            Some(At::Lane(register, which)) => self.lanes.set((register, which), Lane::Other),
            None => {}
        }
    }

    fn overwritten(&mut self, at: CodeAddress, to: Place, value: u64) {
        self.effects.push((at, Effect::Overwrite { to, value }));
    }

    /// A string of elements starting at `to`, going backwards if it ends below. `shift` is the distance to the source of a
    /// copy.
    fn string(&mut self, at: CodeAddress, to: (Noted, Noted), bytes: u8, shift: Option<u64>) {
        let (to, end) = (self.noted(to.0), self.noted(to.1));
        if to == end {
            return;
        }
        let element = u64::from(bytes);
        let backwards = end.wrapping_sub(to) as i64;
        let (start, length) = match backwards < 0 {
            true => (end.wrapping_add(element), to.wrapping_sub(end)),
            false => (to, end.wrapping_sub(to)),
        };
        // In the window, each word of a copy has two effects.
        let length = length.min(match self.in_window {
            true => LONGEST_STRING / 2,
            false => LONGEST_STRING,
        });
        for offset in (0..length).step_by(8) {
            let bytes = (length - offset).min(8) as u8;
            let target = start.wrapping_add(offset);
            let Some(to) = Span::new(target, bytes) else {
                return;
            };
            let to = Place::Memory(to);
            let from = shift.map(|it| Span::new(target.wrapping_add(it), bytes));
            if self.in_window {
                // The memory may belong to another thread by now, so its values are not known.
                if let Some(Some(of)) = from {
                    let of = Place::Memory(of);
                    self.effects.push((at, Effect::Use { of, value: 0 }));
                }
                self.effects.push((at, Effect::Overwrite { to, value: 0 }));
                continue;
            }
            // SAFETY: the thread has just written these bytes, and nothing has happened since.
            let value = unsafe { read(target, bytes) };
            let effect = match from {
                Some(Some(from)) => Effect::Move {
                    from: Place::Memory(from),
                    to,
                    value,
                },
                _ => Effect::Overwrite { to, value },
            };
            self.effects.push((at, effect));
        }
    }

    /// The usual places.
    #[inline(always)]
    fn simple(&self, spot: &Spot<Noted>) -> Option<Place> {
        match spot {
            Spot::Register(Held::General(it)) => Some(Place::Register(Register::general(*it)?)),
            Spot::Memory(it) => Some(Place::Memory(Span::new(self.address(it), it.bytes)?)),
            _ => None,
        }
    }

    fn find(&self, spot: Spot<Noted>) -> Option<At> {
        Some(match spot {
            Spot::Register(Held::General(it)) => At::Place(Place::Register(Register::general(it)?)),
            Spot::Register(Held::Chunk(register, which)) => {
                match Register::vector(register, which) {
                    Some(it) => At::Place(Place::Register(it)),
                    None => At::Lane(register, which),
                }
            }
            Spot::Memory(it) => At::Place(Place::Memory(Span::new(self.address(&it), it.bytes)?)),
            Spot::Aside => {
                let below = self.registers.general[usize::from(RSP)].wrapping_sub(ASIDE);
                At::Place(Place::Memory(Span::new(below & !7, 8)?))
            }
        })
    }

    #[inline]
    fn address(&self, address: &Address<Noted>) -> u64 {
        let of = |it: Option<Noted>| it.map_or(0, |it| self.noted(it));
        let base = match address.of_thread {
            true => self.thread_pointer,
            false => 0,
        };
        base.wrapping_add(of(address.base))
            .wrapping_add(of(address.index).wrapping_mul(u64::from(address.scale)))
            .wrapping_add(address.displacement)
    }

    #[inline]
    fn noted(&self, noted: Noted) -> u64 {
        let slot = self.slots.get(usize::from(noted.slot)).copied();
        slot.unwrap_or(0).wrapping_add_signed(i64::from(noted.plus))
    }

    fn low(&self, noted: Noted, bytes: u8) -> u64 {
        self.noted(noted) & mask(bytes)
    }

    /// The lowest bytes of a value.
    #[inline]
    fn value(&self, value: Value<Noted>, bytes: u8) -> u64 {
        let value = match value {
            Value::Constant(it) => it,
            Value::In(it) => self.noted(it),
            Value::Sum(a, b) => self.noted(a).wrapping_add(self.noted(b)),
            Value::Unknown => 0,
        };
        value & mask(bytes)
    }
}

/// How many bytes of a value a spot holds.
fn bytes(spot: &Spot<Noted>) -> u8 {
    match spot {
        Spot::Memory(it) => it.bytes,
        Spot::Register(_) | Spot::Aside => 8,
    }
}

/// A place that never has a tag: the stack pointer.
fn nothing() -> Place {
    let stack_pointer = Register::general(RSP).expect("a general register");
    Place::Register(stack_pointer)
}

fn mask(bytes: u8) -> u64 {
    u64::MAX >> (64 - 8 * u32::from(bytes.clamp(1, 8)))
}

/// # Safety
/// `bytes` bytes at `address` are readable.
unsafe fn read(address: u64, bytes: u8) -> u64 {
    let start = core::ptr::with_exposed_provenance::<u8>(address as usize);
    let mut value = 0;
    for n in (0..usize::from(bytes)).rev() {
        // SAFETY: the caller promises that the bytes are readable.
        value = value << 8 | u64::from(unsafe { start.add(n).read_volatile() });
    }
    value
}
