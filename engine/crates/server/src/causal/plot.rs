//! The curve of one line as an SVG: program speedup over line speedup, with confidence band and points.
//!
//! It has two colours, neutral on light and dark backgrounds, which a client may replace by those of its theme (docs/protocol.md
//! says which they are). The background is transparent. The axis and its labels show the direction, not the colour. The base64
//! text stays below 8 kB, which hovers can hold.

use std::fmt::Write as _;

use fulcrum_model::causal::{Point, Target};

use crate::causal::wording::{self, percent, plain_percent};

/// Size in CSS pixels.
pub(crate) const WIDTH: u32 = 340;
/// Size in CSS pixels.
pub(crate) const HEIGHT: u32 = 190;

/// Axes, their labels and lines.
const AXIS: &str = "#888888";
/// The curve, its points and its band.
const CURVE: &str = "#4a90d9";

const LEFT: f64 = 58.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 40.0;
/// More points than this are thinned out; the table below the plot has them all.
const MOST_POINTS: usize = 24;

/// The axes: from speedups to pixels.
struct Axes {
    /// The lowest and highest value of the vertical axis, and the distance of its ticks.
    low: f64,
    high: f64,
    step: f64,
}

impl Axes {
    fn new(points: &[Point]) -> Axes {
        let (low, high) = range(points);
        let step = nice_step(high - low);
        Axes {
            low: (low / step).floor() * step,
            high: (high / step).ceil() * step,
            step,
        }
    }

    fn x(&self, speedup: f64) -> f64 {
        LEFT + speedup * (f64::from(WIDTH) - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        TOP + (self.high - value) / (self.high - self.low) * (f64::from(HEIGHT) - TOP - BOTTOM)
    }

    fn ticks(&self) -> Vec<f64> {
        let mut ticks = Vec::new();
        let mut n = (self.low / self.step).round() as i64;
        while n as f64 * self.step <= self.high + self.step / 2.0 {
            ticks.push(n as f64 * self.step);
            n += 1;
        }
        ticks
    }
}

/// The SVG of a target. Writing into a String cannot fail.
pub(crate) fn svg(target: &Target) -> String {
    let points = thinned(&target.points);
    let axes = Axes::new(&points);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"10\" fill=\"{AXIS}\">"
    );
    draw_axes(&mut out, &axes, wording::faster_by(target.id.kind));
    draw_band(&mut out, &axes, &points);
    draw_curve(&mut out, &axes, &points);
    out.push_str("</svg>");
    out
}

/// The grid, the labels of both axes, and the line of no effect.
fn draw_axes(out: &mut String, axes: &Axes, title: &str) {
    let (left, right, floor) = (axes.x(0.0), axes.x(1.0), axes.y(axes.low));
    let ticks = axes.ticks();
    let _ = write!(out, "<g stroke=\"{AXIS}\" stroke-opacity=\".25\">");
    for &tick in &ticks {
        let y = axes.y(tick);
        let _ = write!(out, "<path d=\"M{left:.0} {y:.1}H{right:.0}\"/>");
    }
    out.push_str("</g>");
    for &tick in &ticks {
        let label = if tick.abs() < axes.step / 2.0 {
            "0\u{a0}%".into()
        } else {
            percent_tick(tick, axes.step)
        };
        let _ = write!(
            out,
            "<text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
            left - 5.0,
            axes.y(tick) + 3.5
        );
    }
    for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let _ = write!(
            out,
            "<text x=\"{:.0}\" y=\"{:.0}\" text-anchor=\"middle\">{}</text>",
            axes.x(tick),
            floor + 14.0,
            plain_percent(tick)
        );
    }
    let _ = write!(
        out,
        "<text x=\"{:.0}\" y=\"{}\" text-anchor=\"middle\">{}</text>\
         <text transform=\"translate(10 {:.0}) rotate(-90)\" text-anchor=\"middle\">program faster by</text>",
        (left + right) / 2.0,
        HEIGHT - 8,
        title.to_lowercase(),
        (TOP + floor) / 2.0
    );
    let _ = write!(
        out,
        "<path d=\"M{left:.0} {0:.1}H{right:.0}\" stroke=\"{AXIS}\" stroke-dasharray=\"4 3\"/>",
        axes.y(0.0)
    );
}

