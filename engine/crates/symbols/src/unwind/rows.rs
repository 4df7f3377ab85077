//! Flat unwind tables, by which a frame's caller is found, from `.eh_frame` and `.debug_frame` (x86-64).
//!
//! Distribution binaries have no frame pointers, so call paths need these rules. The tables are flat so that a signal handler can use
//! them: one binary search a frame, and no interpreter.

use std::path::Path;

use gimli::{CfaRule, Operation, RegisterRule, UnwindSection, X86_64};
use object::{Architecture, Object as _, ObjectSection as _};

use crate::SymbolsError;
use crate::elf::file::{self, Code, Reader};

/// A row: how the caller is found from this address on, up to the next row.
///
/// The return address is at CFA − 8, and the caller's stack pointer is the CFA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnwindRow {
    /// The first address, as in the file (add the module's load bias).
    pub start: u64,
    /// Where the caller's frame begins: the canonical frame address (CFA).
    pub rule: UnwindRule,
    /// The caller's `rbp` is saved at CFA + this. `None` if it is still in `rbp`.
    pub rbp: Option<i32>,
}

/// How the canonical frame address (CFA) is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnwindRule {
    /// There is no caller, or no rule that this table can express.
    End,
    /// A register plus an offset.
    Cfa {
        /// The register.
        base: Base,
        /// The offset, in bytes.
        offset: i32,
    },
    /// A stub of the procedure linkage table: `rsp + 8 + ((rip & 15) >= 11 ? 8 : 0)`.
    Plt,
}

/// The registers from which a CFA is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// The stack pointer.
    Rsp,
    /// The frame pointer.
    Rbp,
}

/// Reads a module's unwind table. Rows are sorted by start, neighbours differ, and the last row is [`UnwindRule::End`].
///
/// Empty if the module has no unwind information or is not for x86-64. `.debug_frame`, also of a separate debug file, fills the gaps of
/// `.eh_frame`.
pub fn unwind_rows(path: &Path) -> Result<Vec<UnwindRow>, SymbolsError> {
    let cache = file::open(path)?;
    let module = file::parse(path, &cache)?;
    if module.architecture() != Architecture::X86_64 {
        return Ok(Vec::new());
    }
    let code = Code::of(&module);
    let mut table = Collected::default();
    table.read_eh_frame(path, &module, &code)?;
    if module.section_by_name(".debug_frame").is_some() {
        table.read_debug_frame(path, &module, &code)?;
    } else if let Some(found) = file::separate(path, &module) {
        let cache = file::open(&found)?;
        let debug = file::parse(&found, &cache)?;
        table.read_debug_frame(&found, &debug, &code)?;
    }
    Ok(table.finish())
}

/// The extents of a module's functions according to its unwind information, which also modules without symbols have. Sorted by start,
/// with addresses as in the file.
///
/// # Errors
/// When the file cannot be read or is damaged.
pub fn function_extents(path: &Path) -> Result<Vec<(u64, u64)>, SymbolsError> {
    let cache = file::open(path)?;
    let module = file::parse(path, &cache)?;
    functions(path, &module, &Code::of(&module))
}

/// The extents of the functions that the unwind table describes, sorted by start.
pub(crate) fn functions<'a>(
    path: &Path,
    module: &object::File<'a, file::Cache<'a>>,
    code: &Code,
) -> Result<Vec<(u64, u64)>, SymbolsError> {
    let mut table = Collected::default();
    table.read_eh_frame(path, module, code)?;
    table.read_debug_frame(path, module, code)?;
    let mut functions: Vec<(u64, u64)> = table
        .descriptions
        .iter()
        .map(|description| (description.start, description.end))
        .collect();
    functions.sort_unstable();
    functions.dedup();
    Ok(functions)
}

type Rule = (UnwindRule, Option<i32>);
const NO_RULE: Rule = (UnwindRule::End, None);

/// Storage for fewer registers than gimli's own: x86-64 has seventeen with rules, and rows are copied as a whole.
struct Small;

impl gimli::UnwindContextStorage<usize> for Small {
    type Rules = [(gimli::Register, RegisterRule<usize>); 24];
    type Stack = [gimli::UnwindTableRow<usize, Small>; 8];
}

/// The rules of one function: `rows[first..]`, up to those of the next description.
struct Description {
    start: u64,
    end: u64,
    /// `.eh_frame` comes before `.debug_frame`.
    rank: u8,
    first: usize,
    count: usize,
}

#[derive(Default)]
struct Collected {
    descriptions: Vec<Description>,
    rows: Vec<(u64, Rule)>,
}

