//! Values as whole numbers: times in nanoseconds, everything else as it is or in decimal fractions of its unit.

use fulcrum_model::call_tree::ValueType;

use crate::decode::fault::Fault;

/// The short name of a unit: `ns` for `nanoseconds`.
pub(crate) fn short(unit: &str) -> &str {
    match unit {
        "nanoseconds" | "nanosecond" => "ns",
        "microseconds" | "microsecond" | "µs" => "us",
        "milliseconds" | "millisecond" => "ms",
        "seconds" | "second" => "s",
        "byte" => "bytes",
        "none" | "samples" | "count" => "",
        other => other,
    }
}

/// A value type, with the unit's short name. Counts have no unit.
pub(crate) fn value(name: &str, unit: &str) -> ValueType {
    ValueType::new(name, short(unit))
}

/// How many nanoseconds a unit of time has. Returns `None` for other units.
pub(crate) fn nanoseconds(unit: &str) -> Option<f64> {
    Some(match short(unit) {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    })
}

/// `value` times `scale`, rounded. NaN, negative and too large values are refused.
pub(crate) fn whole(value: f64, scale: f64) -> Result<i64, Fault> {
    let scaled = (value * scale).round();
    if scaled.is_nan() || scaled < 0.0 {
        return Err(Fault::whole(format!(
            "expected a value of at least 0, got {value}"
        )));
    }
    signed(value, scale)
}

/// As [`whole`], for values that may be negative, as in the difference of two profiles.
pub(crate) fn signed(value: f64, scale: f64) -> Result<i64, Fault> {
    let scaled = (value * scale).round();
    if scaled.is_nan() {
        return Err(Fault::whole(format!("expected a number, got {value}")));
    }
    // 2^63 as a float is exact.
    if scaled.abs() >= 9_223_372_036_854_775_808.0 {
        return Err(Fault::whole(format!("the value {value} is too large")));
    }
    Ok(scaled as i64)
}

/// The scale that makes numbers with fractions whole: 1, 10, … up to a million.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Decimals(u32);

impl Decimals {
    const MOST: u32 = 6;

    /// Raises the scale until it fits the fraction of `value`.
    pub(crate) fn include(&mut self, value: f64) {
        while self.0 < Self::MOST {
            let scaled = value * self.scale();
            // Up to the precision of floats.
            if (scaled - scaled.round()).abs() <= scaled.abs() * 1e-12 {
                break;
            }
            self.0 += 1;
        }
    }

    /// Ten to the power of the number of decimals.
    pub(crate) fn scale(self) -> f64 {
        f64::from(10_u32.pow(self.0))
    }

    /// The unit of scaled values: `count`, `0.001 count`.
    pub(crate) fn unit(self, unit: &str) -> String {
        match self.0 {
            0 => unit.to_owned(),
            n => format!("0.{}1 {unit}", "0".repeat(n as usize - 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_rounded_or_refused() {
        assert_eq!(whole(1.5, 1e3), Ok(1500));
        assert_eq!(whole(0.1, 1e9), Ok(100_000_000));
        assert_eq!(whole(-0.0, 1.0), Ok(0));
        for wrong in [f64::NAN, -1.0, f64::INFINITY, f64::NEG_INFINITY, 1e19] {
            assert!(whole(wrong, 1.0).is_err(), "{wrong}");
        }
        assert_eq!(signed(-1.5, 1e3), Ok(-1500));
        for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1e19] {
            assert!(signed(wrong, 1.0).is_err(), "{wrong}");
        }
    }

    #[test]
    fn fractions_choose_the_scale() {
        for (values, scale, unit) in [
            (&[1.0, 20.0][..], 1.0, "count"),
            (&[1.0, 0.5], 10.0, "0.1 count"),
            (&[0.1, 0.125, 3.3], 1000.0, "0.001 count"),
            (&[1.0 / 3.0], 1e6, "0.000001 count"),
        ] {
            let mut decimals = Decimals::default();
            values.iter().for_each(|&value| decimals.include(value));
            assert_eq!(decimals.scale(), scale, "{values:?}");
            assert_eq!(decimals.unit("count"), unit);
        }
    }
}
