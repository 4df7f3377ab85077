//! What transactions would take without some of their waits, or without some of their work.

use std::collections::BTreeMap;

use fulcrum_schema::{
    CrosstalkGain, TransactionsCrosstalk, TransactionsWhatIf, WhatIfTime, WhatIfTimes, WhatIfType,
};
use fulcrum_transactions::TypeId;
use fulcrum_transactions::crosstalk::{Holder, Pair};
use fulcrum_transactions::stitch::{Stitched, TypeProfile};
use fulcrum_transactions::what_if::{
    Estimate, Prediction, Repair, Skipped, Timeline, Times, TypePrediction, Waits, gain_without,
    predict,
};

use crate::price::faster;
use crate::quantity::{grouped, percent, quantity};

/// What vanishes, by names.
#[derive(Clone, Debug, Default)]
pub struct Vanishing<'a> {
    /// Waits of this type.
    pub waits: Option<&'a str>,
    /// For this type.
    pub holds: Option<&'a str>,
    /// At this lock, or in this function.
    pub at: Option<&'a str>,
    /// Types that do without their work in [`Self::program`], and the share of their transactions that do, 0 to 1.
    pub skip: &'a [(String, f64)],
    /// The program.
    pub program: Option<&'a str>,
}

/// How long transactions would take.
///
/// # Errors
/// One sentence, when something that is to vanish does not exist.
pub fn what_if(
    stitched: &Stitched,
    timeline: &Timeline,
    vanishing: &Vanishing<'_>,
    notes: Vec<String>,
) -> Result<TransactionsWhatIf, String> {
    let types: BTreeMap<TypeId, TypeProfile> =
        stitched.types().into_iter().map(|it| (it.id, it)).collect();
    let repair = repair(&types, timeline, vanishing)?;
    let prediction = predict(timeline, &repair);
    if repair.waits.is_some() && prediction.waits.count == 0 {
        return Err(format!(
            "No transaction waited {}: fulcrum transactions crosstalk --paths shows who waits for whom, and where.",
            conditions(vanishing)
        ));
    }
    let shown = |it: &TypePrediction| one_type(&types[&it.of], it, &repair);
    Ok(TransactionsWhatIf {
        types: prediction.types.iter().map(shown).collect(),
        waits: prediction.waits.count,
        wait_ns: prediction.waits.wait_ns,
        notes: [about(vanishing, &prediction), notes].concat(),
    })
}

fn repair(
    types: &BTreeMap<TypeId, TypeProfile>,
    timeline: &Timeline,
    vanishing: &Vanishing<'_>,
) -> Result<Repair, String> {
    let known = |name: &str| {
        let found = types.values().find(|it| it.name == name);
        found.map(|it| it.id).ok_or_else(|| {
            format!("No type has the name {name}: fulcrum transactions show --top 0 shows all.")
        })
    };
    let Vanishing {
        waits, holds, at, ..
    } = vanishing;
    let any = waits.is_some() || holds.is_some() || at.is_some();
    let waits = match any {
        false => None,
        true => Some(Waits {
            waiter: waits.map(known).transpose()?,
            holder: holds.map(known).transpose()?,
            at: at.map(str::to_owned),
        }),
    };
    let program = vanishing.program.unwrap_or_default();
    let work = vanishing.skip.iter().map(|(name, share)| {
        let of = known(name)?;
        let has_work = timeline.work.iter().any(|it| {
            timeline.transactions[it.transaction as usize].of == of
                && timeline.programs[&it.process] == program
        });
        match has_work {
            true => Ok(Skipped {
                of,
                program: program.into(),
                share: *share,
            }),
            false => Err(format!(
                "{program} did nothing for {name}: fulcrum transactions show lists the programs below each type."
            )),
        }
    });
    Ok(Repair {
        waits,
        work: work.collect::<Result<_, String>>()?,
    })
}

fn one_type(profile: &TypeProfile, it: &TypePrediction, repair: &Repair) -> WhatIfType {
    let saved = |work: &Skipped| {
        let stages = profile.stages.iter();
        let there = stages.filter(|stage| stage.process == work.program);
        let cpu_ns: u64 = there.map(|stage| stage.cpu.cpu_ns).sum();
        (cpu_ns as f64 * work.share).round() as u64
    };
    let work = repair.work.iter().filter(|work| work.of == it.of);
    let saved: u64 = work.map(saved).sum();
    WhatIfType {
        name: profile.name.clone(),
        count: it.count,
        now: times(&it.now),
        predicted: times(&it.predicted),
        gain: it.gain.value,
        gain_low: it.gain.interval.map(|it| it.low),
        gain_high: it.gain.interval.map(|it| it.high),
        cpu_ns: profile.cpu.cpu_ns,
        predicted_cpu_ns: profile.cpu.cpu_ns.saturating_sub(saved),
    }
}

