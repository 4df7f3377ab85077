//! Functions' names as profilers write them, and whether a definition fits one.

use std::path::Path;

/// A parsed name: `ns::Map<int>::find(int) const` is `ns`, `Map`, `find`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Qualified {
    /// The packages, namespaces and classes, outermost first.
    pub containers: Vec<String>,
    /// The function's own name.
    pub name: String,
}

impl Qualified {
    /// Parses a name. `None` if it names no function, such as `[unknown]`, `(anonymous) app.js:5` or `0x4f2`.
    pub fn parse(text: &str) -> Option<Qualified> {
        if text.starts_with("(anonymous) ") {
            return None;
        }
        let mut text = without_place(text.trim()).replace("(anonymous namespace)::", "");
        text = text
            .replace("{anonymous}::", "")
            .replace("(*", "")
            .replace(").", ".");
        text = text.replace(".<init>", ".\u{1}").replace(".<clinit>", "");
        let (head, operator) = operator(&text);
        let head = rust_types(head);
        let plain = without_groups(&head);
        let plain = plain.trim_end();
        let plain = [" const", " volatile", " &", " &&", " noexcept"]
            .iter()
            .fold(plain, |text, end| text.strip_suffix(end).unwrap_or(text));
        // Drop a return type, `async` or `get`.
        let last = plain.rsplit(char::is_whitespace).next().unwrap_or("");
        let last = last.trim_start_matches(['*', '&']);
        let mut all: Vec<String> = parts(last);
        if let Some(operator) = operator {
            all.push(operator);
        }
        closures(&mut all);
        let mut name = all.pop()?;
        if name == "\u{1}" {
            name.clone_from(all.last()?);
        }
        let is_name = name.starts_with(|c: char| c.is_alphabetic() || "_$~#".contains(c));
        is_name.then_some(Qualified {
            containers: all,
            name,
        })
    }

    /// How well a definition in a file fits; more is better. `None` if it is another function.
    pub fn fit(&self, name: &str, containers: &[String], file: &Path) -> Option<usize> {
        if self.name != name {
            return None;
        }
        let same = |a: &[String], b: &[String]| {
            let both = a.iter().rev().zip(b.iter().rev());
            both.take_while(|(a, b)| alike(a, b)).count()
        };
        let inner = same(&self.containers, containers);
        if inner < self.containers.len().min(containers.len()) {
            return None;
        }
        let left = &self.containers[..self.containers.len() - inner];
        let path = same(left, &modules(file));
        // One more name may be a crate, a package or `Object`.
        (left.len() <= 1 || path > 0).then_some(2 * inner + path)
    }
}

/// Removes the place from rbspy's `total - lib/cart.rb:12`.
fn without_place(text: &str) -> &str {
    let place = text.rsplit_once(" - ").filter(|(_, file)| {
        let file = file.rsplit_once(':').map_or(*file, |(file, _)| file);
        Path::new(file).extension().is_some()
    });
    place.map_or(text, |(name, _)| name)
}

/// Whether two names are the same: crates have underscores where their folders have hyphens.
fn alike(a: &str, b: &str) -> bool {
    a == b || a.replace('-', "_") == b.replace('-', "_")
}

/// The names of modules that a file's path suggests.
fn modules(file: &Path) -> Vec<String> {
    let stem = file.with_extension("");
    let parts = stem.iter().map(|part| part.to_string_lossy().into_owned());
    let says_nothing = ["src", "lib", "main", "mod", "index", "__init__", "/"];
    parts
        .filter(|part| !says_nothing.contains(&part.as_str()))
        .collect()
}

/// Splits off an operator: `ns::Map::operator()(int)` is `ns::Map::` and `operator()`.
fn operator(text: &str) -> (&str, Option<String>) {
    let at = text.match_indices("operator").find(|(at, _)| {
        let before = text[..*at].chars().next_back();
        let after = text[at + "operator".len()..].chars().next();
        before.is_none_or(|c| !c.is_alphanumeric() && c != '_')
            && after.is_some_and(|c| !c.is_alphanumeric() && c != '_' && c != '.' && c != ':')
    });
    let Some((at, word)) = at else {
        return (text, None);
    };
    let rest = &text[at + word.len()..];
    let symbol = if rest.starts_with("()") {
        "()"
    } else {
        rest[..rest.find('(').unwrap_or(rest.len())].trim()
    };
    (&text[..at], Some(format!("{word}{symbol}")))
}

/// Turns `<T as Trait>::f` and `<impl Trait for T>::f` into `T::f`.
fn rust_types(text: &str) -> String {
    let mut text = text.to_owned();
    while let Some(start) = text.find("<impl ") {
        let Some(end) = closing(&text, start) else {
            break;
        };
        let inside = &text[start + "<impl ".len()..end];
        let of = inside.rsplit(" for ").next().unwrap_or(inside).to_owned();
        text.replace_range(start..=end, &of);
    }
    if text.starts_with('<')
        && let Some(end) = closing(&text, 0)
        && text[end + 1..].starts_with("::")
    {
        let inside = &text[1..end];
        let of = inside.split(" as ").next().unwrap_or(inside).to_owned();
        text.replace_range(..=end, &of);
    }
    text
}

