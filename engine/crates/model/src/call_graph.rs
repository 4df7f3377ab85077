//! Call graphs: what functions and single calls cost, without contexts (callgrind, gprof, pstats).

use std::collections::HashMap;
use std::fmt;

use crate::call_tree::{MAX_MAGNITUDE, ValueType};

/// A call graph for one value type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallGraph {
    /// What the costs count.
    pub value_type: ValueType,
    /// The functions. Names need not be unique.
    pub functions: Vec<GraphFunction>,
    /// The calls between them.
    pub calls: Vec<GraphCall>,
}

/// A function of a call graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphFunction {
    /// Its name.
    pub name: String,
    /// Its own cost.
    pub base: i64,
    /// Its own cost and that of everything that it calls, as the profiler counts recursion.
    pub cum: i64,
}

/// All calls from one function to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphCall {
    /// Position of the caller among the functions.
    pub caller: u32,
    /// Position of the callee.
    pub callee: u32,
    /// The callee's own cost in these calls. `None` when the format does not tell it (callgrind).
    pub base: Option<i64>,
    /// The callee's own cost in these calls and that of everything that it calls.
    pub cum: i64,
}

/// Why a call graph cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallGraphError {
    /// A call of a function that is not there.
    UnknownFunction {
        /// Position of the call.
        call: usize,
    },
    /// The costs add up to more than [`MAX_MAGNITUDE`].
    TooMuchCost,
}

impl fmt::Display for CallGraphError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallGraphError::UnknownFunction { call } => {
                write!(
                    f,
                    "call number {call} names a function that is not in the call graph"
                )
            }
            CallGraphError::TooMuchCost => write!(
                f,
                "the costs add up to more than 64 bits can hold: use a larger unit"
            ),
        }
    }
}

impl std::error::Error for CallGraphError {}

impl CallGraph {
    /// Checks that every call is between functions of the graph, and that sums of costs fit.
    ///
    /// # Errors
    /// The first problem.
    pub fn check(&self) -> Result<(), CallGraphError> {
        let known = |n: u32| (n as usize) < self.functions.len();
        let wrong = |call: &GraphCall| !known(call.caller) || !known(call.callee);
        if let Some(call) = self.calls.iter().position(wrong) {
            return Err(CallGraphError::UnknownFunction { call });
        }
        let functions = self.functions.iter().flat_map(|it| [it.base, it.cum]);
        let calls = self
            .calls
            .iter()
            .flat_map(|it| [it.base.unwrap_or(0), it.cum]);
        let sum: u128 = functions
            .chain(calls)
            .map(|it| u128::from(it.unsigned_abs()))
            .sum();
        if sum > MAX_MAGNITUDE as u128 {
            return Err(CallGraphError::TooMuchCost);
        }
        Ok(())
    }
}

impl CallGraph {
    /// The graph with some functions joined: function `n` becomes `to[n]`, a position in `names`.
    ///
    /// A joined function costs what its members cost together, minus what one of them cost inside another: in calls between
    /// them, and in calls by way of other functions. A graph does not say how much the latter was. But it does say that a
    /// function costs no more than its cycle with everything that the cycle calls, and a call no more than its callee.
    ///
    /// # Panics
    /// When a position is not in `names`, or [`CallGraph::check`] finds something wrong.
    pub fn joined(self, to: &[u32], names: Vec<String>) -> CallGraph {
        let mut members = vec![0_u32; names.len()];
        let function = |name| GraphFunction {
            name,
            base: 0,
            cum: 0,
        };
        let mut functions: Vec<GraphFunction> = names.into_iter().map(function).collect();
        for (function, &to) in self.functions.iter().zip(to) {
            members[to as usize] += 1;
            let sum = &mut functions[to as usize];
            sum.base += function.base;
            sum.cum += function.cum;
        }
        for call in &self.calls {
            let [caller, callee] = [call.caller, call.callee].map(|it| to[it as usize]);
            if caller == callee && call.caller != call.callee {
                functions[caller as usize].cum -= call.cum;
            }
        }
        let mut calls = joined_calls(&self.calls, to);
        let cycles = Cycles::new(
            functions.len(),
            calls.iter().map(|it| (it.caller, it.callee)),
        );
        let mut most = vec![0; cycles.count()];
        for (row, function) in (0..).zip(&functions) {
            most[cycles.of(row)] += function.base;
        }
        for call in calls
            .iter()
            .filter(|it| cycles.leaves(it.caller, it.callee))
        {
            most[cycles.of(call.caller)] += call.cum;
        }
        for (row, function) in (0..).zip(&mut functions) {
            if members[row as usize] > 1 && cycles.holds_several(row) {
                function.cum = nearer_zero(function.cum, most[cycles.of(row)]);
            }
        }
        // Calls inside a cycle contain each other several times, and for a call into a cycle gprof gives the cost of all of it.
        for call in &mut calls {
            let callee = &functions[call.callee as usize];
            call.cum = nearer_zero(call.cum, callee.cum);
            call.base = call.base.map(|base| nearer_zero(base, callee.base));
        }
        CallGraph {
            value_type: self.value_type,
            functions,
            calls,
        }
    }
}

