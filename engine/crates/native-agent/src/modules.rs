//! Finds the function at an address, with the process's memory map and the symbol tables of the files in it.
//!
//! The loader is not asked: a thread in the middle of `dlopen` holds its lock, and may be waiting for ours. `/proc/self/maps`
//! is read by hand: it has one line format, and `procfs` would bring more code into other people's programs.

use std::fs;
use std::path::{Path, PathBuf};

use fulcrum_names::{SymbolTable, qualified};

/// A function's names, as the log has them.
pub(crate) struct Function {
    /// Its namespace or type; the file that it is in when it has neither.
    pub(crate) class: String,
    /// Its own name; its place in the file when it has none.
    pub(crate) name: String,
    /// Its parameters, for C++.
    pub(crate) descriptor: String,
    /// The number of its file, and its place in the file.
    pub(crate) place: (usize, u64),
    /// Its file, and the address that the linker gave it.
    pub(crate) linked: Option<(PathBuf, u64)>,
}

/// A piece of a file in memory that can be executed.
#[derive(Clone, PartialEq, Eq)]
struct Piece {
    start: usize,
    end: usize,
    offset: u64,
    path: PathBuf,
}

/// The files of the process, read on demand.
#[derive(Default)]
pub(crate) struct Modules {
    pieces: Vec<Piece>,
    tables: Vec<(PathBuf, Option<SymbolTable>)>,
}

impl Modules {
    pub(crate) const fn new() -> Modules {
        Modules {
            pieces: Vec::new(),
            tables: Vec::new(),
        }
    }

    /// The function that begins at an address.
    pub(crate) fn function(&mut self, address: usize) -> Function {
        let Some(piece) = self.piece(address) else {
            return Function {
                class: "[unknown]".into(),
                name: format!("{address:#x}"),
                descriptor: String::new(),
                place: (usize::MAX, address as u64),
                linked: None,
            };
        };
        let offset = (address - piece.start) as u64 + piece.offset;
        let file = piece.path.file_name().unwrap_or_default();
        let class = file.to_string_lossy().into_owned();
        let at = self.table(&piece.path);
        let table = self.tables[at].1.as_ref();
        let Some(symbol) = table.and_then(|table| table.at_offset(offset)) else {
            return Function {
                class,
                name: format!("{offset:#x}"),
                descriptor: String::new(),
                place: (at, offset),
                linked: None,
            };
        };
        let found = qualified(symbol);
        let linked = table.and_then(|table| table.address(offset));
        Function {
            linked: linked.map(|address| (piece.path, address)),
            class: match found.scope.is_empty() {
                true => class,
                false => found.scope,
            },
            name: found.name,
            descriptor: found.parameters,
            place: (at, offset),
        }
    }

    /// Reads the memory map again. Returns the address ranges that are gone.
    pub(crate) fn refresh(&mut self) -> Vec<std::ops::Range<usize>> {
        let now = pieces();
        let gone = self.pieces.iter().filter(|piece| !now.contains(piece));
        let gone = gone.map(|piece| piece.start..piece.end).collect();
        self.pieces = now;
        gone
    }

    fn piece(&mut self, address: usize) -> Option<Piece> {
        let holds = |piece: &&Piece| (piece.start..piece.end).contains(&address);
        if let Some(found) = self.pieces.iter().find(holds) {
            return Some(found.clone());
        }
        self.pieces = pieces();
        self.pieces.iter().find(holds).cloned()
    }

    /// The number of a file's table.
    fn table(&mut self, path: &Path) -> usize {
        let at = self.tables.iter().position(|(it, _)| it == path);
        at.unwrap_or_else(|| {
            self.tables
                .push((path.to_owned(), SymbolTable::open(path).ok()));
            self.tables.len() - 1
        })
    }
}

/// Reads `/proc/self/maps`.
fn pieces() -> Vec<Piece> {
    let text = fs::read("/proc/self/maps").unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    text.lines().filter_map(piece).collect()
}

/// `start-end rwxp offset device inode   path`.
fn piece(line: &str) -> Option<Piece> {
    let mut words = line.splitn(6, ' ');
    let (start, end) = words.next()?.split_once('-')?;
    let executable = words.next()?.contains('x');
    let offset = u64::from_str_radix(words.next()?, 16).ok()?;
    let path = words.nth(2)?.trim_start();
    let number = |text| usize::from_str_radix(text, 16).ok();
    (executable && path.starts_with('/')).then_some(Piece {
        start: number(start)?,
        end: number(end)?,
        offset,
        path: path.into(),
    })
}
