//! Call graphs: what functions and single calls cost, without contexts (callgrind, gprof, pstats).

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
    /// Whether every call is between functions that are there, and sums of costs fit.
    ///
    /// # Errors
    /// The first thing that is wrong.
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
}