/// The confidence band, where at least two points have an interval.
fn draw_band(out: &mut String, axes: &Axes, points: &[Point]) {
    let banded: Vec<(f64, f64, f64)> = points
        .iter()
        .filter_map(|p| p.interval.map(|it| (p.speedup, it.low, it.high)))
        .collect();
    if banded.len() > 1 {
        let mut path = line(
            axes,
            banded.iter().map(|&(speedup, _, high)| (speedup, high)),
        );
        for &(speedup, low, _) in banded.iter().rev() {
            let _ = write!(path, "L{:.1} {:.1}", axes.x(speedup), axes.y(low));
        }
        let _ = write!(
            out,
            "<path d=\"{path}Z\" fill=\"{CURVE}\" fill-opacity=\".25\"/>"
        );
    }
}

fn draw_curve(out: &mut String, axes: &Axes, points: &[Point]) {
    let places = || points.iter().map(|p| (p.speedup, p.program_speedup));
    let _ = write!(
        out,
        "<path d=\"{}\" fill=\"none\" stroke=\"{CURVE}\" stroke-width=\"2\"/><g fill=\"{CURVE}\">",
        line(axes, places())
    );
    for (speedup, value) in places() {
        let _ = write!(
            out,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\"/>",
            axes.x(speedup),
            axes.y(value)
        );
    }
    out.push_str("</g>");
}

/// A line through points, as the data of an SVG path.
fn line(axes: &Axes, points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    for (n, (speedup, value)) in points.enumerate() {
        let _ = write!(
            path,
            "{}{:.1} {:.1}",
            if n == 0 { 'M' } else { 'L' },
            axes.x(speedup),
            axes.y(value)
        );
    }
    path
}

/// The plot in one sentence, for those who do not see it.
pub(crate) fn description(target: &Target) -> String {
    match target.points.last() {
        Some(last) => format!(
            "Plot of program speedup over {} speedup: {} at {}",
            wording::noun(target.id.kind),
            percent(last.program_speedup),
            plain_percent(last.speedup)
        ),
        None => "Plot without points".into(),
    }
}

fn thinned(points: &[Point]) -> Vec<Point> {
    let step = points.len().div_ceil(MOST_POINTS).max(1);
    let mut kept: Vec<Point> = points.iter().copied().step_by(step).collect();
    if let Some(last) = points.last()
        && kept.last() != Some(last)
    {
        kept.push(*last);
    }
    kept
}

/// The range of the vertical axis: zero, all points, and the intervals unless they dwarf the points.
fn range(points: &[Point]) -> (f64, f64) {
    let (mut low, mut high) = (0.0_f64, 0.0_f64);
    for point in points {
        low = low.min(point.program_speedup);
        high = high.max(point.program_speedup);
    }
    let room = (high - low).max(0.02);
    let (bottom, top) = (low - room, high + room);
    for interval in points.iter().filter_map(|p| p.interval) {
        low = low.min(interval.low.max(bottom));
        high = high.max(interval.high.min(top));
    }
    // A curve along zero still gets an axis.
    if high - low < 0.02 {
        (low - 0.01, high + 0.01)
    } else {
        (low, high)
    }
}

/// A step of 1, 2 or 5 times a power of ten that gives three to six lines.
fn nice_step(span: f64) -> f64 {
    let rough = span / 4.0;
    let power = 10_f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|f| f * power >= rough)
        .unwrap_or(10.0);
    factor * power
}

