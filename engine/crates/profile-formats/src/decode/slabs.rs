//! JsonSlabs (`.jslb`): the Firefox Profiler stores arrays of numbers apart from the JSON that they belong to. Here the JSON is
//! put together again.
//!
//! Libraries: none found.

use std::io::Write as _;

use memchr::memchr2;

use crate::decode::cursor::Cursor;
use crate::decode::fault::Fault;

const MAGIC: &[u8] = b"\xdc\xdfJSLB\x01\0";
const VERSION: u32 = 1;

/// How deep JSON slabs may be nested.
const DEPTH: usize = 16;

/// The kind of a JSON slab. Lower kinds are arrays of numbers.
const JSON: u32 = 10;

/// Whether a file with this beginning is in this format.
pub(crate) fn begin(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// The complete JSON of such a file, of at most `most` bytes. Returns `None` for other files.
pub(crate) fn text(bytes: &[u8], most: usize) -> Option<Result<Vec<u8>, Fault>> {
    bytes.starts_with(MAGIC).then(|| {
        let file = File::read(bytes)?;
        let mut out = Out {
            text: Vec::new(),
            most,
        };
        file.slab(file.root, 16, 0, &mut out)?;
        Ok(out.text)
    })
}

struct File<'a> {
    slabs: Vec<(u32, Cursor<'a>)>,
    root: usize,
}

/// The JSON so far.
struct Out {
    text: Vec<u8>,
    most: usize,
}

impl Out {
    fn push(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        if self.text.len() + bytes.len() > self.most {
            let most = self.most;
            let problem =
                format!("the JSON becomes larger than {most} bytes, which is not accepted");
            return Err(Fault::whole(problem).advise(crate::decode::limits::ALLOW_MORE));
        }
        self.text.extend_from_slice(bytes);
        Ok(())
    }
}

impl<'a> File<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, Fault> {
        let mut head = Cursor::new(bytes);
        head.take(MAGIC.len())?;
        let version = head.u32()?;
        if version != VERSION {
            let problem = format!("the slabs have version {version}, expected {VERSION}");
            return Err(Fault::byte(MAGIC.len(), problem));
        }
        let (count, root) = (head.u32()?, head.u32()? as usize);
        let mut slabs = Vec::new();
        for _ in 0..count {
            let (kind, offset, length) = (head.u32()?, head.u32()?, head.u32()?);
            let data = Cursor::part(bytes, offset.into(), length.into(), "a slab")?;
            slabs.push((kind, data));
        }
        Ok(File { slabs, root })
    }

    /// Writes a slab that byte `at` refers to.
    fn slab(&self, index: usize, at: usize, depth: usize, out: &mut Out) -> Result<(), Fault> {
        let slab = self.slabs.get(index);
        let &(kind, data) = slab.ok_or_else(|| {
            let problem = format!("expected a slab's number, got {index}");
            Fault::byte(at, problem)
        })?;
        match kind {
            JSON if depth >= DEPTH => {
                let problem = format!("JSON slabs are nested more than {DEPTH} deep");
                Err(Fault::byte(at, problem))
            }
            JSON => self.json(data, depth, out),
            _ => numbers(kind, data, out),
        }
    }

    /// Writes JSON, with the slabs in place of their placeholders.
    fn json(&self, data: Cursor, depth: usize, out: &mut Out) -> Result<(), Fault> {
        let text = data.bytes();
        let mut from = 0;
        while let Some(next) = memchr2(b'"', b'{', &text[from..]) {
            let next = from + next;
            let (end, slab) = match text[next] {
                b'"' => (next + string(&text[next..]), None),
                _ => match placeholder(&text[next..]) {
                    Some((index, length)) => (next + length, Some(index)),
                    None => (next + 1, None),
                },
            };
            match slab {
                Some(index) => {
                    out.push(&text[from..next])?;
                    self.slab(index, data.at() + next, depth + 1, out)?;
                }
                None => out.push(&text[from..end])?,
            }
            from = end;
        }
        out.push(&text[from..])
    }
}

/// The length of the string at the beginning of a text.
fn string(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(next) = memchr2(b'"', b'\\', text.get(at..).unwrap_or_default()) {
        at += next + 1;
        if text[at - 1] == b'"' {
            return at;
        }
        // Skip the escaped character.
        at += 1;
    }
    text.len()
}

/// The number in a placeholder `{"$s": 3}` at the beginning of a text, and the placeholder's length.
fn placeholder(text: &[u8]) -> Option<(usize, usize)> {
    let mut rest = text;
    for expected in [&b"{"[..], b"\"$s\"", b":"] {
        rest = rest.trim_ascii_start().strip_prefix(expected)?;
    }
    rest = rest.trim_ascii_start();
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
    rest = rest[digits..].trim_ascii_start().strip_prefix(b"}")?;
    Some((number, text.len() - rest.len()))
}

