//! The profile interface for shared profiles.

use std::sync::Arc;

use crate::profile::end::End;
use crate::profile::interface::{
    PreparedSummaries, ProfileInterface, Refusal, Sides, SummarySides, SummarySpread,
};
use crate::profile::nearness::Nearness;

impl<P: ProfileInterface> ProfileInterface for Arc<P> {
    type Summary = P::Summary;

    fn path_of(&self, s: &P::Summary) -> Vec<&str> {
        (**self).path_of(s)
    }

    fn initial_summaries(&self) -> Vec<P::Summary> {
        (**self).initial_summaries()
    }

    fn top_extensions(&self, s: &P::Summary) -> Vec<&str> {
        (**self).top_extensions(s)
    }

    fn bottom_extensions(&self, s: &P::Summary) -> Vec<&str> {
        (**self).bottom_extensions(s)
    }

    fn extend_top(&self, s: &P::Summary, name: &str) -> Result<P::Summary, Refusal> {
        (**self).extend_top(s, name)
    }

    fn extend_bottom(&self, s: &P::Summary, name: &str) -> Result<P::Summary, Refusal> {
        (**self).extend_bottom(s, name)
    }

    fn trim_top(&self, s: &P::Summary) -> Option<P::Summary> {
        (**self).trim_top(s)
    }

    fn trim_bottom(&self, s: &P::Summary) -> Option<P::Summary> {
        (**self).trim_bottom(s)
    }

    fn base_of(&self, s: &P::Summary) -> i64 {
        (**self).base_of(s)
    }

    fn cum_of(&self, s: &P::Summary) -> i64 {
        (**self).cum_of(s)
    }

    fn total_base_of(&self, summaries: &[P::Summary]) -> i64 {
        (**self).total_base_of(summaries)
    }

    fn total_cum_of(&self, summaries: &[P::Summary]) -> i64 {
        (**self).total_cum_of(summaries)
    }

    fn total(&self) -> i64 {
        (**self).total()
    }

    fn sides(&self) -> Option<Sides> {
        (**self).sides()
    }

    fn sides_of(&self, s: &P::Summary) -> Option<SummarySides> {
        (**self).sides_of(s)
    }

    fn spread_of(&self, s: &P::Summary) -> Option<SummarySpread> {
        (**self).spread_of(s)
    }

    fn limit_of(&self, s: &P::Summary) -> Option<Refusal> {
        (**self).limit_of(s)
    }

    fn summary_of(&self, path: &[&str]) -> Result<P::Summary, Refusal> {
        (**self).summary_of(path)
    }

    fn top_summaries(&self, s: &P::Summary) -> Vec<P::Summary> {
        (**self).top_summaries(s)
    }

    fn bottom_summaries(&self, s: &P::Summary) -> Vec<P::Summary> {
        (**self).bottom_summaries(s)
    }

    fn costed_summaries(&self, s: &P::Summary, end: End) -> Vec<P::Summary> {
        (**self).costed_summaries(s, end)
    }

    fn costed_at_both_ends(&self, s: &P::Summary) -> [Vec<P::Summary>; 2] {
        (**self).costed_at_both_ends(s)
    }

    fn is_frequent(&self, s: &P::Summary) -> bool {
        (**self).is_frequent(s)
    }

    fn running_total_cum_of_extensions(
        &self,
        s: &P::Summary,
        end: End,
        extensions: &[P::Summary],
    ) -> Vec<i64> {
        (**self).running_total_cum_of_extensions(s, end, extensions)
    }

    fn running_total_cum_of(&self, summaries: &[P::Summary]) -> Vec<i64> {
        (**self).running_total_cum_of(summaries)
    }

    fn prepare(&self, summaries: &[P::Summary]) -> Option<Arc<dyn PreparedSummaries<P::Summary>>> {
        (**self).prepare(summaries)
    }

    fn nearness<'a>(&'a self, fade: f64) -> Box<dyn Nearness<P::Summary> + 'a> {
        (**self).nearness(fade)
    }
}
