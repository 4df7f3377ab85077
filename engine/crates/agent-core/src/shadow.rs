//! The shadow stack of a native thread: the logged calls that it is in, identified by where their frames are on the stack.
//!
//! A native program may leave functions without calling the exit probe: by `longjmp`, by exceptions through code that was
//! built without clean-up, when a thread ends, in a `vfork` child. The stack grows down, so deeper frames are lower. A frame
//! that is lower than that of a function which is entered or left now is gone ([`ShadowStack::stale`],
//! [`ShadowStack::find`]).
//!
//! A frame's *place* is the same when the function is entered and when it is left: the address of its return address if there
//! is a frame pointer, otherwise the stack pointer at its calls. A function that was inlined has its caller's place; its code
//! tells it apart. Places on other stacks than the thread's own (alternate signal stacks, coroutines) cannot be compared:
//! such frames are gone when the thread's own stack goes on.

use std::ops::Range;

/// A call that is being observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Where it is on the stack.
    pub at: At,
    /// Its function's address.
    pub function: usize,
    /// Its method's number.
    pub method: u32,
    /// Uncaught exceptions of the thread when the function was entered.
    pub throws: u32,
}

/// Where a probe fires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// The frame's place on the stack.
    pub place: usize,
    /// Where the frame returns to.
    pub caller: usize,
    /// Where the probe is called from.
    pub code: usize,
    /// The probe takes the frame's place (a tail call): the frame began below or at `place`.
    pub last: bool,
}

/// The most bytes that arguments on the stack take.
const ARGUMENTS: usize = 1024;

/// The logged calls of a thread.
pub struct ShadowStack {
    frames: Vec<Frame>,
    /// The thread's own stack.
    stack: Range<usize>,
    /// How many frames are on other stacks.
    foreign: usize,
}

impl ShadowStack {
    /// For a thread with this stack. Makes room for some calls at once.
    pub fn new(stack: Range<usize>) -> ShadowStack {
        ShadowStack {
            frames: Vec::with_capacity(256),
            stack,
            foreign: 0,
        }
    }

    /// Where a frame is whose probe was called with this stack pointer and frame pointer.
    ///
    /// # Safety
    /// `sp` is where the probe's return address is.
    #[inline(always)]
    pub unsafe fn at(&self, sp: usize, fp: usize, caller: usize) -> At {
        // SAFETY: the caller's promise.
        let code = unsafe { *(sp as *const usize) };
        let last = code == caller;
        let mut place = sp + if last { 0 } else { 8 };
        if !last
            && fp > sp
            && self.stack.contains(&sp)
            && fp < self.stack.end - 16
            && fp.is_multiple_of(8)
        {
            // SAFETY: between the stack pointer and the end of the thread's stack.
            let returns_to = unsafe { *((fp + 8) as *const usize) };
            if returns_to == caller {
                place = fp + 8;
            }
        }
        At {
            place,
            caller,
            code,
            last,
        }
    }

    /// How many calls the thread is in.
    #[inline(always)]
    pub fn depth(&self) -> usize {
        self.frames.len()
    }

    /// Whether there is room for another call without allocating.
    #[inline(always)]
    pub fn has_room(&self) -> bool {
        self.frames.len() < self.frames.capacity()
    }

    /// Makes room.
    pub fn make_room(&mut self) {
        self.frames.reserve(self.frames.len().max(16));
    }

    /// The innermost call.
    pub fn top(&self) -> Option<&Frame> {
        self.frames.last()
    }

    /// Whether a place is on the thread's own stack.
    #[inline(always)]
    pub fn is_own(&self, place: usize) -> bool {
        self.stack.contains(&place)
    }

    /// How many of the innermost frames are gone now that a function is entered.
    #[inline(always)]
    pub fn stale(&self, at: &At) -> usize {
        match self.frames.last() {
            Some(top) if self.foreign == 0 && top.at.place > at.place && self.is_own(at.place) => 0,
            None => 0,
            _ => self.count_stale(at),
        }
    }

    #[inline(never)]
    fn count_stale(&self, at: &At) -> usize {
        let own = self.is_own(at.place);
        let lower = self.frames.iter().rev().take_while(|frame| {
            let other = self.is_own(frame.at.place) != own;
            match (own, other) {
                // On another stack, or deeper on the same.
                (true, _) => other || frame.at.place < at.place,
                // The thread's own stack waits, others may.
                (false, _) => false,
            }
        });
        let lower = lower.count();
        // In the same place are callers that this function was inlined into, or a call that is gone: then another function was
        // called from elsewhere, or the same code runs again.
        let rest = &self.frames[..self.frames.len() - lower];
        let here = rest
            .iter()
            .rev()
            .take_while(|frame| frame.at.place == at.place);
        let mut gone = 0;
        for (n, frame) in here.enumerate() {
            if frame.at.caller != at.caller || frame.at.code == at.code {
                gone = n + 1;
            }
        }
        lower + gone
    }

