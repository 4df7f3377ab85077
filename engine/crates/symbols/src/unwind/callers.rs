//! Finds a frame's caller by the complete call frame information (x86-64), in copies of stacks that are read later.
//!
//! The flat table of [`unwind_rows`](crate::unwind_rows) is made for signal handlers: it has two registers and no expressions.
//! Afterwards there is time for both, which functions need that align their stack by another register.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::path::Path;
use std::rc::Rc;

use gimli::{
    BaseAddresses, CfaRule, CieOrFde, DebugFrame, EhFrame, Encoding, EndianRcSlice, Evaluation,
    EvaluationResult, Expression, Format, Location, NativeEndian, RegisterRule, UnwindContext,
    UnwindExpression, UnwindOffset, UnwindSection, Value,
};
use object::{Architecture, Object as _, ObjectSection as _};

use crate::elf::file::{self, Cache, Code};

/// The values of registers by DWARF number: 7 is the stack pointer, 16 the current or return address. `None` if unknown.
pub type Registers = [Option<u64>; 17];

const STACK_POINTER: usize = 7;
const RETURN_ADDRESS: usize = 16;

/// The most operations in one expression. Real ones have about ten.
const OPERATIONS: u32 = 1000;

const ENCODING: Encoding = Encoding {
    format: Format::Dwarf32,
    version: 4,
    address_size: 8,
};

/// The caller of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all are frames, and none is kept"
)]
pub enum Caller {
    /// The caller was found.
    Frame {
        /// The registers of the caller.
        registers: Registers,
        /// Whether a signal interrupted the caller, so that its address is that of an instruction, not a return address.
        interrupted: bool,
    },
    /// No caller: the thread begins here.
    Outermost,
    /// The caller cannot be found, because a register or memory that it takes is not available.
    Lost,
    /// The file has no information about this address.
    Unknown,
}

type Reader = EndianRcSlice<NativeEndian>;

/// The call frame information of one executable or library.
pub struct CallFrames {
    sections: Vec<Section>,
    /// Sorted by start.
    functions: Vec<Function>,
    /// A cache by address, because functions are called from the same places repeatedly.
    rules: RefCell<HashMap<u64, Option<Rc<Rules>>>>,
}

impl fmt::Debug for CallFrames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CallFrames of {} functions", self.functions.len())
    }
}

enum Section {
    Eh(EhFrame<Reader>, BaseAddresses),
    Debug(DebugFrame<Reader>),
}

/// A function that a section describes, with addresses as in the file.
#[derive(Clone, Copy, Debug)]
struct Function {
    start: u64,
    end: u64,
    section: usize,
    /// The offset of its description in the section.
    offset: usize,
}

/// The rules by which the caller of an address is found.
struct Rules {
    section: usize,
    cfa: CfaRule<usize>,
    registers: Vec<(usize, RegisterRule<usize>)>,
    /// Whether the caller is code that a signal interrupted.
    interrupted: bool,
}

impl CallFrames {
    /// Reads the call frame information of a file and its separate debug file. `None` if there is none, or the file is not for
    /// x86-64. Ignores everything after a damaged description.
    pub fn open(path: &Path) -> Option<CallFrames> {
        let cache = file::open(path).ok()?;
        let module = file::parse(path, &cache).ok()?;
        if module.architecture() != Architecture::X86_64 {
            return None;
        }
        let code = Code::of(&module);
        let mut sections = Vec::new();
        sections.extend(eh_frame(path, &module));
        if module.section_by_name(".debug_frame").is_some() {
            sections.extend(debug_frame(path, &module));
        } else if let Some(found) = file::separate(path, &module) {
            let cache = file::open(&found).ok()?;
            let debug = file::parse(&found, &cache).ok()?;
            sections.extend(debug_frame(&found, &debug));
        }
        let mut functions = Vec::new();
        for (row, section) in sections.iter().enumerate() {
            match section {
                Section::Eh(frames, bases) => index(frames, bases, (row, &code), &mut functions),
                Section::Debug(frames) => {
                    index(
                        frames,
                        &BaseAddresses::default(),
                        (row, &code),
                        &mut functions,
                    );
                }
            }
        }
        // Of two descriptions of a function, the one in `.eh_frame` counts. It has the smaller section and must come last.
        functions.sort_by_key(|it: &Function| (it.start, std::cmp::Reverse(it.section)));
        (!functions.is_empty()).then(|| CallFrames {
            sections,
            functions,
            rules: RefCell::default(),
        })
    }

