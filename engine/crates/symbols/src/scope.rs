//! The source scope: which source files may be sped up, coz's `--source-scope` (COZ §3.1).

/// A set of file patterns. `%` matches any text, as in coz.
///
/// Without patterns, every file is in scope that does not come with the system, the compiler or a package manager.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    patterns: Vec<String>,
}

/// Folders of headers and libraries that the user did not write. Paths with these prefixes are out of the default scope.
const SYSTEM_PREFIXES: &[&str] = &[
    "/usr/include/",
    "/usr/lib/",
    "/usr/lib32/",
    "/usr/lib64/",
    "/usr/libx32/",
    "/usr/local/include/",
    "/usr/local/go/",
    "/usr/share/",
    "/usr/src/debug/",
    "/usr/src/rustc",
    "/lib/",
    "/nix/store/",
    "/rustc/",
];

/// Parts of paths to such files, wherever a compiler or a package manager is installed.
const SYSTEM_PARTS: &[&str] = &[
    "/include/c++/",
    "/lib/gcc/",
    "/lib64/gcc/",
    "/lib/clang/",
    "/lib/rustlib/",
    "/.cargo/registry/",
    "/.cargo/git/checkouts/",
    "/cargo/registry/src/",
    "/go/pkg/mod/",
];

/// Headers of the instrumentation itself. Never in scope, because their cost belongs to the line that uses them.
const INSTRUMENTATION: &[&str] = &["coz.h", "fulcrum.h"];

impl Scope {
    /// The scope of these patterns, or the default scope without any.
    ///
    /// A pattern that starts with `/` or `%` is matched against the whole path, any other against the path's last parts, so that
    /// `main.cpp` and `src/%` need not name the project's folder.
    pub fn new<I, S>(patterns: I) -> Scope
    where
        I: IntoIterator<Item = S>,
        S: Into<String>,
    {
        Scope {
            patterns: patterns.into_iter().map(Into::into).collect(),
        }
    }

    /// Whether a file is in scope.
    pub fn contains(&self, file: &str) -> bool {
        let name = file.rsplit('/').next().unwrap_or(file);
        // Compilers invent names such as "<artificial>", "<built-in>" and "<stdin>".
        if name.is_empty() || name.starts_with('<') || INSTRUMENTATION.contains(&name) {
            return false;
        }
        if self.patterns.is_empty() {
            return !is_system(file);
        }
        self.patterns
            .iter()
            .any(|pattern| matches_path(pattern, file))
    }
}

fn is_system(file: &str) -> bool {
    SYSTEM_PREFIXES
        .iter()
        .any(|prefix| file.starts_with(prefix))
        || SYSTEM_PARTS.iter().any(|part| file.contains(part))
}

/// Whether a pattern of a binary or source scope matches a path.
pub fn matches_path(pattern: &str, path: &str) -> bool {
    if pattern.starts_with(['/', '%']) {
        return wildcard(pattern.as_bytes(), path.as_bytes());
    }
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    wildcard(pattern.as_bytes(), path.as_bytes())
        || path
            .match_indices('/')
            .any(|(at, _)| wildcard(pattern.as_bytes(), &path.as_bytes()[at + 1..]))
}

/// Matches a pattern in which `%` stands for any number of bytes. Backtracks to the last `%` only.
fn wildcard(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut resume = None;
    while t < text.len() {
        if pattern.get(p) == Some(&b'%') {
            resume = Some((p + 1, t));
            p += 1;
        } else if pattern.get(p) == Some(&text[t]) {
            p += 1;
            t += 1;
        } else if let Some((after, at)) = resume {
            resume = Some((after, at + 1));
            p = after;
            t = at + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&byte| byte == b'%')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_takes_the_users_files_only() {
        let table = [
            ("/home/me/app/main.cpp", true),
            ("/home/me/app/include/app.h", true),
            ("/usr/src/app/main.cpp", true),
            ("src/main.rs", true),
            ("/usr/include/c++/12/vector", false),
            (
                "/usr/lib/gcc/x86_64-linux-gnu/12/include/emmintrin.h",
                false,
            ),
            ("/opt/gcc-15/include/c++/15/bits/stl_algo.h", false),
            ("/opt/llvm/lib/clang/19/include/immintrin.h", false),
            ("/rustc/1234/library/core/src/iter/range.rs", false),
            (
                "/home/me/.rustup/toolchains/s/lib/rustlib/src/rust/library/std/src/io.rs",
                false,
            ),
            (
                "/home/me/.cargo/registry/src/index-1/serde-1.0.0/src/lib.rs",
                false,
            ),
            ("/home/me/app/<artificial>", false),
            ("/home/me/app/fulcrum.h", false),
            ("/home/me/app/coz.h", false),
            ("", false),
        ];
        for (file, expected) in table {
            assert_eq!(Scope::default().contains(file), expected, "{file}");
        }
    }

    #[test]
    fn patterns_use_cozs_wildcard() {
        let table = [
            ("%", "/usr/include/c++/12/vector", true),
            ("%", "/a/coz.h", false),
            ("%.cpp", "/a/b.cpp", true),
            ("%.cpp", "/a/b.h", false),
            ("/a/%", "/a/b/c.h", true),
            ("/a/%/d.c", "/a/b/c/d.c", true),
            ("/a/%b%c", "/a/xbybzc", true),
            ("/a/%b%c", "/a/xbybz", false),
            ("/a", "/a/b.c", false),
            ("main.cpp", "/a/main.cpp", true),
            ("main.cpp", "/a/domain.cpp", false),
            ("src/%", "/a/src/b/c.c", true),
            ("./src/x.c", "/a/src/x.c", true),
            ("src/%", "/a/mysrc/b.c", false),
        ];
        for (pattern, file, expected) in table {
            assert_eq!(
                Scope::new([pattern]).contains(file),
                expected,
                "{pattern} {file}"
            );
        }
    }
}
