//! Checks that the files of a crate have layers too: no two of them need each other, directly or through others.
//!
//! A file needs another when it names something that the other defines; a file that only re-exports a name is not needed. A
//! module may declare its children without needing them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use crate::arrows::manifests;
use crate::modules::{self, Module, ModulePath};

/// The longest chain of imports; a longer one is taken for a circle of imports.
const MOST_IMPORTS: u32 = 16;

/// The names that each file needs, by the file that defines them.
type Needs = BTreeMap<PathBuf, BTreeMap<PathBuf, BTreeSet<String>>>;

/// Reads the source of every crate. Returns one sentence for each circle.
pub(crate) fn check(root: &Path) -> Vec<String> {
    let names = match manifests(root) {
        Ok(manifests) => manifests.into_keys(),
        Err(problem) => return vec![problem],
    };
    let mut problems = Vec::new();
    for name in names {
        let source = root.join("engine/crates").join(&name).join("src");
        match circles(&source) {
            Ok(circles) => problems.extend(
                circles
                    .iter()
                    .map(|circle| format!("engine/crates/{name}/src: {}", circle.sentence())),
            ),
            Err(problem) => problems.push(problem),
        }
    }
    problems
}

/// Files that need each other.
#[derive(Debug)]
struct Circle {
    /// All of them in order, relative to the crate's `src`.
    files: Vec<String>,
    /// A shortest way around: each file, and the names that it takes from the next one.
    way: Vec<(String, Vec<String>)>,
}

impl Circle {
    fn sentence(&self) -> String {
        let ways = self.way.iter().enumerate().map(|(n, (file, names))| {
            let next = &self.way[(n + 1) % self.way.len()].0;
            format!("{file} takes {} from {next}", names.join(", "))
        });
        format!(
            "{} files need each other ({}); for one, {}. Move what both need to a file below them.",
            self.files.len(),
            self.files.join(", "),
            ways.collect::<Vec<_>>().join(", and ")
        )
    }
}

/// The circles of the library and of the program of a crate.
fn circles(source: &Path) -> Result<Vec<Circle>, String> {
    let mut found = Vec::new();
    for root in ["lib.rs", "main.rs"] {
        let root = source.join(root);
        if root.is_file() {
            let needs = needs(&modules::read(&root)?);
            found.extend(together(&needs).iter().map(|files| {
                let mut names: Vec<_> = files.iter().map(|file| short(file, source)).collect();
                names.sort_unstable();
                Circle {
                    files: names,
                    way: shortest(files, &needs, source),
                }
            }));
        }
    }
    Ok(found)
}

fn short(file: &Path, source: &Path) -> String {
    let file = file.strip_prefix(source).unwrap_or(file);
    file.to_string_lossy().into_owned()
}

/// What each file names of other files.
fn needs(modules: &BTreeMap<ModulePath, Module>) -> Needs {
    let mut needs = Needs::new();
    for (at, module) in modules {
        let paths = module.named.iter().map(|path| (path, false));
        let globs = module.named_globs.iter().map(|path| (path, true));
        for (path, glob) in paths.chain(globs) {
            let found = match find(modules, at, path, 0) {
                Some(Found::Item(owner, name)) => (owner, name),
                Some(Found::Module(owner)) if glob => (owner, "*".to_owned()),
                _ => continue,
            };
            let file = &modules[&found.0].file;
            if *file != module.file {
                let of = needs.entry(module.file.clone()).or_default();
                of.entry(file.clone()).or_default().insert(found.1);
            }
        }
    }
    needs
}

/// What a path leads to.
enum Found {
    Module(ModulePath),
    /// The module that defines an item, and the item's name.
    Item(ModulePath, String),
}

