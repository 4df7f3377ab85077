//! Numbers in the JSON of protobuf messages. 64-bit numbers are texts.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, Visitor};

/// A number, or a text that is a number.
pub(crate) fn number<'de, D: Deserializer<'de>, N: Whole>(reader: D) -> Result<N, D::Error> {
    reader.deserialize_any(Number(PhantomData))
}

/// An optional number.
pub(crate) fn maybe<'de, D: Deserializer<'de>, N: Whole>(reader: D) -> Result<Option<N>, D::Error> {
    number(reader).map(Some)
}

/// A list of such numbers.
pub(crate) fn numbers<'de, D: Deserializer<'de>, N: Whole>(reader: D) -> Result<Vec<N>, D::Error> {
    let list = Vec::<Listed<N>>::deserialize(reader)?;
    Ok(list.into_iter().map(|it| it.0).collect())
}

/// The length of a list.
pub(crate) fn count<'de, D: Deserializer<'de>>(reader: D) -> Result<usize, D::Error> {
    // A vector of `IgnoredAny` takes no memory.
    Vec::<IgnoredAny>::deserialize(reader).map(|list| list.len())
}

/// A whole number of 32 or 64 bits.
pub(crate) trait Whole: FromStr + TryFrom<i64> {}

impl Whole for i32 {}
impl Whole for i64 {}

struct Listed<N>(N);

impl<'de, N: Whole> Deserialize<'de> for Listed<N> {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        number(reader).map(Listed)
    }
}

struct Number<N>(PhantomData<N>);

impl<N: Whole> Visitor<'_> for Number<N> {
    type Value = N;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a whole number")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<N, E> {
        N::try_from(value).map_err(|_| E::custom(format!("the number {value} is too large")))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<N, E> {
        let value = i64::try_from(value);
        self.visit_i64(value.map_err(|_| E::custom("the number is too large"))?)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<N, E> {
        text.parse()
            .map_err(|_| E::custom("expected a text that is a whole number"))
    }
}
