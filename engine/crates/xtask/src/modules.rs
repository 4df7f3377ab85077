//! Reads the modules of a crate from its source, with what each names of the others.
//!
//! Only paths are seen: imports, and paths in code and in the arguments of macros. Method calls are not, so callers of a method
//! do not need the file of its `impl`. Code that is compiled only for tests is ignored.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Attribute, Item, ItemMod, Meta, UseTree, Visibility};

/// A module's place in its crate: the names from the root on.
pub(crate) type ModulePath = Vec<String>;

/// One module: a file, or a block within one.
#[derive(Debug, Default)]
pub(crate) struct Module {
    /// Its file.
    pub file: PathBuf,
    /// The modules that it declares.
    pub children: BTreeSet<String>,
    /// The modules that only tests have.
    pub of_tests: BTreeSet<String>,
    /// What else it defines.
    pub defined: BTreeSet<String>,
    /// Those of them that are exported macros.
    pub exported: BTreeSet<String>,
    /// The paths of its imports, by their names here.
    pub imported: BTreeMap<String, Vec<String>>,
    /// The imports that only it and its children see.
    pub kept: BTreeSet<String>,
    /// Modules and enums all of whose names it imports.
    pub globs: Vec<Vec<String>>,
    /// The paths that it names for itself, without re-exports.
    pub named: BTreeSet<Vec<String>>,
    /// Modules and enums all of whose names it imports for itself.
    pub named_globs: BTreeSet<Vec<String>>,
}

/// Reads a crate from its root, `lib.rs` or `main.rs`.
///
/// # Errors
/// When a file cannot be read or is not Rust: one sentence.
pub(crate) fn read(root: &Path) -> Result<BTreeMap<ModulePath, Module>, String> {
    let mut modules = BTreeMap::new();
    let folder = root.parent().unwrap_or(Path::new("")).to_path_buf();
    read_file(root, Vec::new(), &folder, &mut modules)?;
    // Exported macros have their names at the root, wherever they are defined.
    let mut exported = Vec::new();
    for (at, module) in &modules {
        for name in &module.exported {
            let mut path = vec!["crate".to_owned()];
            path.extend(at.iter().chain([name]).cloned());
            exported.push((name.clone(), path));
        }
    }
    if let Some(root) = modules.get_mut(&Vec::new()) {
        root.imported.extend(exported);
    }
    Ok(modules)
}

/// Reads the module `at` from its file. Its children are in `folder`.
fn read_file(
    file: &Path,
    at: ModulePath,
    folder: &Path,
    modules: &mut BTreeMap<ModulePath, Module>,
) -> Result<(), String> {
    let text = fs::read_to_string(file)
        .map_err(|error| format!("cannot read {}: {error}.", file.display()))?;
    let parsed = syn::parse_file(&text)
        .map_err(|error| format!("{} is not Rust: {error}.", file.display()))?;
    read_items(&parsed.items, file, at, folder, modules)
}

fn read_items(
    items: &[Item],
    file: &Path,
    at: ModulePath,
    folder: &Path,
    modules: &mut BTreeMap<ModulePath, Module>,
) -> Result<(), String> {
    let mut module = Module {
        file: file.to_path_buf(),
        ..Module::default()
    };
    for item in items {
        match item {
            Item::Mod(child) => {
                let name = child.ident.to_string();
                if of_tests(&child.attrs) {
                    module.of_tests.insert(name);
                    continue;
                }
                let path = [&at[..], std::slice::from_ref(&name)].concat();
                read_child(child, file, path, folder, modules)?;
                module.children.insert(name);
            }
            Item::Use(import) if !of_tests(&import.attrs) => {
                let own = matches!(import.vis, Visibility::Inherited);
                import_tree(&import.tree, Vec::new(), own, &mut module);
            }
            item if !of_tests(attributes(item)) => {
                module.defined.extend(names_of(item));
                if let Item::Macro(it) = item
                    && it.attrs.iter().any(|it| it.path().is_ident("macro_export"))
                {
                    module.exported.extend(names_of(item));
                }
                paths_in(item.to_token_stream(), &mut module.named);
            }
            _ => {}
        }
    }
    modules.insert(at, module);
    Ok(())
}

fn read_child(
    child: &ItemMod,
    file: &Path,
    path: ModulePath,
    folder: &Path,
    modules: &mut BTreeMap<ModulePath, Module>,
) -> Result<(), String> {
    let name = child.ident.to_string();
    let inner = folder.join(&name);
    if let Some((_, items)) = &child.content {
        return read_items(items, file, path, &inner, modules);
    }
    let files = [folder.join(format!("{name}.rs")), inner.join("mod.rs")];
    match files.iter().find(|file| file.is_file()) {
        Some(file) => read_file(file, path, &inner, modules),
        None => Err(format!(
            "{} declares the module {name}, which has no file.",
            file.display()
        )),
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(it) => &it.attrs,
        Item::Enum(it) => &it.attrs,
        Item::Fn(it) => &it.attrs,
        Item::ForeignMod(it) => &it.attrs,
        Item::Impl(it) => &it.attrs,
        Item::Macro(it) => &it.attrs,
        Item::Static(it) => &it.attrs,
        Item::Struct(it) => &it.attrs,
        Item::Trait(it) => &it.attrs,
        Item::Type(it) => &it.attrs,
        Item::Union(it) => &it.attrs,
        Item::Use(it) => &it.attrs,
        _ => &[],
    }
}