    /// A call begins.
    #[inline(always)]
    pub fn push(&mut self, frame: Frame) {
        if !self.is_own(frame.at.place) {
            self.foreign += 1;
        }
        self.frames.push(frame);
    }

    /// Ends the innermost call.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<Frame> {
        let frame = self.frames.pop()?;
        if self.foreign > 0 && !self.is_own(frame.at.place) {
            self.foreign -= 1;
        }
        Some(frame)
    }

    /// How many of the innermost frames a jump to this stack pointer leaves. 0 when that is on another stack than the
    /// thread's own.
    pub fn left_by_jump(&self, to: usize) -> usize {
        if !self.is_own(to) {
            return 0;
        }
        let left = self.frames.iter().rev();
        left.take_while(|frame| !self.is_own(frame.at.place) || frame.at.place < to)
            .count()
    }

    /// Keeps only so many of the outermost calls.
    pub fn truncate(&mut self, depth: usize) {
        while self.frames.len() > depth {
            self.pop();
        }
    }

    /// For a function that is left: how many frames inside its own are gone. `None` when its own is not there. `returns` says
    /// whether a word in a part of the thread's stack is the address to which the function returns.
    #[inline(always)]
    pub fn find(
        &self,
        function: usize,
        at: &At,
        returns: impl Fn(Range<usize>) -> bool,
    ) -> Option<usize> {
        let top = self.frames.last()?;
        if top.function == function && top.at.place == at.place {
            return Some(0);
        }
        self.search(function, at, returns)
    }

    #[inline(never)]
    fn search(
        &self,
        function: usize,
        at: &At,
        returns: impl Fn(Range<usize>) -> bool,
    ) -> Option<usize> {
        let own = self.is_own(at.place);
        let mut found = None;
        for (n, frame) in self.frames.iter().rev().enumerate() {
            let other = self.is_own(frame.at.place) != own;
            if own && !other && frame.at.place > at.place {
                // Without a frame pointer, arguments on the stack may still be there when a function is left, and its place is
                // lower by them. A call inside of it that was not logged has its own return address in between.
                let pushed = at.place..frame.at.place;
                let same = frame.function == function && frame.at.caller == at.caller;
                if found.is_none() && same && pushed.len() <= ARGUMENTS && !returns(pushed) {
                    found = Some(n);
                }
                break;
            }
            let here =
                frame.at.place == at.place || (at.last && !other && frame.at.place < at.place);
            if here && frame.function == function && frame.at.caller == at.caller {
                found = Some(n);
                // For a tail call, which replaces the whole frame, it may be an outer one.
                if !at.last {
                    break;
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STACK: Range<usize> = 10_000..20_000;

    fn at(place: usize, caller: usize, code: usize) -> At {
        At {
            place,
            caller,
            code,
            last: false,
        }
    }

    fn last(place: usize, caller: usize) -> At {
        At {
            place,
            caller,
            code: caller,
            last: true,
        }
    }

    /// A thread inside of functions 1, 2, …, which are at these places; each is called from its own code.
    fn inside(places: &[usize]) -> ShadowStack {
        let mut shadow = ShadowStack::new(STACK);
        for (n, place) in places.iter().enumerate() {
            enter(&mut shadow, n + 1, at(*place, 100 + n, 200 + n));
        }
        shadow
    }

    fn enter(shadow: &mut ShadowStack, function: usize, at: At) {
        shadow.push(Frame {
            at,
            function,
            method: function as u32,
            throws: 0,
        });
    }

    #[test]
    fn callers_stay_and_deeper_frames_are_gone() {
        for (places, place, gone) in [
            (&[][..], 15_000, 0),
            (&[16_000], 15_000, 0),
            (&[16_000, 14_000], 15_000, 1),
            (&[16_000, 14_000, 13_000, 12_000], 15_000, 3),
            (&[16_000, 14_000, 13_000, 12_000], 12_500, 1),
            // A handler of signals on another stack, above and below.
            (&[16_000], 90_000, 0),
            (&[16_000], 1_000, 0),
            (&[16_000, 90_000, 80_000], 70_000, 0),
            (&[16_000, 90_000, 80_000], 85_000, 0),
            // The thread's own stack goes on: whatever was elsewhere is gone.
            (&[16_000, 90_000, 80_000], 15_000, 2),
            (&[16_000, 1_000], 15_000, 1),
            (&[16_000, 1_000, 15_000], 14_000, 0),
        ] {
            let shadow = inside(places);
            assert_eq!(shadow.stale(&at(place, 1, 2)), gone, "{places:?} {place}");
        }
    }

    #[test]
    fn a_jump_leaves_what_is_below() {
        for (places, to, left) in [
            (&[][..], 15_000, 0),
            (&[16_000, 14_000, 13_000], 14_500, 2),
            (&[16_000, 14_000, 13_000], 14_000, 1),
            (&[16_000, 14_000, 90_000, 80_000], 15_000, 3),
            (&[16_000, 14_000, 90_000, 80_000], 85_000, 0),
        ] {
            assert_eq!(inside(places).left_by_jump(to), left, "{places:?} {to}");
        }
    }

    #[test]
    fn arguments_may_be_left_on_the_stack() {
        let shadow = inside(&[16_000, 15_000, 14_000]);
        let between = |part: Range<usize>| {
            assert_eq!(part, 13_984..14_000);
            false
        };
        assert_eq!(shadow.find(3, &at(13_984, 102, 9), between), Some(0));
        // A recursion whose calls are not logged from here on.
        assert_eq!(shadow.find(3, &at(13_984, 102, 9), |_| true), None);
        // Another function, called from elsewhere, too far away.
        for (function, place, caller) in [(2, 13_984, 102), (3, 13_984, 9), (3, 12_900, 102)] {
            assert_eq!(
                shadow.find(function, &at(place, caller, 9), |_| false),
                None
            );
        }
        // What is inside was left by a jump.
        let mut shadow = inside(&[16_000, 15_000]);
        enter(&mut shadow, 3, at(14_900, 1, 2));
        assert_eq!(shadow.find(2, &at(14_984, 101, 9), |_| false), Some(1));
    }

    #[test]
    fn in_the_same_place_code_tells() {
        // Inlined into function 2: called from where that was, by other code.
        let shadow = inside(&[16_000, 15_000]);
        assert_eq!(shadow.stale(&at(15_000, 101, 7)), 0);
        // The same function again: it was left by a jump.
        assert_eq!(shadow.stale(&at(15_000, 101, 201)), 1);
        // Another function, called from elsewhere.
        assert_eq!(shadow.stale(&at(15_000, 7, 7)), 1);
        // Another one was inlined into a function that runs again: both are gone.
        let mut shadow = inside(&[16_000, 15_000]);
        enter(&mut shadow, 3, at(15_000, 101, 202));
        assert_eq!(shadow.stale(&at(15_000, 101, 201)), 2);
        assert_eq!(shadow.stale(&at(15_000, 101, 202)), 1);
        assert_eq!(shadow.stale(&at(15_000, 101, 203)), 0);
    }

    #[test]
    fn a_function_that_is_left_finds_its_own_frame() {
        let mut shadow = inside(&[16_000, 15_000, 14_000, 13_000]);
        for (function, probe, found) in [
            (4, at(13_000, 103, 9), Some(0)),
            // Left by a jump: those inside are gone.
            (2, at(15_000, 101, 9), Some(2)),
            (2, last(15_000, 101), Some(2)),
            // At its end, the function's frame is taken down already.
            (2, last(15_100, 101), Some(2)),
            (4, last(13_100, 103), Some(0)),
            // Not logged when it was entered: a recursion whose gate was shut, another function.
            (4, at(12_000, 103, 9), None),
            (3, at(13_000, 103, 9), None),
            (4, last(12_000, 103), None),
            (3, last(13_500, 103), None),
            (9, at(16_000, 100, 9), None),
        ] {
            assert_eq!(
                shadow.find(function, &probe, |_| true),
                found,
                "{function} {probe:?}"
            );
        }
        // A recursion that ends by tail calls: the innermost is lower than the others.
        let mut deep = ShadowStack::new(STACK);
        for place in [16_000, 15_000, 14_000] {
            enter(&mut deep, 1, at(place, 50, 60));
        }
        assert_eq!(deep.find(1, &last(14_100, 50), |_| true), Some(0));
        assert_eq!(deep.find(1, &last(15_100, 50), |_| true), Some(1));
        // On another stack, places mean nothing.
        enter(&mut shadow, 5, at(90_000, 1, 2));
        enter(&mut shadow, 6, at(95_000, 1, 3));
        assert_eq!(shadow.find(5, &at(90_000, 1, 9), |_| true), Some(1));
        assert_eq!(shadow.find(4, &at(13_000, 103, 9), |_| true), Some(2));
        while shadow.pop().is_some() {}
        assert_eq!((shadow.depth(), shadow.foreign), (0, 0));
    }
}
