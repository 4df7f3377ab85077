//! All units of the process. They are found by their program address without a lock, and made under one.

use core::cell::RefCell;
use core::ops::Range;
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use fulcrum_preload::quiet::{Guard, Shared};

use super::emit::Emitter;
use super::gate::{self, Dispatch, Gates, Vectors};
use super::lasting::Lasting;
use super::translate::{Order, Program, Translator};
use super::unit::{Code, Exit, Kind, Unit};
use crate::memory::code::{Arena, CodeMemory};
use crate::memory::regions::Regions;
use crate::memory::tls;
use crate::observer::{Observer, Translated};

/// The most units, a power of two. Above three quarters, no more are made.
const MOST: usize = 1 << 16;
/// The most exits of units.
const MOST_EXITS: usize = 1 << 18;
/// Bytes of translated code.
const CODE: usize = 32 << 20;
/// Bytes for the data that belongs to it.
const ARENA: usize = 256 << 20;
/// The longest translation of one unit, in bytes.
const LONGEST: usize = 64 << 10;
/// Exit numbers that belong to no unit: the return from a native call, and the entry into the engine.
pub(crate) const RETURNED: u64 = 0;
pub(crate) const ENTERED: u64 = 1;

/// The units.
pub(crate) struct Units {
    observer: &'static dyn Observer,
    table: &'static [AtomicPtr<Unit>],
    exits: &'static [AtomicPtr<Exit>],
    /// Translations in address order.
    places: &'static [AtomicPtr<Unit>],
    placed: AtomicUsize,
    pub(crate) gates: Gates,
    /// Code that is never translated.
    own: Range<u64>,
    code: Range<u64>,
    maker: Shared<Maker>,
}

struct Maker {
    translator: Translator,
    regions: RefCell<Regions>,
    code: CodeMemory,
    used: usize,
    arena: Arena,
    exits: usize,
    units: usize,
    words: i64,
    lasting: Box<Lasting>,
    /// The loader's code.
    silent: Range<u64>,
}

// SAFETY: only the holder of the lock uses it.
unsafe impl Send for Maker {}

impl Units {
    /// An empty table. Code in `silent` is not reported, and code in `own` is not translated. Returns `None` if the system
    /// provides no memory for code.
    pub(crate) fn new(
        observer: &'static dyn Observer,
        dispatch: Dispatch,
        silent: Range<u64>,
        own: Range<u64>,
    ) -> Option<Units> {
        let mut arena = Arena::new(ARENA)?;
        let mut regions = Regions::new();
        regions.refresh();
        let code = CodeMemory::new(CODE)?;
        let words = tls::offset();
        // SAFETY: the code memory is fresh, and nobody else has it yet.
        let mut emitter = unsafe { Emitter::new(code.start, code.room, words) };
        let numbers = [RETURNED as u32, ENTERED as u32];
        let gates = gate::emit(&mut emitter, Vectors::here(), dispatch, numbers);
        if emitter.overflowed() {
            return None;
        }
        let start = code.start.addr() as u64;
        Some(Units {
            observer,
            table: arena.nulls(MOST)?,
            exits: arena.nulls(MOST_EXITS)?,
            places: arena.nulls(MOST)?,
            placed: AtomicUsize::new(0),
            gates,
            own,
            code: start..start + code.room as u64,
            maker: Shared::new(Maker {
                translator: Translator::new(),
                regions: RefCell::new(regions),
                used: emitter.length(),
                code,
                arena,
                exits: 2,
                units: 0,
                words,
                lasting: Box::new(Lasting::new()),
                silent,
            }),
        })
    }

