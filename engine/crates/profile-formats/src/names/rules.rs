//! The rules. Each is a function from a name to a shorter one, or to `None` when it does not apply.
//! rustc-demangle and cpp_demangle demangle.

use std::fmt::{self, Write as _};

use memchr::memchr_iter;

/// A rule removes what a profiler or compiler adds to names and what changes from build to build. No rule removes template
/// arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rule {
    /// Mangled names of C++ and Rust become readable ones, without parameters and without Rust's hashes.
    Demangle,
    /// Removes `.llvm.123`, `.constprop.0`, `.isra.0`, `.part.0`, `.cold` and `[clone .cold]` at the end.
    CompilerSuffix,
    /// Removes `::h0123456789abcdef` at the end.
    RustHash,
    /// The JVM's `$$Lambda$14/0x0000000800c03000` and `$$Lambda/0x…` become `$$Lambda`.
    JvmLambda,
    /// The JVM's hidden classes: `LambdaForm$MH/0x0000000800c03000` becomes `LambdaForm$MH`.
    JvmHidden,
    /// The JVM's `GeneratedMethodAccessor12`, `$Proxy12` and the like lose their numbers.
    JvmGenerated,
    /// callgrind's `f'2`, the second level of a recursion, becomes `f`.
    RecursionLevel,
    /// A bare address becomes `[unknown]`.
    Address,
    /// Removes the line that ran: py-spy's `f (app.py:12)` and rbspy's `f - app.rb:12`. Off by default: it merges functions
    /// of the same name in a file, such as methods of several classes.
    SourceLine,
    /// `Outer$1` and `lambda$main$0` lose their numbers. Off by default: it merges different classes.
    AnonymousNumber,
}

/// All rules, in the order in which they are applied.
pub const ALL: [Rule; 10] = [
    Rule::Demangle,
    Rule::CompilerSuffix,
    Rule::RustHash,
    Rule::JvmLambda,
    Rule::JvmHidden,
    Rule::JvmGenerated,
    Rule::RecursionLevel,
    Rule::Address,
    Rule::SourceLine,
    Rule::AnonymousNumber,
];

impl Rule {
    /// The name on the command line and in saved settings.
    pub fn name(self) -> &'static str {
        match self {
            Rule::Demangle => "demangle",
            Rule::CompilerSuffix => "compiler-suffix",
            Rule::RustHash => "rust-hash",
            Rule::JvmLambda => "jvm-lambda",
            Rule::JvmHidden => "jvm-hidden",
            Rule::JvmGenerated => "jvm-generated",
            Rule::RecursionLevel => "recursion-level",
            Rule::Address => "address",
            Rule::SourceLine => "source-line",
            Rule::AnonymousNumber => "anonymous-number",
        }
    }

    /// A name, and the same name after the rule.
    pub fn example(self) -> (&'static str, &'static str) {
        match self {
            Rule::Demangle => ("_ZNK4shop4CartIdE5totalEi", "shop::Cart<double>::total"),
            Rule::CompilerSuffix => ("work.constprop.0", "work"),
            Rule::RustHash => ("core::fmt::write::h0123456789abcdef", "core::fmt::write"),
            Rule::JvmLambda => ("Main$$Lambda$14/0x0000000800c03000.run", "Main$$Lambda.run"),
            Rule::JvmHidden => (
                "LambdaForm$MH/0x0000000800c03000.invoke",
                "LambdaForm$MH.invoke",
            ),
            Rule::JvmGenerated => (
                "GeneratedMethodAccessor12.invoke",
                "GeneratedMethodAccessor.invoke",
            ),
            Rule::RecursionLevel => ("work'2", "work"),
            Rule::Address => ("0x7f12", "[unknown]"),
            Rule::SourceLine => ("total (cart.py:12)", "total (cart.py)"),
            Rule::AnonymousNumber => ("Outer$1.run", "Outer$.run"),
        }
    }

    /// Whether it is on by default.
    pub fn is_default(self) -> bool {
        !matches!(self, Rule::SourceLine | Rule::AnonymousNumber)
    }

    /// Applies the rule. Returns `None` when it does not change the name.
    pub fn apply(self, name: &str) -> Option<String> {
        match self {
            Rule::Demangle => demangle(name),
            Rule::CompilerSuffix => compiler_suffix(name),
            Rule::RustHash => rust_hash(name),
            Rule::JvmLambda => jvm_lambda(name),
            Rule::JvmHidden => jvm_hidden(name),
            Rule::JvmGenerated => jvm_generated(name),
            Rule::RecursionLevel => recursion_level(name),
            Rule::Address => is_address(name).then(|| "[unknown]".to_owned()),
            Rule::SourceLine => placed(name).map(|it| it.without_line()),
            Rule::AnonymousNumber => anonymous_number(name),
        }
    }
}