impl Collected {
    fn read_eh_frame<'a>(
        &mut self,
        path: &Path,
        module: &object::File<'a, file::Cache<'a>>,
        code: &Code,
    ) -> Result<(), SymbolsError> {
        let Some(section) = module.section_by_name(".eh_frame") else {
            return Ok(());
        };
        let data = file::contents(path, &section)?;
        let address = |name| module.section_by_name(name).map_or(0, |it| it.address());
        let bases = gimli::BaseAddresses::default()
            .set_eh_frame(section.address())
            .set_eh_frame_hdr(address(".eh_frame_hdr"))
            .set_text(address(".text"))
            .set_got(address(".got"));
        let mut frames = gimli::EhFrame::new(&data, gimli::NativeEndian);
        frames.set_address_size(8);
        self.read(&frames, &bases, code, 0)
            .map_err(|error| damaged(path, ".eh_frame", error))
    }

    fn read_debug_frame<'a>(
        &mut self,
        path: &Path,
        module: &object::File<'a, file::Cache<'a>>,
        code: &Code,
    ) -> Result<(), SymbolsError> {
        let Some(section) = module.section_by_name(".debug_frame") else {
            return Ok(());
        };
        let data = file::contents(path, &section)?;
        let mut frames = gimli::DebugFrame::new(&data, gimli::NativeEndian);
        frames.set_address_size(8);
        self.read(&frames, &gimli::BaseAddresses::default(), code, 1)
            .map_err(|error| damaged(path, ".debug_frame", error))
    }

    fn read<'a, S>(
        &mut self,
        section: &S,
        bases: &gimli::BaseAddresses,
        code: &Code,
        rank: u8,
    ) -> gimli::Result<()>
    where
        S: UnwindSection<Reader<'a>>,
        S::Offset: gimli::UnwindOffset<usize>,
    {
        let mut context = gimli::UnwindContext::<usize, Small>::new_in();
        let mut entries = section.entries(bases);
        // Consecutive functions usually share one common entry.
        let mut common: Option<(S::Offset, gimli::CommonInformationEntry<Reader<'a>>)> = None;
        while let Some(entry) = entries.next()? {
            let gimli::CieOrFde::Fde(partial) = entry else {
                continue;
            };
            let description = partial.parse(|section, bases, offset| {
                if let Some((known, entry)) = &common
                    && *known == offset
                {
                    return Ok(entry.clone());
                }
                let entry = section.cie_from_offset(bases, offset)?;
                common = Some((offset, entry.clone()));
                Ok(entry)
            })?;
            let (start, end) = (description.initial_address(), description.end_address());
            // Descriptions of functions that the linker dropped have addresses without code.
            if start >= end || code.end_of(start).is_none() {
                continue;
            }
            let first = self.rows.len();
            let whole = self.read_rows(section, bases, &description, &mut context);
            if whole.is_err() {
                self.rows.truncate(first);
                self.rows.push((start, NO_RULE));
            }
            self.descriptions.push(Description {
                start,
                end,
                rank,
                first,
                count: self.rows.len() - first,
            });
        }
        Ok(())
    }

    fn read_rows<'a, S: UnwindSection<Reader<'a>>>(
        &mut self,
        section: &S,
        bases: &gimli::BaseAddresses,
        description: &gimli::FrameDescriptionEntry<Reader<'a>>,
        context: &mut gimli::UnwindContext<usize, Small>,
    ) -> gimli::Result<()> {
        let mut table = description.rows(section, bases, context)?;
        while let Some(row) = table.next_row()? {
            let (start, end) = (row.start_address(), row.end_address());
            match simple(row) {
                Some(rule) => self.rows.push((start, rule)),
                None => match plt_threshold(section, row) {
                    Some(11) => self.rows.push((start, (UnwindRule::Plt, None))),
                    Some(threshold) => self.spell_out_plt(start, end, threshold),
                    None => self.rows.push((start, NO_RULE)),
                },
            }
        }
        Ok(())
    }

    /// Adds two rows for each stub of 16 bytes, for stubs whose push ends at another offset (with `-z ibt`).
    fn spell_out_plt(&mut self, start: u64, end: u64, threshold: u64) {
        let cfa = |offset| {
            let base = Base::Rsp;
            (UnwindRule::Cfa { base, offset }, None)
        };
        let mut at = start;
        while at < end {
            let stub = at & !15;
            let pushed = stub + threshold;
            if at < pushed {
                self.rows.push((at, cfa(8)));
            }
            self.rows.push((at.max(pushed), cfa(16)));
            at = stub + 16;
        }
    }

    /// Joins the rows into one list. Gaps end the chain of callers. Where descriptions overlap, the better one wins.
    fn finish(mut self) -> Vec<UnwindRow> {
        self.descriptions
            .sort_unstable_by_key(|it| (it.start, it.rank, std::cmp::Reverse(it.end)));
        let mut out: Vec<UnwindRow> = Vec::with_capacity(self.rows.len() + 64);
        let mut push = |start: u64, (rule, rbp): Rule| match out.last_mut() {
            Some(last) if last.rule == rule && last.rbp == rbp => {}
            Some(last) if last.start == start => (last.rule, last.rbp) = (rule, rbp),
            _ => out.push(UnwindRow { start, rule, rbp }),
        };
        let mut covered = 0;
        let mut descriptions = self.descriptions.iter().peekable();
        while let Some(description) = descriptions.next() {
            if description.start > covered {
                push(covered, NO_RULE);
            }
            // A better description that starts within this one replaces it from there.
            let end = match descriptions.peek() {
                Some(next) if next.rank < description.rank => description.end.min(next.start),
                _ => description.end,
            };
            let rows = &self.rows[description.first..][..description.count];
            for (index, &(start, rule)) in rows.iter().enumerate() {
                let until = rows.get(index + 1).map_or(end, |next| next.0.min(end));
                let start = start.max(covered);
                if start < until {
                    push(start, rule);
                }
            }
            covered = covered.max(end);
        }
        push(covered, NO_RULE);
        if out.first().is_some_and(|row| row.rule == UnwindRule::End) {
            out.remove(0);
        }
        out
    }
}