fn times(of: &Times) -> WhatIfTimes {
    let time = |it: Estimate| WhatIfTime {
        ns: it.value,
        low_ns: it.interval.map(|it| it.low),
        high_ns: it.interval.map(|it| it.high),
    };
    WhatIfTimes {
        mean: time(of.mean),
        p50: time(of.p50),
        p95: time(of.p95),
        p99: time(of.p99),
    }
}

/// `18 % faster (16…21)`, or nothing where nothing changes.
pub fn gain(of: &WhatIfType) -> Option<String> {
    let interval = of.gain_low.zip(of.gain_high);
    let interval = interval.map(|(low, high)| fulcrum_model::Interval { low, high });
    (of.gain != 0.0).then(|| faster(of.gain, interval))
}

/// For so many pairs, the gain is predicted: those of the longest waits.
const MOST_PAIRS: usize = 20;
/// Of runs with more transactions or waits, opening would take seconds longer.
const MOST_TIMED: usize = 300_000;

/// What waiters would gain without the waits for each other type at each lock, in the order of [`Stitched::crosstalk`].
pub fn gains(stitched: &Stitched, timeline: &Timeline) -> Vec<Option<CrosstalkGain>> {
    if timeline.transactions.len().max(timeline.waits.len()) > MOST_TIMED {
        return Vec::new();
    }
    let pairs = stitched.crosstalk().into_iter().take(MOST_PAIRS);
    let gain = |pair: Pair<TypeId, String, String>| {
        let Holder::Transaction(holder) = pair.holder else {
            return None;
        };
        let waits = Waits {
            waiter: Some(pair.waiter),
            holder: Some(holder),
            at: Some(pair.lock),
        };
        let found = gain_without(timeline, pair.waiter, waits)?;
        let waiter = stitched.type_name(pair.waiter);
        let text = faster(found.value, found.interval);
        Some(CrosstalkGain {
            gain: found.value,
            gain_low: found.interval.map(|it| it.low),
            gain_high: found.interval.map(|it| it.high),
            sentence: format!("Without these waits, {waiter} would be {text}."),
        })
    };
    pairs.map(gain).collect()
}

/// Adds what waiters would gain, as [`gains`] returns it.
pub fn add_gains(found: &mut TransactionsCrosstalk, gains: Vec<Option<CrosstalkGain>>) {
    for (pair, gain) in found.pairs.iter_mut().zip(gains) {
        pair.gain = gain;
    }
}

/// What vanishes, and what is assumed.
fn about(vanishing: &Vanishing<'_>, prediction: &Prediction) -> Vec<String> {
    let mut about = Vec::new();
    let waits = prediction.waits;
    if waits.count > 0 {
        about.push(format!(
            "Predicted without {} waits {}, {} in total. Transactions that waited behind these wait less, too.",
            grouped(waits.count),
            conditions(vanishing),
            quantity(i64::try_from(waits.wait_ns).unwrap_or(i64::MAX), "ns")
        ));
    }
    for (name, share) in vanishing.skip {
        let program = vanishing.program.unwrap_or_default();
        about.push(format!(
            "Without the work of {program} for {} of {name}, drawn at random.",
            percent(*share)
        ));
    }
    if !vanishing.skip.is_empty() {
        about.push(
            "A transaction that waited for a lock behind removed work now waits for the other transactions that held it. \
             Which these are is inferred, because the record of a wait names only the last holder."
                .into(),
        );
    }
    about.push(
        "Requests arrive when they did, locks are taken in the recorded order, and all other work takes as long as it did: what \
         the repair itself costs, and processors that become free or busy, are not predicted."
            .into(),
    );
    about.push(
        "Where several threads work for one transaction at the same time, it may gain less than predicted."
            .into(),
    );
    about
}

/// `of GET /checkout for GET /report at cart_lock`.
fn conditions(vanishing: &Vanishing<'_>) -> String {
    let parts = [
        ("of", vanishing.waits),
        ("for", vanishing.holds),
        ("at", vanishing.at),
    ];
    let parts = parts.into_iter();
    let parts: Vec<String> = parts
        .filter_map(|(word, name)| Some(format!("{word} {}", name?)))
        .collect();
    parts.join(" ")
}
