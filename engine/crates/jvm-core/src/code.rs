//! Instructions (JVMS §6.5): where each begins, and how they move when code is inserted.

use crate::bytes::{Malformed, Reader, Write};

/// Opcodes with special treatment.
pub(crate) mod op {
    pub(crate) const ACONST_NULL: u8 = 0x01;
    pub(crate) const ICONST_0: u8 = 0x03;
    pub(crate) const BIPUSH: u8 = 0x10;
    pub(crate) const SIPUSH: u8 = 0x11;
    pub(crate) const LDC_W: u8 = 0x13;
    pub(crate) const ILOAD: u8 = 0x15;
    pub(crate) const LLOAD: u8 = 0x16;
    pub(crate) const FLOAD: u8 = 0x17;
    pub(crate) const DLOAD: u8 = 0x18;
    pub(crate) const ALOAD: u8 = 0x19;
    pub(crate) const ISTORE: u8 = 0x36;
    pub(crate) const ASTORE: u8 = 0x3a;
    pub(crate) const ASTORE_0: u8 = 0x4b;
    pub(crate) const DUP: u8 = 0x59;
    pub(crate) const DUP2: u8 = 0x5c;
    pub(crate) const IFEQ: u8 = 0x99;
    pub(crate) const GOTO: u8 = 0xa7;
    pub(crate) const JSR: u8 = 0xa8;
    pub(crate) const TABLESWITCH: u8 = 0xaa;
    pub(crate) const LOOKUPSWITCH: u8 = 0xab;
    pub(crate) const IRETURN: u8 = 0xac;
    pub(crate) const RETURN: u8 = 0xb1;
    pub(crate) const INVOKESPECIAL: u8 = 0xb7;
    pub(crate) const INVOKESTATIC: u8 = 0xb8;
    pub(crate) const NEW: u8 = 0xbb;
    pub(crate) const ATHROW: u8 = 0xbf;
    pub(crate) const WIDE: u8 = 0xc4;
    pub(crate) const IFNULL: u8 = 0xc6;
    pub(crate) const IFNONNULL: u8 = 0xc7;
    pub(crate) const GOTO_W: u8 = 0xc8;
    pub(crate) const JSR_W: u8 = 0xc9;
}

/// An instruction in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instruction {
    /// Where it begins in the method.
    pub(crate) at: u32,
    /// Its length, bytes.
    pub(crate) length: u32,
    pub(crate) opcode: u8,
}

impl Instruction {
    pub(crate) fn is_return(&self) -> bool {
        (op::IRETURN..=op::RETURN).contains(&self.opcode)
    }

    fn is_switch(&self) -> bool {
        matches!(self.opcode, op::TABLESWITCH | op::LOOKUPSWITCH)
    }

    fn is_branch(&self) -> bool {
        matches!(self.opcode, op::IFEQ..=op::JSR | op::IFNULL | op::IFNONNULL)
    }

    fn is_wide_branch(&self) -> bool {
        matches!(self.opcode, op::GOTO_W | op::JSR_W)
    }
}

/// A method's instructions, in order.
pub(crate) struct Code<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) instructions: Vec<Instruction>,
}

impl<'a> Code<'a> {
    /// Finds where instructions begin.
    pub(crate) fn decode(bytes: &'a [u8]) -> Result<Code<'a>, Malformed> {
        let mut instructions = Vec::new();
        let mut reader = Reader::new(bytes);
        while !reader.is_empty() {
            let at = reader.at;
            let opcode = reader.u8()?;
            skip_operands(&mut reader, at, opcode)?;
            instructions.push(Instruction {
                at: at as u32,
                length: (reader.at - at) as u32,
                opcode,
            });
        }
        Ok(Code {
            bytes,
            instructions,
        })
    }

    /// The instruction that begins there.
    pub(crate) fn find(&self, at: u32) -> Option<usize> {
        self.instructions.binary_search_by_key(&at, |it| it.at).ok()
    }

    pub(crate) fn operands(&self, instruction: &Instruction) -> Reader<'a> {
        let end = (instruction.at + instruction.length) as usize;
        Reader {
            bytes: &self.bytes[..end],
            at: instruction.at as usize + 1,
        }
    }
}