/// The calls between joined functions, each pair of caller and callee once.
fn joined_calls(all: &[GraphCall], to: &[u32]) -> Vec<GraphCall> {
    let mut calls: Vec<GraphCall> = Vec::new();
    let mut pairs: HashMap<(u32, u32), usize> = HashMap::new();
    for call in all {
        let [caller, callee] = [call.caller, call.callee].map(|it| to[it as usize]);
        let row = *pairs.entry((caller, callee)).or_insert(calls.len());
        match calls.get_mut(row) {
            Some(sum) => {
                sum.cum += call.cum;
                sum.base = sum.base.zip(call.base).map(|(a, b)| a + b);
            }
            None => calls.push(GraphCall {
                caller,
                callee,
                ..*call
            }),
        }
    }
    calls
}

/// The cost that is nearer to zero. Negative costs count what was given back.
pub fn nearer_zero(cost: i64, most: i64) -> i64 {
    if cost.unsigned_abs() > most.unsigned_abs() {
        most
    } else {
        cost
    }
}

/// Which functions call one another, each directly or by way of others.
#[derive(Clone, Debug)]
pub struct Cycles {
    /// The cycle of each function; most have one of their own.
    of: Vec<u32>,
    /// How many functions each cycle has.
    sizes: Vec<u32>,
}

impl Cycles {
    /// Of functions by position, and calls by caller and callee: Tarjan's strongly connected components.
    ///
    /// # Panics
    /// When a call is not between these functions.
    pub fn new(functions: usize, calls: impl Iterator<Item = (u32, u32)>) -> Cycles {
        const NONE: u32 = u32::MAX;
        let mut out: Vec<Vec<u32>> = vec![Vec::new(); functions];
        for (caller, callee) in calls {
            out[caller as usize].push(callee);
        }
        let mut cycles = Cycles {
            of: vec![NONE; functions],
            sizes: Vec::new(),
        };
        // When each function was met, and the earliest one that it leads back to.
        let (mut met, mut back) = (vec![NONE; functions], vec![NONE; functions]);
        let (mut count, mut waiting) = (0, Vec::new());
        for root in 0..functions as u32 {
            // The functions on the way, each with how many of its calls were followed.
            let mut way = if met[root as usize] == NONE {
                vec![(root, 0)]
            } else {
                Vec::new()
            };
            while let Some((function, followed)) = way.last_mut() {
                let at = *function as usize;
                if *followed == 0 {
                    (met[at], back[at]) = (count, count);
                    count += 1;
                    waiting.push(*function);
                }
                let next = out[at].get(*followed).copied();
                *followed += 1;
                match next.map(|it| (it, it as usize)) {
                    Some((callee, to)) if met[to] == NONE => way.push((callee, 0)),
                    Some((_, to)) if cycles.of[to] == NONE => back[at] = back[at].min(met[to]),
                    Some(_) => {}
                    None => {
                        way.pop();
                        if let Some(&(caller, _)) = way.last() {
                            back[caller as usize] = back[caller as usize].min(back[at]);
                        }
                        if back[at] == met[at] {
                            cycles.close(at as u32, &mut waiting);
                        }
                    }
                }
            }
        }
        cycles
    }

