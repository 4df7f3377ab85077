//! Where readers of call graphs put functions and calls: one graph a value type in the end.

use std::collections::HashMap;

use fulcrum_model::CallGraph;
use fulcrum_model::call_graph::{CallGraphError, GraphCall, GraphFunction};
use fulcrum_model::call_tree::ValueType;

use super::collected::Collected;
use super::fault::Fault;
use super::parents::too_large;
use super::texts::{Texts, cut};
use super::{Calls, Format, Profile};

/// Functions and calls with a value of each type.
pub struct Graphs {
    types: Vec<ValueType>,
    functions: Vec<Function>,
    /// By name and by what else tells functions apart.
    rows: HashMap<(String, String), u32>,
    calls: Vec<Call>,
    pairs: HashMap<(u32, u32), usize>,
    texts: Texts,
    pub notes: Vec<String>,
}

struct Function {
    name: String,
    base: Vec<i64>,
    /// When the file tells it.
    cum: Option<Vec<i64>>,
}

struct Call {
    caller: u32,
    callee: u32,
    base: Option<Vec<i64>>,
    cum: Vec<i64>,
}

impl Graphs {
    /// An empty graph; the first type is the default.
    pub fn new(types: Vec<ValueType>) -> Self {
        Graphs {
            types,
            functions: Vec::new(),
            rows: HashMap::new(),
            calls: Vec::new(),
            pairs: HashMap::new(),
            texts: Texts::default(),
            notes: Vec::new(),
        }
    }

    /// The row of a function.
    pub fn function(&mut self, name: &str, place: &str) -> Result<u32, Fault> {
        let (name, place) = (cut(name), cut(place));
        let next = self.functions.len() as u32;
        let key = (name.to_owned(), place.to_owned());
        let row = *self.rows.entry(key).or_insert(next);
        if row == next {
            self.functions.push(Function {
                name: name.to_owned(),
                base: vec![0; self.types.len()],
                cum: None,
            });
            // Each value type's graph has the names.
            self.texts.add(place)?;
            (0..self.types.len()).try_for_each(|_| self.texts.add(name))?;
        }
        Ok(row)
    }

    /// Adds to a function's own costs.
    pub fn add_base(&mut self, function: u32, costs: &[i64]) -> Result<(), Fault> {
        sum(&mut self.functions[function as usize].base, costs)
    }

    /// Sets what a function and all that it calls cost.
    pub fn set_cum(&mut self, function: u32, costs: &[i64]) {
        self.functions[function as usize].cum = Some(costs.to_vec());
    }

    /// Adds calls: what they cost with all that they call, and their own cost when the file tells it.
    pub fn add_call(
        &mut self,
        caller: u32,
        callee: u32,
        base: Option<&[i64]>,
        cum: &[i64],
    ) -> Result<(), Fault> {
        let next = self.calls.len();
        let row = *self.pairs.entry((caller, callee)).or_insert(next);
        if row == next {
            self.calls.push(Call {
                caller,
                callee,
                base: base.map(<[i64]>::to_vec),
                cum: cum.to_vec(),
            });
            return Ok(());
        }
        let call = &mut self.calls[row];
        if let (Some(sums), Some(base)) = (&mut call.base, base) {
            sum(sums, base)?;
        }
        sum(&mut call.cum, cum)
    }

    /// A graph for each value type.
    pub fn finish(self, format: Format) -> Result<Collected, Fault> {
        if self.functions.is_empty() {
            return Err(Fault::whole("the profile has no functions"));
        }
        let cums = self.cums()?;
        let graph = |(kind, value_type): (usize, &ValueType)| {
            let functions = self.functions.iter().zip(&cums);
            let graph = CallGraph {
                value_type: value_type.clone(),
                functions: functions
                    .map(|(function, cum)| GraphFunction {
                        name: function.name.clone(),
                        base: function.base[kind],
                        cum: cum[kind],
                    })
                    .collect(),
                calls: self
                    .calls
                    .iter()
                    .map(|call| GraphCall {
                        caller: call.caller,
                        callee: call.callee,
                        base: call.base.as_ref().map(|base| base[kind]),
                        cum: call.cum[kind],
                    })
                    .collect(),
            };
            graph.check().map(|()| graph)
        };
        let graphs = self.types.iter().enumerate().map(graph);
        let graphs = graphs.collect::<Result<_, CallGraphError>>();
        Ok(Collected::Graphs(Profile {
            format,
            calls: Calls::Graphs(graphs.map_err(|error| Fault::whole(error.to_string()))?),
            default_value: 0,
            notes: self.notes,
            renamed: Vec::new(),
        }))
    }

    /// As told; else the sum over the calls of a function, or, when nobody calls it, its own cost and its calls'. A
    /// function's calls of itself are inside its other calls.
    fn cums(&self) -> Result<Vec<Vec<i64>>, Fault> {
        let none = || vec![None::<Vec<i64>>; self.functions.len()];
        let (mut incoming, mut outgoing) = (none(), none());
        for call in self.calls.iter().filter(|call| call.caller != call.callee) {
            for (sums, row) in [(&mut incoming, call.callee), (&mut outgoing, call.caller)] {
                let zeros = || vec![0; self.types.len()];
                sum(sums[row as usize].get_or_insert_with(zeros), &call.cum)?;
            }
        }
        let mut cums = Vec::with_capacity(self.functions.len());
        for ((function, incoming), outgoing) in self.functions.iter().zip(incoming).zip(outgoing) {
            let mut alone = function.base.clone();
            sum(&mut alone, &outgoing.unwrap_or_default())?;
            cums.push(function.cum.clone().or(incoming).unwrap_or(alone));
        }
        Ok(cums)
    }
}

fn sum(into: &mut [i64], values: &[i64]) -> Result<(), Fault> {
    for (sum, &value) in into.iter_mut().zip(values) {
        *sum = sum.checked_add(value).ok_or_else(too_large)?;
    }
    Ok(())
}