fn skip_operands(reader: &mut Reader<'_>, at: usize, opcode: u8) -> Result<(), Malformed> {
    let length = match opcode {
        0x10 | 0x12 | 0x15..=0x19 | 0x36..=0x3a | 0xa9 | 0xbc => 1,
        0x11 | 0x13 | 0x14 | 0x84 | 0x99..=0xa8 | 0xb2..=0xb8 | 0xbb | 0xbd => 2,
        0xc0 | 0xc1 | 0xc6 | 0xc7 => 2,
        0xc5 => 3,
        0xb9 | 0xba | 0xc8 | 0xc9 => 4,
        op::WIDE => match reader.u8()? {
            0x84 => 4,
            0x15..=0x19 | 0x36..=0x3a | 0xa9 => 2,
            _ => return Err(reader.error("an instruction that can be wide")),
        },
        op::TABLESWITCH | op::LOOKUPSWITCH => {
            reader.take(padding(at as u32) as usize)?;
            reader.i32()?;
            let count = if opcode == op::TABLESWITCH {
                let (low, high) = (i64::from(reader.i32()?), i64::from(reader.i32()?));
                (high - low + 1).checked_mul(4)
            } else {
                i64::from(reader.i32()?).checked_mul(8)
            };
            let count = count.and_then(|count| usize::try_from(count).ok());
            count.ok_or_else(|| reader.error("a number of cases"))?
        }
        0x00..=0xc9 => 0,
        _ => {
            reader.at = at;
            return Err(reader.error("an instruction"));
        }
    };
    reader.take(length)?;
    Ok(())
}

/// Bytes between a switch's opcode and its operands.
fn padding(at: u32) -> u32 {
    3 - at % 4
}

/// Where everything is after code was inserted.
pub(crate) struct Moved {
    /// Where the code inserted before each instruction begins; one more for the end of the code.
    before: Vec<u32>,
    /// Where each instruction itself begins.
    at: Vec<u32>,
    /// Branches that need a wide offset now.
    wide: Vec<bool>,
}

/// Why code cannot be moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CannotMove {
    /// It breaks its format.
    Malformed(Malformed),
    /// A conditional branch would reach too far.
    FarBranch,
}

impl From<Malformed> for CannotMove {
    fn from(error: Malformed) -> Self {
        CannotMove::Malformed(error)
    }
}

/// The code that is inserted where the method is entered, and before each return.
pub(crate) struct Inserted {
    pub(crate) at_entry: Vec<u8>,
    pub(crate) before_return: Vec<u8>,
    /// The instructions after which the method is entered; none when that is its beginning.
    pub(crate) entered_after: Vec<usize>,
}

impl Inserted {
    fn at_beginning(&self) -> &[u8] {
        match self.entered_after.is_empty() {
            true => &self.at_entry,
            false => &[],
        }
    }

    fn after(&self, instruction: usize) -> &[u8] {
        match self.entered_after.contains(&instruction) {
            true => &self.at_entry,
            false => &[],
        }
    }
}

impl Moved {
    /// Computes all new places, with the padding that switches need there and the width that far jumps need.
    pub(crate) fn new(code: &Code<'_>, inserted: &Inserted) -> Result<Moved, CannotMove> {
        let count = code.instructions.len();
        let mut moved = Moved {
            before: vec![0; count + 1],
            at: vec![0; count],
            wide: vec![false; count],
        };
        loop {
            moved.place(code, inserted);
            let mut changed = false;
            for (n, instruction) in code.instructions.iter().enumerate() {
                if !instruction.is_branch() || moved.wide[n] {
                    continue;
                }
                let target = branch_target(code, instruction)?;
                let offset = i64::from(moved.target(code, target)?) - i64::from(moved.at[n]);
                if i16::try_from(offset).is_err() {
                    if !matches!(instruction.opcode, op::GOTO | op::JSR) {
                        return Err(CannotMove::FarBranch);
                    }
                    moved.wide[n] = true;
                    changed = true;
                }
            }
            // Each round makes at least one jump wide, and none narrow again.
            if !changed {
                return Ok(moved);
            }
        }
    }

