//! Is a curve a straight line through the baseline, as far as its noise allows?
//!
//! As a line becomes virtually faster, the program responds in proportion until something else becomes the bottleneck: a change
//! of regime, after which the slope says little. The curve then bends or jumps by more than its points scatter. The fit is by
//! generalised least squares through (0, 0): each point has its own noise, and all share that of the baseline. The residuals are
//! compared with the χ² distribution at 0.1 %.

use fulcrum_stats::chi_squared;

/// A deviation from the straight line that is worth a warning, as a fraction of program speedup.
const WORTH_SAYING: f64 = 0.02;

/// The residuals of a straight line exceed this quantile once in a thousand times.
const RARE: f64 = 0.999;

/// A measured point, the baseline left out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Noisy {
    pub speedup: f64,
    pub program_speedup: f64,
    /// Variance of its own.
    pub own: f64,
    /// How far the baseline's relative error moves it.
    pub shared: f64,
}

/// Whether the points leave a straight line. `baseline` is the variance of the baseline's relative error.
pub(crate) fn bends(points: &[Noisy], baseline: f64) -> bool {
    if points.len() < 2 || points.iter().any(|p| p.own <= 0.0) {
        return false;
    }
    // Sherman and Morrison: the inverse of diag(own) + baseline · shared sharedᵀ.
    let plain = |f: fn(&Noisy) -> f64, g: fn(&Noisy) -> f64| -> f64 {
        points.iter().map(|p| f(p) * g(p) / p.own).sum()
    };
    let (x, y, c) = (
        (|p: &Noisy| p.speedup) as fn(&Noisy) -> f64,
        (|p: &Noisy| p.program_speedup) as fn(&Noisy) -> f64,
        (|p: &Noisy| p.shared) as fn(&Noisy) -> f64,
    );
    let all = 1.0 + baseline * plain(c, c);
    let product = |f, g| plain(f, g) - baseline * plain(f, c) * plain(c, g) / all;
    let slope = product(x, y) / product(x, x);
    let left = product(y, y) - slope * slope * product(x, x);
    let far = points
        .iter()
        .any(|p| (p.program_speedup - slope * p.speedup).abs() >= WORTH_SAYING);
    far && left > chi_squared::quantile(RARE, (points.len() - 1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(effects: &[f64], error: f64, baseline: f64, expected: bool) {
        let count = effects.len() as f64;
        let points: Vec<Noisy> = effects
            .iter()
            .zip(1..)
            .map(|(&program_speedup, n)| Noisy {
                speedup: f64::from(n) / count,
                program_speedup,
                own: error * error,
                shared: 1.0 - program_speedup,
            })
            .collect();
        let found = bends(&points, baseline * baseline);
        assert_eq!(found, expected, "{effects:?} ±{error} ±{baseline}");
    }

    #[test]
    fn a_bend_or_a_jump_beyond_noise_is_found() {
        check(&[0.1, 0.2, 0.3, 0.4], 0.005, 0.005, false);
        check(&[0.1, 0.21, 0.29, 0.4], 0.01, 0.005, false);
        check(&[0.2, 0.25, 0.25, 0.25], 0.005, 0.005, true); // saturates
        check(&[0.2, 0.25, 0.25, 0.25], 0.1, 0.005, false); // or so it seems
        check(&[0.0, 0.0, 0.0, 0.3], 0.005, 0.005, true); // jumps
        check(&[0.01, 0.012, 0.012, 0.012], 0.0005, 0.0005, false); // too small to matter
        check(&[0.06, 0.07, 0.08, 0.09], 0.005, 0.005, true); // an offset at every point
        check(&[0.06, 0.07, 0.08, 0.09], 0.005, 0.03, false); // that the baseline's error explains
        check(&[0.3], 0.005, 0.005, false);
        check(&[], 0.005, 0.005, false);
    }
}
