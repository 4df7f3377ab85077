//! Demangles functions' names, and splits them into parts.

use cpp_demangle::DemangleOptions;

/// The demangled linkage name, without parameters and hashes, or else the plain name.
pub fn readable(linkage: Option<&str>, name: Option<&str>) -> Option<String> {
    let linkage = linkage.filter(|text| !text.is_empty());
    linkage
        .and_then(demangled)
        .or_else(|| name.map(str::to_owned))
        .or_else(|| linkage.map(str::to_owned))
        .filter(|text| !text.is_empty())
}

fn demangled(linkage: &str) -> Option<String> {
    if let Ok(name) = rustc_demangle::try_demangle(linkage) {
        return Some(format!("{name:#}"));
    }
    if !linkage.starts_with("_Z") {
        return None;
    }
    let options = DemangleOptions::new().no_params().no_return_type();
    let name = cpp_demangle::BorrowedSymbol::with_tail(linkage.as_bytes())
        .ok()?
        .0
        .demangle_with_options(&options)
        .ok()?;
    Some(closed(name))
}

/// Removes spaces between brackets, because " > " separates the functions of a path.
fn closed(mut name: String) -> String {
    while name.contains("> >") {
        name = name.replace("> >", ">>");
    }
    name
}

/// The parts of a function's name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Qualified {
    /// The namespace or type to which it belongs, such as `shop::Cart`. Empty if there is none.
    pub scope: String,
    /// The function's own name, with template arguments, such as `add`.
    pub name: String,
    /// Its parameters as C++ has them, and what follows, such as `(int) const`. Empty for other languages.
    pub parameters: String,
}

/// The parts of a function's name in a symbol table: demangled, without suffixes of compilers (`.constprop.0`).
pub fn qualified(symbol: &str) -> Qualified {
    let plain = symbol.split('@').next().unwrap_or(symbol);
    let cut = plain.get(1..).and_then(|rest| rest.find('.'));
    let plain = cut.map_or(plain, |at| &plain[..=at]);
    let mut name = demangled(plain).unwrap_or_else(|| plain.to_owned());
    let whole = with_parameters(plain);
    if whole.is_some() && name.ends_with(" const") {
        // Of functions within others, that stays where the parameters are left out.
        name.truncate(name.len() - " const".len());
    }
    let parameters = whole.and_then(|all| Some(all.strip_prefix(&name)?.to_owned()));
    let at = scope_end(&name);
    Qualified {
        scope: at.map_or("", |at| &name[..at]).to_owned(),
        name: at.map_or(&*name, |at| &name[at + 2..]).to_owned(),
        parameters: parameters.unwrap_or_default(),
    }
}

fn with_parameters(linkage: &str) -> Option<String> {
    if !linkage.starts_with("_Z") || rustc_demangle::try_demangle(linkage).is_ok() {
        return None;
    }
    let symbol = cpp_demangle::BorrowedSymbol::with_tail(linkage.as_bytes())
        .ok()?
        .0;
    let options = DemangleOptions::new().no_return_type();
    Some(closed(symbol.demangle_with_options(&options).ok()?))
}

/// Where the `::` is behind which a function's own name begins. Those within brackets do not count, nor what is an
/// operator's name.
fn scope_end(name: &str) -> Option<usize> {
    let bytes = name.as_bytes();
    let (mut depth, mut found, mut at) = (0_u32, None, 0);
    while at < bytes.len() {
        let rest = &bytes[at..];
        let begins = at == 0 || found == Some(at.wrapping_sub(2));
        if depth == 0 && begins && rest.starts_with(b"operator") {
            let next = rest.get(8).copied().unwrap_or(b' ');
            if !next.is_ascii_alphanumeric() && next != b'_' {
                break;
            }
        }
        match rest[0] {
            b'<' | b'(' | b'[' | b'{' => depth += 1,
            b'>' if at > 0 && bytes[at - 1] == b'-' => {}
            b'>' | b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b':' if depth == 0 && rest.starts_with(b"::") => {
                found = Some(at);
                at += 1;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Qualified, qualified, readable};

    #[test]
    fn names_have_a_scope_and_parameters() {
        for (symbol, scope, name, parameters) in [
            ("main", "", "main", ""),
            ("work.constprop.0", "", "work", ""),
            ("puts@plt", "", "puts", ""),
            ("_Z4workiPKc", "", "work", "(int, char const*)"),
            (
                "_ZNK4shop4Cart5totalEi",
                "shop::Cart",
                "total",
                "(int) const",
            ),
            (
                "_ZNK4shop4Cart5totalEi.part.0",
                "shop::Cart",
                "total",
                "(int) const",
            ),
            (
                "_ZN12_GLOBAL__N_14workEv",
                "(anonymous namespace)",
                "work",
                "()",
            ),
            ("_ZN1AlsEi", "A", "operator<<", "(int)"),
            ("_ZN1AptEv", "A", "operator->", "()"),
            (
                "_ZNSt6vectorIiSaIiEE9push_backERKi",
                "std::vector<int, std::allocator<int>>",
                "push_back",
                "(int const&)",
            ),
            ("_Z3maxIN1a1bEET_S2_S2_", "", "max<a::b>", "(a::b, a::b)"),
            (
                "_ZZ4mainENKUliE_clEi",
                "main::{lambda(int)#1}",
                "operator()",
                "(int) const",
            ),
            ("_RNvC6_123foo3bar", "123foo", "bar", ""),
            ("_Znonsense", "", "_Znonsense", ""),
            ("", "", "", ""),
            (".", "", ".", ""),
        ] {
            let expect = Qualified {
                scope: scope.into(),
                name: name.into(),
                parameters: parameters.into(),
            };
            assert_eq!(qualified(symbol), expect, "{symbol}");
        }
    }

    #[test]
    fn names_are_as_written() {
        let table = [
            (Some("_Z4workRKSt6vectorIiSaIiEE"), Some("work"), "work"),
            (Some("_ZN2ns5Queue3popEv"), Some("pop"), "ns::Queue::pop"),
            (Some("_Z3maxIiET_S0_S0_"), Some("max<int>"), "max<int>"),
            (
                Some("_ZN1QISt6vectorIS0_IiSaIiEESaIS2_EEE1fEv"),
                None,
                "Q<std::vector<std::vector<int, std::allocator<int>>, std::allocator<std::vector<int, std::allocator<int>>>>>::f",
            ),
            (
                Some("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE"),
                Some("write_fmt"),
                "core::fmt::Write::write_fmt",
            ),
            (Some("_RNvC6_123foo3bar"), Some("bar"), "123foo::bar"),
            (None, Some("main"), "main"),
            (Some(""), Some("main"), "main"),
            (Some("_Znot_mangled"), Some("plain"), "plain"),
            (Some("assembly_label"), None, "assembly_label"),
        ];
        for (linkage, name, expected) in table {
            assert_eq!(readable(linkage, name).as_deref(), Some(expected));
        }
        assert_eq!(readable(None, None), None);
        assert_eq!(readable(None, Some("")), None);
    }
}
