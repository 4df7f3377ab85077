//! Crosstalk (Whodunit §6): who waits for whom, for each kind of lock.

use fulcrum_transactions::crosstalk::{
    Holder, Holders, LockKind, Pairs, Party, Paths, Sharing, Wait,
};
use fulcrum_transactions::{LockId, Synopsis, ThreadId};

const LOCK: LockId = LockId(0x1000);
const ADMIN_CONFIRM: u32 = 1;
const BEST_SELLERS: u32 = 2;
const SEARCH_RESULT: u32 = 3;
const NONE: u32 = 0;

/// A transaction at a call path with ten times its number.
fn party(context: u32) -> Party {
    Party {
        context: Synopsis::from_number(context),
        path: Synopsis::from_number(context * 10),
    }
}

/// An event at `LOCK`, with threads, transactions and nanoseconds.
#[derive(Clone, Copy)]
enum Event {
    Takes(u32, u32),
    Reads(u32, u32),
    Gives(u32),
    Signals(u32, u32),
    Waits(u32, u32, u64),
    WaitEnds(u32, u64),
    GivesUp(u32),
}
use Event::*;

/// Expects these waits: waiter, holder and nanoseconds.
#[track_caller]
fn check(kind: LockKind, events: &[Event], expect: &[(u32, Holder<u32>, u64)]) {
    let mut holders = Holders::default();
    let mut waits = Vec::new();
    for event in events {
        match *event {
            Takes(thread, it) => {
                holders.acquired(ThreadId(thread), LOCK, Sharing::Exclusive, party(it))
            }
            Reads(thread, it) => {
                holders.acquired(ThreadId(thread), LOCK, Sharing::Shared, party(it))
            }
            Gives(thread) => holders.released(ThreadId(thread), LOCK),
            Signals(thread, it) => holders.signalled(ThreadId(thread), LOCK, party(it)),
            Waits(thread, it, now) => holders.waits(ThreadId(thread), LOCK, kind, party(it), now),
            WaitEnds(thread, now) => waits.extend(holders.ends_wait(ThreadId(thread), LOCK, now)),
            GivesUp(thread) => holders.gives_up(ThreadId(thread), LOCK),
        }
    }
    for wait in &waits {
        assert_eq!((wait.lock, wait.kind), (LOCK, kind));
        assert_eq!(wait.paths.waiter.number(), wait.waiter.number() * 10);
        let holder = match wait.holder {
            Holder::Transaction(it) => Some(it.number() * 10),
            Holder::NoTransaction => Some(0),
            Holder::Unknown => None,
        };
        assert_eq!(wait.paths.holder.map(Synopsis::number), holder);
    }
    let found: Vec<_> = waits
        .into_iter()
        .map(|it| {
            (
                it.waiter.number(),
                it.holder.map(Synopsis::number),
                it.wait_ns,
            )
        })
        .collect();
    assert_eq!(found, expect);
}

const BEHIND_BEST_SELLERS: Holder<u32> = Holder::Transaction(BEST_SELLERS);

#[test]
fn a_wait_is_behind_who_holds_the_mutex() {
    let events = [
        Takes(1, BEST_SELLERS),
        Waits(2, ADMIN_CONFIRM, 100),
        Gives(1),
        Takes(2, ADMIN_CONFIRM),
        WaitEnds(2, 350),
        Waits(1, BEST_SELLERS, 400),
        Gives(2),
        WaitEnds(1, 410),
    ];
    let expect = [
        (ADMIN_CONFIRM, BEHIND_BEST_SELLERS, 250),
        (BEST_SELLERS, Holder::Transaction(ADMIN_CONFIRM), 10),
    ];
    check(LockKind::Mutex, &events, &expect);
}

#[test]
fn a_lock_that_is_taken_twice_is_given_back_twice() {
    let events = [
        Takes(1, BEST_SELLERS),
        Takes(1, BEST_SELLERS),
        Gives(1),
        Waits(2, ADMIN_CONFIRM, 0),
        WaitEnds(2, 5),
    ];
    check(
        LockKind::Monitor,
        &events,
        &[(ADMIN_CONFIRM, BEHIND_BEST_SELLERS, 5)],
    );
}

