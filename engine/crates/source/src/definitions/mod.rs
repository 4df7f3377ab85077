//! Finds function definitions (tree-sitter) in C, C++, Rust, JavaScript, TypeScript, Python, Go and Java.

pub(crate) mod qualified;

use std::path::Path;

use tree_sitter::{Node, Parser};

/// A function's definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The function's own name.
    pub name: String,
    /// The packages, namespaces, classes and functions around it, outermost first.
    pub containers: Vec<String>,
    /// The 0-based line of the name.
    pub line: u32,
    /// The byte offset of the name in the text.
    pub at: usize,
}

/// Languages by how they define functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    C,
    Rust,
    Script,
    Python,
    Go,
    Java,
}

fn family(path: &Path) -> Option<(Family, tree_sitter::Language)> {
    let grammar = match path.extension()?.to_str()? {
        "c" => (Family::C, tree_sitter_c::LANGUAGE),
        "C" | "cc" | "cpp" | "cxx" | "c++" | "cu" | "h" | "H" | "hh" | "hpp" | "hxx" | "h++"
        | "inl" | "ipp" | "tcc" | "tpp" | "ixx" | "cppm" => (Family::C, tree_sitter_cpp::LANGUAGE),
        "rs" => (Family::Rust, tree_sitter_rust::LANGUAGE),
        "ts" | "mts" | "cts" => (Family::Script, tree_sitter_typescript::LANGUAGE_TYPESCRIPT),
        // The grammar of TypeScript with JSX also accepts JavaScript.
        "js" | "mjs" | "cjs" | "jsx" | "tsx" => {
            (Family::Script, tree_sitter_typescript::LANGUAGE_TSX)
        }
        "py" | "pyw" => (Family::Python, tree_sitter_python::LANGUAGE),
        "go" => (Family::Go, tree_sitter_go::LANGUAGE),
        "java" => (Family::Java, tree_sitter_java::LANGUAGE),
        _ => return None,
    };
    Some((grammar.0, grammar.1.into()))
}

/// Whether definitions can be found in a file with this name.
pub fn has_definitions(path: &Path) -> bool {
    family(path).is_some()
}

/// The functions that a file defines, in the order of the text. Empty if the language is not supported.
pub fn definitions(path: &Path, text: &str) -> Vec<Definition> {
    let Some((family, grammar)) = family(path) else {
        return Vec::new();
    };
    let mut parser = Parser::new();
    parser
        .set_language(&grammar)
        .expect("the grammars are built against this tree-sitter");
    let tree = parser
        .parse(text, None)
        .expect("parsing has neither a time limit nor a cancellation flag");
    let mut finder = Finder {
        text,
        family,
        around: Vec::new(),
        found: Vec::new(),
    };
    finder.walk(tree.root_node());
    finder.found.sort_by_key(|it| it.at);
    finder.found
}

struct Finder<'t> {
    text: &'t str,
    family: Family,
    /// The containers, each with the position of the one around it.
    around: Vec<(String, Option<usize>)>,
    found: Vec<Definition>,
}

/// The meaning of a node.
#[derive(Default)]
struct Meaning<'n> {
    /// The name of the function that it defines.
    defines: Option<Node<'n>>,
    /// Further containers of that function.
    of: Vec<String>,
    /// The containers that it is for the nodes in it, outermost first.
    contains: Vec<String>,
    /// Whether these also contain everything after it.
    applies_to_rest: bool,
}