/// The rule of a row. `None` if the CFA is not a register plus an offset.
fn simple(row: &gimli::UnwindTableRow<usize, Small>) -> Option<Rule> {
    let &CfaRule::RegisterAndOffset { register, offset } = row.cfa() else {
        return None;
    };
    let base = match register {
        X86_64::RSP => Base::Rsp,
        X86_64::RBP => Base::Rbp,
        _ => return Some(NO_RULE),
    };
    if row.register(X86_64::RA) != Some(RegisterRule::Offset(-8)) {
        return Some(NO_RULE);
    }
    let rbp = match row.register(X86_64::RBP) {
        Some(RegisterRule::Offset(offset)) => Some(offset),
        None | Some(RegisterRule::Undefined | RegisterRule::SameValue) => None,
        Some(_) => return Some(NO_RULE),
    };
    let (Ok(offset), Ok(rbp)) = (i32::try_from(offset), rbp.map(i32::try_from).transpose()) else {
        return Some(NO_RULE);
    };
    Some((UnwindRule::Cfa { base, offset }, rbp))
}

/// The number N in the expression `rsp + 8 + (((rip & 15) >= N) << 3)` that linkers write.
fn plt_threshold<'a, S: UnwindSection<Reader<'a>>>(
    section: &S,
    row: &gimli::UnwindTableRow<usize, Small>,
) -> Option<u64> {
    let CfaRule::Expression(expression) = row.cfa() else {
        return None;
    };
    let encoding = gimli::Encoding {
        format: gimli::Format::Dwarf32,
        version: 4,
        address_size: 8,
    };
    let expression: gimli::Expression<Reader<'a>> = expression.get(section).ok()?;
    let mut operations = expression.operations(encoding);
    let mut next = || operations.next().ok().flatten();
    let register = |operation, wanted, by| match operation {
        Operation::RegisterOffset {
            register, offset, ..
        } => (register == wanted && offset == by).then_some(()),
        _ => None,
    };
    let constant = |operation| match operation {
        Operation::UnsignedConstant { value } => Some(value),
        _ => None,
    };
    register(next()?, X86_64::RSP, 8)?;
    register(next()?, X86_64::RA, 0)?;
    (constant(next()?)? == 15).then_some(())?;
    matches!(next()?, Operation::And).then_some(())?;
    let threshold = constant(next()?)?;
    matches!(next()?, Operation::Ge).then_some(())?;
    (constant(next()?)? == 3).then_some(())?;
    matches!(next()?, Operation::Shl).then_some(())?;
    matches!(next()?, Operation::Plus).then_some(())?;
    (next().is_none() && threshold < 16).then_some(threshold)
}

fn damaged(path: &Path, section: &str, error: gimli::Error) -> SymbolsError {
    SymbolsError::Damaged(format!(
        "cannot read section {section} of {}: {error}; build it again",
        path.display()
    ))
}
