//! What a file says, with the names of the format. Numbers into the dictionary's tables are not yet checked.

use serde::Deserialize;

use super::super::fault::{Fault, dangling};
use super::super::parents::too_large;
use super::numbers::number;

/// A file, or one of the texts in a file.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Data {
    pub resource_profiles: Vec<ResourceProfiles>,
    pub dictionary: Dictionary,
    /// In JSON, a text beside those of profiles may have the spans that they lead to.
    pub resource_spans: Vec<ResourceSpans>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceSpans {
    pub scope_spans: Vec<ScopeSpans>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct ScopeSpans {
    pub spans: Vec<OneSpan>,
}

/// A message `Span`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OneSpan {
    pub trace_id: String,
    pub span_id: String,
    pub name: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceProfiles {
    pub resource: Resource,
    pub scope_profiles: Vec<ScopeProfiles>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Resource {
    pub attributes: Vec<KeyValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct ScopeProfiles {
    pub profiles: Vec<OneProfile>,
}

/// A message `Profile`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OneProfile {
    pub sample_type: ValueType,
    pub samples: Vec<OneSample>,
}

#[derive(Clone, Copy, Default, Deserialize, PartialEq, Eq, Hash)]
#[serde(rename_all = "camelCase", default)]
pub struct ValueType {
    #[serde(deserialize_with = "number")]
    pub type_strindex: i32,
    #[serde(deserialize_with = "number")]
    pub unit_strindex: i32,
}

/// A message `Sample`.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OneSample {
    #[serde(deserialize_with = "number")]
    pub stack_index: i32,
    #[serde(deserialize_with = "super::numbers::numbers")]
    pub attribute_indices: Vec<i32>,
    #[serde(deserialize_with = "number")]
    pub link_index: i32,
    #[serde(deserialize_with = "super::numbers::numbers")]
    pub values: Vec<i64>,
    /// How many there are.
    #[serde(deserialize_with = "super::numbers::count")]
    pub timestamps_unix_nano: usize,
    #[serde(skip)]
    pub at: usize,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Dictionary {
    pub mapping_table: Vec<Mapping>,
    pub location_table: Vec<Location>,
    pub function_table: Vec<Function>,
    pub link_table: Vec<Link>,
    pub string_table: Vec<String>,
    pub attribute_table: Vec<KeyValueAndUnit>,
    pub stack_table: Vec<Stack>,
}

/// A span, by hexadecimal digits: in JSON as they are written there.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Link {
    pub trace_id: String,
    pub span_id: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Mapping {
    #[serde(deserialize_with = "number")]
    pub filename_strindex: i32,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Location {
    #[serde(deserialize_with = "number")]
    pub mapping_index: i32,
    /// The innermost is the first.
    pub lines: Vec<Line>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Line {
    #[serde(deserialize_with = "number")]
    pub function_index: i32,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Function {
    #[serde(deserialize_with = "number")]
    pub name_strindex: i32,
    #[serde(deserialize_with = "number")]
    pub system_name_strindex: i32,
    #[serde(deserialize_with = "number")]
    pub filename_strindex: i32,
    #[serde(deserialize_with = "number")]
    pub start_line: i64,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Stack {
    /// The innermost is the first.
    #[serde(deserialize_with = "super::numbers::numbers")]
    pub location_indices: Vec<i32>,
    #[serde(skip)]
    pub at: usize,
}

/// An attribute of the dictionary.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct KeyValueAndUnit {
    #[serde(deserialize_with = "number")]
    pub key_strindex: i32,
    pub value: AnyValue,
}

/// An attribute of a resource.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct KeyValue {
    pub key: String,
    #[serde(deserialize_with = "number")]
    pub key_strindex: i32,
    pub value: AnyValue,
}

/// Texts and whole numbers; other values are none.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AnyValue {
    pub string_value: Option<String>,
    #[serde(deserialize_with = "super::numbers::maybe")]
    pub int_value: Option<i64>,
    #[serde(deserialize_with = "number")]
    pub string_value_strindex: i32,
}

/// A sample with what stands around it.
#[derive(Clone, Copy)]
pub struct Sample<'d> {
    pub data: &'d OneSample,
    pub profile: &'d OneProfile,
    pub resource: &'d Resource,
}

impl Data {
    /// Hands over every sample. A fault gets the sample's place.
    pub fn each<'d>(
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

    /// Name and unit of a type.
    pub fn kind(&self, kind: ValueType) -> Result<(String, String), Fault> {
        let name = self.dictionary.text(kind.type_strindex)?;
        let unit = self.dictionary.text(kind.unit_strindex)?;
        Ok((name.to_owned(), unit.to_owned()))
    }
}

impl OneSample {
    /// The sum of the values; without values, each time counts one.
    pub fn value(&self) -> Result<i64, Fault> {
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
    /// A string by its number; 0 is always empty.
    pub fn text(&self, index: i32) -> Result<&str, Fault> {
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
pub trait Table {
    type Row;

    /// A row that `what` names.
    fn row(&self, index: i32, what: &str, table: &str) -> Result<&Self::Row, Fault>;
}

impl<T> Table for Vec<T> {
    type Row = T;

    fn row(&self, index: i32, what: &str, table: &str) -> Result<&T, Fault> {
        let row = usize::try_from(index).ok().and_then(|row| self.get(row));
        row.ok_or_else(|| dangling(what, index, table))
    }
}
