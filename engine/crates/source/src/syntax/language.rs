//! The languages in which progress points can be edited.

use std::path::Path;

/// A language with macros for progress points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C.
    C,
    /// C++. Also used for `.h`, because its grammar accepts nearly all of C.
    Cpp,
    /// Rust.
    Rust,
}

impl Language {
    /// By the LSP language id. `None` for other languages.
    pub fn from_id(id: &str) -> Option<Language> {
        match id {
            "c" => Some(Language::C),
            "cpp" | "cuda-cpp" => Some(Language::Cpp),
            "rust" => Some(Language::Rust),
            _ => None,
        }
    }

    /// By the file's extension. `None` for other languages.
    pub fn from_path(path: &Path) -> Option<Language> {
        match path.extension()?.to_str()? {
            "c" => Some(Language::C),
            "C" | "cc" | "cpp" | "cxx" | "c++" | "cu" | "h" | "H" | "hh" | "hpp" | "hxx"
            | "h++" | "inl" | "ipp" | "tcc" | "tpp" | "ixx" | "cppm" => Some(Language::Cpp),
            "rs" => Some(Language::Rust),
            _ => None,
        }
    }

    pub(crate) fn grammar(self) -> tree_sitter::Language {
        match self {
            Language::C => tree_sitter_c::LANGUAGE.into(),
            Language::Cpp => tree_sitter_cpp::LANGUAGE.into(),
            Language::Rust => tree_sitter_rust::LANGUAGE.into(),
        }
    }
}
