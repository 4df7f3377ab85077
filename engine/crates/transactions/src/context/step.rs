//! The elements of a context within one process (Whodunit §2.1).

use super::names::{Name, Names};

/// One stage's part of a context.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// The call path at which a transaction was handed on: through shared memory (§3.5) or by a message (§5).
    Path(CallPath),
    /// An event handler (§4.1).
    Handler(Name),
    /// A stage with a queue (§4.2).
    Stage(Name),
    /// The request, as a recogniser or the program names it: `GET /buy`.
    Request(Name),
}

impl Step {
    /// The short name of a flow from here: the innermost function, the handler, the stage or the request.
    pub fn short_name(&self) -> Name {
        match self {
            Step::Path(path) => path.innermost(),
            Step::Handler(name) | Step::Stage(name) | Step::Request(name) => *name,
        }
    }

    /// The step's names, outermost first.
    pub fn names(&self) -> &[Name] {
        match self {
            Step::Path(path) => path.names(),
            Step::Handler(name) | Step::Stage(name) | Step::Request(name) => {
                std::slice::from_ref(name)
            }
        }
    }

    /// The step as text: `listener_thread > ap_queue_push`.
    pub fn text(&self, names: &Names) -> String {
        let names: Vec<&str> = self.names().iter().map(|&it| names.text(it)).collect();
        names.join(" > ")
    }

    /// The same step with the names of another table.
    pub fn with_names(&self, mut other: impl FnMut(Name) -> Name) -> Step {
        match self {
            Step::Path(path) => Step::Path(CallPath(path.0.iter().map(|&it| other(it)).collect())),
            Step::Handler(name) => Step::Handler(other(*name)),
            Step::Stage(name) => Step::Stage(other(*name)),
            Step::Request(name) => Step::Request(other(*name)),
        }
    }
}

/// A call path: functions, outermost first. Direct recursion counts once, and deep paths lose their middle, so that
/// recursion does not create unlimited contexts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CallPath(Box<[Name]>);

impl CallPath {
    /// Functions kept at the outer end of a path.
    const OUTER: usize = 16;
    /// Functions kept at the inner end of a path.
    const INNER: usize = 32;

    /// A path of these functions.
    pub fn new(outermost_first: impl IntoIterator<Item = Name>) -> Self {
        let mut names: Vec<Name> = outermost_first.into_iter().collect();
        names.dedup();
        if names.len() > CallPath::OUTER + CallPath::INNER {
            let inner = names.len() - CallPath::INNER;
            names.splice(CallPath::OUTER..inner, [Name::CUT]);
        }
        CallPath(names.into())
    }

    /// The functions, outermost first.
    pub fn names(&self) -> &[Name] {
        &self.0
    }

    /// The function that was executing, or [`Name::CUT`] if the path is unknown.
    pub fn innermost(&self) -> Name {
        self.0.last().copied().unwrap_or(Name::CUT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_keeps_both_ends_and_counts_recursion_once() {
        let path = |names: &[u32]| CallPath::new(names.iter().map(|&it| Name(it)));
        assert_eq!(path(&[1, 2, 2, 2, 3]), path(&[1, 2, 3]));
        let deep: Vec<u32> = (1..=100).collect();
        let deep = path(&deep);
        assert_eq!(deep.names().len(), 16 + 1 + 32);
        assert_eq!(deep.names()[15..18], [Name(16), Name::CUT, Name(69)]);
        assert_eq!(
            (deep.innermost(), path(&[]).innermost()),
            (Name(100), Name::CUT)
        );
        let exact: Vec<u32> = (1..=48).collect();
        assert!(!path(&exact).names().contains(&Name::CUT));
    }

    #[test]
    fn a_step_reads_as_its_functions() {
        let mut names = Names::new();
        let functions = ["listener_thread", "ap_queue_push"].map(|it| names.intern(it));
        let step = Step::Path(CallPath::new(functions));
        assert_eq!(step.text(&names), "listener_thread > ap_queue_push");
        assert_eq!(names.text(step.short_name()), "ap_queue_push");
    }
}
