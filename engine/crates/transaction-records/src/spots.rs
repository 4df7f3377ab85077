//! Functions and lines at the addresses of CPU samples.

use std::collections::HashMap;
use std::rc::Rc;

use fulcrum_transactions::Spot;

use crate::names::{Frame, ProcessKey, Resolvers};
use crate::process::ModuleMap;
use crate::replay::Process;

/// The addresses of a stack as they are looked up, innermost first: for a return address, the call before it.
pub(crate) fn looked_up(stack: &[u64]) -> impl DoubleEndedIterator<Item = u64> {
    let callers = stack.iter().skip(1).map(|it| it.saturating_sub(1));
    stack.first().copied().into_iter().chain(callers)
}

/// A process's code, with its resolver.
pub(crate) struct Code<'a> {
    pub(crate) run: usize,
    pub(crate) key: ProcessKey,
    pub(crate) modules: &'a [ModuleMap],
    pub(crate) resolver: &'a Resolvers<'a>,
}

/// The functions at the addresses of one process, each looked up once. Inlined functions come after their callers.
#[derive(Debug, Default)]
pub(crate) struct Spots(HashMap<u64, Rc<[Spot]>>);

impl Spots {
    /// A sample's functions, outermost first.
    pub(crate) fn stack(
        &mut self,
        code: &Code<'_>,
        process: &mut Process,
        stack: &[u64],
    ) -> Vec<Spot> {
        let mut spots = Vec::new();
        for address in looked_up(stack).rev() {
            let known = self.0.entry(address);
            let known = known.or_insert_with(|| spots_at(code, process, address));
            spots.extend_from_slice(known);
        }
        spots
    }
}

fn spots_at(code: &Code<'_>, process: &mut Process, address: u64) -> Rc<[Spot]> {
    let functions = process.names(code.modules, code.resolver, address);
    let frames = code.resolver.code(code.run, code.key, address);
    let frames = frames.unwrap_or_default();
    let names = &mut process.dictionary.names;
    let mut line = |it: &Frame| Some((names.intern(it.file.as_deref()?), it.line?));
    let mut lines = frames.iter().rev().map(&mut line);
    let spot = |&function| Spot {
        function,
        // Unknown code is named by its place, and has no line.
        line: lines.next().flatten(),
    };
    functions.iter().map(spot).collect()
}