/// Follows a path from the module in which it is written. `None` when it leads out of the crate or to tests.
fn find(
    modules: &BTreeMap<ModulePath, Module>,
    from: &ModulePath,
    path: &[String],
    imports: u32,
) -> Option<Found> {
    let mut base = from.clone();
    let mut rest = path;
    match rest.first()?.as_str() {
        "crate" => {
            base.clear();
            rest = &rest[1..];
        }
        "self" => rest = &rest[1..],
        "super" => {}
        first => {
            let here = &modules[from];
            let known = here.children.contains(first)
                || here.defined.contains(first)
                // `use serde::…` in a module that imports `serde` leads out of the crate.
                || here.imported.get(first).is_some_and(|it| it != path);
            if !known {
                return None;
            }
        }
    }
    while rest.first().is_some_and(|it| it == "super") {
        base.pop()?;
        rest = &rest[1..];
    }
    walk(modules, from, base, rest, imports)
}

/// Follows a path down from a module, as far as it is seen `from` another one.
fn walk(
    modules: &BTreeMap<ModulePath, Module>,
    from: &ModulePath,
    mut at: ModulePath,
    path: &[String],
    imports: u32,
) -> Option<Found> {
    let Some((name, rest)) = path.split_first() else {
        return Some(Found::Module(at));
    };
    let module = modules.get(&at)?;
    if module.children.contains(name) {
        at.push(name.clone());
        return walk(modules, from, at, rest, imports);
    }
    if module.defined.contains(name) {
        return Some(Found::Item(at, name.clone()));
    }
    if module.of_tests.contains(name) || imports >= MOST_IMPORTS {
        return None;
    }
    // A macro and a function may have the same name: what a module imports for itself is not visible to others.
    let is_seen = !module.kept.contains(name) || from.starts_with(&at);
    if let Some(imported) = module.imported.get(name).filter(|_| is_seen) {
        return match find(modules, &at, imported, imports + 1)? {
            Found::Module(to) => walk(modules, &at, to, rest, imports + 1),
            item @ Found::Item(..) => Some(item),
        };
    }
    for glob in &module.globs {
        if let Some(Found::Module(within)) = find(modules, &at, glob, imports + 1)
            && within != at
            && has(&modules[&within], name)
        {
            return walk(modules, &at, within, path, imports + 1);
        }
    }
    // A macro creates it.
    Some(Found::Item(at, name.clone()))
}

fn has(module: &Module, name: &str) -> bool {
    module.children.contains(name)
        || module.defined.contains(name)
        || module.imported.contains_key(name)
}

/// The files that can be reached from a file; the file itself only through a circle.
fn reached(from: &Path, needs: &Needs) -> BTreeSet<PathBuf> {
    let mut seen = BTreeSet::new();
    let mut queue = vec![from];
    while let Some(file) = queue.pop() {
        for next in needs.get(file).into_iter().flat_map(BTreeMap::keys) {
            if seen.insert(next.clone()) {
                queue.push(next);
            }
        }
    }
    seen
}

/// Sets of files each of which reaches all others.
fn together(needs: &Needs) -> BTreeSet<BTreeSet<PathBuf>> {
    let reached: BTreeMap<&PathBuf, BTreeSet<PathBuf>> = needs
        .keys()
        .map(|file| (file, reached(file, needs)))
        .collect();
    let mut found = BTreeSet::new();
    for (file, all) in &reached {
        if all.contains(*file) {
            let back = |it: &&PathBuf| reached.get(it).is_some_and(|all| all.contains(*file));
            found.insert(all.iter().filter(back).cloned().collect());
        }
    }
    found
}

/// A shortest way around within a circle.
fn shortest(files: &BTreeSet<PathBuf>, needs: &Needs, source: &Path) -> Vec<(String, Vec<String>)> {
    let ways = files.iter().filter_map(|file| way_back(file, files, needs));
    let way = ways.min_by_key(Vec::len).unwrap_or_default();
    let names = |n: usize| &needs[way[n]][way[(n + 1) % way.len()]];
    way.iter()
        .enumerate()
        .map(|(n, file)| (short(file, source), names(n).iter().cloned().collect()))
        .collect()
}