    fn place(&mut self, code: &Code<'_>, inserted: &Inserted) {
        let mut at = inserted.at_beginning().len() as u32;
        for (n, instruction) in code.instructions.iter().enumerate() {
            self.before[n] = at;
            if instruction.is_return() {
                at += inserted.before_return.len() as u32;
            }
            self.at[n] = at;
            at += instruction.length;
            if instruction.is_switch() {
                at = at - padding(instruction.at) + padding(self.at[n]);
            } else if self.wide[n] {
                at += 2;
            }
            at += inserted.after(n).len() as u32;
        }
        self.before[code.instructions.len()] = at;
    }

    /// Where a jump to this old place leads: to the code inserted before the instruction there. The place may be the end of
    /// the code.
    pub(crate) fn target(&self, code: &Code<'_>, old: u32) -> Result<u32, Malformed> {
        self.index(code, old).map(|n| self.before[n])
    }

    /// Where the instruction at this old place is.
    pub(crate) fn instruction(&self, code: &Code<'_>, old: u32) -> Result<u32, Malformed> {
        let n = code.find(old).ok_or(NO_INSTRUCTION.at(old))?;
        Ok(self.at[n])
    }

    fn index(&self, code: &Code<'_>, old: u32) -> Result<usize, Malformed> {
        if old as usize == code.bytes.len() {
            return Ok(code.instructions.len());
        }
        code.find(old).ok_or(NO_INSTRUCTION.at(old))
    }

    /// The moved code.
    pub(crate) fn write(&self, code: &Code<'_>, inserted: &Inserted) -> Result<Vec<u8>, Malformed> {
        let mut out = inserted.at_beginning().to_vec();
        for (n, instruction) in code.instructions.iter().enumerate() {
            if instruction.is_return() {
                out.extend_from_slice(&inserted.before_return);
            }
            debug_assert_eq!(out.len() as u32, self.at[n]);
            let from = i64::from(self.at[n]);
            let relative = |old: i64| -> Result<i32, Malformed> {
                let old = u32::try_from(old).map_err(|_| NO_INSTRUCTION.at(instruction.at))?;
                Ok((i64::from(self.target(code, old)?) - from) as i32)
            };
            let old_at = i64::from(instruction.at);
            if instruction.is_branch() || instruction.is_wide_branch() {
                let offset = relative(i64::from(branch_target(code, instruction)?))?;
                if self.wide[n] {
                    out.push(instruction.opcode + (op::GOTO_W - op::GOTO));
                    out.put32(offset.cast_unsigned());
                } else if instruction.is_wide_branch() {
                    out.push(instruction.opcode);
                    out.put32(offset.cast_unsigned());
                } else {
                    out.push(instruction.opcode);
                    out.put16((offset as i16).cast_unsigned());
                }
            } else if instruction.is_switch() {
                let mut operands = code.operands(instruction);
                operands.take(padding(instruction.at) as usize)?;
                out.push(instruction.opcode);
                out.extend(std::iter::repeat_n(0, padding(self.at[n]) as usize));
                out.put32(relative(old_at + i64::from(operands.i32()?))?.cast_unsigned());
                let first = operands.u32()?;
                out.put32(first);
                if instruction.opcode == op::TABLESWITCH {
                    out.put32(operands.u32()?);
                }
                while !operands.is_empty() {
                    if instruction.opcode == op::LOOKUPSWITCH {
                        out.put32(operands.u32()?);
                    }
                    out.put32(relative(old_at + i64::from(operands.i32()?))?.cast_unsigned());
                }
            } else {
                let from = instruction.at as usize;
                out.extend_from_slice(&code.bytes[from..from + instruction.length as usize]);
            }
            out.extend_from_slice(inserted.after(n));
        }
        Ok(out)
    }
}

