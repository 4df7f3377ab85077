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
//! The first matching rule for methods decides. A method that no rule matches is observed unless there is an `includemethod`.
//! `identifymethod` is an `includemethod` whose calls are logged with their objects. Classes of the Java platform itself are matched
//! only by rules that name their package.
//!
//! `observe_values` is not such a rule: it chooses, among the observed methods, those whose calls are logged with their arguments and
//! results.

use std::fmt;

use crate::pattern::{Pattern, is_platform};

/// A filter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Whether method calls are observed.
    pub methods: bool,
    /// Whether waiting for monitors is observed: contention and `Object.wait`.
    pub contention: bool,
    /// Whether allocation is observed: by samples, except for [`Self::allocation`].
    pub allocations: bool,
    /// The classes whose objects are all observed, from allocation to release.
    pub allocation: Vec<Pattern>,
    /// Whether garbage collections are observed.
    pub collections: bool,
    /// Whether loading and unloading of classes is observed.
    pub classes: bool,
    /// A path for the log other than the run's folder.
    pub output: Option<String>,
    /// The maximum depth of observed calls that are logged. Deeper ones are counted.
    pub depth: u32,
    /// Observed methods that one of these matches are logged with their arguments and results.
    pub values: Vec<MethodPattern>,
    /// The maximum number of arguments of a call that are logged: 1 to [`MOST_VALUES`].
    pub most_values: u8,
    /// The maximum number of bytes of a text that are logged: 1 to [`LONGEST_TEXT`].
    pub longest_text: u8,
    /// Rules for methods, in order.
    pub rules: Vec<Rule>,
}

impl Default for Filter {
    /// Nothing is observed.
    fn default() -> Filter {
        Filter {
            methods: false,
            contention: false,
            allocations: false,
            allocation: Vec::new(),
            collections: false,
            classes: false,
            output: None,
            depth: u32::MAX,
            values: Vec::new(),
            most_values: 8,
            longest_text: 64,
            rules: Vec::new(),
        }
    }
}

/// The most arguments of a call that can be logged.
pub const MOST_VALUES: u8 = 16;
/// The most bytes of a text that can be logged.
pub const LONGEST_TEXT: u8 = 200;

/// Methods that are chosen by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MethodPattern {
    /// The classes, with dots.
    pub class: Pattern,
    /// The names of methods.
    pub method: Pattern,
    /// Descriptors. `None` matches any.
    pub descriptor: Option<Pattern>,
    /// The line of the filter, from 1.
    pub line: usize,
}

impl MethodPattern {
    /// Whether it matches a method. The class has dots.
    pub fn matches(&self, class: &str, method: &str, descriptor: &str) -> bool {
        let any = |it: &Pattern| it.matches(descriptor);
        self.class.matches(class)
            && self.method.matches(method)
            && self.descriptor.as_ref().is_none_or(any)
    }
}

/// What a rule does with the methods that it matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// `excludemethod`: leaves them out.
    Exclude,
    /// `includemethod`: observes them.
    Include,
    /// `identifymethod`: observes them, and logs the receiver, argument and result objects of calls.
    Identify,
}

/// A rule for methods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What happens to the methods that it matches.
    pub action: Action,
    /// The classes, with dots.
    pub class: Pattern,
    /// The names of methods.
    pub method: Pattern,
    /// Descriptors. `None` matches any.
    pub descriptor: Option<Pattern>,
    /// The line of the filter, from 1.
    pub line: usize,
}

/// The error for a filter. `Display` says where it is and what to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterError {
    /// The line, from 1.
    pub line: usize,
    /// The text there.
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

const DIRECTIVES: &str = "a directive: observe_method_invocations, observe_monitor_contention, observe_object_allocation \
                          [CLASS], observe_garbage_collection, observe_class_loading, includemethod CLASS METHOD \
                          [DESCRIPTOR], identifymethod CLASS METHOD [DESCRIPTOR], excludemethod CLASS METHOD [DESCRIPTOR], \
                          maximum_depth CALLS, observe_values CLASS METHOD [DESCRIPTOR], maximum_values ARGUMENTS, \
                          maximum_text BYTES, or output FILE";

