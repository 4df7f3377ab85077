//! Filters (JPMT §4.2): which events and which methods are observed.
//!
//! ```text
//! # one directive a line
//! observe_method_invocations
//! observe_monitor_contention
//! excludemethod * <init>
//! includemethod net.qahwah.jpmt.test.* *
//! excludemethod * *
//! ```
//! Of the rules for methods, the first that matches decides. A method that none matches is observed unless there is an
//! `includemethod`: a list of what is wanted means nothing else. Classes of the Java platform itself are matched only by
//! rules that name their package.

use std::fmt;

/// A filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Method calls are observed.
    pub methods: bool,
    /// Waiting for monitors is observed: contention and `Object.wait`.
    pub contention: bool,
    /// Allocation of objects of these classes is observed.
    pub allocation: Vec<Pattern>,
    /// Garbage collections are observed.
    pub collections: bool,
    /// Loading and unloading of classes is observed.
    pub classes: bool,
    /// Where JPMT would write the log. Ours is in the folder of the run.
    pub output: Option<String>,
    /// Rules for methods, in order.
    pub rules: Vec<Rule>,
}

/// A rule for methods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// `includemethod`, not `excludemethod`.
    pub include: bool,
    /// Classes, with dots.
    pub class: Pattern,
    /// Names of methods.
    pub method: Pattern,
    /// Descriptors; any when it is absent.
    pub descriptor: Option<Pattern>,
    /// The line of the filter that says so, from 1.
    pub line: usize,
}

/// A name in which `*` stands for anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(String);

/// What is wrong with a filter. `Display` says where and what to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterError {
    /// From 1.
    pub line: usize,
    /// What is there.
    pub found: String,
    /// What was expected.
    pub expected: &'static str,
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {}: {:?} is not {}",
            self.line, self.found, self.expected
        )
    }
}

impl std::error::Error for FilterError {}

/// Packages of the Java platform.
const PLATFORM: [&str; 6] = [
    "java.",
    "javax.",
    "jdk.",
    "sun.",
    "com.sun.",
    "oracle.jrockit.",
];

const DIRECTIVES: &str = "a directive: observe_method_invocations, observe_monitor_contention, observe_object_allocation \
                          [CLASS], observe_garbage_collection, observe_class_loading, includemethod CLASS METHOD \
                          [DESCRIPTOR], excludemethod CLASS METHOD [DESCRIPTOR], or output FILE";

impl Filter {
    /// What is observed without a filter: calls of all methods that are not the Java platform's, and everything that is
    /// rare.
    pub fn standard() -> Filter {
        Filter {
            methods: true,
            contention: true,
            collections: true,
            classes: true,
            ..Filter::default()
        }
    }

    /// Reads a filter.
    pub fn parse(text: &str) -> Result<Filter, FilterError> {
        let mut filter = Filter::default();
        for (n, whole) in text.lines().enumerate() {
            let line = whole.split('#').next().unwrap_or("").trim();
            let error = |expected| FilterError {
                line: n + 1,
                found: line.to_owned(),
                expected,
            };
            let mut words = line.split_whitespace();
            let Some(directive) = words.next() else {
                continue;
            };
            let words: Vec<&str> = words.collect();
            match (directive, &words[..]) {
                ("observe_method_invocations", []) => filter.methods = true,
                ("observe_monitor_contention", []) => filter.contention = true,
                ("observe_garbage_collection", []) => filter.collections = true,
                ("observe_class_loading", []) => filter.classes = true,
                ("observe_object_allocation", []) => filter.allocation.push(Pattern("*".into())),
                ("observe_object_allocation", [class]) => {
                    filter.allocation.push(Pattern::class(class))
                }
                // JPMT's other way to observe methods is gone from Java: this is the only one.
                ("bytecode_rewriting", []) => {}
                ("output", [_, ..]) => {
                    let path = line.trim_start_matches("output").trim();
                    filter.output = Some(path.to_owned());
                }
                ("includemethod" | "excludemethod", [class, method, rest @ ..])
                    if rest.len() < 2 =>
                {
                    filter.rules.push(Rule {
                        include: directive == "includemethod",
                        class: Pattern::class(class),
                        method: Pattern((*method).to_owned()),
                        descriptor: rest.first().map(|it| Pattern((*it).to_owned())),
                        line: n + 1,
                    });
                }
                ("includemethod" | "excludemethod", _) => {
                    return Err(error("a rule: includemethod CLASS METHOD [DESCRIPTOR]"));
                }
                _ => return Err(error(DIRECTIVES)),
            }
        }
        Ok(filter)
    }

    /// Whether calls of a method are observed. The class has dots or slashes.
    pub fn selects(&self, class: &str, method: &str, descriptor: &str) -> bool {
        if !self.methods {
            return false;
        }
        let class = class.replace('/', ".");
        match self.rule(&class, method, descriptor) {
            Some(rule) => rule.include,
            None => !is_platform(&class) && !self.rules.iter().any(|rule| rule.include),
        }
    }

    /// The rule that decides about a method. The class has dots.
    pub fn rule(&self, class: &str, method: &str, descriptor: &str) -> Option<&Rule> {
        let platform = is_platform(class);
        self.rules.iter().find(|rule| {
            (!platform || rule.class.names_platform())
                && rule.class.matches(class)
                && rule.method.matches(method)
                && rule
                    .descriptor
                    .as_ref()
                    .is_none_or(|it| it.matches(descriptor))
        })
    }

