//! The profile interface for call graphs: paths of length 1 and 2.
//!
//! - `[f]`: base and cum as the profiler reports them.
//! - `[f; g]`: what `g` cost when `f` called it. The own cost of `f` is not included, because a call graph does not say in which
//!   of its calls `f` called `g`. If the format has no base for a call, `g`'s base is divided in proportion to the calls' cums.
//!
//! Total bases are as exact as the bases. The total cum of several summaries is an estimate by gprof's assumption that a function
//! costs the same whoever calls it ([`attribution`]), and never less than the reported cum of any of them. The cum of one summary
//! is the reported one.

mod attribution;

use fulcrum_model::CallGraph;
use fulcrum_model::call_graph::{CallGraphError, GraphCall};

use crate::profile::end::End;
use crate::profile::interface::{ProfileInterface, Refusal};
use crate::profile::nearness::Nearness;
use attribution::{Graph, GraphNearness, Taken};

/// The length of the longest paths in a call graph.
const LONGEST: usize = 2;

/// A call graph. Functions with the same name are one function.
#[derive(Debug)]
pub struct CallGraphProfile {
    /// Sorted.
    names: Vec<String>,
    graph: Graph,
    /// Whether some costs are below 0.
    signed: bool,
}

/// A summary of a [`CallGraphProfile`]: a function or a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallGraphSummary(Part);

/// Positions in the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Function(usize),
    Call(usize),
}

impl CallGraphProfile {
    /// Prepares a call graph for the search.
    ///
    /// # Errors
    /// When [`CallGraph::check`] fails.
    pub fn new(graph: &CallGraph) -> Result<Self, CallGraphError> {
        graph.check()?;
        let mut names: Vec<String> = graph.functions.iter().map(|it| it.name.clone()).collect();
        names.sort_unstable();
        names.dedup();
        let position = |function: &str| {
            let found = names.binary_search_by(|it| it.as_str().cmp(function));
            found.expect("every function's name is in the list") as u32
        };
        let to: Vec<u32> = graph
            .functions
            .iter()
            .map(|it| position(&it.name))
            .collect();
        let graph = graph.clone().joined(&to, names.clone());
        let signed = graph.functions.iter().any(|it| it.base < 0 || it.cum < 0);
        let functions = graph.functions.iter().map(|it| (it.base, it.cum)).collect();
        let call = |it: &GraphCall| ((it.caller as usize, it.callee as usize), (it.base, it.cum));
        Ok(CallGraphProfile {
            graph: Graph::new(functions, graph.calls.iter().map(call).collect()),
            names,
            signed,
        })
    }

    /// The refusal to extend the path of a call.
    fn too_long() -> Refusal {
        Refusal::TooLong {
            length: LONGEST + 1,
            longest: LONGEST,
            why: "a call graph keeps what each call cost, but not from where its caller was called. Record call stacks \
                  to search longer paths.",
        }
    }

    /// The calls that extend a function's path, each with the added name.
    fn extensions(&self, s: &CallGraphSummary, end: End) -> Vec<(&str, CallGraphSummary)> {
        let Part::Function(function) = s.0 else {
            return Vec::new();
        };
        let calls = self.graph.calls.iter().enumerate();
        calls
            .filter_map(|(n, call)| {
                let (here, there) = match end {
                    End::Top => (call.callee, call.caller),
                    End::Bottom => (call.caller, call.callee),
                };
                let summary = CallGraphSummary(Part::Call(n));
                (here == function).then(|| (self.names[there].as_str(), summary))
            })
            .collect()
    }

    fn extend(
        &self,
        s: &CallGraphSummary,
        name: &str,
        end: End,
    ) -> Result<CallGraphSummary, Refusal> {
        if let Part::Call(_) = s.0 {
            return Err(CallGraphProfile::too_long());
        }
        let mut all = self.extensions(s, end).into_iter();
        let found = all.find(|it| it.0 == name).map(|it| it.1);
        found.ok_or_else(|| end.absent(self.path_of(s), name))
    }

    fn taken(&self, summaries: &[CallGraphSummary]) -> Taken {
        let mut taken = self.graph.nothing();
        for s in summaries {
            choose(&mut taken, *s);
        }
        taken
    }
}

fn choose(taken: &mut Taken, s: CallGraphSummary) {
    match s.0 {
        Part::Function(n) => taken.functions[n] = true,
        Part::Call(n) => taken.calls[n] = true,
    }
}

impl ProfileInterface for CallGraphProfile {
    type Summary = CallGraphSummary;

    fn path_of(&self, s: &CallGraphSummary) -> Vec<&str> {
        let name = |n: usize| self.names[n].as_str();
        match s.0 {
            Part::Function(n) => vec![name(n)],
            Part::Call(n) => {
                let call = &self.graph.calls[n];
                vec![name(call.caller), name(call.callee)]
            }
        }
    }

