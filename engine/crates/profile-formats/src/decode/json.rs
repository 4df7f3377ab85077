//! Lines of places in JSON, for problems that are found after parsing; and lenient fields. Parsing itself is serde_json's.

use std::borrow::Cow;
use std::fmt;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

/// A text; `null` becomes the empty text.
pub(crate) fn text_or_null<'de, D: Deserializer<'de>>(reader: D) -> Result<String, D::Error> {
    Option::deserialize(reader).map(Option::unwrap_or_default)
}

/// A number, or a text that is a number; `null` becomes `None`.
pub(crate) fn number_or_text<'de, D: Deserializer<'de>>(
    reader: D,
) -> Result<Option<f64>, D::Error> {
    reader.deserialize_any(NumberOrText)
}

struct NumberOrText;

impl Visitor<'_> for NumberOrText {
    type Value = Option<f64>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Option<f64>, E> {
        Ok(Some(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Option<f64>, E> {
        Ok(Some(value as f64))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Option<f64>, E> {
        Ok(Some(value as f64))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Option<f64>, E> {
        let number = text.trim().parse().ok().filter(|it: &f64| it.is_finite());
        let wrong = || E::custom("expected a text that is a number");
        number.map(Some).ok_or_else(wrong)
    }

    fn visit_unit<E: Error>(self) -> Result<Option<f64>, E> {
        Ok(None)
    }
}

/// One step of the path from the root of a JSON text to a place in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// One of several JSON texts in a file, from 0.
    Document(usize),
    Key(Cow<'static, str>),
    Item(usize),
}

/// The 1-based line of the place that a path leads to, or of the last place on the path that exists.
pub(crate) fn line(text: &str, path: &[Step]) -> Option<usize> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let path = match path {
        [Step::Document(before), rest @ ..] => {
            for _ in 0..*before {
                IgnoredAny::deserialize(&mut reader).ok()?;
            }
            rest
        }
        path => path,
    };
    let here = Seek(path).deserialize(&mut reader).err()?;
    (here.line() > 0).then_some(here.line())
}

/// Fails at the place that the path leads to, because serde's errors have lines.
struct Seek<'p>(&'p [Step]);

impl<'de> DeserializeSeed<'de> for Seek<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        // Numbers and texts fail too: the visitor accepts none.
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seek<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("another place")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        if let [Step::Key(wanted), rest @ ..] = self.0 {
            while let Some(key) = map.next_key::<String>()? {
                if key == *wanted {
                    map.next_value_seed(Seek(rest))?;
                }
                map.next_value::<IgnoredAny>()?;
            }
        }
        Err(A::Error::custom("here"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        if let [Step::Item(before), rest @ ..] = self.0 {
            for _ in 0..*before {
                if seq.next_element::<IgnoredAny>()?.is_none() {
                    break;
                }
            }
            seq.next_element_seed(Seek(rest))?;
        }
        Err(A::Error::custom("here"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_lead_to_lines() {
        let text = "{\"a\":\n[1,\n{\"b\":\n-1,\"c\":\n\"x\"}],\n\"d\":{}}\n{\"e\":\n[\n2]}";
        let (key, item) = (|key: &'static str| Step::Key(key.into()), Step::Item);
        for (path, expect) in [
            (vec![], 1),
            (vec![key("a")], 2),
            (vec![key("a"), item(0)], 2),
            (vec![key("a"), item(1)], 3),
            (vec![key("a"), item(1), key("b")], 4),
            (vec![key("a"), item(1), key("c")], 5),
            (vec![key("d")], 6),
            (vec![Step::Document(1)], 7),
            (vec![Step::Document(1), key("e"), item(0)], 9),
            // What is missing is missed where it could have been.
            (vec![key("a"), item(7)], 5),
            (vec![key("d"), key("x")], 6),
        ] {
            assert_eq!(line(text, &path), Some(expect), "{path:?}");
        }
        assert_eq!(line(text, &[Step::Document(2)]), Some(9));
    }
}