    /// An exit, by its number.
    pub(crate) fn exit(&self, number: u64) -> Option<&'static Exit> {
        let exit = self.exits.get(number as usize)?.load(Ordering::Acquire);
        // SAFETY: the pointer is null, or to an exit kept in the arena, which is never freed.
        unsafe { exit.as_ref() }
    }

    /// The unit at an address, if there is one.
    pub(crate) fn find(&self, ip: u64) -> Option<&'static Unit> {
        let mut at = place(ip);
        loop {
            let unit = self.table[at].load(Ordering::Acquire);
            // SAFETY: the pointer is null, or to a unit kept in the arena, which is never freed.
            let unit = unsafe { unit.as_ref() }?;
            if unit.ip == ip {
                return Some(unit);
            }
            at = (at + 1) % MOST;
        }
    }

    /// The unit at an address, made if necessary. Returns `None` if there is no room, or if a thread died holding the lock.
    pub(crate) fn find_or_make(&self, ip: u64) -> Option<&'static Unit> {
        let known = || self.find(ip).filter(|it| !matches!(it.kind, Kind::Gone));
        if let Some(unit) = known() {
            return Some(unit);
        }
        let mut maker = self.maker()?;
        // Another thread may have been faster.
        if let Some(unit) = known() {
            return Some(unit);
        }
        self.make(&mut maker, ip, &[])
    }

    /// Replaces a unit with one that follows a path.
    pub(crate) fn make_path(&self, ip: u64, path: &[u64]) -> Option<&'static Unit> {
        let mut maker = self.maker()?;
        self.make(&mut maker, ip, path)
    }

    /// Records that a function is not translated.
    pub(crate) fn add_special(&self, ip: u64, kind: Kind) -> Option<&'static Unit> {
        let mut maker = self.maker()?;
        let unit = maker.arena.keep(Unit::new(ip, kind))?;
        self.enter(&mut maker, unit)
    }

    /// Finds newly mapped code.
    pub(crate) fn find_new_code(&self) {
        if let Some(maker) = self.maker() {
            maker.regions.borrow_mut().refresh();
        }
    }

    /// Code has changed: a library was unloaded.
    pub(crate) fn forget(&self, from: u64, to: u64) {
        if let Some(mut maker) = self.maker() {
            maker.regions.borrow_mut().forget();
            self.forget_units(&mut maker, |_, unit| unit.touches(from, to));
        }
    }

    /// Forgets code that is no longer mapped. Functions that are not translated stay.
    pub(crate) fn forget_unmapped(&self) {
        let Some(mut maker) = self.maker() else {
            return;
        };
        maker.regions.borrow_mut().refresh();
        self.forget_units(&mut maker, |maker, unit| {
            let regions = maker.regions.borrow();
            let is_mapped = |it: &(u32, u64)| regions.has(it.1);
            unit.code()
                .is_some_and(|it| !it.starts.iter().all(is_mapped))
        });
    }

    fn forget_units(&self, maker: &mut Maker, is_gone: impl Fn(&Maker, &Unit) -> bool) {
        for entry in self.table {
            // SAFETY: the pointer is null, or to a unit kept in the arena, which is never freed.
            let Some(unit) = (unsafe { entry.load(Ordering::Acquire).as_ref() }) else {
                continue;
            };
            if is_gone(maker, unit)
                && let Some(gone) = maker.arena.keep(Unit::new(unit.ip, Kind::Gone))
            {
                entry.store(core::ptr::from_ref(gone).cast_mut(), Ordering::Release);
            }
        }
    }

    /// Whether an address is in the preloaded library's code.
    pub(crate) fn is_own(&self, ip: u64) -> bool {
        self.own.contains(&ip)
    }

    /// The memory that holds the translations.
    pub(crate) fn code_memory(&self) -> Range<u64> {
        self.code.clone()
    }

    /// The program's instruction whose translation is at this address.
    pub(crate) fn locate(&self, address: u64) -> Option<u64> {
        let placed = self.placed.load(Ordering::Acquire).min(MOST);
        let known = &self.places[..placed];
        let code = |entry: &AtomicPtr<Unit>| {
            // SAFETY: the pointer is null, or to a unit kept in the arena, which is never freed.
            unsafe { entry.load(Ordering::Acquire).as_ref() }?.code()
        };
        let after = known.partition_point(|it| code(it).is_some_and(|it| it.start <= address));
        let code = code(known.get(after.checked_sub(1)?)?)?;
        let offset = address - code.start;
        if offset >= u64::from(code.length) {
            return None;
        }
        let starts = code.starts;
        let after = starts.partition_point(|it| u64::from(it.0) <= offset);
        Some(starts.get(after.saturating_sub(1))?.1)
    }

    /// In a forked child, frees the lock, whose holder may not exist there.
    pub(crate) fn free_lock(&self) {
        // SAFETY: in a forked child, no other thread has it.
        unsafe { self.maker.raw() }.free();
    }

    fn maker(&self) -> Option<Guard<'_, Maker>> {
        self.maker.lock_unless_left()
    }

    fn make(&self, maker: &mut Maker, ip: u64, path: &[u64]) -> Option<&'static Unit> {
        if self.own.contains(&ip) {
            return None;
        }
        // A failure is not remembered: the mappings may have changed while they were read, and code may appear there later.
        maker.regions.borrow_mut().code(ip)?;
        let kind = self.translated(maker, ip, path);
        if !path.is_empty() && !matches!(kind, Some(Kind::Code(_))) {
            return None;
        }
        let unit = Unit::new(ip, kind.unwrap_or(Kind::InPlace));
        let unit = maker.arena.keep(unit)?;
        self.enter(maker, unit)
    }

    fn translated(&self, maker: &mut Maker, ip: u64, path: &[u64]) -> Option<Kind> {
        let room = (maker.code.room - maker.used).min(LONGEST);
        // SAFETY: the memory is not used yet, and the lock is held.
        let mut emitter =
            unsafe { Emitter::new(maker.code.start.add(maker.used), room, maker.words) };
        let program = Here {
            units: self,
            regions: &maker.regions,
            silent: maker.silent.clone(),
        };
        let order = Order {
            program: &program,
            ip,
            path,
            first_exit: maker.exits as u32,
            gates: self.gates,
        };
        if !maker.translator.unit(&order, &mut emitter) {
            return None;
        }
        let building = &maker.translator.building;
        let drafts = building.exits.as_slice();
        let exits = self.exits.get(maker.exits..maker.exits + drafts.len())?;
        let steps = maker.arena.keep_all(building.steps.as_slice())?;
        for (place, draft) in exits.iter().zip(drafts) {
            let steps = &steps[..draft.steps];
            maker.lasting.find(steps, draft.to);
            let lasting = maker.arena.keep_all(maker.lasting.steps())?;
            let exit = maker.arena.keep(Exit {
                steps,
                lasting,
                instructions: draft.instructions,
                to: draft.to,
            })?;
            place.store(core::ptr::from_ref(exit).cast_mut(), Ordering::Release);
        }
        maker.exits += drafts.len();
        maker.used += emitter.length().next_multiple_of(16);
        let starts = maker.arena.keep_all(building.starts.as_slice())?;
        let (start, length) = (emitter.start(), emitter.length() as u32);
        self.observer.translated(&Translated {
            start,
            length,
            instructions: starts,
        });
        Some(Kind::Code(Code {
            start,
            length,
            is_system_call: building.is_system_call,
            is_path: !path.is_empty(),
            starts,
        }))
    }

    /// Puts a unit into the table, replacing one with the same address.
    fn enter(&self, maker: &mut Maker, unit: &'static Unit) -> Option<&'static Unit> {
        // A search ends at an empty place, so some must remain.
        if maker.units >= MOST / 4 * 3 {
            return None;
        }
        maker.units += 1;
        let pointer = core::ptr::from_ref(unit).cast_mut();
        if unit.code().is_some() {
            let placed = self.placed.load(Ordering::Relaxed);
            self.places.get(placed)?.store(pointer, Ordering::Release);
            self.placed.store(placed + 1, Ordering::Release);
        }
        let mut at = place(unit.ip);
        loop {
            let there = self.table[at].load(Ordering::Relaxed);
            // SAFETY: the pointer is null, or to a unit kept in the arena, which is never freed.
            if unsafe { there.as_ref() }.is_none_or(|it| it.ip == unit.ip) {
                self.table[at].store(pointer, Ordering::Release);
                return Some(unit);
            }
            at = (at + 1) % MOST;
        }
    }
}

/// The program, as this lock holder sees it.
struct Here<'a> {
    units: &'a Units,
    regions: &'a RefCell<Regions>,
    silent: Range<u64>,
}

impl Program for Here<'_> {
    fn code(&self, ip: u64) -> Option<&'static [u8]> {
        let is_own = self.units.own.contains(&ip);
        (!is_own).then(|| self.regions.borrow_mut().code(ip))?
    }

    fn is_special(&self, ip: u64) -> bool {
        let unit = self.units.find(ip);
        unit.is_some_and(|it| matches!(it.kind, Kind::Native | Kind::Later | Kind::InPlace))
    }

    fn is_native(&self, ip: u64) -> bool {
        let unit = self.units.find(ip);
        unit.is_some_and(|it| matches!(it.kind, Kind::Native | Kind::Later))
    }

    fn is_silent(&self, ip: u64) -> bool {
        self.silent.contains(&ip)
    }
}

fn place(ip: u64) -> usize {
    (ip.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as usize % MOST
}