    /// The caller of the frame with these registers that runs at `address`, as in the file. For return addresses, `address` is one
    /// byte before. `read` reads a word of the thread's memory.
    pub fn caller(
        &self,
        address: u64,
        registers: &Registers,
        read: &dyn Fn(u64) -> Option<u64>,
    ) -> Caller {
        let known = self.rules.borrow().get(&address).cloned();
        let rules = known.unwrap_or_else(|| {
            let rules = self.find(address).map(Rc::new);
            self.rules.borrow_mut().insert(address, rules.clone());
            rules
        });
        match rules {
            Some(rules) => self.apply(&rules, registers, read),
            None => Caller::Unknown,
        }
    }

    fn find(&self, address: u64) -> Option<Rules> {
        let after = self.functions.partition_point(|it| it.start <= address);
        let function = self.functions[..after].last()?;
        if address >= function.end {
            return None;
        }
        match &self.sections[function.section] {
            Section::Eh(frames, bases) => rules(frames, bases, *function, address),
            Section::Debug(frames) => rules(frames, &BaseAddresses::default(), *function, address),
        }
    }

    fn apply(
        &self,
        rules: &Rules,
        registers: &Registers,
        read: &dyn Fn(u64) -> Option<u64>,
    ) -> Caller {
        let state = State {
            section: &self.sections[rules.section],
            registers,
            read,
        };
        let Some(cfa) = state.cfa(&rules.cfa) else {
            return Caller::Lost;
        };
        // Registers without a rule have the caller's values.
        let mut caller = *registers;
        caller[STACK_POINTER] = Some(cfa);
        caller[RETURN_ADDRESS] = None;
        let mut outermost = true;
        for (register, rule) in &rules.registers {
            if *register == RETURN_ADDRESS {
                outermost = matches!(rule, RegisterRule::Undefined);
            }
            caller[*register] = state.value(*register, rule, cfa);
        }
        match caller[RETURN_ADDRESS] {
            Some(0) => Caller::Outermost,
            None if outermost => Caller::Outermost,
            None => Caller::Lost,
            Some(_) => Caller::Frame {
                registers: caller,
                interrupted: rules.interrupted,
            },
        }
    }
}

fn eh_frame<'a>(path: &Path, module: &object::File<'a, Cache<'a>>) -> Option<Section> {
    let section = module.section_by_name(".eh_frame")?;
    let address = |name| module.section_by_name(name).map_or(0, |it| it.address());
    let bases = BaseAddresses::default()
        .set_eh_frame(section.address())
        .set_eh_frame_hdr(address(".eh_frame_hdr"))
        .set_text(address(".text"))
        .set_got(address(".got"));
    let mut frames = EhFrame::from(owned(path, &section)?);
    frames.set_address_size(8);
    Some(Section::Eh(frames, bases))
}

fn debug_frame<'a>(path: &Path, module: &object::File<'a, Cache<'a>>) -> Option<Section> {
    let section = module.section_by_name(".debug_frame")?;
    let mut frames = DebugFrame::from(owned(path, &section)?);
    frames.set_address_size(8);
    Some(Section::Debug(frames))
}

fn owned<'a>(path: &Path, section: &object::Section<'a, '_, Cache<'a>>) -> Option<Reader> {
    let data = file::contents(path, section).ok()?;
    Some(EndianRcSlice::new(Rc::from(&*data), NativeEndian))
}

/// Adds the functions that a section describes, up to its end or the first damage.
fn index<S: UnwindSection<Reader>>(
    section: &S,
    bases: &BaseAddresses,
    (row, code): (usize, &Code),
    functions: &mut Vec<Function>,
) where
    S::Offset: UnwindOffset<usize>,
{
    let mut entries = section.entries(bases);
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(partial) = entry else {
            continue;
        };
        let Ok(description) = partial.parse(S::cie_from_offset) else {
            return;
        };
        let (start, end) = (description.initial_address(), description.end_address());
        // Descriptions of functions that the linker dropped have addresses without code.
        if start < end && code.end_of(start).is_some() {
            functions.push(Function {
                start,
                end,
                section: row,
                offset: description.offset(),
            });
        }
    }
}