impl Filter {
    /// The filter that is used without one: calls of all methods outside the Java platform, and all rare events.
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
                ("observe_object_allocation", classes) if classes.len() < 2 => {
                    filter.allocations = true;
                    filter
                        .allocation
                        .extend(classes.iter().map(|it| Pattern::class(it)));
                }
                ("maximum_depth" | "maximum_values" | "maximum_text", [limit]) => {
                    filter.set_limit(directive, limit).map_err(error)?;
                }
                ("observe_values", [class, method, rest @ ..]) if rest.len() < 2 => {
                    filter.values.push(MethodPattern {
                        class: Pattern::class(class),
                        method: Pattern::new(method),
                        descriptor: rest.first().map(|it| Pattern::new(it)),
                        line: n + 1,
                    });
                }
                // JPMT's other way to observe methods no longer exists in Java.
                ("bytecode_rewriting", []) => {}
                ("output", [_, ..]) => {
                    let path = line.trim_start_matches("output").trim();
                    filter.output = Some(path.to_owned());
                }
                _ => {
                    let action = Action::of(directive).ok_or_else(|| error(DIRECTIVES))?;
                    let rule = Rule::new(action, &words, n + 1);
                    filter.rules.push(
                        rule.ok_or_else(|| {
                            error("a rule: includemethod CLASS METHOD [DESCRIPTOR]")
                        })?,
                    );
                }
            }
        }
        Ok(filter)
    }

    /// Sets a limit. On an error, returns what was expected.
    fn set_limit(&mut self, directive: &str, limit: &str) -> Result<(), &'static str> {
        match directive {
            "maximum_depth" => match limit.parse() {
                Ok(calls) if calls > 0 => self.depth = calls,
                _ => return Err("maximum_depth with a number of calls, from 1 on"),
            },
            "maximum_values" => match limit.parse() {
                Ok(most @ 1..=MOST_VALUES) => self.most_values = most,
                _ => return Err("maximum_values with a number of arguments, 1 to 16"),
            },
            "maximum_text" => match limit.parse() {
                Ok(longest @ 1..=LONGEST_TEXT) => self.longest_text = longest,
                _ => return Err("maximum_text with a number of bytes, 1 to 200"),
            },
            _ => return Err(DIRECTIVES),
        }
        Ok(())
    }

    /// Whether calls of a method are observed. The class has dots or slashes.
    pub fn selects(&self, class: &str, method: &str, descriptor: &str) -> bool {
        if !self.methods {
            return false;
        }
        let class = class.replace('/', ".");
        match self.rule(&class, method, descriptor) {
            Some(rule) => rule.includes(),
            None => !is_platform(&class) && !self.rules.iter().any(Rule::includes),
        }
    }

    /// Whether the objects of a method's calls are logged, too. The class has dots or slashes.
    pub fn identifies(&self, class: &str, method: &str, descriptor: &str) -> bool {
        let rule = self.rule(&class.replace('/', "."), method, descriptor);
        self.methods && rule.is_some_and(|rule| rule.action == Action::Identify)
    }

    /// Whether the arguments and results of a method's observed calls are logged. The class has dots or slashes.
    pub fn logs_values(&self, class: &str, method: &str, descriptor: &str) -> bool {
        if self.values.is_empty() {
            return false;
        }
        let class = class.replace('/', ".");
        let mut values = self.values.iter();
        values.any(|it| it.matches(&class, method, descriptor))
    }

    /// The rule that decides about a method. The class has dots.
    pub fn rule(&self, class: &str, method: &str, descriptor: &str) -> Option<&Rule> {
        let class = ClassName::new(class);
        self.rules
            .iter()
            .find(|rule| rule.applies(class, method, descriptor))
    }

    /// Whether any method of a class may be observed: a quick check before those of its methods.
    pub fn may_select(&self, class: &str) -> bool {
        let class = class.replace('/', ".");
        let named = |rule: &Rule| rule.includes() && rule.class.matches(&class);
        self.methods
            && match is_platform(&class) {
                true => self
                    .rules
                    .iter()
                    .any(|rule| named(rule) && rule.class.names_platform()),
                false => self.rules.iter().any(named) || !self.rules.iter().any(Rule::includes),
            }
    }

    /// Whether every object of a class is observed. The class has dots.
    pub fn allocates(&self, class: &str) -> bool {
        self.allocation.iter().any(|it| it.matches(class))
    }
}