/// Names that would become longer than this stay as they are. Mangled names refer back to their own parts, so a short one can
/// stand for a text that fills the memory.
const LONGEST: usize = 64 << 10;

/// A text of at most [`LONGEST`] bytes.
#[derive(Default)]
struct Bounded(String);

impl fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > LONGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

fn demangle(name: &str) -> Option<String> {
    // macOS puts an underscore before mangled names.
    let symbol = name
        .strip_prefix('_')
        .filter(|rest| rest.starts_with("_Z"))
        .unwrap_or(name);
    if !symbol.starts_with("_Z") && !symbol.starts_with("_R") || symbol.len() > LONGEST {
        return None;
    }
    // The compiler's suffix follows the mangled name. The next rule decides about it.
    let (linkage, tail) = match symbol.find('.') {
        Some(at) => symbol.split_at(at),
        None => (symbol, ""),
    };
    let mut out = Bounded::default();
    if let Ok(rust) = rustc_demangle::try_demangle(linkage) {
        write!(out, "{rust:#}").ok()?;
        return Some(out.0 + tail);
    }
    if linkage.starts_with("_R") {
        return None;
    }
    // As `fulcrum-symbols` and perf do, so that paths are the same in every profile and can be targets of experiments.
    let cpp = cpp_demangle::BorrowedSymbol::new(linkage.as_bytes()).ok()?;
    let options = cpp_demangle::DemangleOptions::new()
        .no_params()
        .no_return_type();
    cpp.structured_demangle(&mut out, &options).ok()?;
    let mut name = out.0;
    while name.contains("> >") {
        name = name.replace("> >", ">>");
    }
    Some(name + tail)
}

fn compiler_suffix(name: &str) -> Option<String> {
    let mut rest = name;
    loop {
        let shorter = clone_note(rest).or_else(|| suffix(rest));
        match shorter.filter(|it| !it.is_empty()) {
            Some(shorter) => rest = shorter,
            None => break,
        }
    }
    (rest.len() < name.len()).then(|| rest.to_owned())
}

/// ` [clone .constprop.0]`, as c++filt writes it.
fn clone_note(name: &str) -> Option<&str> {
    let (before, suffixes) = name.strip_suffix(']')?.rsplit_once(" [clone .")?;
    let known = |part: &str| is_digits(part) || SUFFIXES.contains(&part);
    suffixes.split('.').all(known).then_some(before)
}

/// Suffixes that a number follows.
const SUFFIXES: [&str; 7] = [
    "llvm",
    "constprop",
    "isra",
    "part",
    "cold",
    "lto_priv",
    "localalias",
];

/// Suffixes that also occur without a number.
const BARE: [&str; 2] = ["cold", "localalias"];

/// The name before `.cold`, `.cold.1`, `.llvm.123`. In other languages, a dot comes before functions of any name: `main.part`,
/// `M$Violin.cold`.
fn suffix(name: &str) -> Option<&str> {
    let (before, last) = name.rsplit_once('.')?;
    if !is_digits(last) {
        return (BARE.contains(&last) && is_native(before)).then_some(before);
    }
    let (before, word) = before.rsplit_once('.')?;
    SUFFIXES.contains(&word).then_some(before)
}

/// Whether this is a symbol of C, C++ or Rust, which have dots only in suffixes. Go's `main.cold` looks like one of C.
fn is_native(name: &str) -> bool {
    !name.contains(['.', '$'])
        || name.contains("::")
        || name.starts_with("_Z")
        || suffix(name).is_some()
}

