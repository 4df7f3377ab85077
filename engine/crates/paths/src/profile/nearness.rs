//! How close cost is to a path: lets the automatic search weigh *how much* against *how precisely*.
//!
//! A sequence high in the tree covers much and says little. So each node's cost counts for a summary multiplied by `fade` to the
//! power of its distance below the path's final node. If the final node's function calls itself, directly or through others, the
//! distance is counted from the last of these calls: a recursion is as near as its first call. Cost that is covered by
//! previously chosen summaries is *taken* and counts nothing. All values are in the profile's unit.

/// The faded cost of summaries, without what is taken.
pub trait Nearness<S> {
    /// The faded cost of the summary's final nodes and everything that they call.
    fn of(&self, s: &S) -> f64;

    /// The part of the summary's cum that is not taken.
    fn left(&self, s: &S) -> i64;

    /// The part of the own cost of the path's first name that is not taken, where the path has more than one.
    fn left_at_top(&self, s: &S) -> i64;

    /// Takes everything that the summary's cum covers.
    fn take(&mut self, s: &S);

    /// Changes how fast cost fades; `fade` is between 0 and 1.
    fn set_fade(&mut self, fade: f64);
}
