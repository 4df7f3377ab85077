//! Makes filters from the names in profiles: from labels of a bottleneck search, and functions of a causal profile.

use std::collections::BTreeSet;

use super::MethodName;

/// The Java method that a name in a profile means, with any descriptor. Accepts slashes and dots between packages, a trailing descriptor or
/// parameters, and async-profiler's suffixes. Classes that the virtual machine creates at run time have numbers in their names, which
/// match any number. `None` for names that are not Java methods.
pub fn method_of_name(name: &str) -> Option<MethodName> {
    let name = name.split_once("_[").map_or(name, |(name, _)| name);
    let name = name.split(['(', ':', ' ']).next().unwrap_or(name);
    let name = name.replace('/', ".");
    let (class, method) = name.rsplit_once('.')?;
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '+' | '-');
    let valid = class.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$')
        && class.chars().all(plain)
        && (method == "<init>" || method == "<clinit>" || method.chars().all(plain))
        && !method.starts_with(|c: char| c.is_ascii_digit())
        && !method.is_empty();
    let generated = [
        "$$Lambda",
        "LambdaForm$",
        "GeneratedMethodAccessor",
        "$Proxy",
    ];
    let cut = generated
        .iter()
        .filter_map(|part| Some(class.find(part)? + part.len()))
        .min();
    let class = match cut {
        Some(at) => format!("{}*", &class[..at]),
        None => class.to_owned(),
    };
    valid.then(|| MethodName {
        class,
        name: method.to_owned(),
        descriptor: String::new(),
    })
}

/// The methods that names mean, and the names that mean no method.
pub fn methods_of_names<'a>(
    names: impl IntoIterator<Item = &'a str>,
) -> (BTreeSet<MethodName>, Vec<&'a str>) {
    let (mut methods, mut others) = (BTreeSet::new(), Vec::new());
    for name in names {
        match method_of_name(name) {
            Some(method) => {
                methods.insert(method);
            }
            None if others.contains(&name) => {}
            None => others.push(name),
        }
    }
    (methods, others)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_profilers_mean_methods() {
        for (name, expect) in [
            (
                "org.h2.mvstore.MVMap.get",
                Some(("org.h2.mvstore.MVMap", "get")),
            ),
            (
                "org/h2/Driver.connect_[j]",
                Some(("org.h2.Driver", "connect")),
            ),
            (
                "org.h2.Driver.connect(Ljava/lang/String;)V",
                Some(("org.h2.Driver", "connect")),
            ),
            ("shop.Cart$Item.<init>", Some(("shop.Cart$Item", "<init>"))),
            ("Main.main:12", Some(("Main", "main"))),
            ("Main$$Lambda+0x01.7.run", Some(("Main$$Lambda*", "run"))),
            (
                "a.GeneratedMethodAccessor12.invoke",
                Some(("a.GeneratedMethodAccessor*", "invoke")),
            ),
            ("main", None),
            ("std::vec::push", None),
            ("[truncated]", None),
            ("__libc_start_main@plt.x", None),
            ("libc.so.6", None),
        ] {
            let found = method_of_name(name);
            let found = found
                .as_ref()
                .map(|it| (it.class.as_str(), it.name.as_str()));
            assert_eq!(found, expect, "{name}");
        }
        let (methods, others) = methods_of_names(["a.B.c", "x", "a.B.c", "x"]);
        assert_eq!((methods.len(), others), (1, vec!["x"]));
    }
}