/// Writes an array of numbers. Infinite values and NaN become `null`.
fn numbers(kind: u32, data: Cursor, out: &mut Out) -> Result<(), Fault> {
    let bytes = data.bytes();
    match kind {
        0 => array(bytes, i8::from_le_bytes, out),
        1 => array(bytes, u8::from_le_bytes, out),
        2 => array(bytes, i16::from_le_bytes, out),
        3 => array(bytes, u16::from_le_bytes, out),
        4 => array(bytes, i32::from_le_bytes, out),
        5 => array(bytes, u32::from_le_bytes, out),
        6 => array(bytes, |it| Real(f32::from_le_bytes(it).into()), out),
        7 => array(bytes, |it| Real(f64::from_le_bytes(it)), out),
        8 => array(bytes, i64::from_le_bytes, out),
        9 => array(bytes, u64::from_le_bytes, out),
        _ => {
            let problem = format!("a slab has kind {kind}, which is not known");
            Err(Fault::byte(data.at(), problem))
        }
    }
}

struct Real(f64);

impl std::fmt::Display for Real {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self.0.is_finite() {
            true => write!(f, "{}", self.0),
            false => f.write_str("null"),
        }
    }
}

fn array<const N: usize, T: std::fmt::Display>(
    bytes: &[u8],
    number: impl Fn([u8; N]) -> T,
    out: &mut Out,
) -> Result<(), Fault> {
    out.push(b"[")?;
    let mut text = Vec::new();
    for (n, chunk) in bytes.as_chunks::<N>().0.iter().enumerate() {
        text.clear();
        let comma = if n == 0 { "" } else { "," };
        write!(text, "{comma}{}", number(*chunk)).expect("into memory");
        out.push(&text)?;
    }
    out.push(b"]")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check;

    /// A file of slabs, of which the last is the root.
    fn file(slabs: &[(u32, &[u8])]) -> Vec<u8> {
        let words = |words: &[usize]| -> Vec<u8> {
            let words = words.iter().map(|&it| u32::try_from(it).expect("small"));
            words.flat_map(u32::to_le_bytes).collect()
        };
        let mut at = 20 + 12 * slabs.len();
        let mut bytes = [MAGIC, &words(&[1, slabs.len(), slabs.len() - 1])].concat();
        for (kind, data) in slabs {
            bytes.extend(words(&[*kind as usize, at, data.len()]));
            at += data.len();
        }
        slabs.iter().for_each(|(_, data)| bytes.extend(*data));
        bytes
    }

    fn expanded(slabs: &[(u32, &[u8])]) -> Result<String, Fault> {
        let text = text(&file(slabs), 1000).expect("such a file");
        text.map(|text| String::from_utf8(text).expect("text"))
    }

    #[test]
    fn arrays_stand_where_they_are_named() {
        let integers = [1_i32, -1].map(i32::to_le_bytes).concat();
        let reals = [0.5, f64::NAN, 1e300].map(f64::to_le_bytes).concat();
        let root =
            br#"{"a":{"$s":0},"b":[{"$s" : 1 },{"$s":2,"x":1}],"{\"$s\":0}":"\\","c":{"$s":2}}"#;
        let inner = br#"{"d":{"$s":0}}"#;
        let found = expanded(&[(4, &integers), (7, &reals), (10, inner), (10, root)]);
        let big = format!("{}", 1e300);
        assert_eq!(
            found.expect("whole"),
            format!(
                r#"{{"a":[1,-1],"b":[[0.5,null,{big}],{{"$s":2,"x":1}}],"{{\"$s\":0}}":"\\","c":{{"d":[1,-1]}}}}"#
            )
        );
        assert!(text(b"{}", 9).is_none());
    }

    #[test]
    fn profiles_of_the_firefox_profiler_are_read() {
        let root = br#"{"meta":{"preprocessedProfileVersion":70},"shared":{"stringArray":["f","g"],
            "funcTable":{"name":[0,1]},"frameTable":{"func":{"$s":0}},"stackTable":{"prefixOffset":{"$s":0},"frame":{"$s":0}}},
            "threads":[{"name":"a","pid":1,"tid":1,"samples":{"stack":[1,0],"weight":null}}]}"#;
        let integers = [0_i32, 1].map(i32::to_le_bytes).concat();
        check(
            file(&[(4, &integers), (10, root)]),
            "samples* 2
             f 1
             f;g 1",
        );
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let wide = [7; 300];
        for (slabs, problem) in [
            (
                &[(10, &br#"{"$s":9}"#[..])][..],
                "expected a slab's number, got 9",
            ),
            (
                &[(10, br#"{"$s":0}"#)],
                "JSON slabs are nested more than 16 deep",
            ),
            (
                &[(77, b""), (10, br#"{"$s":0}"#)],
                "a slab has kind 77, which is not known",
            ),
            (
                &[(1, &wide), (10, br#"[{"$s":0},{"$s":0}]"#)],
                "the JSON becomes larger than 1000 bytes, which is not accepted",
            ),
        ] {
            assert_eq!(expanded(slabs).expect_err(problem).problem, problem);
        }
        let whole = file(&[(10, b"{}")]);
        let cut = text(&whole[..whole.len() - 1], 99).expect("such a file");
        assert_eq!(
            cut.expect_err("cut").problem,
            "a slab is said to be 2 bytes at byte 32, but the file has 33 bytes"
        );
    }
}
