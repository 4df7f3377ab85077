// Reproducible damage. `examples/damage.rs` includes it by path.

use fulcrum_stats::Random;

/// Numbers that broke readers before, and syntax of several formats.
const TOKENS: [&[u8]; 14] = [
    b"0",
    b"-1",
    b"NaN",
    b"1e999",
    b"2147483648",
    b"4294967295",
    b"9223372036854775808",
    b"18446744073709551615",
    b"null",
    b"\xff\xff\xff\xff\x0f",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    b"[[",
    b"\n",
    b";",
];

/// Damages bytes at one place: cut off, changed, left out, put in, or doubled.
pub(crate) fn damage(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.index(bytes.len());
    let end = at + random.index(bytes.len() - at);
    let token = TOKENS[random.index(TOKENS.len())];
    match random.below(8) {
        _ if bytes.is_empty() => bytes.extend(token),
        0 => bytes.truncate(at),
        1 => bytes[at] = random.below(256) as u8,
        2 => bytes[at] ^= 1 << random.below(8),
        3 => drop(bytes.remove(at)),
        4 => drop(bytes.splice(at..at, token.iter().copied())),
        5 => drop(bytes.splice(
            at..(at + token.len()).min(bytes.len()),
            token.iter().copied(),
        )),
        6 => drop(bytes.drain(at..end)),
        _ => {
            let part = bytes[at..end].to_vec();
            let to = random.index(bytes.len());
            bytes.splice(to..to, part);
        }
    }
}