/// The name of a class, with dots.
#[derive(Clone, Copy)]
struct ClassName<'a> {
    name: &'a str,
    is_platform: bool,
}

impl<'a> ClassName<'a> {
    fn new(name: &'a str) -> ClassName<'a> {
        ClassName {
            name,
            is_platform: is_platform(name),
        }
    }
}

impl Action {
    fn of(directive: &str) -> Option<Action> {
        match directive {
            "excludemethod" => Some(Action::Exclude),
            "includemethod" => Some(Action::Include),
            "identifymethod" => Some(Action::Identify),
            _ => None,
        }
    }
}

impl Rule {
    /// The rule in a line, from the words after its directive: `CLASS METHOD [DESCRIPTOR]`.
    fn new(action: Action, words: &[&str], line: usize) -> Option<Rule> {
        let (class, method, descriptor) = match *words {
            [class, method] => (class, method, None),
            [class, method, descriptor] => (class, method, Some(descriptor)),
            _ => return None,
        };
        Some(Rule {
            action,
            class: Pattern::class(class),
            method: Pattern::new(method),
            descriptor: descriptor.map(Pattern::new),
            line,
        })
    }

    /// Whether the methods that it matches are observed.
    pub fn includes(&self) -> bool {
        self.action != Action::Exclude
    }

    /// Whether it matches a method, whatever earlier rules say. The class has dots.
    pub fn matches(&self, class: &str, method: &str, descriptor: &str) -> bool {
        self.applies(ClassName::new(class), method, descriptor)
    }

    fn applies(&self, class: ClassName<'_>, method: &str, descriptor: &str) -> bool {
        (!class.is_platform || self.class.names_platform())
            && self.class.matches(class.name)
            && self.method.matches(method)
            && self
                .descriptor
                .as_ref()
                .is_none_or(|it| it.matches(descriptor))
    }

    /// Whether this rule matches every method that `other` matches. If it comes first, `other` has no effect.
    pub fn covers(&self, other: &Rule) -> bool {
        (self.class.names_platform() || !other.class.names_platform())
            && self.class.covers(&other.class)
            && self.method.covers(&other.method)
            && match (&self.descriptor, &other.descriptor) {
                (None, _) => true,
                (Some(ours), Some(theirs)) => ours.covers(theirs),
                (Some(ours), None) => ours.matches_all(),
            }
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
        assert!(filter.contention && filter.allocations && !filter.collections);
        // Without a class, objects are sampled.
        assert!(!filter.allocates("a.B"));
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
    fn each_directive_for_methods_is_an_action() {
        let text = "excludemethod a.A x\nincludemethod a.B y\nidentifymethod a.C z ()V";
        let filter = Filter::parse(text).unwrap();
        let rules: Vec<_> = filter
            .rules
            .iter()
            .map(|rule| (rule.line, rule.action, rule.includes()))
            .collect();
        let expected = [
            (1, Action::Exclude, false),
            (2, Action::Include, true),
            (3, Action::Identify, true),
        ];
        assert_eq!(rules, expected);
    }

    #[test]
    fn the_rule_that_decides_says_whether_objects_are_logged() {
        let text = "observe_method_invocations\nidentifymethod a.Queue put\nincludemethod a.Queue *\n\
                    identifymethod a.Queue take\nidentifymethod java.util.* poll";
        check(
            text,
            &[("a.Queue put ()V", true), ("a.Other put ()V", false)],
        );
        let filter = Filter::parse(text).unwrap();
        let identified = |class: &str, method: &str| filter.identifies(class, method, "()V");
        assert!(identified("a/Queue", "put") && identified("java.util.ArrayDeque", "poll"));
        // The rule above decides.
        assert!(!identified("a.Queue", "take") && !identified("java.lang.Thread", "poll"));
        let unobserved = Filter::parse("identifymethod a.Queue put").unwrap();
        assert!(!unobserved.identifies("a.Queue", "put", "()V"));
    }

    #[test]
    fn values_are_chosen_among_what_is_observed() {
        let text =
            "observe_method_invocations\nobserve_values a.B* put*\nobserve_values a.C get (I*\n";
        let filter = Filter::parse(text).unwrap();
        // A method without a rule is observed as before.
        assert!(filter.selects("a.Other", "m", "()V") && filter.may_select("a.Other"));
        for (class, method, descriptor, logged) in [
            ("a.Bag", "putAll", "()V", true),
            ("a/Bag", "put", "()V", true),
            ("a.Bag", "get", "()V", false),
            ("a.C", "get", "(I)V", true),
            ("a.C", "get", "(J)V", false),
        ] {
            assert_eq!(filter.logs_values(class, method, descriptor), logged);
        }
        assert_eq!((filter.most_values, filter.longest_text), (8, 64));
        let limits = Filter::parse("maximum_values 16\nmaximum_text 200").unwrap();
        assert_eq!((limits.most_values, limits.longest_text), (16, 200));
        assert!(!limits.logs_values("a.B", "put", "()V"));
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
                ("org.xml.sax.InputSource getSystemId ()V", false),
                ("javafx.Stage show ()V", true),
            ],
        );
    }

