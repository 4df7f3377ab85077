//! Links to spans: for what a sample was taken. Samples of spans of one name stand together, as those of a type of transaction.

use std::collections::{HashMap, HashSet};

use super::labels;
use super::model::{Data, Link, Sample, Table};
use crate::collect::stacks::{FrameId, Stacks};
use crate::decode::fault::Fault;

/// Attributes of samples that have the name of the span.
const NAMES: [&str; 2] = ["span.name", "span_name"];
/// Spans without names that are told apart. More of them are nothing that anybody could look through.
const MOST_NAMELESS: usize = 64;
/// What samples without a span are under, where others have one.
const NO_SPAN: &str = "no span";
/// What samples of too many spans without names are under.
const NAMELESS: &str = "spans without names";

/// A span: its trace and its number, as the file writes them.
type SpanKey<'d> = (&'d str, &'d str);

/// The spans that the samples of a file lead to.
#[derive(Default)]
pub(crate) struct Links<'d> {
    /// Of spans that are in the file themselves.
    names: HashMap<SpanKey<'d>, &'d str>,
    /// Spans whose names the file does not have.
    nameless: HashSet<SpanKey<'d>>,
    is_used: bool,
}

/// What a sample says of its span.
enum Of<'d> {
    Nothing,
    Name(String),
    Nameless(SpanKey<'d>),
}

impl<'d> Links<'d> {
    /// Looks at the spans in the texts of a file. Samples are to follow.
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

    /// Looks at a sample before all are added.
    pub(crate) fn see(&mut self, data: &'d Data, sample: &Sample<'d>) -> Result<(), Fault> {
        match self.of(data, sample)? {
            Of::Nothing => {}
            Of::Name(_) => self.is_used = true,
            Of::Nameless(span) => {
                self.is_used = true;
                self.nameless.insert(span);
            }
        }
        Ok(())
    }

    /// What a sample stands under; `None` when no sample of the file has a span.
    pub(crate) fn container(
        &self,
        data: &'d Data,
        sample: &Sample<'d>,
        stacks: &mut Stacks,
    ) -> Result<Option<FrameId>, Fault> {
        if !self.is_used {
            return Ok(None);
        }
        let name = match self.of(data, sample)? {
            Of::Nothing => NO_SPAN.to_owned(),
            Of::Name(name) => name,
            Of::Nameless(_) if self.nameless.len() > MOST_NAMELESS => NAMELESS.to_owned(),
            Of::Nameless((_, span)) => format!("span {span}"),
        };
        stacks.container(&name).map(Some)
    }

    /// What a reader should know.
    pub(crate) fn note(&self) -> Option<String> {
        let count = self.nameless.len();
        (count > MOST_NAMELESS).then(|| {
            format!(
                "Samples lead to {count} spans whose names the file does not have: they stand together."
            )
        })
    }

    fn of(&self, data: &'d Data, sample: &Sample<'d>) -> Result<Of<'d>, Fault> {
        let link = match sample.data.link_index {
            0 => None,
            index => Some(data.dictionary.link_table.row(index, "a sample", "link")?),
        };
        if let Some(name) = labels::first(data, sample, &NAMES)? {
            return Ok(Of::Name(name));
        }
        let Some(Link { trace_id, span_id }) = link else {
            return Ok(Of::Nothing);
        };
        if is_none(span_id) {
            return Ok(Of::Nothing);
        }
        let key = (&**trace_id, &**span_id);
        let name = self.names.get(&key).filter(|it| !it.is_empty());
        Ok(name.map_or(Of::Nameless(key), |&it| Of::Name(it.to_owned())))
    }
}

/// Whether a number is that of no span: nothing, or zeros.
fn is_none(id: &str) -> bool {
    id.bytes().all(|digit| digit == b'0')
}