struct Expected(&'static str);
const NO_INSTRUCTION: Expected = Expected("the beginning of an instruction");

impl Expected {
    fn at(&self, at: u32) -> Malformed {
        Malformed {
            at: at as usize,
            expected: self.0,
        }
    }
}

fn branch_target(code: &Code<'_>, instruction: &Instruction) -> Result<u32, Malformed> {
    let mut operands = code.operands(instruction);
    let offset = match instruction.is_wide_branch() {
        true => i64::from(operands.i32()?),
        false => i64::from(operands.u16()?.cast_signed()),
    };
    let target = i64::from(instruction.at) + offset;
    u32::try_from(target).map_err(|_| NO_INSTRUCTION.at(instruction.at))
}

/// Pushes a number. `constant` gives the number's place among the constants, if it needs one.
pub(crate) fn push(value: u32, constant: impl FnOnce() -> Option<u16>) -> Option<Vec<u8>> {
    Some(match value {
        0..=5 => vec![op::ICONST_0 + value as u8],
        6..=127 => vec![op::BIPUSH, value as u8],
        128..=32767 => [&[op::SIPUSH][..], &(value as u16).to_be_bytes()].concat(),
        _ => [&[op::LDC_W][..], &constant()?.to_be_bytes()].concat(),
    })
}

/// Loads or stores a variable.
pub(crate) fn variable(opcode: u8, number: u16) -> Vec<u8> {
    match u8::try_from(number) {
        Ok(number) => vec![opcode, number],
        Err(_) => [&[op::WIDE, opcode][..], &number.to_be_bytes()].concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Code before and after one byte (a `nop`) at the entry and before each return.
    fn check(before: &[u8], expect: Result<&[u8], CannotMove>) {
        let code = Code::decode(before).unwrap();
        let inserted = Inserted {
            at_entry: vec![0],
            before_return: vec![0],
            entered_after: Vec::new(),
        };
        let after =
            Moved::new(&code, &inserted).map(|moved| moved.write(&code, &inserted).unwrap());
        assert_eq!(after.as_deref(), expect.as_deref());
    }

    #[test]
    fn branches_go_to_the_probe_before_a_return_and_behind_the_one_at_the_entry() {
        // goto 4; nop; return; goto 0
        check(
            &[0xa7, 0, 4, 0, 0xb1, 0xa7, 0xff, 0xfb],
            Ok(&[0, 0xa7, 0, 4, 0, 0, 0xb1, 0xa7, 0xff, 0xfa]),
        );
    }

    #[test]
    fn switches_are_padded_for_their_new_place() {
        // iload_0; tableswitch (2 bytes of padding) default: 20, 5..5: 21; return; return
        let before = [
            &[0x1a, 0xaa, 0, 0][..],
            &[0, 0, 0, 19, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0, 20],
            &[0xb1, 0xb1],
        ];
        let after = [
            &[0, 0x1a, 0xaa, 0][..],
            &[0, 0, 0, 18, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0, 20],
            &[0, 0xb1, 0, 0xb1],
        ];
        check(&before.concat(), Ok(&after.concat()));
        // iload_0; lookupswitch default: 21, 7: 20
        let before = [
            &[0x1a, 0xab, 0, 0][..],
            &[0, 0, 0, 20, 0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0, 19],
            &[0xb1, 0xb1],
        ];
        let after = [
            &[0, 0x1a, 0xab, 0][..],
            &[0, 0, 0, 20, 0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0, 18],
            &[0, 0xb1, 0, 0xb1],
        ];
        check(&before.concat(), Ok(&after.concat()));
    }

    #[test]
    fn jumps_that_reach_too_far_become_wide_and_conditional_ones_are_refused() {
        // A jump over 32766 bytes and a return to the end; the return's probe makes it too far.
        let jump = |opcode: u8| [&[opcode, 0x7f, 0xff][..], &[0; 0x7ffb], &[0xb1, 0xb1]].concat();
        let after = [
            &[0, 0xc8, 0, 0, 0x80, 0x02][..],
            &[0; 0x7ffb],
            &[0, 0xb1, 0, 0xb1],
        ]
        .concat();
        check(&jump(0xa7), Ok(&after));
        check(&jump(0x99), Err(CannotMove::FarBranch));
    }

    #[test]
    fn every_opcode_has_its_length() {
        for (bytes, expect) in [
            (&[0xc4, 0x84, 0, 1, 0, 1][..], Some(6)),
            (&[0xc4, 0xa9, 0, 1], Some(4)),
            (&[0xc4, 0x60], None),
            (&[0xca], None),
            (&[0xb9, 0, 1, 1], None),
            (&[0xb9, 0, 1, 1, 0], Some(5)),
            (
                &[0xaa, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0],
                Some(16),
            ),
            (&[0xab, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff], None),
        ] {
            let length = Code::decode(bytes)
                .ok()
                .map(|code| code.instructions[0].length);
            assert_eq!(length, expect, "{bytes:?}");
        }
    }
}