impl Finder<'_> {
    fn of(&self, node: Node<'_>) -> &str {
        &self.text[node.byte_range()]
    }

    fn walk(&mut self, root: Node<'_>) {
        let mut package = None;
        let mut open = vec![(root, None)];
        while let Some((node, around)) = open.pop() {
            let around = around.or(package);
            let meaning = self.meaning(node);
            if let Some(name) = meaning.defines {
                self.define(name, around, meaning.of);
            }
            let mut inside = around;
            for name in meaning.contains {
                self.around.push((name, inside));
                inside = Some(self.around.len() - 1);
            }
            if meaning.applies_to_rest {
                package = inside;
            }
            let mut cursor = node.walk();
            let children: Vec<_> = node.named_children(&mut cursor).collect();
            open.extend(children.into_iter().rev().map(|child| (child, inside)));
        }
    }

    fn define(&mut self, name: Node<'_>, around: Option<usize>, of: Vec<String>) {
        let mut containers = Vec::new();
        let mut next = around;
        while let Some(at) = next {
            containers.push(self.around[at].0.clone());
            next = self.around[at].1;
        }
        containers.reverse();
        containers.extend(of);
        let text = self.of(name).trim_matches(['"', '\'']);
        // `ns::Map::find`, `exports.find`.
        let mut parts = own_parts(text, self.family);
        let Some(own) = parts.pop() else { return };
        containers.extend(parts);
        self.found.push(Definition {
            name: own,
            containers,
            line: name.start_position().row as u32,
            at: name.start_byte(),
        });
    }

    fn meaning<'n>(&self, node: Node<'n>) -> Meaning<'n> {
        let named = || node.child_by_field_name("name");
        let container = |name: Option<Node<'_>>| Meaning {
            contains: name.map_or(Vec::new(), |name| own_parts(self.of(name), self.family)),
            ..Meaning::default()
        };
        let function = |name: Option<Node<'n>>| Meaning {
            defines: name,
            contains: name.map_or(Vec::new(), |name| own_parts(self.of(name), self.family)),
            ..Meaning::default()
        };
        match (self.family, node.kind()) {
            (Family::C, "function_definition") => Meaning {
                defines: declared(node),
                ..Meaning::default()
            },
            (Family::C, "namespace_definition") => container(named()),
            (Family::C, "class_specifier" | "struct_specifier" | "union_specifier") => {
                match node.child_by_field_name("body") {
                    Some(_) => container(named()),
                    None => Meaning::default(),
                }
            }
            (Family::Rust, "function_item") | (Family::Python, "function_definition") => {
                function(named())
            }
            (Family::Rust, "mod_item" | "trait_item") | (Family::Python, "class_definition") => {
                container(named())
            }
            (Family::Rust, "impl_item") => container(node.child_by_field_name("type")),
            (Family::Go, "function_declaration") => function(named()),
            (Family::Go, "method_declaration") => self.method(node),
            (Family::Go, "package_clause") | (Family::Java, "package_declaration") => Meaning {
                applies_to_rest: true,
                ..container(node.named_child(0))
            },
            (Family::Java, "method_declaration" | "constructor_declaration") => function(named()),
            (
                Family::Java,
                "class_declaration"
                | "interface_declaration"
                | "enum_declaration"
                | "record_declaration",
            ) => container(named()),
            (Family::Script, kind) => self.script(node, kind),
            _ => Meaning::default(),
        }
    }

    fn script<'n>(&self, node: Node<'n>, kind: &str) -> Meaning<'n> {
        let field = |name| node.child_by_field_name(name);
        let container = |name: Option<Node<'_>>| Meaning {
            contains: name.map_or(Vec::new(), |name| own_parts(self.of(name), self.family)),
            ..Meaning::default()
        };
        let (name, value) = match kind {
            "function_declaration" | "generator_function_declaration" | "method_definition" => {
                return Meaning {
                    defines: field("name"),
                    ..container(field("name"))
                };
            }
            "class_declaration" | "abstract_class_declaration" | "class" => {
                return container(field("name"));
            }
            "variable_declarator" | "public_field_definition" => (field("name"), field("value")),
            "assignment_expression" => (field("left"), field("right")),
            "pair" => (field("key"), field("value")),
            _ => return Meaning::default(),
        };
        match value.map_or("", |value| value.kind()) {
            "arrow_function" | "function_expression" | "function" | "generator_function" => {
                Meaning {
                    defines: name,
                    ..container(name)
                }
            }
            "object" | "class" => container(name),
            _ => Meaning::default(),
        }
    }

    /// A Go method is contained in the type of its receiver.
    fn method<'n>(&self, node: Node<'n>) -> Meaning<'n> {
        let name = node.child_by_field_name("name");
        let receiver = node.child_by_field_name("receiver");
        let Some((name, receiver)) = name.zip(receiver) else {
            return Meaning::default();
        };
        let kind = self.of(receiver).trim_matches(['(', ')']);
        let kind = kind.rsplit([' ', '*']).next().unwrap_or(kind);
        let kind = own_parts(kind, self.family);
        let mut contains = kind.clone();
        contains.push(self.of(name).to_owned());
        Meaning {
            defines: Some(name),
            of: kind,
            contains,
            applies_to_rest: false,
        }
    }
}

