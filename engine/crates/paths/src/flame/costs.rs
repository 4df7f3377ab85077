//! The costs of nodes, and the width of boxes.

/// What the width of boxes stands for in a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Width {
    /// The cost in A. Without a comparison, the width always stands for the cost.
    #[default]
    A,
    /// The cost in B.
    B,
    /// The absolute difference of each node's own cost.
    Change,
}

/// The costs of nodes, and their width.
#[derive(Clone, Copy, Debug)]
pub(super) struct Costs {
    /// The cost; in a comparison, the cost in A.
    pub(crate) a: i64,
    /// The cost in B.
    pub(crate) b: i64,
    /// Never negative.
    pub(crate) weight: f64,
}

impl Costs {
    pub(crate) const NOTHING: Costs = Costs {
        a: 0,
        b: 0,
        weight: 0.0,
    };

    /// A cost that is not negative, in a tree without a comparison.
    pub(crate) fn alone(cost: i64) -> Costs {
        Costs {
            a: cost,
            b: 0,
            weight: cost as f64,
        }
    }
}

/// A sum of costs, as small as the tree allows: there are as many as a path has contexts.
pub(super) trait Cost: Copy + Send + Sync {
    const NOTHING: Self;

    fn add(&mut self, other: Self);

    fn of(costs: Costs) -> Self;

    fn costs(self) -> Costs;
}

impl Cost for Costs {
    const NOTHING: Costs = Costs::NOTHING;

    fn add(&mut self, other: Costs) {
        self.a += other.a;
        self.b += other.b;
        self.weight += other.weight;
    }

    fn of(costs: Costs) -> Self {
        costs
    }

    fn costs(self) -> Costs {
        self
    }
}

/// The cost in a tree without a comparison in which no cost is negative.
impl Cost for i64 {
    const NOTHING: i64 = 0;

    fn add(&mut self, other: i64) {
        *self += other;
    }

    fn of(costs: Costs) -> Self {
        costs.a
    }

    fn costs(self) -> Costs {
        Costs::alone(self)
    }
}