/// The position at which the bracket at `start` closes.
fn closing(text: &str, start: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, c) in text[start..].char_indices() {
        match c {
            '<' => depth += 1,
            '>' if before != '-' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(start + at);
                }
            }
            _ => {}
        }
        before = c;
    }
    None
}

/// Removes everything in brackets: arguments, template arguments, `[abi:cxx11]`.
fn without_groups(text: &str) -> String {
    let mut out = String::new();
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth = depth.saturating_sub(1),
            _ if depth == 0 => out.push(c),
            _ => {}
        }
    }
    out
}

fn parts(text: &str) -> Vec<String> {
    let split = text.split(['.', '/', ':', '#']);
    let split = split.flat_map(|part| match part.starts_with("lambda$") {
        // Java's lambda$main$0 is in `main`.
        true => part.split('$').skip(1).take(1).collect::<Vec<_>>(),
        false => inner_classes(part),
    });
    let kept = split.filter(|part| !part.is_empty());
    kept.map(String::from).collect()
}

/// Splits `Outer$Inner`. A dollar sign at the beginning or end of a name belongs to it.
fn inner_classes(part: &str) -> Vec<&str> {
    match part.split('$').all(|it| !it.is_empty()) {
        true => part.split('$').collect(),
        false => vec![part],
    }
}

/// Removes closures: they belong to the function that is named before them.
fn closures(all: &mut Vec<String>) {
    let is_closure = |part: &String| {
        let number = part.strip_prefix("func").unwrap_or(part);
        part.starts_with('{')
            || (!number.is_empty() && number.bytes().all(|it| it.is_ascii_digit()))
    };
    while all.len() > 1 && all.last().is_some_and(is_closure) {
        all.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_every_language_are_taken_apart() {
        for (text, expect) in [
            ("main", "main"),
            (
                "ns::Map<int, std::less<int>>::find(int) const",
                "ns Map find",
            ),
            ("void ns::f(std::vector<int>&)", "ns f"),
            ("(anonymous namespace)::helper(char*)", "helper"),
            ("ns::Map::operator()(int) const", "ns Map operator()"),
            ("ns::operator<<(std::ostream&, T)", "ns operator<<"),
            ("Shape::~Shape()", "Shape ~Shape"),
            ("f[abi:cxx11]()", "f"),
            (
                "my_crate::parse::Parser<R>::next",
                "my_crate parse Parser next",
            ),
            (
                "<my_crate::Parser as core::iter::Iterator>::next",
                "my_crate Parser next",
            ),
            (
                "my_crate::<impl my_crate::Walk for my_crate::Tree>::walk",
                "my_crate my_crate Tree walk",
            ),
            ("my_crate::run::{{closure}}", "my_crate run"),
            (
                "github.com/x/shop.(*Cart).Total",
                "github com x shop Cart Total",
            ),
            ("main.main.func1", "main main"),
            ("main.main.func1.2", "main main"),
            ("com.shop.Cart$Item.price", "com shop Cart Item price"),
            ("com/shop/Cart.<init>", "com shop Cart Cart"),
            ("com.shop.Cart.lambda$total$0", "com shop Cart total"),
            ("Cart.total", "Cart total"),
            ("async handle", "handle"),
            ("$", "$"),
            ("#secret", "secret"),
            ("shop.cart:total", "shop cart total"),
            ("total (cart.py:12)", "total"),
            ("total (cart.py)", "total"),
            ("total - lib/cart.rb:12", "total"),
        ] {
            let parsed = Qualified::parse(text).map(|it| {
                let mut all = it.containers;
                all.push(it.name);
                all.join(" ")
            });
            assert_eq!(parsed.as_deref(), Some(expect), "{text}");
        }
        for text in [
            "[unknown]",
            "(anonymous)",
            "(anonymous) app.js:5:12",
            "(anonymous) app.js",
            "0x4f2a",
            "",
            "<module>",
            "{{closure}}",
        ] {
            assert_eq!(Qualified::parse(text), None, "{text}");
        }
    }

    #[test]
    fn definitions_fit_by_their_containers_and_their_file() {
        for (text, definition, file, expect) in [
            ("f", "f", "/w/a.c", Some(0)),
            ("ns::Map::find(int)", "ns Map find", "/w/map.cpp", Some(4)),
            ("Map::find(int)", "ns Map find", "/w/map.cpp", Some(2)),
            ("std::vector::find", "Map find", "/w/map.cpp", None),
            ("std::vector::find", "find", "/w/map.cpp", None),
            ("shop::cart::total", "total", "/w/shop/src/cart.rs", Some(2)),
            ("other::total", "total", "/w/shop/src/cart.rs", Some(0)),
            ("my_shop::total", "total", "/w/my-shop/src/lib.rs", Some(1)),
            ("f", "g", "/w/a.c", None),
        ] {
            let mut containers: Vec<String> = definition.split(' ').map(String::from).collect();
            let name = containers.pop().expect("a name");
            let wanted = Qualified::parse(text).expect("a name");
            assert_eq!(
                wanted.fit(&name, &containers, Path::new(file)),
                expect,
                "{text}"
            );
        }
    }
}
