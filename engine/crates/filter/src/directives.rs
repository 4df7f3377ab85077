//! The directives of filters, for help with writing them.

/// A directive of the filter language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Directive {
    /// The line's first word.
    pub name: &'static str,
    /// The words after it. Optional ones are in brackets.
    pub arguments: &'static str,
    /// What it does, in whole sentences.
    pub about: &'static str,
}

/// All directives, those with which filters begin first.
pub const DIRECTIVES: [Directive; 14] = [
    Directive {
        name: "observe_method_invocations",
        arguments: "",
        about: "Observes entry and exit of methods. The rules below it say of which.",
    },
    Directive {
        name: "observe_monitor_contention",
        arguments: "",
        about: "Observes threads that wait for a monitor which another one owns, and `Object.wait`.",
    },
    Directive {
        name: "observe_garbage_collection",
        arguments: "",
        about: "Observes garbage collections.",
    },
    Directive {
        name: "observe_class_loading",
        arguments: "",
        about: "Observes loading and unloading of classes.",
    },
    Directive {
        name: "observe_object_allocation",
        arguments: "[CLASS]",
        about: "Observes allocation and release of every object of these classes, and samples of all others.",
    },
    Directive {
        name: "includemethod",
        arguments: "CLASS METHOD [DESCRIPTOR]",
        about: "Observes these methods. The first rule that matches a method decides; `*` stands for anything.",
    },
    Directive {
        name: "identifymethod",
        arguments: "CLASS METHOD [DESCRIPTOR]",
        about: "Observes these methods as `includemethod` does. Also logs the object that a call is made on, its first \
                argument and its result, so that requests in a queue can be told apart.",
    },
    Directive {
        name: "excludemethod",
        arguments: "CLASS METHOD [DESCRIPTOR]",
        about: "Leaves these methods as they are. The first rule that matches a method decides; `*` stands for anything.",
    },
    Directive {
        name: "maximum_depth",
        arguments: "CALLS",
        about: "Logs at most this many nested observed calls. Deeper ones are counted, and what that costs is subtracted.",
    },
    Directive {
        name: "observe_values",
        arguments: "CLASS METHOD [DESCRIPTOR]",
        about: "Logs the arguments and the result of each call of these methods, as far as they are observed: numbers, and the \
                beginnings of texts. Of other objects it logs the class.",
    },
    Directive {
        name: "maximum_values",
        arguments: "ARGUMENTS",
        about: "Logs only so many arguments of a call, 1 to 16. Without it, 8.",
    },
    Directive {
        name: "maximum_text",
        arguments: "BYTES",
        about: "Logs only so many bytes of a text, 1 to 200. Without it, 64.",
    },
    Directive {
        name: "output",
        arguments: "FILE",
        about: "Also links the log at this path. The log itself stays in the run's folder.",
    },
    Directive {
        name: "bytecode_rewriting",
        arguments: "",
        about: "Tells JPMT how to observe methods. Fulcrum knows no other way, so this line changes nothing.",
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::Filter;

    #[test]
    fn every_directive_is_one() {
        for directive in DIRECTIVES {
            let optional = |word: &&str| !word.starts_with('[');
            let arguments = directive.arguments.split(' ');
            for words in [
                arguments
                    .clone()
                    .filter(optional)
                    .collect::<Vec<_>>()
                    .join(" "),
                arguments.collect::<Vec<_>>().join(" "),
            ] {
                let words = words
                    .replace("CALLS", "3")
                    .replace("ARGUMENTS", "3")
                    .replace("BYTES", "3")
                    .replace(['[', ']'], "");
                let line = format!("{} {words}", directive.name);
                assert!(Filter::parse(&line).is_ok(), "{line}");
            }
        }
        // The message for an unknown directive names all of them, except the one that nobody needs.
        let error = Filter::parse("observe").unwrap_err();
        for directive in DIRECTIVES
            .iter()
            .filter(|it| it.name != "bytecode_rewriting")
        {
            assert!(error.expected.contains(directive.name), "{directive:?}");
        }
    }
}