#[test]
fn a_writer_waits_for_the_reader_that_leaves_last() {
    for last in [BEST_SELLERS, SEARCH_RESULT] {
        let (first_out, last_out) = if last == BEST_SELLERS { (3, 1) } else { (1, 3) };
        let events = [
            Reads(1, BEST_SELLERS),
            Reads(3, SEARCH_RESULT),
            Waits(2, ADMIN_CONFIRM, 0),
            Gives(first_out),
            Gives(last_out),
            Takes(2, ADMIN_CONFIRM),
            WaitEnds(2, 9),
        ];
        check(
            LockKind::ReadWrite,
            &events,
            &[(ADMIN_CONFIRM, Holder::Transaction(last), 9)],
        );
    }
}

#[test]
fn the_last_signaller_holds_a_condition() {
    let events = [
        Signals(1, ADMIN_CONFIRM),
        Waits(2, ADMIN_CONFIRM, 0),
        Signals(3, SEARCH_RESULT),
        Signals(1, BEST_SELLERS),
        WaitEnds(2, 7),
    ];
    check(
        LockKind::Condition,
        &events,
        &[(ADMIN_CONFIRM, BEHIND_BEST_SELLERS, 7)],
    );
    // A signal from before the wait has no effect on it.
    let unsignalled = [
        Signals(1, BEST_SELLERS),
        Waits(2, ADMIN_CONFIRM, 0),
        WaitEnds(2, 7),
    ];
    check(
        LockKind::Condition,
        &unsignalled,
        &[(ADMIN_CONFIRM, Holder::Unknown, 7)],
    );
}

#[test]
fn who_holds_unseen_is_unknown_until_somebody_is_seen() {
    let unseen = [
        Waits(2, ADMIN_CONFIRM, 0),
        Takes(2, ADMIN_CONFIRM),
        WaitEnds(2, 7),
    ];
    check(
        LockKind::Futex,
        &unseen,
        &[(ADMIN_CONFIRM, Holder::Unknown, 7)],
    );
    let overtaken = [
        Waits(2, ADMIN_CONFIRM, 0),
        Takes(1, BEST_SELLERS),
        Gives(1),
        WaitEnds(2, 7),
    ];
    check(
        LockKind::Futex,
        &overtaken,
        &[(ADMIN_CONFIRM, BEHIND_BEST_SELLERS, 7)],
    );
    let background = [Takes(1, NONE), Waits(2, ADMIN_CONFIRM, 0), WaitEnds(2, 7)];
    check(
        LockKind::Futex,
        &background,
        &[(ADMIN_CONFIRM, Holder::NoTransaction, 7)],
    );
}

#[test]
fn idle_threads_and_waits_that_time_out_are_no_crosstalk() {
    let idle = [Waits(2, NONE, 0), Signals(1, BEST_SELLERS), WaitEnds(2, 7)];
    check(LockKind::Condition, &idle, &[]);
    let over = [
        Takes(1, BEST_SELLERS),
        Waits(2, ADMIN_CONFIRM, 0),
        GivesUp(2),
        WaitEnds(2, 7),
    ];
    check(LockKind::Mutex, &over, &[]);
}

#[test]
fn an_unlock_or_an_end_of_a_wait_that_was_not_seen_is_made_up_for() {
    let unlocked_unseen = [
        Takes(1, BEST_SELLERS),
        Takes(3, SEARCH_RESULT),
        Waits(2, ADMIN_CONFIRM, 0),
        Gives(3),
        WaitEnds(2, 7),
    ];
    let behind_search = Holder::Transaction(SEARCH_RESULT);
    check(
        LockKind::Futex,
        &unlocked_unseen,
        &[(ADMIN_CONFIRM, behind_search, 7)],
    );
    let ended_unseen = [
        Takes(1, BEST_SELLERS),
        Waits(2, ADMIN_CONFIRM, 0),
        Waits(2, ADMIN_CONFIRM, 100),
        WaitEnds(2, 107),
        WaitEnds(2, 108),
    ];
    check(
        LockKind::Futex,
        &ended_unseen,
        &[(ADMIN_CONFIRM, BEHIND_BEST_SELLERS, 7)],
    );
}

