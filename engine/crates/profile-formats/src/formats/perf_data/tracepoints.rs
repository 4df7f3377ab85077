//! The names of tracepoints, from the tracing data of a recording. Events have only their numbers.

use std::collections::HashMap;

use crate::decode::cursor::{Cursor, Order};
use crate::decode::fault::Fault;

const MAGIC: &[u8] = b"\x17\x08\x44tracing";

/// Names such as `sched:sched_switch` by number, as far as the data can be read. Missing names are not an error.
pub(crate) fn names(data: Cursor) -> HashMap<u64, String> {
    let mut names = HashMap::new();
    // Names before a fault are kept.
    let _ = read(data, &mut names);
    names
}

fn read(mut data: Cursor, names: &mut HashMap<u64, String>) -> Result<(), Fault> {
    if data.take(MAGIC.len())?.bytes() != MAGIC {
        return Ok(());
    }
    word(&mut data)?;
    // The data has its own order of bytes, then the size of a word.
    let order = match data.take(1)?.bytes() {
        [0] => Order::Little,
        _ => Order::Big,
    };
    data = data.in_order(order);
    data.take(1)?;
    data.u32()?;
    for _ in ["header_page", "header_event"] {
        word(&mut data)?;
        block(&mut data)?;
    }
    for _ in 0..data.u32()? {
        block(&mut data)?;
    }
    for _ in 0..data.u32()? {
        let system = word(&mut data)?;
        for _ in 0..data.u32()? {
            let format = block(&mut data)?;
            let text = String::from_utf8_lossy(format.bytes());
            let field = |key: &str| text.lines().find_map(|line| line.strip_prefix(key));
            if let (Some(name), Some(id)) = (field("name: "), field("ID: "))
                && let Ok(id) = id.trim().parse()
            {
                names.insert(id, format!("{system}:{name}"));
            }
        }
    }
    Ok(())
}

/// Reads a zero-terminated text.
fn word(data: &mut Cursor) -> Result<String, Fault> {
    let bytes = data.bytes();
    let end = bytes.iter().position(|&byte| byte == 0);
    let text = data.take(end.unwrap_or(bytes.len()))?;
    data.take(1)?;
    Ok(String::from_utf8_lossy(text.bytes()).into_owned())
}

/// Reads a text that follows its length.
fn block<'a>(data: &mut Cursor<'a>) -> Result<Cursor<'a>, Fault> {
    let size = data.u64()?;
    data.take(usize::try_from(size).unwrap_or(usize::MAX))
}
