//! The rules for names that a profile was opened with, and what they changed.

use fulcrum_profiles::names::{ALL, Renamed, Rule, VERSION};

use crate::protocol::{NavigatorNameRule, NavigatorNames, NavigatorRenamed};

/// Nothing of what was made of something else than a file.
#[derive(Debug, Default)]
pub(crate) struct Naming {
    rules: Vec<Rule>,
    renamed: Vec<Renamed>,
}

impl Naming {
    /// `renamed` is sorted.
    pub(crate) fn new(rules: &[Rule], renamed: Vec<Renamed>) -> Self {
        let rules = rules.to_vec();
        Naming { rules, renamed }
    }

    /// All rules, and at most `count` of the names.
    pub(crate) fn answer(&self, count: u32) -> NavigatorNames {
        let rule = |rule: Rule| {
            let (before, after) = rule.example();
            let changed = self.renamed.iter().filter(|it| it.rules.contains(&rule));
            NavigatorNameRule {
                name: rule.name().into(),
                before: before.into(),
                after: after.into(),
                by_default: rule.is_default(),
                applied: self.rules.contains(&rule),
                names: changed.count() as u32,
            }
        };
        let renamed = self.renamed.iter().take(count as usize);
        let renamed: Vec<_> = renamed
            .map(|it| NavigatorRenamed {
                raw: it.raw.clone(),
                name: it.name.clone(),
                rules: it.rules.iter().map(|rule| rule.name().into()).collect(),
            })
            .collect();
        NavigatorNames {
            version: VERSION,
            rules: ALL.into_iter().map(rule).collect(),
            more: (self.renamed.len() - renamed.len()) as u32,
            renamed,
        }
    }
}