fn rust_hash(name: &str) -> Option<String> {
    const LENGTH: usize = "::h0123456789abcdef".len();
    let (before, last) = name.split_at_checked(name.len().checked_sub(LENGTH)?)?;
    let hash = last.strip_prefix("::h")?;
    let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    (!before.is_empty() && hash.bytes().all(hex)).then(|| before.to_owned())
}

const LAMBDA: &str = "$$Lambda";

fn jvm_lambda(name: &str) -> Option<String> {
    let after = find(name, LAMBDA)? + LAMBDA.len();
    let (before, rest) = name.split_at(after);
    let numbered = rest
        .strip_prefix('$')
        .map_or(rest, |number| number.trim_start_matches(digit));
    let unnumbered = hidden(numbered).unwrap_or(numbered);
    (unnumbered.len() < rest.len()).then(|| format!("{before}{unnumbered}"))
}

/// The rest after a hidden class's `/0x…`, `.0x…`, `+0x…` or `/123…`.
fn hidden(rest: &str) -> Option<&str> {
    let number = rest.strip_prefix(['/', '.', '+'])?;
    let (end, least) = match number.strip_prefix("0x") {
        Some(hex) => {
            let length = hex
                .find(|it: char| !it.is_ascii_hexdigit())
                .unwrap_or(hex.len());
            (2 + length, 2 + 6)
        }
        // Old JVMs write a decimal hash, and only after a slash.
        None if rest.starts_with('/') => (number.find(|it| !digit(it)).unwrap_or(number.len()), 4),
        None => return None,
    };
    let after = hash(&number[end..]);
    let ends = after.is_empty() || after.starts_with(['.', ':', '$', '(', ' ']);
    (end >= least && ends).then_some(after)
}

/// The rest after the hash that the flight recorder appends to a hidden class's address: `.992802731`.
fn hash(rest: &str) -> &str {
    let number = rest.strip_prefix(['/', '.']);
    let split = number.map(|number| (number, number.trim_start_matches(digit)));
    match split {
        Some((number, after)) if after.len() < number.len() => after,
        _ => rest,
    }
}

fn jvm_hidden(name: &str) -> Option<String> {
    // Most names have no address.
    find(name, "0x")?;
    // A class name that ends in a letter or digit comes before it.
    let places = name.match_indices(['/', '.', '+']).map(|(at, _)| at);
    for at in places {
        let (before, rest) = name.split_at(at);
        let class = before.ends_with(|it: char| it.is_alphanumeric() || it == '_');
        if class
            && rest[1..].starts_with("0x")
            && let Some(after) = hidden(rest)
        {
            return Some(format!("{before}{after}"));
        }
    }
    None
}

const GENERATED: [&str; 4] = [
    "GeneratedMethodAccessor",
    "GeneratedConstructorAccessor",
    "GeneratedSerializationConstructorAccessor",
    "$Proxy",
];

fn jvm_generated(name: &str) -> Option<String> {
    GENERATED.iter().find_map(|word| {
        let after = find(name, word)? + word.len();
        let (before, rest) = name.split_at(after);
        let unnumbered = rest.trim_start_matches(digit);
        (unnumbered.len() < rest.len()).then(|| format!("{before}{unnumbered}"))
    })
}

fn recursion_level(name: &str) -> Option<String> {
    let (before, level) = name.rsplit_once('\'')?;
    (!before.is_empty() && is_digits(level)).then(|| before.to_owned())
}

/// Whether a name is an address such as `0x7f12`.
pub(crate) fn is_address(name: &str) -> bool {
    let hex = name.strip_prefix("0x").unwrap_or("");
    !hex.is_empty() && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A name that ends with the line that ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Placed<'n> {
    /// `sort (loop.py`, `sort - loop.rb`.
    head: &'n str,
    /// `loop.py`.
    pub file: &'n str,
    /// The line, from 1.
    pub line: u32,
}

impl Placed<'_> {
    /// The name without the line: `sort (loop.py)`.
    pub fn without_line(self) -> String {
        let bracket = self.head[..self.head.len() - self.file.len()].ends_with('(');
        format!("{}{}", self.head, if bracket { ")" } else { "" })
    }
}

