//! Commands of Redis and memcached.
//!
//! Parsed by hand: only the first word of a command is needed, from the first bytes of a message.

/// `redis GET` of `*2\r\n$3\r\nget\r\n$1\r\nk\r\n`: the first bulk string of an array.
pub(super) fn redis(bytes: &[u8]) -> Option<String> {
    let rest = bytes.strip_prefix(b"*")?;
    let (count, rest) = number_line(rest)?;
    let (length, rest) = number_line(rest.strip_prefix(b"$")?)?;
    let command = rest.get(..length)?;
    let is_command = count > 0
        && (1..=32).contains(&length)
        && command
            .iter()
            .all(|it| it.is_ascii_alphanumeric() || b"._-".contains(it));
    is_command.then(|| format!("redis {}", text(command).to_ascii_uppercase()))
}

/// Parses a number of at most nine digits. Returns it with what follows its line.
fn number_line(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let end = bytes.iter().take(10).position(|&byte| byte == b'\r')?;
    let number = text(&bytes[..end]).parse().ok()?;
    Some((number, bytes[end..].strip_prefix(b"\r\n")?))
}

const MEMCACHED: [&str; 18] = [
    "get",
    "gets",
    "gat",
    "gats",
    "set",
    "add",
    "replace",
    "append",
    "prepend",
    "cas",
    "delete",
    "incr",
    "decr",
    "touch",
    "stats",
    "flush_all",
    "mg",
    "ms",
];

/// `memcached get` of `get some_key\r\n`.
pub(super) fn memcached(bytes: &[u8]) -> Option<String> {
    let end = bytes.iter().position(|&byte| byte == b'\n')?;
    let line = bytes[..end].strip_suffix(b"\r")?;
    let command = line.split(|&byte| byte == b' ').next()?;
    let command = MEMCACHED.iter().find(|it| it.as_bytes() == command)?;
    Some(format!("memcached {command}"))
}

fn text(ascii: &[u8]) -> &str {
    str::from_utf8(ascii).unwrap_or_default()
}
