//! Units of amounts.

/// Names of units, how much each is, and whether it is of bytes and not of time.
pub(crate) const UNITS: [(&str, f64, bool); 8] = [
    ("s", 1e9, false),
    ("ms", 1e6, false),
    ("us", 1e3, false),
    ("µs", 1e3, false),
    ("ns", 1.0, false),
    ("MiB", 1_048_576.0, true),
    ("KiB", 1024.0, true),
    ("B", 1.0, true),
];

/// The largest unit in which an amount is a whole number, else the smallest.
pub fn amount_with_unit(amount: f64, bytes: bool) -> (f64, &'static str) {
    let units = UNITS.iter().filter(|(_, _, size)| *size == bytes);
    let whole = units
        .map(|(unit, scale, _)| (amount / scale, *unit))
        .find(|(count, _)| count.fract() == 0.0);
    whole.unwrap_or((amount, if bytes { "B" } else { "ns" }))
}