/// Splits a name with the line that ran: py-spy writes `sort (loop.py:14)`, rbspy `sort - loop.rb:14`.
pub fn placed(name: &str) -> Option<Placed<'_>> {
    let (name, separator) = match name.strip_suffix(')') {
        Some(name) => (name, " ("),
        None => (name, " - "),
    };
    let (head, line) = name.rsplit_once(':')?;
    let (function, file) = head.rsplit_once(separator)?;
    let line = line
        .parse()
        .ok()
        .filter(|&line| line > 0 && !function.is_empty())?;
    (!file.is_empty()).then_some(Placed { head, file, line })
}

fn anonymous_number(name: &str) -> Option<String> {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.find('$') {
        let (before, after) = rest.split_at(at + 1);
        let unnumbered = after.trim_start_matches(digit);
        let ends = unnumbered.is_empty() || unnumbered.starts_with(['.', ':', '$', '(', ' ']);
        out.push_str(before);
        rest = if ends { unnumbered } else { after };
    }
    out.push_str(rest);
    (out.len() < name.len()).then_some(out)
}

/// Where a word is in a name. Most names do not even have its first character, which is found faster than a word.
fn find(name: &str, word: &str) -> Option<usize> {
    let (name, word) = (name.as_bytes(), word.as_bytes());
    let (&first, _) = word.split_first()?;
    memchr_iter(first, name).find(|&at| name[at..].starts_with(word))
}

