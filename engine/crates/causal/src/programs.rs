//! Several programs in one recording: each is analysed by itself, so that code or a progress point that two of them have
//! (a library, a header, the same source linked twice) never stands for both.

use std::sync::Arc;

use fulcrum_model::causal::{CausalProfile, PointKind, Recording};

/// The profiles of all `programs` of a recording in one, as `analyse` makes them of each.
pub fn apart(
    recording: &Recording,
    programs: &[Option<Arc<str>>],
    analyse: impl Fn(&Recording) -> CausalProfile,
) -> CausalProfile {
    let names: Vec<&str> = programs.iter().map(|it| name(it.as_deref())).collect();
    let mut together = CausalProfile {
        progress_points: Vec::new(),
        notes: recording.notes.clone(),
    };
    together.notes.push(format!(
        "Results of {} programs are kept apart, each under progress points of its own: {}.",
        names.len(),
        names.join(", ")
    ));
    for program in programs {
        let profile = analyse(&recording.of_program(program.as_deref()));
        let name = name(program.as_deref());
        together.progress_points.extend(profile.progress_points);
        let notes = profile.notes.into_iter();
        together
            .notes
            .extend(notes.map(|note| format!("{name}: {note}")));
    }
    together
        .progress_points
        .sort_by(|a, b| (&a.name, order(a.kind)).cmp(&(&b.name, order(b.kind))));
    together
}

fn name(program: Option<&str>) -> &str {
    program.unwrap_or("a program without a name")
}

fn order(kind: PointKind) -> u8 {
    matches!(kind, PointKind::Latency).into()
}
