//! Links from samples to spans. The samples of all spans with the same name are grouped, like those of a type of transaction.

use std::collections::{HashMap, HashSet};

use super::labels;
use super::model::{Data, Link, Sample, Table};
use crate::collect::stacks::{FrameId, Stacks};
use crate::decode::fault::Fault;

/// Attributes of samples that contain the span's name.
const NAMES: [&str; 2] = ["span.name", "span_name"];
/// The most spans without names that are shown separately. More would be too many to look through.
const MAX_NAMELESS: usize = 64;
/// The container of samples without a span, when other samples have one.
const NO_SPAN: &str = "no span";
/// The container of all spans without names, when there are too many.
const NAMELESS: &str = "spans without names";

/// A span: the ids of its trace and of itself, as the file writes them.
type SpanKey<'d> = (&'d str, &'d str);

/// The spans that the samples of a file link to.
#[derive(Default)]
pub(crate) struct Links<'d> {
    /// The names of spans that the file contains.
    names: HashMap<SpanKey<'d>, &'d str>,
    /// Spans whose names are not in the file.
    nameless: HashSet<SpanKey<'d>>,
    is_used: bool,
}

/// The span of a sample.
enum SpanRef<'d> {
    None,
    Name(String),
    Nameless(SpanKey<'d>),
}

impl<'d> Links<'d> {
    /// Collects the spans in a file. Its samples follow.
    pub(crate) fn new(files: &'d [Data]) -> Self {
        let mut links = Links::default();
        let resources = files.iter().flat_map(|it| &it.resource_spans);
        let scopes = resources.flat_map(|it| &it.scope_spans);
        for span in scopes.flat_map(|it| &it.spans) {
            let key = (&*span.trace_id, &*span.span_id);
            links.names.insert(key, &span.name);
        }
        links
    }

    /// Takes note of a sample's link. All samples must be included before any is added.
    pub(crate) fn include(&mut self, data: &'d Data, sample: &Sample<'d>) -> Result<(), Fault> {
        match self.span_of(data, sample)? {
            SpanRef::None => {}
            SpanRef::Name(_) => self.is_used = true,
            SpanRef::Nameless(span) => {
                self.is_used = true;
                self.nameless.insert(span);
            }
        }
        Ok(())
    }

    /// The container of a sample. Returns `None` when no sample of the file has a span.
    pub(crate) fn container(
        &self,
        data: &'d Data,
        sample: &Sample<'d>,
        stacks: &mut Stacks,
    ) -> Result<Option<FrameId>, Fault> {
        if !self.is_used {
            return Ok(None);
        }
        let name = match self.span_of(data, sample)? {
            SpanRef::None => NO_SPAN.to_owned(),
            SpanRef::Name(name) => name,
            SpanRef::Nameless(_) if self.nameless.len() > MAX_NAMELESS => NAMELESS.to_owned(),
            SpanRef::Nameless((_, span)) => format!("span {span}"),
        };
        stacks.container(&name).map(Some)
    }

    /// A note about spans without names.
    pub(crate) fn note(&self) -> Option<String> {
        let count = self.nameless.len();
        (count > MAX_NAMELESS).then(|| {
            format!(
                "Samples link to {count} spans whose names are not in the file: they are shown together."
            )
        })
    }

    fn span_of(&self, data: &'d Data, sample: &Sample<'d>) -> Result<SpanRef<'d>, Fault> {
        let link = match sample.data.link_index {
            0 => None,
            index => Some(data.dictionary.link_table.row(index, "a sample", "link")?),
        };
        if let Some(name) = labels::first(data, sample, &NAMES)? {
            return Ok(SpanRef::Name(name));
        }
        let Some(Link { trace_id, span_id }) = link else {
            return Ok(SpanRef::None);
        };
        if is_none(span_id) {
            return Ok(SpanRef::None);
        }
        let key = (&**trace_id, &**span_id);
        let name = self.names.get(&key).filter(|it| !it.is_empty());
        Ok(name.map_or(SpanRef::Nameless(key), |&it| SpanRef::Name(it.to_owned())))
    }
}

/// Whether an id means no span: it is empty or zero.
fn is_none(id: &str) -> bool {
    id.bytes().all(|digit| digit == b'0')
}