    /// Whether any method of a class may be observed: a quick look before its methods are.
    pub fn may_select(&self, class: &str) -> bool {
        let class = class.replace('/', ".");
        let named = |rule: &Rule| rule.include && rule.class.matches(&class);
        self.methods
            && match is_platform(&class) {
                true => self
                    .rules
                    .iter()
                    .any(|rule| named(rule) && rule.class.names_platform()),
                false => {
                    self.rules.iter().any(named) || !self.rules.iter().any(|rule| rule.include)
                }
            }
    }

    /// Whether allocation of objects of a class is observed. The class has dots.
    pub fn allocates(&self, class: &str) -> bool {
        self.allocation.iter().any(|it| it.matches(class))
    }
}

fn is_platform(class: &str) -> bool {
    PLATFORM.iter().any(|package| class.starts_with(package))
}

impl Pattern {
    fn class(text: &str) -> Pattern {
        Pattern(text.replace('/', "."))
    }

    /// Whether a name matches, from its beginning to its end.
    pub fn matches(&self, name: &str) -> bool {
        let mut parts = self.0.split('*');
        let first = parts.next().unwrap_or("");
        let Some(mut rest) = name.strip_prefix(first) else {
            return false;
        };
        let mut parts: Vec<&str> = parts.collect();
        let Some(last) = parts.pop() else {
            return rest.is_empty();
        };
        for part in parts {
            match rest.find(part) {
                Some(at) => rest = &rest[at + part.len()..],
                None => return false,
            }
        }
        rest.ends_with(last)
    }

    /// Whether it says the name of one of the platform's packages, or the beginning of one.
    fn names_platform(&self) -> bool {
        let literal = self.0.split('*').next().unwrap_or("");
        PLATFORM.iter().any(|package| literal.starts_with(package))
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Methods (`class method descriptor`) and whether a filter selects them.
    fn check(filter: &str, expect: &[(&str, bool)]) {
        let filter = Filter::parse(filter).unwrap();
        for (method, selected) in expect {
            let words: Vec<_> = method.split(' ').collect();
            let [class, name, descriptor] = words[..] else {
                panic!("{method}")
            };
            assert_eq!(
                filter.selects(class, name, descriptor),
                *selected,
                "{method}"
            );
            assert!(!selected || filter.may_select(class), "{method}");
        }
    }

    #[test]
    fn the_papers_filter() {
        let text = "output log/test5.bin\nobserve_monitor_contention\nobserve_object_allocation\nbytecode_rewriting\n\
                    observe_method_invocations\nexcludemethod * <init>\nexcludemethod * main\n\
                    includemethod net.qahwah.jpmt.test.* *\nexcludemethod * *\n";
        let filter = Filter::parse(text).unwrap();
        assert_eq!(filter.output.as_deref(), Some("log/test5.bin"));
        assert!(filter.contention && filter.allocates("a.B") && !filter.collections);
        check(
            text,
            &[
                ("net.qahwah.jpmt.test.Counter increment ()V", true),
                ("net/qahwah/jpmt/test/Counter increment ()V", true),
                ("net.qahwah.jpmt.test.Counter <init> ()V", false),
                (
                    "net.qahwah.jpmt.test.Counter main ([Ljava/lang/String;)V",
                    false,
                ),
                ("net.qahwah.jpmt.Counter increment ()V", false),
            ],
        );
        assert_eq!(filter.rule("a.B", "c", "()V").unwrap().line, 9);
    }

    #[test]
    fn what_no_rule_matches_is_observed_unless_something_is_included() {
        let observe = |rules: &str| format!("observe_method_invocations\n{rules}");
        check(
            &observe(""),
            &[("a.B c ()V", true), ("java.util.Map get ()V", false)],
        );
        check(
            &observe("excludemethod a.B *"),
            &[("a.B c ()V", false), ("a.C c ()V", true)],
        );
        check(
            &observe("includemethod a.B *"),
            &[("a.B c ()V", true), ("a.C c ()V", false)],
        );
        check("includemethod a.B *", &[("a.B c ()V", false)]);
    }

    #[test]
    fn the_platforms_classes_must_be_named() {
        let rules = "observe_method_invocations\nincludemethod java.util.* put*\nincludemethod * *";
        check(
            rules,
            &[
                ("java.util.Map putAll ()V", true),
                ("java.util.Map get ()V", false),
                ("java.lang.String length ()I", false),
                ("javafx.Stage show ()V", true),
            ],
        );
    }

    #[test]
    fn descriptors_tell_overloads_apart() {
        let rules =
            "observe_method_invocations\nexcludemethod a.B c (I*\nincludemethod a.* c # all others";
        check(
            rules,
            &[
                ("a.B c (IJ)V", false),
                ("a.B c (J)V", true),
                ("a.B d ()V", false),
            ],
        );
    }

    #[test]
    fn patterns() {
        for (pattern, name, matches) in [
            ("*", "", true),
            ("a.*", "a.b.C", true),
            ("a.*", "a", false),
            ("*Pool", "a.ThreadPool", true),
            ("*Pool", "a.ThreadPools", false),
            ("a*b*c", "a1b2c", true),
            ("a*b*c", "acb", false),
            ("a*a", "a", false),
            ("ab*bc", "abc", false),
            ("a.B", "a.B", true),
            ("a.B", "a.Bc", false),
            ("**", "x", true),
        ] {
            assert_eq!(
                Pattern(pattern.into()).matches(name),
                matches,
                "{pattern} {name}"
            );
        }
    }

    #[test]
    fn errors_say_the_line_and_what_is_expected() {
        for (text, line, expected) in [
            ("\nobserve_everything", 2, "a directive"),
            ("includemethod a.B", 1, "a rule"),
            ("# c\n\nexcludemethod a b c d", 3, "a rule"),
            ("output", 1, "a directive"),
        ] {
            let error = Filter::parse(text).unwrap_err();
            assert_eq!(error.line, line, "{text}");
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}