/// Whether an item is compiled only for tests.
fn of_tests(attributes: &[Attribute]) -> bool {
    let says_test = |attribute: &Attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => {
            let words: Vec<String> = words(list.tokens.clone());
            words.iter().any(|it| it == "test") && words.iter().all(|it| it != "not")
        }
        _ => false,
    };
    attributes.iter().any(says_test)
}

fn words(tokens: TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Ident(word) => found.push(word.to_string()),
            TokenTree::Group(group) => found.extend(words(group.stream())),
            _ => {}
        }
    }
    found
}

/// The names that an item adds to its module.
fn names_of(item: &Item) -> Vec<String> {
    let name = match item {
        Item::Const(it) => &it.ident,
        Item::Enum(it) => &it.ident,
        Item::Fn(it) => &it.sig.ident,
        Item::Static(it) => &it.ident,
        Item::Struct(it) => &it.ident,
        Item::Trait(it) => &it.ident,
        Item::Type(it) => &it.ident,
        Item::Union(it) => &it.ident,
        Item::Macro(it) => match &it.ident {
            Some(name) => name,
            None => return Vec::new(),
        },
        Item::ForeignMod(it) => {
            let names = it.items.iter().filter_map(|it| match it {
                syn::ForeignItem::Fn(it) => Some(it.sig.ident.to_string()),
                syn::ForeignItem::Static(it) => Some(it.ident.to_string()),
                _ => None,
            });
            return names.collect();
        }
        _ => return Vec::new(),
    };
    vec![name.to_string()]
}

/// Adds the names of an import. `own` imports are used here; the others are re-exported.
fn import_tree(tree: &UseTree, mut before: Vec<String>, own: bool, module: &mut Module) {
    let (name, as_name) = match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            return import_tree(&path.tree, before, own, module);
        }
        UseTree::Group(group) => {
            for tree in &group.items {
                import_tree(tree, before.clone(), own, module);
            }
            return;
        }
        UseTree::Glob(_) => {
            if own {
                module.named_globs.insert(before.clone());
            }
            return module.globs.push(before);
        }
        UseTree::Name(name) => (&name.ident, &name.ident),
        UseTree::Rename(rename) => (&rename.ident, &rename.rename),
    };
    let mut as_name = as_name.to_string();
    if name != "self" {
        before.push(name.to_string());
    } else if as_name == "self" {
        // `use a::b::{self}` imports `b`.
        as_name = before.last().cloned().unwrap_or_default();
    }
    if own {
        module.named.insert(before.clone());
        module.kept.insert(as_name.clone());
    }
    module.imported.insert(as_name, before);
}

/// Every path of two names or more in some code.
fn paths_in(code: TokenStream, found: &mut BTreeSet<Vec<String>>) {
    let mut path: Vec<String> = Vec::new();
    // How many colons follow the last name, and whether the path follows a dot or colons, which makes it a part of another.
    let (mut colons, mut continues) = (0, false);
    let mut end = |path: &mut Vec<String>| {
        if path.len() > 1 {
            found.insert(std::mem::take(path));
        }
        path.clear();
    };
    let mut groups = Vec::new();
    for token in code {
        match token {
            TokenTree::Ident(name) => {
                if colons != 2 || path.is_empty() {
                    end(&mut path);
                }
                if colons == 2 && path.is_empty() {
                    continues = true;
                }
                if !continues {
                    path.push(name.to_string());
                }
                (colons, continues) = (0, false);
            }
            TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
            other => {
                end(&mut path);
                continues = matches!(&other, TokenTree::Punct(mark) if mark.as_char() == '.');
                colons = 0;
                if let TokenTree::Group(group) = other {
                    groups.push(group.stream());
                }
            }
        }
    }
    end(&mut path);
    for group in groups {
        paths_in(group, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_in_code_and_in_macros() {
        let code = "let a: Vec<u8> = super::b::c(x.d::<E>(), F::G { h }); i!(crate::j::K, l: m); n::<o::P>::q()";
        let mut found = BTreeSet::new();
        paths_in(code.parse().expect("tokens"), &mut found);
        let found: Vec<String> = found.iter().map(|path| path.join("::")).collect();
        assert_eq!(found, ["F::G", "crate::j::K", "o::P", "super::b::c"]);
    }

    #[test]
    fn names_of_imports_are_found() {
        let import: syn::ItemUse =
            syn::parse_str("use a::{self, b::C as D, e::*, f::{self as g}};").expect("an import");
        let mut module = Module::default();
        import_tree(&import.tree, Vec::new(), true, &mut module);
        let imported: Vec<String> = module
            .imported
            .iter()
            .map(|(name, path)| format!("{name} = {}", path.join("::")))
            .collect();
        assert_eq!(imported, ["D = a::b::C", "a = a", "g = a::f"]);
        assert_eq!(module.globs, [["a", "e"]]);
    }
}
