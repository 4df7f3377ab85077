//! What a critical section is worth, from the causal profile in which it was sped up.
//!
//! The profile is kept in the folder of the transactions that it belongs to, and its manifest says what was asked. The answer
//! is made from both each time.

use std::fs;
use std::path::{Path, PathBuf};

use fulcrum_causal::{Options, Prediction, analyse, predict, wording};
use fulcrum_model::Interval;
use fulcrum_model::causal::{CausalProfile, Flag, PointKind, PointProfile, Recording, Target};
use fulcrum_runs::{PricedSection, load_causal};
use fulcrum_schema::{CrosstalkPrice, TransactionsCrosstalk};

use crate::quantity::{percent, quantity};

/// The folder, in a run of transactions, with the measurements of its sections.
const FOLDER: &str = "prices";
/// By how much sections are sped up.
pub const SPEEDUP: f64 = 0.5;

/// Where the next measurement of a run goes.
pub fn next_folder(run: &Path) -> PathBuf {
    let taken = |number: &u32| run.join(FOLDER).join(format!("{number:03}")).exists();
    let mut numbers = 1..;
    let number = numbers.find(|it| !taken(it)).unwrap_or(u32::MAX);
    run.join(FOLDER).join(format!("{number:03}"))
}

/// Adds the latest measurement of each pair.
pub fn add_prices(found: &mut TransactionsCrosstalk, run: &Path) {
    let mut folders: Vec<PathBuf> = fs::read_dir(run.join(FOLDER))
        .into_iter()
        .flatten()
        .flatten()
        .map(|it| it.path())
        .collect();
    folders.sort();
    for folder in folders {
        // An unfinished or damaged measurement has no answer; the run is shown all the same.
        let Ok(price) = price(&folder) else { continue };
        let pair = found.pairs.iter_mut().find(|it| {
            (&it.waiter, &it.holder, &it.lock) == (&price.waiter, &price.holder, &price.lock)
        });
        if let Some(pair) = pair {
            pair.price = Some(price);
        }
    }
}

/// What a measurement found.
///
/// # Errors
/// One sentence, when the folder holds no measurement or its records are damaged.
pub fn price(folder: &Path) -> Result<CrosstalkPrice, String> {
    let loaded = load_causal(folder).map_err(|error| error.to_string())?;
    let manifest = loaded.manifest.as_ref();
    let section = manifest.and_then(|it| it.section.as_ref());
    let section = section.ok_or_else(|| format!("{} measures no section.", folder.display()))?;
    let profile = analyse(&loaded.recording, &Options::default());
    let found = Found::of(section, &loaded.recording, &profile);
    let mut notes = about(section);
    notes.extend(found.notes());
    let recorded = manifest.into_iter().flat_map(|it| it.notes.iter().cloned());
    let analysed = found.gain.iter().flat_map(|_| &profile.notes);
    for note in recorded.chain(analysed.map(wording::note)) {
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    Ok(CrosstalkPrice {
        waiter: section.waiter.clone(),
        holder: section.holder.clone(),
        lock: section.lock.clone(),
        function: section.function.clone(),
        progress_point: found.point.clone(),
        speedup: SPEEDUP,
        gain: found.gain.map(|it| it.program_speedup),
        gain_low: found.interval().map(|it| it.low),
        gain_high: found.interval().map(|it| it.high),
        experiments: found.experiments,
        sentence: found.sentence(section),
        notes,
        run: folder.to_string_lossy().into_owned(),
    })
}

/// The result for the waiter.
struct Found {
    /// The progress point, as the profile names it.
    point: String,
    kind: PointKind,
    gain: Option<Prediction>,
    experiments: u64,
    flags: Vec<Flag>,
    /// Why there is no gain.
    why: &'static str,
}

impl Found {
    fn of(section: &PricedSection, recording: &Recording, profile: &CausalProfile) -> Found {
        let wanted = |it: &&PointProfile| match &section.request {
            Some(request) => is_point(&it.name, request),
            None => true,
        };
        let points = || profile.progress_points.iter().filter(wanted);
        let with_target = points().find_map(|it| Some((it, it.targets.first()?)));
        let target = with_target.map(|(_, target)| target);
        let point = with_target.map(|(point, _)| point).or(points().next());
        let request = section.request.clone().unwrap_or_default();
        Found {
            point: point.map_or(request, |it| it.name.clone()),
            kind: point.map_or(PointKind::Latency, |it| it.kind),
            gain: target.and_then(known),
            experiments: recording.experiments.len() as u64,
            flags: target.map_or_else(Vec::new, |it| it.flags.clone()),
            why: why_unknown(recording, point.map(|it| it.name.as_str()), target),
        }
    }

    fn interval(&self) -> Option<Interval> {
        self.gain.as_ref()?.interval
    }

    /// `GET /checkout waits 38.0 ms behind GET /report on cart_lock; if that section took half the time, GET /checkout would be
    /// 11 % faster (8…14).`
    fn sentence(&self, section: &PricedSection) -> String {
        let wait = format!(
            "{} waits {} behind {} on {}",
            section.waiter,
            quantity(section.mean_ns.round() as i64, "ns"),
            section.holder,
            section.lock
        );
        let Some(gain) = self.gain else {
            let why = self.why;
            return format!("{wait}; what that section is worth is not known: {why}.");
        };
        let whom = match self.kind {
            PointKind::Latency => format!("{} would be", section.waiter),
            PointKind::Throughput => format!("the program would pass {}", self.point),
        };
        let faster = faster(gain.program_speedup, gain.interval);
        format!("{wait}; if that section took half the time, {whom} {faster}.")
    }

    fn notes(&self) -> Option<String> {
        let costly = self.flags.contains(&Flag::CostlyPauses);
        costly.then(|| {
            "Pausing itself costs so much here that it hides the effect of a faster section: measure longer, on a machine \
             with more idle processors."
                .into()
        })
    }
}

/// Whether a progress point is that of these requests, also of one program among several (`PROGRAM: GET /buy`).
fn is_point(name: &str, request: &str) -> bool {
    name.strip_suffix(request)
        .is_some_and(|program| program.is_empty() || program.ends_with(": "))
}

/// The gain at half the time, if that was measured.
fn known(target: &Target) -> Option<Prediction> {
    let is_there = target.points.iter().any(|it| it.speedup > 0.0);
    is_there.then(|| predict(target, SPEEDUP))
}

fn why_unknown(
    recording: &Recording,
    point: Option<&str>,
    target: Option<&Target>,
) -> &'static str {
    let visited = |name: &str| {
        let points = recording.experiments.iter().flat_map(|it| &it.points);
        points
            .filter(|it| it.name == name)
            .any(|it| it.count.is_visited())
    };
    if recording.samples.iter().all(|&(_, count)| count == 0) {
        "the section used no processor time while it was measured: either no request reached it, or it waits itself while it \
         holds the lock"
    } else if recording.experiments.is_empty() {
        "there was no time for an experiment; measure longer, under more load"
    } else if !point.is_some_and(visited) {
        "no request of the waiting type was counted meanwhile in the process that has the section; send it some while it is \
         measured"
    } else if target.is_none() {
        "too few requests of the waiting type were counted meanwhile; measure longer, under more load"
    } else {
        "too few experiments were made; measure longer"
    }
}