fn digit(it: char) -> bool {
    it.is_ascii_digit()
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.chars().all(digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rule: Rule, cases: &[(&str, Option<&str>)]) {
        for &(name, expect) in cases {
            assert_eq!(rule.apply(name).as_deref(), expect, "{name}");
        }
    }

    #[test]
    fn examples_are_what_rules_do() {
        for rule in ALL {
            let (before, after) = rule.example();
            assert_eq!(
                rule.apply(before).as_deref(),
                Some(after),
                "{}",
                rule.name()
            );
        }
    }

    #[test]
    fn lines_that_ran_go() {
        check(
            Rule::SourceLine,
            &[
                ("<module> (app/run.py:24)", Some("<module> (app/run.py)")),
                ("each - /usr/lib/a b.rb:7", Some("each - /usr/lib/a b.rb")),
                ("Cart.total (cart.py)", None),
                ("total (cart.py:0)", None),
                ("total (cart.py:x)", None),
                ("f(int):12", None),
                (" - a.rb:7", None),
                ("std::sort (:12)", None),
            ],
        );
    }

    #[test]
    fn linkage_names_are_demangled() {
        check(
            Rule::Demangle,
            &[
                ("_Z5alphav", Some("alpha")),
                (
                    "_ZNK4shop4CartIdE5totalEi",
                    Some("shop::Cart<double>::total"),
                ),
                ("_ZL4leafm.constprop.0", Some("leaf.constprop.0")),
                (
                    "_ZN4core3fmt5write17h0123456789abcdefE",
                    Some("core::fmt::write"),
                ),
                (
                    "__ZN4core3fmt5write17h0123456789abcdefE",
                    Some("core::fmt::write"),
                ),
                (
                    "_RNvCs8K9WJNlS7Dz_5trace17multiply_matrices",
                    Some("trace::multiply_matrices"),
                ),
                ("main", None),
                ("_Zzz", None),
                ("_Z", None),
                ("_Random", None),
            ],
        );
    }

    #[test]
    fn a_name_that_would_fill_the_memory_stays() {
        // Each argument has the one before it twice: f<A<int, int>, A<A<int, int>, A<int, int>>, …>.
        let name = |pairs: usize| {
            let digits = &"123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[..pairs];
            let pairs = digits.chars().map(|n| format!("S0_IS{n}_S{n}_E"));
            format!("_Z1fI1AIiiE{}Evv", pairs.collect::<String>())
        };
        let two = "f<A<int, int>, A<A<int, int>, A<int, int>>>";
        assert_eq!(demangle(&name(1)).as_deref(), Some(two));
        assert!(demangle(&name(8)).is_some_and(|name| name.len() > 4000));
        assert_eq!(demangle(&name(33)), None);
        assert_eq!(
            demangle(&format!("_ZN{}3barEv", "3foo".repeat(20_000))),
            None
        );
    }

    #[test]
    fn compilers_suffixes_go() {
        check(
            Rule::CompilerSuffix,
            &[
                ("work.constprop.0", Some("work")),
                ("work.cold", Some("work")),
                ("work.part.3.cold.1", Some("work")),
                ("work.llvm.12345678901234567890", Some("work")),
                ("leaf(int) [clone .isra.0]", Some("leaf(int)")),
                ("leaf(int) [clone .constprop.0.cold]", Some("leaf(int)")),
                ("main.cold_start", None),
                ("ns::f.cold", Some("ns::f")),
                ("_Z4leafi.isra.0.cold", Some("_Z4leafi")),
                // Go, Java.
                ("main.part", None),
                ("main.(*T).cold", None),
                ("M$Violin.cold", None),
                ("com.shop.Violin.cold", None),
                ("main.work", None),
                ("main.func1.2", None),
                (".cold", None),
                ("array[12]", None),
            ],
        );
    }

    #[test]
    fn rusts_hash_goes() {
        check(
            Rule::RustHash,
            &[
                (
                    "core::fmt::write::h0123456789abcdef",
                    Some("core::fmt::write"),
                ),
                ("core::fmt::write::h0123456789abcde", None),
                ("core::fmt::write::hello_0123456789a", None),
                ("::h0123456789abcdef", None),
            ],
        );
    }

    #[test]
    fn the_jvms_numbers_go() {
        check(
            Rule::JvmLambda,
            &[
                (
                    "Main$$Lambda$14/0x0000000800c03000.run",
                    Some("Main$$Lambda.run"),
                ),
                ("Main$$Lambda$14/1234567.run", Some("Main$$Lambda.run")),
                (
                    "Main$$Lambda/0x00007f1234.apply",
                    Some("Main$$Lambda.apply"),
                ),
                (
                    "Main$$Lambda.0x00007f1234.apply",
                    Some("Main$$Lambda.apply"),
                ),
                ("Main$$Lambda$14.get", Some("Main$$Lambda.get")),
                (
                    "Main$$Lambda$14+0x00007fb780007a08.992802731.run",
                    Some("Main$$Lambda.run"),
                ),
                ("Main$$Lambda.get", None),
                ("Main.lambda$run$0", None),
            ],
        );
        check(
            Rule::JvmHidden,
            &[
                (
                    "java.lang.invoke.LambdaForm$MH/0x0000000800c03000.invoke",
                    Some("java.lang.invoke.LambdaForm$MH.invoke"),
                ),
                (
                    "LambdaForm$DMH.0x00000008000c5c00.newInvoke",
                    Some("LambdaForm$DMH.newInvoke"),
                ),
                ("Hidden+0x000000080001", Some("Hidden")),
                ("a/0x12", None),
                ("f(a.b/0x0000000800c03000x)", None),
                ("0x0000000800c03000", None),
            ],
        );
        check(
            Rule::JvmGenerated,
            &[
                (
                    "jdk.internal.reflect.GeneratedMethodAccessor12.invoke",
                    Some("jdk.internal.reflect.GeneratedMethodAccessor.invoke"),
                ),
                (
                    "com.sun.proxy.$Proxy7.call",
                    Some("com.sun.proxy.$Proxy.call"),
                ),
                ("MyGeneratedMethodAccessors.of", None),
            ],
        );
    }

    #[test]
    fn the_others_do_what_they_say() {
        check(
            Rule::RecursionLevel,
            &[("recurse'2", Some("recurse")), ("it's", None), ("'2", None)],
        );
        check(
            Rule::Address,
            &[
                ("0x7f00", Some("[unknown]")),
                ("0x", None),
                ("0xfg", None),
                ("main", None),
            ],
        );
        check(
            Rule::AnonymousNumber,
            &[
                ("Outer$1.run", Some("Outer$.run")),
                ("Outer$1$2.run", Some("Outer$$.run")),
                ("Main.lambda$run$0", Some("Main.lambda$run$")),
                ("Outer$1Local.run", None),
                ("$x", None),
            ],
        );
    }
}
