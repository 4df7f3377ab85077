//! Quantiles by Newton's method on logarithms.
//!
//! The probabilities that are inverted here are log-concave functions of the logarithm of their argument. On such a
//! function Newton's method overshoots once at most, and from then on approaches the root from one side.

/// Steps that are enough for everything within the range of an `f64`.
const STEPS: usize = 200;
/// After a relative step of this size the next would be of about its square: less than rounding.
const CLOSE: f64 = 1e-8;
/// No step changes the argument by more than this power of e: further away, probabilities are 0.
const FAR: f64 = 300.0;

/// The positive `x` at which a function's logarithm is `target`. `at` gives that logarithm and its derivative by ln `x`.
pub(crate) fn solve(start: f64, target: f64, at: impl Fn(f64) -> (f64, f64)) -> f64 {
    let mut x = start;
    for _ in 0..STEPS {
        let (value, slope) = at(x);
        let step = ((target - value) / slope).clamp(-FAR, FAR);
        x *= libm::exp(step);
        if step.abs() < CLOSE {
            break;
        }
    }
    x
}