/// `11 % faster (8…14)`, with as many digits as matter.
pub(crate) fn faster(gain: f64, interval: Option<Interval>) -> String {
    let widest = interval.map_or(gain.abs(), |it| it.width().abs());
    let digits = usize::from(widest < 0.02);
    let number = |it: f64| {
        let text = format!("{:.digits$}", 100.0 * it.abs());
        let is_zero = text.bytes().all(|it| it == b'0' || it == b'.');
        match it < 0.0 && !is_zero {
            true => format!("\u{2212}{text}"),
            false => text,
        }
    };
    let (word, sign) = match gain < 0.0 {
        true => ("slower", -1.0),
        false => ("faster", 1.0),
    };
    let mut text = format!("{} % {word}", number(sign * gain));
    if let Some(Interval { low, high }) = interval {
        let (from, to) = match gain < 0.0 {
            true => (-high, -low),
            false => (low, high),
        };
        text += &format!(" ({}…{})", number(from), number(to));
        if low <= 0.0 && high >= 0.0 {
            text += ", which may be noise";
        }
    }
    text
}

/// What was sped up.
fn about(section: &PricedSection) -> Vec<String> {
    let PricedSection {
        function,
        lock,
        holder,
        waiter,
        ..
    } = section;
    let mut about = vec![match section.any_lock {
        true => format!(
            "The experiments sped up what {function} and everything it calls do while they hold any lock: {lock} is not a \
             variable of the program, so it cannot be told from other locks when the program runs again."
        ),
        false => {
            format!(
                "The experiments sped up what {function} and everything it calls do while they hold {lock}."
            )
        }
    }];
    if section.shared {
        about.push(format!(
            "{waiter} goes through {function}, too: its own sections are among those that were sped up."
        ));
    }
    if section.share < 0.995 {
        about.push(format!(
            "For {} of the time that {waiter} waited for {holder} there, {function} was in the way.",
            percent(section.share)
        ));
    }
    about
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_is_shown_with_its_interval() {
        for (gain, interval, text) in [
            (0.112, Some((0.08, 0.14)), "11 % faster (8…14)"),
            (0.0512, Some((0.046, 0.055)), "5.1 % faster (4.6…5.5)"),
            (
                0.01,
                Some((-0.02, 0.04)),
                "1 % faster (−2…4), which may be noise",
            ),
            (-0.06, Some((-0.09, -0.03)), "6 % slower (3…9)"),
            (0.2, None, "20 % faster"),
        ] {
            let interval = interval.map(|(low, high)| Interval { low, high });
            assert_eq!(faster(gain, interval), text);
        }
    }

    #[test]
    fn a_progress_point_is_known_in_any_program() {
        assert!(is_point("GET /buy", "GET /buy"));
        assert!(is_point("shop: GET /buy", "GET /buy"));
        assert!(!is_point("FORGET /buy", "GET /buy"));
        assert!(!is_point("GET /buyer", "GET /buy"));
    }

    #[test]
    fn what_was_sped_up_is_said() {
        let section = PricedSection {
            waiter: "GET /checkout".into(),
            holder: "GET /report".into(),
            lock: "in take".into(),
            function: "report".into(),
            any_lock: true,
            shared: true,
            share: 0.75,
            ..PricedSection::default()
        };
        let notes = about(&section).join(" ");
        for part in [
            "hold any lock: in take is not a variable",
            "GET /checkout goes through report, too",
            "75.0 % of the time that GET /checkout waited for",
        ] {
            assert!(notes.contains(part), "{notes}");
        }
        let known = PricedSection {
            lock: "cart_lock".into(),
            any_lock: false,
            shared: false,
            share: 1.0,
            ..section
        };
        assert_eq!(
            about(&known),
            [
                "The experiments sped up what report and everything it calls do while they hold cart_lock."
            ]
        );
    }
}