#[test]
fn a_clock_that_goes_back_gives_no_negative_wait() {
    let events = [
        Takes(1, BEST_SELLERS),
        Waits(2, ADMIN_CONFIRM, 10),
        WaitEnds(2, 5),
    ];
    check(
        LockKind::Mutex,
        &events,
        &[(ADMIN_CONFIRM, BEHIND_BEST_SELLERS, 0)],
    );
}

#[test]
fn what_is_held_and_waited_for_at_the_end_is_told() {
    let mut holders = Holders::default();
    holders.acquired(ThreadId(1), LOCK, Sharing::Exclusive, party(BEST_SELLERS));
    holders.acquired(ThreadId(3), LockId(5), Sharing::Exclusive, party(NONE));
    holders.released(ThreadId(3), LockId(5));
    holders.waits(ThreadId(2), LOCK, LockKind::Mutex, party(ADMIN_CONFIRM), 0);
    let left = holders.finish();
    assert_eq!(left.held, [(LOCK, party(BEST_SELLERS).context)]);
    assert_eq!((left.waits, left.left_out), (1, 0));
}

#[test]
fn locks_beyond_the_limit_are_counted() {
    let mut holders = Holders::with_limit(1);
    let take = |holders: &mut Holders, lock| {
        holders.acquired(
            ThreadId(1),
            LockId(lock),
            Sharing::Exclusive,
            party(BEST_SELLERS),
        );
    };
    take(&mut holders, 1);
    take(&mut holders, 2);
    holders.released(ThreadId(1), LockId(1));
    take(&mut holders, 3);
    let left = holders.finish();
    assert_eq!(
        (left.held.len(), left.held[0].0, left.left_out),
        (1, LockId(3), 1)
    );
}

/// §8.4 with a table lock, as in the findings: AdminConfirm writes after 25 BestSellers of 186 ms each.
#[test]
fn admin_confirm_waits_behind_best_sellers() {
    const MS: u64 = 1_000_000;
    let mut holders = Holders::default();
    let mut pairs: Pairs<Synopsis, LockId, Synopsis> = Pairs::default();
    let mut now = 0;
    for _ in 0..25 {
        let (reader, writer) = (ThreadId(1), ThreadId(2));
        holders.acquired(reader, LOCK, Sharing::Shared, party(BEST_SELLERS));
        holders.waits(writer, LOCK, LockKind::ReadWrite, party(ADMIN_CONFIRM), now);
        now += 186 * MS;
        holders.released(reader, LOCK);
        holders.acquired(writer, LOCK, Sharing::Exclusive, party(ADMIN_CONFIRM));
        let wait: Wait<_, _, _> = holders.ends_wait(writer, LOCK, now).unwrap();
        pairs.add(wait);
        // A reader that arrives meanwhile waits briefly.
        holders.waits(reader, LOCK, LockKind::ReadWrite, party(BEST_SELLERS), now);
        now += MS;
        holders.released(writer, LOCK);
        pairs.add(holders.ends_wait(reader, LOCK, now).unwrap());
    }
    let ranked = pairs.ranked();
    assert_eq!(ranked.len(), 2);
    let first = &ranked[0];
    assert_eq!(first.waiter, party(ADMIN_CONFIRM).context);
    assert_eq!(
        first.holder,
        Holder::Transaction(party(BEST_SELLERS).context)
    );
    assert_eq!((first.count, first.wait_ns), (25, 25 * 186 * MS));
    assert_eq!(first.mean_ns(), 186e6);
    let paths = Paths {
        waiter: party(ADMIN_CONFIRM).path,
        holder: Some(party(BEST_SELLERS).path),
    };
    assert_eq!(first.paths, [(paths, 25 * 186 * MS)]);
    assert_eq!((ranked[1].count, ranked[1].wait_ns), (25, 25 * MS));
}