/// The name that a C or C++ function definition declares: what precedes its parameters.
fn declared(node: Node<'_>) -> Option<Node<'_>> {
    let mut declarator = node.child_by_field_name("declarator")?;
    loop {
        let inner = declarator.child_by_field_name("declarator").or_else(|| {
            let last = declarator.named_child_count().checked_sub(1)?;
            declarator.named_child(last as u32)
        })?;
        if declarator.kind() == "function_declarator" {
            return Some(inner);
        }
        declarator = inner;
    }
}

/// The parts of a name in a definition, without template arguments.
fn own_parts(text: &str, family: Family) -> Vec<String> {
    if family == Family::C
        && let Some(at) = text.find("operator")
        && text[at + "operator".len()..].starts_with(|c: char| !c.is_alphanumeric() && c != '_')
    {
        let mut parts = own_parts(&text[..at], family);
        parts.push(text[at..].split_whitespace().collect());
        return parts;
    }
    let mut plain = String::new();
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '<' | '[' => depth += 1,
            '>' | ']' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(c),
            _ => {}
        }
    }
    let parts = plain.split([':', '.', '#', ' ', '&', '*']);
    let kept = parts.map(str::trim).filter(|part| !part.is_empty());
    kept.map(String::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(file: &str, text: &str, expect: &[&str]) {
        let found: Vec<String> = definitions(Path::new(file), text)
            .into_iter()
            .map(|it| {
                assert!(
                    text[it.at..].starts_with(it.name.trim_start_matches('#'))
                        || text[it.at..].contains(&it.name)
                );
                let all: Vec<_> = it.containers.into_iter().chain([it.name]).collect();
                format!("{} {}", it.line + 1, all.join("."))
            })
            .collect();
        assert_eq!(found, expect, "{file}");
    }

    #[test]
    fn c_and_cpp() {
        check(
            "a.c",
            "static int f(void) { return 0; }\nint *g(int a) {\n  return 0;\n}\nint h(void);\n",
            &["1 f", "2 g"],
        );
        check(
            "a.cpp",
            "namespace shop {\nstruct Cart {\n  int total() const { return 0; }\n  ~Cart() {}\n  bool operator()(int) { return true; }\n};\n\
             template <class T> void Box<T>::put(T t) {}\nstd::ostream& operator<<(std::ostream& o, Cart c) { return o; }\n}\n\
             int shop::Cart::count(int n) { return n; }\n",
            &[
                "3 shop.Cart.total",
                "4 shop.Cart.~Cart",
                "5 shop.Cart.operator()",
                "7 shop.Box.put",
                "8 shop.operator<<",
                "10 shop.Cart.count",
            ],
        );
    }

    #[test]
    fn rust() {
        check(
            "a.rs",
            "mod cart {\n  impl<T> Walk for Tree<T> {\n    fn walk(&self) { fn inner() {} }\n  }\n  trait Walk { fn walk(&self); fn twice(&self) {} }\n}\nfn main() {}\n",
            &[
                "3 cart.Tree.walk",
                "3 cart.Tree.walk.inner",
                "5 cart.Walk.twice",
                "7 main",
            ],
        );
    }

    #[test]
    fn scripts() {
        let text = "class Cart {\n  total() {}\n  get size() { return 0; }\n  #secret() {}\n  late = () => {};\n}\nfunction f() {}\nconst g = (x) => x;\n\
                    exports.h = function () {};\nconst shop = { pay() {}, sell: () => 1 };\nasync function* walk() {}\n";
        let expect = [
            "2 Cart.total",
            "3 Cart.size",
            "4 Cart.secret",
            "5 Cart.late",
            "7 f",
            "8 g",
            "9 exports.h",
            "10 shop.pay",
            "10 shop.sell",
            "11 walk",
        ];
        for file in ["a.js", "a.ts", "a.tsx"] {
            check(file, text, &expect);
        }
    }

    #[test]
    fn python_go_java() {
        check(
            "a.py",
            "class Cart:\n    def total(self):\n        def inner(): pass\n\ndef f(): pass\n",
            &["2 Cart.total", "3 Cart.total.inner", "5 f"],
        );
        check(
            "a.go",
            "package shop\n\nfunc f() {}\n\nfunc (c *Cart) Total() int { return 0 }\nfunc (Box[T]) Put() {}\n",
            &["3 shop.f", "5 shop.Cart.Total", "6 shop.Box.Put"],
        );
        check(
            "Cart.java",
            "package com.shop;\nclass Cart {\n  Cart() {}\n  int total() { return 0; }\n  static class Item { int price() { return 0; } }\n}\n",
            &[
                "3 com.shop.Cart.Cart",
                "4 com.shop.Cart.total",
                "5 com.shop.Cart.Item.price",
            ],
        );
    }

    #[test]
    fn other_files_define_nothing_and_broken_ones_do_what_they_can() {
        check("a.txt", "int f() {}", &[]);
        check("a.rs", "fn f( {\nfn g() {}\n", &["2 g"]);
    }
}
