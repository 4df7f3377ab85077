//! A file as detectors and readers see it: unwrapped, as text when it is text, with the facts that detectors need.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::fmt;

use fulcrum_model::{Cancelled, Progress};
use memchr::memchr;
use serde::de::{Deserialize, DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::collect::symbols::Symbols;
use crate::decode::fault::Fault;
use crate::decode::folded_line::is_stack;
use crate::decode::limits::Limits;
use crate::decode::marshal;
use crate::format::Grain;

/// Bytes that are inspected to tell binary data from text.
const HEAD: usize = 4096;
/// Lines that are inspected to tell text formats apart.
const LINES: usize = 60;
/// Comment lines that may come between them: perf's extended header has some for each processor.
const COMMENTS: usize = 20_000;

/// An unwrapped file.
pub(crate) struct Input<'a> {
    /// The bytes as they are.
    pub(crate) bytes: &'a [u8],
    /// The text, unless the data is binary. Decoded on first use, because that reads every byte.
    text: Option<OnceCell<Cow<'a, str>>>,
    /// Lines end with carriage returns alone.
    returns: bool,
    /// The lines that tell formats apart. Empty for binary data and JSON.
    head: Cow<'a, str>,
    /// The outline of the JSON, when the text begins like JSON.
    pub(crate) json: Option<Json>,
    /// Limits for compressed parts.
    pub(crate) limits: Limits,
    /// Names for code that the file knows only by address.
    pub(crate) symbols: &'a dyn Symbols,
    /// What tells frames of one function apart.
    pub(crate) grain: Grain,
    /// Whether the file was compressed, so that offsets count after decompression.
    pub(crate) compressed: bool,
    /// Receives how much has been read, and can cancel.
    pub(crate) progress: Progress,
}

/// The outline of a JSON text, as far as it can be read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Json {
    /// The keys of the object, or of the array's first object.
    pub(crate) keys: Vec<String>,
    /// Whether it is an array.
    pub(crate) array: bool,
}

impl<'a> Input<'a> {
    /// Inspects `bytes`, which are already unwrapped.
    pub(crate) fn new(
        bytes: &'a [u8],
        limits: Limits,
        symbols: &'a dyn Symbols,
        progress: Progress,
    ) -> Self {
        let mut input = Input {
            bytes,
            text: None,
            returns: false,
            head: "".into(),
            json: None,
            limits,
            symbols,
            grain: Grain::Functions,
            compressed: false,
            progress,
        };
        if !input.is_binary() && !marshal::is_dictionary(bytes) {
            input.text = Some(OnceCell::new());
            input.returns = memchr(b'\r', bytes).is_some() && memchr(b'\n', bytes).is_none();
            // A JSON file may be one long line.
            let first = bytes.trim_ascii_start().first();
            if !first.is_some_and(|first| b"{[".contains(first)) {
                input.head = input.first_part();
            }
            if input.head.is_empty() || is_json(&input.head) {
                input.json = outside(input.text());
                input.head = match input.json {
                    Some(_) => "".into(),
                    None => input.first_part(),
                };
            }
        }
        input
    }

    /// The text; empty for binary data. Bytes that are not UTF-8 are replaced, as are carriage returns that end lines.
    pub(crate) fn text(&self) -> &str {
        self.text.as_ref().map_or("", |text| {
            text.get_or_init(|| match str::from_utf8(self.bytes) {
                _ if self.returns => String::from_utf8_lossy(self.bytes)
                    .replace('\r', "\n")
                    .into(),
                // Nearly all text is UTF-8, and checking is faster than replacing.
                Ok(text) => text.into(),
                Err(_) => String::from_utf8_lossy(self.bytes),
            })
        })
    }

    /// Whether [`Input::text`] equals the bytes, where they are UTF-8.
    pub(crate) fn is_verbatim(&self) -> bool {
        !self.returns
    }