/// The shortest way from a file back to itself, without the end.
fn way_back<'n>(
    start: &'n PathBuf,
    files: &'n BTreeSet<PathBuf>,
    needs: &'n Needs,
) -> Option<Vec<&'n PathBuf>> {
    let mut before: BTreeMap<&PathBuf, &PathBuf> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(file) = queue.pop_front() {
        for next in needs.get(file).into_iter().flat_map(BTreeMap::keys) {
            if next == start {
                let mut way = vec![file];
                while let Some(&previous) = before.get(way[way.len() - 1]) {
                    way.push(previous);
                }
                way.reverse();
                return Some(way);
            }
            if files.contains(next) && !before.contains_key(next) {
                before.insert(next, file);
                queue.push_back(next);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A crate of these files in a folder; its circles.
    fn circles_of(files: &[(&str, &str)]) -> Vec<Circle> {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in files {
            let file = folder.path().join(name);
            fs::create_dir_all(file.parent().expect("a parent")).expect("folders");
            fs::write(file, text).expect("written");
        }
        circles(folder.path()).expect("readable")
    }

    #[test]
    fn two_files_that_need_each_other_are_a_circle() {
        let found = circles_of(&[
            ("lib.rs", "mod low; mod high; pub use high::High;"),
            (
                "low.rs",
                "pub struct Low; pub fn up() { crate::high::rise(Low) }",
            ),
            (
                "high/mod.rs",
                "mod inner; pub use inner::High; pub fn rise(_: super::low::Low) {}",
            ),
            (
                "high/inner.rs",
                "use crate::low; pub struct High(low::Low);",
            ),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].files, ["high/mod.rs", "low.rs"]);
        let sentence = found[0].sentence();
        let way = "high/mod.rs takes Low from low.rs, and low.rs takes rise from high/mod.rs";
        assert!(sentence.contains(way), "{sentence}");
    }

    #[test]
    fn a_longer_way_around_is_found_through_re_exported_names() {
        let found = circles_of(&[
            (
                "main.rs",
                "mod a; mod b; mod c; mod face; fn main() { a::run() }",
            ),
            (
                "a.rs",
                "use crate::b::*; pub fn run() { go() } pub struct A;",
            ),
            ("b.rs", "pub fn go() { report!(super::c::last()) }"),
            ("c.rs", "use crate::face::A; pub fn last() -> A { A }"),
            ("face.rs", "pub(crate) use crate::a::A;"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].files, ["a.rs", "b.rs", "c.rs"]);
        assert_eq!(found[0].way.len(), 3);
    }

    #[test]
    fn needs_of_tests_and_declarations_are_no_circle() {
        let found = circles_of(&[
            (
                "lib.rs",
                "mod a; mod b; use std::fmt; #[cfg(test)] mod tests; pub struct Root;",
            ),
            (
                "a.rs",
                "use super::Root; pub struct A(Root); #[cfg(test)] use crate::b::B; \
                 #[cfg(test)] mod tests { use crate::b::make; }",
            ),
            (
                "b.rs",
                "use crate::a::A; pub struct B; impl B { fn a(&self) -> A { #[cfg(test)] crate::tests::seen(); A::new() } }",
            ),
        ]);
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn a_function_that_a_macro_creates_is_not_the_macro() {
        let found = circles_of(&[
            ("lib.rs", "mod macros; mod low; mod high;"),
            (
                "macros.rs",
                "macro_rules! hooks { ($name:ident) => { pub fn $name() {} }; } pub(crate) use hooks;",
            ),
            (
                "low.rs",
                "use crate::macros::hooks; use crate::high; hooks!(hooks); pub fn down() { high::rise() }",
            ),
            ("high.rs", "pub fn rise() { crate::low::hooks() }"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].files, ["high.rs", "low.rs"]);
    }

    #[test]
    fn a_missing_file_and_one_that_is_not_rust_are_reported() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("lib.rs");
        for (text, expect) in [
            ("mod gone;", "gone, which has no file"),
            ("mod", "is not Rust"),
        ] {
            fs::write(&root, text).expect("written");
            let problem = circles(folder.path()).expect_err("broken");
            assert!(problem.contains(expect), "{problem}");
        }
    }

    #[test]
    fn this_repository_has_no_circles() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
        assert_eq!(check(&root), Vec::<String>::new());
    }
}
