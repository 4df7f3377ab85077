//! The slope by which lines of one verdict are ranked (COZ §2): ordinary least squares with intercept, baseline included.

/// Slope of the regression of the second value on the first; 0 when all first values are equal.
pub(crate) fn slope(points: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let (n, sx, sy) = points.clone().fold((0.0, 0.0, 0.0), |(n, sx, sy), (x, y)| {
        (n + 1.0, sx + x, sy + y)
    });
    let (mx, my) = (sx / n, sy / n);
    let (sxy, sxx) = points.fold((0.0, 0.0), |(sxy, sxx), (x, y)| {
        (sxy + (x - mx) * (y - my), sxx + (x - mx) * (x - mx))
    });
    if sxx > 0.0 { sxy / sxx } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::slope;

    #[test]
    fn least_squares_with_intercept() {
        let cases: [(&[(f64, f64)], f64); 5] = [
            (&[(0.0, 0.0), (1.0, 0.5)], 0.5),
            (&[(0.0, 0.1), (0.5, 0.1), (1.0, 0.1)], 0.0),
            // Worked by hand: Sxy = 0.55, Sxx = 1.25 over deviations from 0.5 and 0.11.
            (&[(0.0, 0.0), (0.5, 0.2), (1.0, 0.1)], 0.1),
            (&[(0.0, 0.0)], 0.0),
            (&[], 0.0),
        ];
        for (points, expected) in cases {
            assert!(
                (slope(points.iter().copied()) - expected).abs() < 1e-12,
                "{points:?}"
            );
        }
    }
}