    fn initial_summaries(&self) -> Vec<CallGraphSummary> {
        let all = 0..self.names.len();
        all.map(|n| CallGraphSummary(Part::Function(n))).collect()
    }

    fn top_extensions(&self, s: &CallGraphSummary) -> Vec<&str> {
        self.extensions(s, End::Top).iter().map(|it| it.0).collect()
    }

    fn bottom_extensions(&self, s: &CallGraphSummary) -> Vec<&str> {
        self.extensions(s, End::Bottom)
            .iter()
            .map(|it| it.0)
            .collect()
    }

    fn extend_top(&self, s: &CallGraphSummary, name: &str) -> Result<CallGraphSummary, Refusal> {
        self.extend(s, name, End::Top)
    }

    fn extend_bottom(&self, s: &CallGraphSummary, name: &str) -> Result<CallGraphSummary, Refusal> {
        self.extend(s, name, End::Bottom)
    }

    fn trim_top(&self, s: &CallGraphSummary) -> Option<CallGraphSummary> {
        match s.0 {
            Part::Function(_) => None,
            Part::Call(n) => Some(CallGraphSummary(Part::Function(self.graph.calls[n].callee))),
        }
    }

    fn trim_bottom(&self, s: &CallGraphSummary) -> Option<CallGraphSummary> {
        match s.0 {
            Part::Function(_) => None,
            Part::Call(n) => Some(CallGraphSummary(Part::Function(self.graph.calls[n].caller))),
        }
    }

    fn base_of(&self, s: &CallGraphSummary) -> i64 {
        match s.0 {
            Part::Function(n) => self.graph.functions[n].base,
            Part::Call(n) => self.graph.calls[n].base,
        }
    }

    fn cum_of(&self, s: &CallGraphSummary) -> i64 {
        match s.0 {
            Part::Function(n) => self.graph.functions[n].cum,
            Part::Call(n) => self.graph.calls[n].cum,
        }
    }

    fn total_base_of(&self, summaries: &[CallGraphSummary]) -> i64 {
        self.graph.base(&self.taken(summaries))
    }

    fn total_cum_of(&self, summaries: &[CallGraphSummary]) -> i64 {
        let Some((first, rest)) = summaries.split_first() else {
            return 0;
        };
        if rest.iter().all(|s| s == first) {
            return self.cum_of(first);
        }
        let estimate = self.graph.cum(&self.taken(summaries)).round() as i64;
        if self.signed {
            return estimate;
        }
        // The reported cum of one may be more than the estimate for all: some profilers count more for a function than all
        // functions cost themselves. Together, summaries cost no less than each of them.
        let reported = summaries.iter().map(|s| self.cum_of(s));
        reported.fold(estimate, i64::max)
    }

    fn limit_of(&self, s: &CallGraphSummary) -> Option<Refusal> {
        matches!(s.0, Part::Call(_)).then(CallGraphProfile::too_long)
    }

    fn summary_of(&self, path: &[&str]) -> Result<CallGraphSummary, Refusal> {
        if path.len() > LONGEST {
            return Err(CallGraphProfile::too_long());
        }
        let mut functions = self.initial_summaries().into_iter();
        let first = path
            .first()
            .and_then(|name| functions.find(|s| self.path_of(s) == [*name]));
        let first = first.ok_or_else(|| Refusal::absent(path))?;
        path[1..]
            .iter()
            .try_fold(first, |s, name| self.extend_bottom(&s, name))
    }

    fn nearness<'a>(&'a self, fade: f64) -> Box<dyn Nearness<CallGraphSummary> + 'a> {
        Box::new(CallGraphNearness(GraphNearness::new(&self.graph, fade)))
    }
}

struct CallGraphNearness<'a>(GraphNearness<'a>);

impl Nearness<CallGraphSummary> for CallGraphNearness<'_> {
    fn of(&self, s: &CallGraphSummary) -> f64 {
        match s.0 {
            Part::Function(n) => self.0.of_function(n),
            Part::Call(n) => self.0.of_call(n),
        }
    }

    fn left(&self, s: &CallGraphSummary) -> i64 {
        self.0.left(|taken| choose(taken, *s))
    }

    /// Always 0: a call's summary does not contain the caller's own cost.
    fn left_at_top(&self, _: &CallGraphSummary) -> i64 {
        0
    }

    fn take(&mut self, s: &CallGraphSummary) {
        self.0.take(|taken| choose(taken, *s));
    }

    fn set_fade(&mut self, fade: f64) {
        self.0.set_fade(fade);
    }
}