    #[test]
    fn the_standard_library_must_be_named() {
        let rules = |rule: &str| format!("observe_method_invocations\n{rule}");
        for (rule, class, selected) in [
            ("excludemethod a b", "std", false),
            ("excludemethod a b", "std::vector<int,", false),
            ("excludemethod a b", "stdx::A", true),
            ("includemethod * *", "std::vector", false),
            ("includemethod st* *", "std::vector", false),
            ("includemethod std* *", "std::vector", true),
            ("includemethod std::v* *", "std::vector", true),
            ("includemethod std *", "std", true),
        ] {
            let filter = Filter::parse(&rules(rule)).unwrap();
            assert_eq!(filter.selects(class, "m", ""), selected, "{rule} {class}");
        }
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
    fn a_rule_covers_another_when_nothing_is_left_for_it() {
        for (first, second, covers) in [
            ("a.* *", "a.B c", true),
            ("a.* *", "a.*Pool get*", true),
            ("a.B *", "a.* *", false),
            ("* <init>", "a.B *", false),
            ("a.B c", "a.B c (I)V", true),
            ("a.B c (I)V", "a.B c", false),
            ("a.B c *", "a.B c", true),
            ("* *", "java.util.* *", false),
            ("java.* *", "java.util.Map get", true),
            ("* *", "java* *", true),
            ("*b*a *", "*a*b*a *", true),
        ] {
            let text = format!("includemethod {first}\nexcludemethod {second}");
            let rules = Filter::parse(&text).unwrap().rules;
            assert_eq!(rules[0].covers(&rules[1]), covers, "{first} / {second}");
        }
    }

    #[test]
    fn errors_say_the_line_and_what_is_expected() {
        for (text, line, expected) in [
            ("\nobserve_everything", 2, "a directive"),
            ("includemethod a.B", 1, "a rule"),
            ("# c\n\nexcludemethod a b c d", 3, "a rule"),
            ("output", 1, "a directive"),
            ("maximum_depth 0", 1, "maximum_depth with a number of calls"),
            ("maximum_values 17", 1, "maximum_values with a number"),
            ("maximum_text 0", 1, "maximum_text with a number"),
            ("observe_values a.B", 1, "a directive"),
        ] {
            let error = Filter::parse(text).unwrap_err();
            assert_eq!(error.line, line, "{text}");
            assert!(error.to_string().contains(expected), "{error}");
        }
    }
}