    /// The lines that tell formats apart.
    fn first_part(&self) -> Cow<'a, str> {
        match self.returns {
            true => head(self.text().as_bytes()).into_owned().into(),
            false => head(self.bytes),
        }
    }

    /// Reports that every byte before this one has been read.
    ///
    /// # Errors
    /// [`Cancelled`], when reading was cancelled.
    pub(crate) fn read_until(&self, at: usize) -> Result<(), Cancelled> {
        self.progress.at(at as f64 / self.bytes.len() as f64)
    }

    /// Reports that the text before this line has been read.
    ///
    /// # Errors
    /// [`Cancelled`], when reading was cancelled.
    pub(crate) fn read_until_line(&self, line: &str) -> Result<(), Cancelled> {
        let text = self.text();
        let at = line.as_ptr().addr() - text.as_ptr().addr();
        self.progress.at(at as f64 / text.len() as f64)
    }

    /// Whether it is text.
    pub(crate) fn is_text(&self) -> bool {
        self.text.is_some()
    }

    /// Whether frames get the line that ran.
    pub(crate) fn lines(&self) -> bool {
        self.grain == Grain::Lines
    }

    /// Whether the first bytes contain control characters that text does not have. A program's name may contain a bell or an
    /// escape character.
    pub(crate) fn is_binary(&self) -> bool {
        const IN_NAMES: [u8; 2] = [0x07, 0x1b];
        let head = &self.bytes[..self.bytes.len().min(HEAD)];
        head.iter()
            .any(|byte| (byte < &9 || (14..32).contains(byte)) && !IN_NAMES.contains(byte))
    }

    /// The first non-empty lines with their 1-based numbers. None for JSON.
    pub(crate) fn first_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        lines(&self.head).filter(|(_, line)| !line.trim().is_empty())
    }

    /// Whether the format is certain even if more bytes follow: there is more text than detectors inspect.
    pub(crate) fn is_conclusive(&self) -> bool {
        self.json.is_none() && !self.returns && self.head.len() < self.bytes.len()
    }

    /// Whether it is a JSON object with all of these keys.
    pub(crate) fn has_keys(&self, keys: &[&str]) -> bool {
        let has = |json: &Json, key: &str| json.keys.iter().any(|it| it == key);
        let object = self.json.as_ref().filter(|json| !json.array);
        object.is_some_and(|json| keys.iter().all(|key| has(json, key)))
    }

    /// Parses the JSON as a `T`.
    pub(crate) fn parse<'t, T: Deserialize<'t>>(&'t self) -> Result<T, Fault> {
        serde_json::from_str(self.text()).map_err(|error| json_fault(&error))
    }
}

/// Lines with their 1-based numbers, without line ends.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().zip(1..).map(|(line, number)| (number, line))
}

/// serde's message, with the line.
pub(crate) fn json_fault(error: &serde_json::Error) -> Fault {
    let problem = if error.is_eof() {
        "the JSON ends too early".to_owned()
    } else {
        let text = error.to_string();
        let text = text
            .rsplit_once(" at line ")
            .map_or(&*text, |(text, _)| text);
        let text: String = text
            .chars()
            .filter(|it| !it.is_control())
            .take(200)
            .collect();
        format!("the JSON is wrong at column {}: {text}", error.column())
    };
    Fault::line(error.line().max(1), problem)
}

/// The beginning of a text: the first non-empty lines, with the comments among them.
fn head(bytes: &[u8]) -> Cow<'_, str> {
    let (mut found, mut comments, mut end) = (0, 0, 0);
    while found < LINES && comments < COMMENTS && end < bytes.len() {
        let rest = &bytes[end..];
        let length = memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let line = String::from_utf8_lossy(&rest[..length]);
        match line.trim() {
            "" => {}
            line if line.starts_with('#') => comments += 1,
            _ => found += 1,
        }
        end += length;
    }
    String::from_utf8_lossy(&bytes[..end])
}

fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}

fn outside(text: &str) -> Option<Json> {
    if !is_json(text) {
        return None;
    }
    let mut json = Json::default();
    let mut reader = serde_json::Deserializer::from_str(text);
    // The format's reader will report errors; here the keys before them are enough.
    let read = Outside(&mut json)
        .deserialize(&mut reader)
        .and_then(|()| reader.end());
    // `[unknown];main 3` and `{closure};main 3` begin like JSON.
    let is_other = read.is_err_and(|error| !error.is_eof()) && json.keys.is_empty();
    let first = text.trim_start().lines().next().unwrap_or_default();
    (!(is_other && is_stack(first))).then_some(json)
}

/// Collects the keys of an object, or of an array's first element.
struct Outside<'j>(&'j mut Json);

impl<'de> DeserializeSeed<'de> for Outside<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Outside<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object or an array of objects")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            self.0.keys.push(key);
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        self.0.array = true;
        // The rest stays unread: serde then fails, which ends the search.
        seq.next_element_seed(Outside(self.0)).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(text: &str) -> Option<(Vec<String>, bool)> {
        outside(text).map(|json| (json.keys, json.array))
    }

    #[test]
    fn keys_are_seen_also_before_a_break() {
        let names = |names: &[&str]| names.iter().map(|&it| it.to_owned()).collect::<Vec<_>>();
        assert_eq!(keys("a;b 1"), None);
        assert_eq!(
            keys("{\"a\":{\"x\":1},\"b\":[2]}"),
            Some((names(&["a", "b"]), false))
        );
        assert_eq!(keys(" {\"a\":[1,2"), Some((names(&["a"]), false)));
        assert_eq!(
            keys("[{\"ph\":\"B\"},{\"x\":1}]"),
            Some((names(&["ph"]), true))
        );
        assert_eq!(keys("[]"), Some((names(&[]), true)));
        assert_eq!(keys("[{}, {\"ph\":\n3"), Some((names(&[]), true)));
        assert_eq!(keys("[unknown];main 3"), None);
        assert_eq!(keys("{closure};main 3\n"), None);
        // Wrong as both.
        assert_eq!(keys("[unknown];main"), Some((names(&[]), true)));
    }
}
