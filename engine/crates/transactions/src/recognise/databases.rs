//! SQL in the messages of PostgreSQL and MySQL.
//!
//! Parsed by hand: crates for these protocols decode whole messages, while here the first bytes of one must do.

use super::sql;
use super::tokens::Dialect;

/// PostgreSQL has no messages longer than a quarter of a gigabyte.
const LONGEST: u32 = 1 << 28;

/// A simple query (`Q`) or a statement to parse (`P`), as framed by version 3 of PostgreSQL's protocol.
pub(super) fn postgres(bytes: &[u8]) -> Option<String> {
    let (&kind, rest) = bytes.split_first()?;
    let (length, body) = rest.split_first_chunk::<4>()?;
    let length = u32::from_be_bytes(*length);
    if !(5..=LONGEST).contains(&length) {
        return None;
    }
    let text = match kind {
        b'Q' => body,
        // The statement's name comes first.
        b'P' => after_zero(body)?,
        _ => return None,
    };
    sql::name(Dialect::Postgres, text)
}

/// `COM_QUERY` or `COM_STMT_PREPARE`, as framed by MySQL's protocol.
pub(super) fn mysql(bytes: &[u8]) -> Option<String> {
    let (&[a, b, c, sequence, command], text) = bytes.split_first_chunk::<5>()?;
    let length = u32::from_le_bytes([a, b, c, 0]);
    let is_query = sequence == 0 && matches!(command, 0x03 | 0x16) && length > 1;
    let text = &text[..text.len().min(length.saturating_sub(1) as usize)];
    is_query.then(|| sql::name(Dialect::MySql, text))?
}

fn after_zero(bytes: &[u8]) -> Option<&[u8]> {
    let zero = bytes.iter().position(|&byte| byte == 0)?;
    Some(&bytes[zero + 1..])
}
