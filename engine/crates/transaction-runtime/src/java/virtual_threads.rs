//! Virtual threads by number: their scopes while no carrier runs them.

use fulcrum_preload::quiet::Shared;

use super::scopes::{Kind, Scope};

/// A virtual thread.
#[derive(Default)]
pub(crate) struct Waiting {
    /// Outermost first. Empty while a carrier runs it.
    pub(crate) scopes: Vec<Scope>,
    /// Whether it has run.
    pub(crate) has_run: bool,
}

/// All virtual threads that have not ended.
struct All {
    threads: Vec<Waiting>,
    free: Vec<u64>,
}

static ALL: Shared<All> = Shared::new(All {
    threads: Vec::new(),
    free: Vec::new(),
});

impl All {
    fn of(&mut self, number: u64) -> Option<&mut Waiting> {
        let at = usize::try_from(number.checked_sub(1)?).ok()?;
        self.threads.get_mut(at)
    }
}

/// A new virtual thread, which works for this item. Returns its number, from 1.
pub(crate) fn begin(item: u64) -> Option<u64> {
    let mut all = ALL.lock_unless_left()?;
    let number = match all.free.pop() {
        Some(number) => number,
        None => {
            all.threads.push(Waiting::default());
            all.threads.len() as u64
        }
    };
    let scopes = vec![Scope {
        kind: Kind::Virtual,
        recorded: true,
        item,
        number,
    }];
    let thread = all.of(number)?;
    *thread = Waiting {
        scopes,
        has_run: false,
    };
    Some(number)
}

/// A carrier runs it. Returns its scopes, or `None` if another carrier has them.
pub(crate) fn carry(number: u64) -> Option<Waiting> {
    let mut all = ALL.lock_unless_left()?;
    let thread = all.of(number)?;
    if thread.scopes.is_empty() {
        return None;
    }
    Some(Waiting {
        scopes: core::mem::take(&mut thread.scopes),
        has_run: core::mem::replace(&mut thread.has_run, true),
    })
}

/// It waits for a carrier.
pub(crate) fn wait(number: u64, scopes: Vec<Scope>) {
    if let Some(mut all) = ALL.lock_unless_left()
        && let Some(thread) = all.of(number)
    {
        thread.scopes = scopes;
    }
}

/// It has ended.
pub(crate) fn end(number: u64) {
    if let Some(mut all) = ALL.lock_unless_left()
        && let Some(thread) = all.of(number)
    {
        *thread = Waiting::default();
        all.free.push(number);
    }
}