fn rules<S: UnwindSection<Reader>>(
    section: &S,
    bases: &BaseAddresses,
    function: Function,
    address: u64,
) -> Option<Rules>
where
    S::Offset: UnwindOffset<usize>,
{
    let offset = S::Offset::from(function.offset);
    let description = section.fde_from_offset(bases, offset, S::cie_from_offset);
    let description = description.ok()?;
    let mut context = UnwindContext::new();
    let row = description.unwind_info_for_address(section, bases, &mut context, address);
    let row = row.ok()?;
    let registers = row
        .registers()
        .map(|(register, rule)| (usize::from(register.0), rule.clone()))
        // Vector registers do not lead to a caller.
        .filter(|(register, _)| *register <= RETURN_ADDRESS);
    Some(Rules {
        section: function.section,
        cfa: row.cfa().clone(),
        registers: registers.collect(),
        interrupted: description.is_signal_trampoline(),
    })
}

/// A frame's registers, and the memory of its thread.
struct State<'s> {
    section: &'s Section,
    registers: &'s Registers,
    read: &'s dyn Fn(u64) -> Option<u64>,
}

impl State<'_> {
    fn register(&self, number: u16) -> Option<u64> {
        self.registers.get(usize::from(number)).copied().flatten()
    }

    fn cfa(&self, rule: &CfaRule<usize>) -> Option<u64> {
        match rule {
            CfaRule::RegisterAndOffset { register, offset } => {
                Some(self.register(register.0)?.wrapping_add_signed(*offset))
            }
            CfaRule::Expression(expression) => self.evaluate(expression, None),
        }
    }

    fn value(&self, number: usize, rule: &RegisterRule<usize>, cfa: u64) -> Option<u64> {
        match rule {
            RegisterRule::Undefined | RegisterRule::Architectural => None,
            RegisterRule::SameValue => self.registers[number],
            RegisterRule::Offset(offset) => (self.read)(cfa.wrapping_add_signed(*offset)),
            RegisterRule::ValOffset(offset) => Some(cfa.wrapping_add_signed(*offset)),
            RegisterRule::Register(other) => self.register(other.0),
            RegisterRule::Expression(expression) => {
                (self.read)(self.evaluate(expression, Some(cfa))?)
            }
            RegisterRule::ValExpression(expression) => self.evaluate(expression, Some(cfa)),
            RegisterRule::Constant(value) => Some(*value),
        }
    }

    fn evaluate(&self, expression: &UnwindExpression<usize>, first: Option<u64>) -> Option<u64> {
        let expression: Expression<Reader> = match self.section {
            Section::Eh(frames, _) => expression.get(frames).ok()?,
            Section::Debug(frames) => expression.get(frames).ok()?,
        };
        let mut evaluation: Evaluation<Reader> = expression.evaluation(ENCODING);
        evaluation.set_max_iterations(OPERATIONS);
        if let Some(first) = first {
            evaluation.set_initial_value(first);
        }
        let mut state = evaluation.evaluate().ok()?;
        loop {
            state = match state {
                EvaluationResult::Complete => break,
                EvaluationResult::RequiresRegister { register, .. } => {
                    let value = Value::Generic(self.register(register.0)?);
                    evaluation.resume_with_register(value).ok()?
                }
                EvaluationResult::RequiresMemory { address, size, .. } => {
                    let bits = 64_u32.checked_sub(8 * u32::from(size))?;
                    let word = (self.read)(address)? & u64::MAX.checked_shr(bits)?;
                    evaluation.resume_with_memory(Value::Generic(word)).ok()?
                }
                // Frame information requires nothing else.
                _ => return None,
            };
        }
        match evaluation.as_result() {
            [piece] => match piece.location {
                Location::Address { address } => Some(address),
                _ => None,
            },
            _ => None,
        }
    }
}
