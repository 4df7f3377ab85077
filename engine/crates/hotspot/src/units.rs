//! Units of time and size.

/// What an amount measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// In nanoseconds.
    Time,
    /// In bytes.
    Size,
}

/// The names of units, their sizes, and what they measure.
pub(crate) const UNITS: [(&str, f64, Quantity); 8] = [
    ("s", 1e9, Quantity::Time),
    ("ms", 1e6, Quantity::Time),
    ("us", 1e3, Quantity::Time),
    ("µs", 1e3, Quantity::Time),
    ("ns", 1.0, Quantity::Time),
    ("MiB", 1_048_576.0, Quantity::Size),
    ("KiB", 1024.0, Quantity::Size),
    ("B", 1.0, Quantity::Size),
];

/// The amount in the largest unit in which it is a whole number, or else in the smallest.
pub(crate) fn amount_with_unit(amount: f64, quantity: Quantity) -> (f64, &'static str) {
    let units = UNITS.iter().filter(|(_, _, of)| *of == quantity);
    let whole = units
        .map(|(unit, scale, _)| (amount / scale, *unit))
        .find(|(count, _)| count.fract() == 0.0);
    let smallest = match quantity {
        Quantity::Time => "ns",
        Quantity::Size => "B",
    };
    whole.unwrap_or((amount, smallest))
}
