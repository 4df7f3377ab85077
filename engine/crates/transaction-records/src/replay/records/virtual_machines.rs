//! Virtual machines: what their threads exchange for the machine's own work.

use fulcrum_wire::transactions::VIRTUAL_MACHINES;

use crate::process::file_name;
use crate::replay::state::world::World;

impl World<'_> {
    /// Whether a call path ends inside a virtual machine. What flows through its own locks is its own business (methods to
    /// compile, memory, a list that every thread adds to), and makes no thread work for another one's request.
    pub(in crate::replay) fn is_of_machine(&mut self, process: usize, path: u32) -> bool {
        let (index, resolver) = (self.index, self.resolver);
        let file = self.processes[process].innermost_file(index, resolver, path);
        file.is_some_and(|it| VIRTUAL_MACHINES.contains(&file_name(it)))
    }
}