fn percent_tick(tick: f64, step: f64) -> String {
    let decimals = if step < 0.0095 { 1 } else { 0 };
    let sign = if tick < 0.0 { "\u{2212}" } else { "+" };
    format!("{sign}{:.decimals$}\u{a0}%", tick.abs() * 100.0)
}

/// RFC 4648, with padding.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let word = (0..3).fold(0_u32, |word, n| {
            word << 8 | u32::from(*chunk.get(n).unwrap_or(&0))
        });
        for n in 0..4 {
            if n <= chunk.len() {
                out.push(char::from(ALPHABET[(word >> (18 - 6 * n) & 63) as usize]));
            } else {
                out.push('=');
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use fulcrum_model::Interval;
    use fulcrum_model::causal::Shape;

    use super::*;

    fn target(points: &[(f64, f64, f64)]) -> Target {
        let points = points
            .iter()
            .map(|&(speedup, program_speedup, half)| Point {
                speedup,
                program_speedup,
                interval: Some(Interval::around(program_speedup, half)),
                measured: None,
                visits: 100,
                duration_ns: 1_000,
            })
            .collect();
        Target {
            id: "a.cpp:1".parse().expect("a target"),
            slope: 0.1,
            slope_interval: Some(Interval {
                low: 0.0,
                high: 0.2,
            }),
            contention: false,
            experiments: 9,
            minimum_effect: None,
            in_call: None,
            flags: Vec::new(),
            shape: Shape::Gain1,
            points,
        }
    }

    #[test]
    fn base64_is_that_of_the_rfc() {
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
        assert_eq!(base64(&[0xfb, 0xff]), "+/8=");
    }

    #[test]
    fn the_plot_holds_its_points_band_and_labels_and_stays_small() {
        let many: Vec<_> = (0..=100)
            .map(|n| (f64::from(n) / 100.0, f64::from(n) / 731.0, 0.05))
            .collect();
        for (points, circles, labels) in [
            (
                vec![(0.0, 0.0, 0.0), (0.5, 0.02, 0.01), (1.0, 0.044, 0.01)],
                3,
                ["+2\u{a0}%", "0\u{a0}%", "50\u{a0}%"],
            ),
            (
                vec![(0.0, 0.0, 0.0), (0.5, -0.3, 0.01)],
                2,
                ["\u{2212}20\u{a0}%", "0\u{a0}%", "75\u{a0}%"],
            ),
            (
                vec![(0.0, 0.0, 0.0), (1.0, 0.0, 0.001)],
                2,
                ["+1\u{a0}%", "0\u{a0}%", "\u{2212}1\u{a0}%"],
            ),
            (many, 21, ["+10\u{a0}%", "0\u{a0}%", "100\u{a0}%"]),
        ] {
            let svg = svg(&target(&points));
            assert_eq!(svg.matches("<circle").count(), circles, "{svg}");
            assert_eq!(svg.matches("fill-opacity").count(), 1, "{svg}");
            for label in labels {
                assert!(svg.contains(&format!(">{label}<")), "{label}: {svg}");
            }
            assert!(base64(svg.as_bytes()).len() < 8_000, "{}", svg.len());
            let colours: BTreeSet<&str> = svg.split("=\"#").skip(1).map(|it| &it[..6]).collect();
            assert_eq!(colours, BTreeSet::from([&AXIS[1..], &CURVE[1..]]), "{svg}");
        }
    }

    #[test]
    fn a_wild_interval_does_not_flatten_the_curve() {
        let svg = svg(&target(&[
            (0.0, 0.0, 0.0),
            (0.5, 0.05, 9.0),
            (1.0, 0.1, 0.01),
        ]));
        // The axis goes as far beyond the points as they span, and the band is cut there.
        assert!(
            svg.contains(">+20\u{a0}%<") && svg.contains(">\u{2212}10\u{a0}%<"),
            "{svg}"
        );
        assert!(!svg.contains(">+30") && !svg.contains(">+900"), "{svg}");
    }
}
