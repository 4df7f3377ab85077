//! The first filter of a loop, and the unit of work, which every filter observes.

use std::path::Path;

use fulcrum_events::Trace;
use fulcrum_events::refine::{Measured, MethodName, filter_text, methods_of_names};
use fulcrum_filter::Filter;
use fulcrum_hotspot::Rule;
use fulcrum_model::{TargetId, TargetKind};

use crate::Error;
use crate::jvm::logs;

/// The method `Class.method`, with any descriptor.
pub(crate) fn unit_name(unit: &str) -> Option<MethodName> {
    let (class, name) = unit.rsplit_once('.')?;
    Some(MethodName {
        class: class.into(),
        name: name.into(),
        descriptor: String::new(),
    })
}

/// Whether a method is the unit of work.
pub(crate) fn is_unit(method: &MethodName, unit: Option<&str>) -> bool {
    let unit = unit.and_then(unit_name);
    unit.is_some_and(|unit| unit.class == method.class && unit.name == method.name)
}

/// The filter that observes the unit of work alone.
pub(crate) fn only_unit(unit: &str) -> String {
    let methods = unit_name(unit).into_iter().collect();
    filter_text("", &methods, &[])
}

/// The first filter, with the unit of work in it.
pub(crate) fn with_unit(filter: Option<&str>, unit: Option<&str>) -> Result<String, Error> {
    // Each run has its own log.
    let lines = filter.unwrap_or("observe_method_invocations\n").lines();
    let lines = lines.filter(|line| !line.trim_start().starts_with("output "));
    let text = &lines.map(|line| format!("{line}\n")).collect::<String>();
    let bad = |why: String| Error::CannotStart(format!("the first filter is wrong at {why}"));
    let mut parsed = Filter::parse(text).map_err(|error| bad(error.to_string()))?;
    let mut text = text.to_owned();
    if !parsed.methods {
        // Otherwise there is nothing to refine.
        text += "\nobserve_method_invocations\n";
        parsed.methods = true;
    }
    let Some(unit) = unit else { return Ok(text) };
    let Some(MethodName { class, name, .. }) = unit_name(unit) else {
        return Err(Error::CannotStart(format!(
            "{unit:?} is not a method: write the unit of work as Class.method, with the package of the class"
        )));
    };
    if parsed.selects(&class, &name, "()V") {
        return Ok(text);
    }
    // Its rule comes first, and must not switch off the others.
    let others = match parsed.rules.iter().any(|rule| rule.includes()) {
        true => "",
        false => "\nincludemethod * *\n",
    };
    Ok(format!("includemethod {class} {name}\n{text}{others}"))
}

/// The filter that follows from a run: the one that an iteration wrote for the next, else one of the hotspots in its traces, else
/// one of the functions in its causal profile.
pub fn filter_of_run(run: &Path, rule: &Rule) -> Result<String, Error> {
    if let Ok(next) = std::fs::read_to_string(run.join(super::NEXT_FILTER)) {
        return Ok(next);
    }
    let logs = logs(run);
    if logs.is_empty() {
        return causal(run);
    }
    let mut measured = Measured::default();
    for (n, log) in logs.iter().enumerate() {
        let trace = Trace::open(log)
            .map_err(|error| Error::CannotRecord(format!("{}: {error}", log.display())))?;
        match n {
            0 => measured.add(&trace, rule),
            _ => measured.add_part(&trace, rule),
        }
    }
    let comment = [
        format!("Hotspots of {}.", run.display()),
        format!("Rule: {rule}"),
    ];
    Ok(filter_text("", &measured.hotspots(rule), &comment))
}

/// The filter of the functions that make the program faster, according to a causal profile.
fn causal(run: &Path) -> Result<String, Error> {
    let bad = |why: &str| Error::CannotRecord(format!("{}: {why}", run.display()));
    let loaded = fulcrum_runs::load_causal(run).map_err(|error| {
        bad(&format!(
            "{error}; choose a run of fulcrum trace, refine or run"
        ))
    })?;
    let profile = fulcrum_causal::analyse(&loaded.recording, &fulcrum_causal::Options::default());
    let targets = profile.progress_points.iter().flat_map(|it| &it.targets);
    let worth = targets.filter(|target| {
        let low = target.slope_interval.map_or(target.slope, |it| it.low);
        low > 0.0
    });
    let names: Vec<String> = worth.flat_map(|target| names(&target.id)).collect();
    let (methods, _) = methods_of_names(names.iter().map(String::as_str));
    if methods.is_empty() {
        return Err(bad(
            "no Java method in it is known to make the program faster",
        ));
    }
    let comment = [format!("What makes {} faster.", run.display())];
    Ok(filter_text("", &methods, &comment))
}

/// The functions that a target names; none for a line.
fn names(target: &TargetId) -> Vec<String> {
    match target.kind {
        TargetKind::Path => target.name.split(" > ").map(str::to_owned).collect(),
        TargetKind::Function | TargetKind::Inclusive => vec![target.name.clone()],
        TargetKind::Line | TargetKind::Blocked => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_first_filter_observes_the_unit_of_work() {
        for (filter, other) in [
            (None, true),
            (Some("observe_method_invocations\n"), true),
            (Some("excludemethod shop.* *"), true),
            (
                Some("observe_method_invocations\nincludemethod shop.Cart *"),
                false,
            ),
            (Some("excludemethod * *"), false),
        ] {
            let text = with_unit(filter, Some("shop.Main.request")).unwrap();
            let filter = Filter::parse(&text).unwrap();
            assert!(filter.selects("shop.Main", "request", "(I)V"), "{text}");
            assert_eq!(
                filter.selects("other.Main", "request", "(I)V"),
                other,
                "{text}"
            );
        }
        let error = with_unit(Some("x"), None).unwrap_err().to_string();
        assert!(
            error.starts_with("the first filter is wrong at line 1: \"x\" is not"),
            "{error}"
        );
        assert!(with_unit(None, Some("main")).is_err());
        let only = Filter::parse(&only_unit("a.B.c")).unwrap();
        assert!(only.selects("a.B", "c", "()V") && !only.selects("a.B", "d", "()V"));
    }

    #[test]
    fn a_unit_is_a_method_of_any_descriptor() {
        let method = |class: &str, name: &str| MethodName {
            class: class.into(),
            name: name.into(),
            descriptor: "(I)V".into(),
        };
        assert!(is_unit(&method("a.B", "c"), Some("a.B.c")));
        assert!(!is_unit(&method("a.B", "cc"), Some("a.B.c")));
        assert!(!is_unit(&method("a.B", "c"), None));
    }
}
