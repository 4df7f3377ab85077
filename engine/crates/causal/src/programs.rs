//! Several programs in one recording: each is analysed by itself, so that code or a progress point that two of them have
//! (a library, a header, the same source linked twice) never stands for both.

use std::sync::Arc;

use fulcrum_model::causal::{CausalProfile, Note, Recording};

/// The profiles of all `programs` of a recording in one, as `analyse` makes them of each.
pub(crate) fn analyse_each(
    recording: &Recording,
    programs: &[Option<Arc<str>>],
    analyse: impl Fn(&Recording) -> CausalProfile,
) -> CausalProfile {
    let said = recording.notes.iter().cloned().map(Note::Recording);
    let mut together = CausalProfile {
        progress_points: Vec::new(),
        notes: said.collect(),
    };
    together
        .notes
        .push(Note::SeveralPrograms(programs.to_vec()));
    for program in programs {
        let profile = analyse(&recording.of_program(program.as_deref()));
        together.progress_points.extend(profile.progress_points);
        let notes = profile.notes.into_iter().map(|note| Note::Program {
            program: program.clone(),
            note: Box::new(note),
        });
        together.notes.extend(notes);
    }
    together
        .progress_points
        .sort_by(|a, b| (&a.name, a.kind).cmp(&(&b.name, b.kind)));
    together
}
