//! The function table: functions and their activations by address.

use crate::Location;

/// The functions of a module whose declarations are in scope, and their code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionTable {
    /// Every function that has code, in no particular order.
    pub functions: Vec<Function>,
    /// The activations: a function that is called, or inlined into another one.
    pub nodes: Vec<Node>,
    /// The ranges, sorted by start and disjoint.
    pub ranges: Vec<FunctionRange>,
    /// Functions that share one body because the linker or the compiler found them identical, as `(kept, folded)`. Samples of both
    /// count for `kept`.
    pub folded: Vec<(String, String)>,
    /// What makes the table incomplete, in whole sentences.
    pub notes: Vec<String>,
}

impl FunctionTable {
    /// The innermost activation at an address in the file.
    pub fn lookup(&self, address: u64) -> Option<u32> {
        let after = self.ranges.partition_point(|range| range.start <= address);
        let range = self.ranges[..after].last()?;
        (address < range.end).then_some(range.node)
    }

    /// The functions from an activation outwards, up to the one that is called and not inlined.
    pub fn chain(&self, node: u32) -> impl Iterator<Item = &Function> {
        let at = |index: u32| self.nodes.get(index as usize);
        std::iter::successors(at(node), move |node| at(node.parent))
            .filter_map(|node| self.functions.get(node.function as usize))
    }
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Function {
    /// Demangled, without parameters: `ns::Queue<int>::pop`.
    pub name: String,
    /// Where it is declared. If it has a declaration and a definition, that of the definition.
    pub location: Location,
}

/// An activation of a function. Copies that are inlined along the same chain are one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// Index into [`FunctionTable::functions`].
    pub function: u32,
    /// The activation in scope into which it is inlined, or `u32::MAX` if it is called.
    pub parent: u32,
}

/// A piece of code and the innermost activation that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionRange {
    /// The first address, as in the file (add the module's load bias).
    pub start: u64,
    /// The first address after the range.
    pub end: u64,
    /// Index into [`FunctionTable::nodes`].
    pub node: u32,
}
