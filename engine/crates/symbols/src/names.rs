//! Functions' names as people write them.

use cpp_demangle::DemangleOptions;

/// The demangled linkage name, without parameters and hashes; the plain name where there is none.
pub(crate) fn readable(linkage: Option<&str>, name: Option<&str>) -> Option<String> {
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
    // " > " stands between the functions of a path.
    let mut name = name.replace("> >", ">>");
    while name.contains("> >") {
        name = name.replace("> >", ">>");
    }
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::readable;

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
