//! Patterns of names with `*`, and the packages that are matched only by rules that name them.

use std::fmt;

/// A pattern of names, in which `*` stands for any text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(String);

/// Packages of the Java platform, of JDK 11 and newer. Programs bring their own `javax.servlet`, `javax.xml.bind`,
/// `com.sun.jna` and the like, so those names are distinguished below.
const PLATFORM: [&str; 62] = [
    "java.",
    "jdk.",
    "sun.",
    "oracle.jrockit.",
    "netscape.javascript.",
    "org.ietf.jgss.",
    "org.jcp.xml.dsig.",
    "org.w3c.dom.",
    "org.xml.sax.",
    "javax.accessibility.",
    "javax.annotation.processing.",
    "javax.crypto.",
    "javax.imageio.",
    "javax.lang.model.",
    "javax.management.",
    "javax.naming.",
    "javax.net.",
    "javax.print.",
    "javax.rmi.ssl.",
    "javax.script.",
    "javax.security.",
    "javax.smartcardio.",
    "javax.sound.",
    "javax.sql.",
    "javax.swing.",
    "javax.tools.",
    "javax.transaction.xa.",
    "javax.xml.XMLConstants",
    "javax.xml.catalog.",
    "javax.xml.crypto.",
    "javax.xml.datatype.",
    "javax.xml.namespace.",
    "javax.xml.parsers.",
    "javax.xml.stream.",
    "javax.xml.transform.",
    "javax.xml.validation.",
    "javax.xml.xpath.",
    "com.sun.accessibility.",
    "com.sun.beans.",
    "com.sun.crypto.provider.",
    "com.sun.imageio.",
    "com.sun.jarsigner.",
    "com.sun.java.",
    "com.sun.java_cup.",
    "com.sun.jdi.",
    "com.sun.jmx.",
    "com.sun.jndi.",
    "com.sun.management.",
    "com.sun.media.sound.",
    "com.sun.naming.",
    "com.sun.net.",
    "com.sun.nio.",
    "com.sun.org.",
    // Created by `java.lang.reflect.Proxy`.
    "com.sun.proxy.",
    "com.sun.rmi.",
    "com.sun.rowset.",
    "com.sun.security.",
    "com.sun.source.",
    "com.sun.swing.",
    "com.sun.tools.",
    "com.sun.xml.internal.",
    "toolbarButtonGraphics.",
];

/// The beginnings of patterns that name packages of the platform, or what contains several of them.
const NAMED: [&str; 11] = [
    "java.",
    "javax.",
    "jdk.",
    "sun.",
    "com.sun.",
    "oracle.jrockit.",
    "netscape.",
    "org.ietf.",
    "org.jcp.",
    "org.w3c.",
    "org.xml.",
];

/// The namespaces of the C++ standard library.
const STANDARD: [&str; 3] = ["std", "__gnu_cxx", "__cxxabiv1"];

pub(crate) fn is_platform(class: &str) -> bool {
    PLATFORM.iter().any(|package| class.starts_with(package)) || names_standard(class)
}

/// Whether a name is a namespace of the standard library, or in one.
fn names_standard(class: &str) -> bool {
    let mut found = STANDARD.iter().filter_map(|it| class.strip_prefix(it));
    found.any(|rest| rest.is_empty() || rest.starts_with("::"))
}

/// Whether a whole name matches a pattern in which `*` stands for any text.
pub fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
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

impl Pattern {
    pub(crate) fn new(text: &str) -> Pattern {
        Pattern(text.to_owned())
    }

    pub(crate) fn class(text: &str) -> Pattern {
        Pattern(text.replace('/', "."))
    }

    /// Whether a whole name matches.
    pub fn matches(&self, name: &str) -> bool {
        matches(&self.0, name)
    }

    /// Whether it matches every name that `other` matches. Only a `*` of ours can match a `*` of `other`.
    pub(crate) fn covers(&self, other: &Pattern) -> bool {
        self.matches(&other.0)
    }

    /// Whether it matches every name.
    pub(crate) fn matches_all(&self) -> bool {
        !self.0.is_empty() && self.0.bytes().all(|it| it == b'*')
    }

    /// Whether it has no `*`, so that it is a plain name.
    pub fn is_name(&self) -> bool {
        !self.0.contains('*')
    }

    /// Whether it names one of the platform's packages, or the beginning of one.
    pub(crate) fn names_platform(&self) -> bool {
        let literal = self.0.split('*').next().unwrap_or("");
        NAMED.iter().any(|package| literal.starts_with(package)) || names_standard(literal)
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

    #[test]
    fn the_platform_is_what_the_jdk_has_and_nothing_that_programs_bring() {
        for class in [
            "java.lang.String",
            "jdk.internal.misc.Unsafe",
            "org.xml.sax.helpers.DefaultHandler",
            "org.w3c.dom.Node",
            "com.sun.org.apache.xerces.internal.parsers.SAXParser",
            "javax.xml.parsers.SAXParser",
            "javax.swing.JFrame",
            "com.sun.proxy.$Proxy7",
        ] {
            assert!(is_platform(class), "{class}");
        }
        for class in [
            "javax.servlet.http.HttpServlet",
            "javax.xml.bind.JAXBContext",
            "com.sun.jna.Native",
            "org.xmlunit.Diff",
            "javanese.Dance",
        ] {
            assert!(!is_platform(class), "{class}");
        }
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
            ("Pool-*-thread-1", "Pool-7-thread-1", true),
            ("*ä", "xä", true),
        ] {
            assert_eq!(
                Pattern(pattern.into()).matches(name),
                matches,
                "{pattern} {name}"
            );
        }
    }
}
