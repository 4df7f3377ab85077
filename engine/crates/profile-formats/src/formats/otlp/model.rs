//! The messages of a file, with the format's own names. Indices into the dictionary's tables are not checked yet.

use serde::Deserialize;

use super::numbers::number;
use crate::collect::parents::too_large;
use crate::decode::fault::{Fault, dangling};

/// A file, or one of the JSON texts in a file.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Data {
    pub(crate) resource_profiles: Vec<ResourceProfiles>,
    pub(crate) dictionary: Dictionary,
    /// In JSON, another text of the file may have the spans that the profiles link to.
    pub(crate) resource_spans: Vec<ResourceSpans>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ResourceSpans {
    pub(crate) scope_spans: Vec<ScopeSpans>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct ScopeSpans {
    pub(crate) spans: Vec<OneSpan>,
}

/// A message `Span`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct OneSpan {
    pub(crate) trace_id: String,
    pub(crate) span_id: String,
    pub(crate) name: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ResourceProfiles {
    pub(crate) resource: Resource,
    pub(crate) scope_profiles: Vec<ScopeProfiles>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Resource {
    pub(crate) attributes: Vec<KeyValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct ScopeProfiles {
    pub(crate) profiles: Vec<OneProfile>,
}

/// A message `Profile`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct OneProfile {
    pub(crate) sample_type: ValueType,
    pub(crate) samples: Vec<OneSample>,
}

#[derive(Clone, Copy, Default, Deserialize, PartialEq, Eq, Hash)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ValueType {
    #[serde(deserialize_with = "number")]
    pub(crate) type_strindex: i32,
    #[serde(deserialize_with = "number")]
    pub(crate) unit_strindex: i32,
}

/// A message `Sample`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct OneSample {
    #[serde(deserialize_with = "number")]
    pub(crate) stack_index: i32,
    #[serde(deserialize_with = "super::numbers::numbers")]
    pub(crate) attribute_indices: Vec<i32>,
    #[serde(deserialize_with = "number")]
    pub(crate) link_index: i32,
    #[serde(deserialize_with = "super::numbers::numbers")]
    pub(crate) values: Vec<i64>,
    /// The number of timestamps.
    #[serde(deserialize_with = "super::numbers::count")]
    pub(crate) timestamps_unix_nano: usize,
    #[serde(skip)]
    pub(crate) at: usize,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Dictionary {
    pub(crate) mapping_table: Vec<Mapping>,
    pub(crate) location_table: Vec<Location>,
    pub(crate) function_table: Vec<Function>,
    pub(crate) link_table: Vec<Link>,
    pub(crate) string_table: Vec<String>,
    pub(crate) attribute_table: Vec<KeyValueAndUnit>,
    pub(crate) stack_table: Vec<Stack>,
}

/// A link to a span. The ids are hexadecimal digits, as JSON writes them.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Link {
    pub(crate) trace_id: String,
    pub(crate) span_id: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Mapping {
    #[serde(deserialize_with = "number")]
    pub(crate) filename_strindex: i32,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Location {
    #[serde(deserialize_with = "number")]
    pub(crate) mapping_index: i32,
    /// Innermost first.
    pub(crate) lines: Vec<Line>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Line {
    #[serde(deserialize_with = "number")]
    pub(crate) function_index: i32,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Function {
    #[serde(deserialize_with = "number")]
    pub(crate) name_strindex: i32,
    #[serde(deserialize_with = "number")]
    pub(crate) system_name_strindex: i32,
    #[serde(deserialize_with = "number")]
    pub(crate) filename_strindex: i32,
    #[serde(deserialize_with = "number")]
    pub(crate) start_line: i64,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Stack {
    /// Innermost first.
    #[serde(deserialize_with = "super::numbers::numbers")]
    pub(crate) location_indices: Vec<i32>,
    #[serde(skip)]
    pub(crate) at: usize,
}

/// An attribute of the dictionary.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct KeyValueAndUnit {
    #[serde(deserialize_with = "number")]
    pub(crate) key_strindex: i32,
    pub(crate) value: AnyValue,
}

/// An attribute of a resource.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct KeyValue {
    pub(crate) key: String,
    #[serde(deserialize_with = "number")]
    pub(crate) key_strindex: i32,
    pub(crate) value: AnyValue,
}

/// A text or a whole number. Other values are ignored.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct AnyValue {
    pub(crate) string_value: Option<String>,
    #[serde(deserialize_with = "super::numbers::maybe")]
    pub(crate) int_value: Option<i64>,
    #[serde(deserialize_with = "number")]
    pub(crate) string_value_strindex: i32,
}

/// A sample with the messages around it.
#[derive(Clone, Copy)]
pub(crate) struct Sample<'d> {
    pub(crate) data: &'d OneSample,
    pub(crate) profile: &'d OneProfile,
    pub(crate) resource: &'d Resource,
}

impl Data {
    /// Calls `take` with every sample. A fault gets the sample's place.
    pub(crate) fn each<'d>(
        &'d self,
        take: &mut dyn FnMut(&Sample<'d>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        for (r, of_resource) in self.resource_profiles.iter().enumerate() {
            for (s, of_scope) in of_resource.scope_profiles.iter().enumerate() {
                for (p, profile) in of_scope.profiles.iter().enumerate() {
                    for (n, data) in profile.samples.iter().enumerate() {
                        let sample = Sample {
                            data,
                            profile,
                            resource: &of_resource.resource,
                        };
                        take(&sample).map_err(|fault| match fault.path.is_empty() {
                            false => fault,
                            true => {
                                let fault = fault.at_item("samples", n).at_item("profiles", p);
                                let fault = fault.at_item("scopeProfiles", s);
                                fault.at_item("resourceProfiles", r).at_known_byte(data.at)
                            }
                        })?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The name and unit of a value type.
    pub(crate) fn value_type(&self, kind: ValueType) -> Result<(String, String), Fault> {
        let name = self.dictionary.text(kind.type_strindex)?;
        let unit = self.dictionary.text(kind.unit_strindex)?;
        Ok((name.to_owned(), unit.to_owned()))
    }
}

impl OneSample {
    /// The sum of the values. Without values, each timestamp counts as one.
    pub(crate) fn value(&self) -> Result<i64, Fault> {
        let (values, times) = (self.values.len(), self.timestamps_unix_nano);
        if values > 0 && times > 0 && values != times {
            let problem = format!("a sample has {values} values at {times} times");
            return Err(Fault::whole(problem));
        }
        if values == 0 {
            return i64::try_from(times).map_err(|_| too_large());
        }
        self.values.iter().try_fold(0_i64, |sum, &value| {
            sum.checked_add(value).ok_or_else(too_large)
        })
    }
}

impl Dictionary {
    /// The string at an index. Index 0 is always empty.
    pub(crate) fn text(&self, index: i32) -> Result<&str, Fault> {
        match index {
            0 => Ok(""),
            index => self
                .string_table
                .row(index, "the file", "string")
                .map(|it| &**it),
        }
    }
}

/// A table of the dictionary.
pub(crate) trait Table {
    type Row;

    /// The row that `what` refers to.
    fn row(&self, index: i32, what: &str, table: &str) -> Result<&Self::Row, Fault>;
}

impl<T> Table for Vec<T> {
    type Row = T;

    fn row(&self, index: i32, what: &str, table: &str) -> Result<&T, Fault> {
        let row = usize::try_from(index).ok().and_then(|row| self.get(row));
        row.ok_or_else(|| dangling(what, index, table))
    }
}
