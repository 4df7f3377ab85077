//! What nodes cost, and what makes boxes wide.

/// What makes boxes wide in a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Width {
    /// The cost in A. Without a comparison it is the cost, whatever is asked for.
    #[default]
    A,
    /// The cost in B.
    B,
    /// The difference of each node's own cost, without its sign.
    Change,
}

/// What nodes cost, and how wide that is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    /// The cost; in a comparison A's.
    pub a: i64,
    /// The cost in B.
    pub b: i64,
    /// Never negative.
    pub weight: f64,
}

impl Costs {
    pub const NOTHING: Costs = Costs {
        a: 0,
        b: 0,
        weight: 0.0,
    };

    pub fn add(&mut self, other: Costs) {
        self.a += other.a;
        self.b += other.b;
        self.weight += other.weight;
    }
}
