//! Shared by this crate's tests.

pub(crate) mod bookstore;
pub(crate) mod machine;
pub(crate) mod programs;

use fulcrum_transactions::{CallPath, Dictionary, Element, Step, Synopsis};

/// The step of a call path, written as it is shown: `main > foo`.
pub(crate) fn path(dictionary: &mut Dictionary, text: &str) -> Step {
    let names = text.split(" > ").map(|it| dictionary.names.intern(it));
    Step::Path(CallPath::new(names))
}

pub(crate) fn handler(dictionary: &mut Dictionary, name: &str) -> Step {
    Step::Handler(dictionary.names.intern(name))
}

pub(crate) fn stage(dictionary: &mut Dictionary, name: &str) -> Step {
    Step::Stage(dictionary.names.intern(name))
}

pub(crate) fn request(dictionary: &mut Dictionary, name: &str) -> Step {
    Step::Request(dictionary.names.intern(name))
}

/// A context as it is shown, one string for each element. Links are written as `process:synopsis`.
pub(crate) fn shown(dictionary: &Dictionary, context: Synopsis) -> Vec<String> {
    let elements = dictionary.contexts().elements(context).into_iter();
    elements
        .map(|it| match it {
            Element::Received(link) => link.to_string(),
            Element::Step(step) => step.text(&dictionary.names),
        })
        .collect()
}
