//! One coz record as keys and values, in either of the two spellings.

use std::borrow::Cow;

use fulcrum_model::TargetId;

/// A record: its type and its fields.
pub(crate) struct Fields<'a> {
    /// The record's type as written.
    pub kind: Cow<'a, str>,
    /// In file order. Keys as written.
    pub fields: Vec<(Cow<'a, str>, Cow<'a, str>)>,
}

impl Fields<'_> {
    /// The value of `key`; `-` and `_` are the same.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.fields
            .iter()
            .find(|(k, _)| same(k, key))
            .map(|(_, v)| v.as_ref())
    }

    /// The value of `key`, or what is missing.
    pub(crate) fn text(&self, key: &str) -> Result<&str, String> {
        self.get(key)
            .ok_or_else(|| format!("the {} record has no {key}", self.kind))
    }

    /// A whole number of at least 0.
    pub(crate) fn count(&self, key: &str) -> Result<u64, String> {
        let text = self.text(key)?;
        whole(text).ok_or_else(|| format!("expected a whole number for {key}, got {text:?}"))
    }

    /// Nanoseconds. coz writes negative durations as unsigned 64-bit numbers; they come back negative.
    pub(crate) fn signed(&self, key: &str) -> Result<i64, String> {
        let text = self.text(key)?;
        let wrapped = || whole(text).map(|n| n.cast_signed());
        let value = text.parse::<i64>().ok().or_else(wrapped);
        value.ok_or_else(|| format!("expected whole nanoseconds for {key}, got {text:?}"))
    }

    /// A finite number.
    pub(crate) fn number(&self, key: &str) -> Result<f64, String> {
        let text = self.text(key)?;
        let value = text.parse::<f64>().ok().filter(|n| n.is_finite());
        value.ok_or_else(|| format!("expected a number for {key}, got {text:?}"))
    }

    /// A virtual speedup, 0 to 1.
    pub(crate) fn speedup(&self) -> Result<f64, String> {
        let value = self.number("speedup")?;
        let valid = (0.0..=1.0).contains(&value);
        // `+ 0.0` turns -0 into 0, so that both are the baseline.
        valid
            .then_some(value + 0.0)
            .ok_or_else(|| format!("expected a speedup from 0 to 1, got {value}"))
    }

    /// A `FILE:LINE`, or another target's text.
    pub(crate) fn target(&self, key: &str) -> Result<TargetId, String> {
        self.text(key)?
            .parse()
            .map_err(|e| format!("bad {key}: {e}"))
    }
}

fn same(a: &str, b: &str) -> bool {
    let plain = |c: u8| if c == b'-' { b'_' } else { c };
    a.len() == b.len() && a.bytes().zip(b.bytes()).all(|(x, y)| plain(x) == plain(y))
}

/// A whole number, also when a JSON writer made a float of it (`1e9`, `12.0`).
fn whole(text: &str) -> Option<u64> {
    text.parse().ok().or_else(|| {
        let value: f64 = text.parse().ok()?;
        // Beyond 2^53 a float is no longer a count that anybody wrote on purpose.
        let fits = value.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(&value);
        fits.then_some(value as u64)
    })
}