    /// Everything on the stack since this function was visited is one cycle.
    fn close(&mut self, first: u32, waiting: &mut Vec<u32>) {
        let cycle = self.sizes.len() as u32;
        self.sizes.push(0);
        while let Some(function) = waiting.pop() {
            self.of[function as usize] = cycle;
            self.sizes[cycle as usize] += 1;
            if function == first {
                break;
            }
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.sizes.len()
    }

    /// The cycle of a function, from 0.
    pub fn of(&self, function: u32) -> usize {
        self.of[function as usize] as usize
    }

    /// Whether others are in the function's cycle.
    pub fn holds_several(&self, function: u32) -> bool {
        self.sizes[self.of(function)] > 1
    }

    /// Whether a call is of a function in another cycle.
    pub fn leaves(&self, caller: u32, callee: u32) -> bool {
        self.of(caller) != self.of(callee)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(cost: i64, callee: u32) -> CallGraph {
        let function = |name: &str| GraphFunction {
            name: name.into(),
            base: cost,
            cum: cost,
        };
        CallGraph {
            value_type: ValueType::new("cpu", "ns"),
            functions: vec![function("f"), function("g")],
            calls: vec![GraphCall {
                caller: 0,
                callee,
                base: None,
                cum: cost,
            }],
        }
    }

    #[test]
    fn dangling_calls_and_overflowing_costs_are_found() {
        assert_eq!(graph(1, 1).check(), Ok(()));
        assert_eq!(
            graph(1, 2).check(),
            Err(CallGraphError::UnknownFunction { call: 0 })
        );
        assert_eq!(graph(i64::MIN, 1).check(), Err(CallGraphError::TooMuchCost));
    }

    #[test]
    fn cycles_are_those_who_call_one_another() {
        let calls = [
            (0, 1),
            (1, 2),
            (2, 1),
            (2, 3),
            (3, 3),
            (4, 0),
            (5, 6),
            (6, 7),
            (7, 5),
            (7, 1),
        ];
        let cycles = Cycles::new(9, calls.into_iter());
        let same = |a: u32, b: u32| !cycles.leaves(a, b);
        assert!(same(1, 2) && same(5, 6) && same(6, 7));
        assert!(!same(0, 1) && !same(2, 3) && !same(5, 1) && !same(4, 0));
        let several: Vec<u32> = (0..9).filter(|&it| cycles.holds_several(it)).collect();
        assert_eq!(several, [1, 2, 5, 6, 7]);
        assert_eq!(cycles.count(), 6);
        // A chain deeper than any stack.
        let deep = 1_000_000;
        let ring = (0..deep).map(|it| (it, (it + 1) % deep));
        assert_eq!(Cycles::new(deep as usize, ring).count(), 1);
    }

    #[test]
    fn what_is_made_one_costs_no_more_than_its_cycle() {
        let function = |name: &str, base, cum| GraphFunction {
            name: name.into(),
            base,
            cum,
        };
        let call = |caller, callee, cum| GraphCall {
            caller,
            callee,
            base: None,
            cum,
        };
        // main calls even, that odd, that even'2; the second level costs 60 of the first one's 90.
        let graph = CallGraph {
            value_type: ValueType::new("cpu", "ns"),
            functions: vec![
                function("main", 10, 100),
                function("even", 20, 90),
                function("odd", 10, 70),
                function("even'2", 60, 60),
            ],
            calls: vec![call(0, 1, 90), call(1, 2, 70), call(2, 3, 60)],
        };
        let names = ["main", "even", "odd"].map(str::to_owned).to_vec();
        let joined = graph.clone().joined(&[0, 1, 2, 1], names);
        let cums: Vec<i64> = joined.functions.iter().map(|it| it.cum).collect();
        assert_eq!(cums, [100, 90, 70]);
        // One inside the other: what it cost there counts once.
        let names = ["main", "even", "even'2"].map(str::to_owned).to_vec();
        let joined = graph.joined(&[0, 1, 1, 2], names);
        let cums: Vec<i64> = joined.functions.iter().map(|it| it.cum).collect();
        assert_eq!(cums, [100, 90, 60]);
        // Nor does a call cost more than its callee.
        let mut graph = joined;
        graph.calls.push(call(0, 2, 500));
        let names: Vec<String> = graph.functions.iter().map(|it| it.name.clone()).collect();
        let joined = graph.joined(&[0, 1, 2], names);
        assert_eq!(joined.calls.last().map(|it| it.cum), Some(60));
    }
}
