//! Attributes cost to callers in a call graph, by gprof's assumption that a call costs the same whoever makes it.
//!
//! A function's own cost is divided among the calls to it, in proportion to their cum. Recursive calls, which close a cycle, get
//! nothing, because their cost has already been attributed to another call.

use std::collections::BTreeMap;

/// The functions and calls, by position.
#[derive(Debug)]
pub(super) struct Graph {
    pub(crate) functions: Vec<Function>,
    pub(crate) calls: Vec<Call>,
    /// The non-recursive calls. Calls to a function come before the calls that it makes.
    order: Vec<usize>,
}

#[derive(Debug)]
pub(super) struct Function {
    pub(crate) base: i64,
    pub(crate) cum: i64,
}

#[derive(Debug)]
pub(super) struct Call {
    pub(crate) caller: usize,
    pub(crate) callee: usize,
    pub(crate) base: i64,
    pub(crate) cum: i64,
    /// The part of the callee's own cost that belongs to this call, 0 to 1.
    share: f64,
}

/// A set of functions and calls.
#[derive(Clone, Debug)]
pub(super) struct Taken {
    pub(crate) functions: Vec<bool>,
    pub(crate) calls: Vec<bool>,
}

impl Graph {
    /// `functions` have base and cum, by position; `calls` have the base, if known, and the cum, by caller and callee.
    pub(crate) fn new(
        functions: Vec<(i64, i64)>,
        calls: BTreeMap<(usize, usize), (Option<i64>, i64)>,
    ) -> Self {
        let functions: Vec<_> = functions
            .into_iter()
            .map(|(base, cum)| Function { base, cum })
            .collect();
        let mut arriving = vec![0_i64; functions.len()];
        for (&(_, callee), &(_, cum)) in &calls {
            arriving[callee] += cum;
        }
        let call = |((caller, callee), (base, cum)): ((usize, usize), (Option<i64>, i64))| {
            let whole = arriving[callee].max(functions[callee].cum);
            let share = if whole > 0 {
                cum as f64 / whole as f64
            } else {
                0.0
            };
            Call {
                caller,
                callee,
                base: base.unwrap_or((functions[callee].base as f64 * share).round() as i64),
                cum,
                share: share.clamp(0.0, 1.0),
            }
        };
        let calls: Vec<_> = calls.into_iter().map(call).collect();
        let order = order(functions.len(), &calls);
        Graph {
            functions,
            calls,
            order,
        }
    }

    /// The empty set.
    pub(crate) fn nothing(&self) -> Taken {
        Taken {
            functions: vec![false; self.functions.len()],
            calls: vec![false; self.calls.len()],
        }
    }

    /// The base of a set. A function's base contains the bases of the calls to it.
    pub(crate) fn base(&self, taken: &Taken) -> i64 {
        let functions = self.functions.iter().zip(&taken.functions);
        let calls = self.calls.iter().zip(&taken.calls);
        functions
            .filter(|it| *it.1)
            .map(|it| it.0.base)
            .sum::<i64>()
            + calls
                .filter(|it| *it.1 && !taken.functions[it.0.callee])
                .map(|it| it.0.base)
                .sum::<i64>()
    }

    /// The estimated cum of a set.
    pub(crate) fn cum(&self, taken: &Taken) -> f64 {
        let parts = self.parts(taken);
        let own = self.functions.iter().zip(parts);
        own.map(|(function, part)| function.base as f64 * part)
            .sum()
    }

    /// The part of each function's own cost that is in or below a set, 0 to 1.
    fn parts(&self, taken: &Taken) -> Vec<f64> {
        let mut parts: Vec<f64> = taken
            .functions
            .iter()
            .map(|&it| f64::from(u8::from(it)))
            .collect();
        for &n in &self.order {
            let call = &self.calls[n];
            if !taken.functions[call.callee] {
                let part = if taken.calls[n] {
                    1.0
                } else {
                    parts[call.caller]
                };
                parts[call.callee] = (parts[call.callee] + part * call.share).min(1.0);
            }
        }
        parts
    }
}

/// The order of calls: depth first from the functions that no one calls, then from the rest.
fn order(functions: usize, calls: &[Call]) -> Vec<usize> {
    let mut out = vec![Vec::new(); functions];
    let mut called = vec![false; functions];
    for (n, call) in calls.iter().enumerate() {
        out[call.caller].push(n);
        called[call.callee] |= call.caller != call.callee;
    }
    let mut place = vec![None; functions];
    let mut entered = vec![false; functions];
    let mut finished = 0;
    let roots = (0..functions).filter(|&f| !called[f]);
    for root in roots.chain(0..functions) {
        let mut open = Vec::new();
        if !std::mem::replace(&mut entered[root], true) {
            open.push((root, 0));
        }
        while let Some((function, next)) = open.last_mut() {
            match out[*function].get(*next) {
                Some(&n) => {
                    *next += 1;
                    let callee = calls[n].callee;
                    if !std::mem::replace(&mut entered[callee], true) {
                        open.push((callee, 0));
                    }
                }
                None => {
                    place[*function] = Some(functions - finished);
                    finished += 1;
                    open.pop();
                }
            }
        }
    }
    // A call that leads backwards in the order closes a cycle.
    let leads_on = |n: &usize| place[calls[*n].caller] < place[calls[*n].callee];
    let mut order: Vec<usize> = (0..calls.len()).filter(leads_on).collect();
    order.sort_by_key(|&n| place[calls[n].caller]);
    order
}

/// The faded cost of functions and calls, without what is taken.
pub(super) struct GraphNearness<'a> {
    graph: &'a Graph,
    fade: f64,
    taken: Taken,
    near: Vec<f64>,
    /// The part of the callee's remaining cost that belongs to each call: 0 for calls that are taken.
    carries: Vec<f64>,
}

impl<'a> GraphNearness<'a> {
    pub(crate) fn new(graph: &'a Graph, fade: f64) -> Self {
        let mut near = GraphNearness {
            graph,
            fade,
            taken: graph.nothing(),
            near: Vec::new(),
            carries: Vec::new(),
        };
        near.take(|_| ());
        near
    }

    pub(crate) fn set_fade(&mut self, fade: f64) {
        self.fade = fade;
        self.take(|_| ());
    }

    pub(crate) fn of_function(&self, function: usize) -> f64 {
        self.near[function]
    }

    pub(crate) fn of_call(&self, call: usize) -> f64 {
        self.near[self.graph.calls[call].callee] * self.carries[call]
    }

    /// The cum that a change of the set would add.
    pub(crate) fn left(&self, change: impl FnOnce(&mut Taken)) -> i64 {
        let mut with = self.taken.clone();
        change(&mut with);
        (self.graph.cum(&with) - self.graph.cum(&self.taken)).round() as i64
    }

    pub(crate) fn take(&mut self, change: impl FnOnce(&mut Taken)) {
        change(&mut self.taken);
        let parts = self.graph.parts(&self.taken);
        let own = self.graph.functions.iter().zip(&parts);
        self.near = own
            .map(|(it, part)| it.base as f64 * (1.0 - part))
            .collect();
        let carries = |(n, call): (usize, &Call)| {
            let (left, covered) = (1.0 - parts[call.callee], parts[call.caller]);
            match self.taken.calls[n] || left <= 0.0 {
                true => 0.0,
                false => (call.share * (1.0 - covered) / left).min(1.0),
            }
        };
        self.carries = self.graph.calls.iter().enumerate().map(carries).collect();
        for &n in self.graph.order.iter().rev() {
            let call = &self.graph.calls[n];
            self.near[call.caller] += self.fade * self.carries[n] * self.near[call.callee];
        }
    }
}
