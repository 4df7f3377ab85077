//! Functions and calls, as readers of call graphs collect them. They become one graph for each value type.

use std::collections::HashMap;

use fulcrum_model::CallGraph;
use fulcrum_model::call_graph::{CallGraphError, Cycles, GraphCall, GraphFunction, nearer_zero};
use fulcrum_model::call_tree::ValueType;

use crate::collect::collected::Collected;
use crate::collect::parents::too_large;
use crate::decode::fault::Fault;
use crate::decode::texts::{Texts, cut};
use crate::{Calls, Format, Profile};

/// Functions and calls, each with a value of every type.
pub(crate) struct Graphs {
    types: Vec<ValueType>,
    functions: Vec<Function>,
    /// By name, and by whatever else tells functions apart.
    rows: HashMap<(String, String), u32>,
    calls: Vec<Call>,
    pairs: HashMap<(u32, u32), usize>,
    texts: Texts,
    pub(crate) notes: Vec<String>,
}

struct Function {
    name: String,
    base: Vec<i64>,
    /// When the file has it.
    cum: Option<Vec<i64>>,
}

struct Call {
    caller: u32,
    callee: u32,
    base: Option<Vec<i64>>,
    cum: Vec<i64>,
}

impl Graphs {
    /// No functions yet. The first type is the default.
    pub(crate) fn new(types: Vec<ValueType>) -> Self {
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

    /// The row of a function. `place` tells functions of the same name apart.
    pub(crate) fn function(&mut self, name: &str, place: &str) -> Result<u32, Fault> {
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
            // The graph of each value type has a copy of the name.
            self.texts.add(place)?;
            (0..self.types.len()).try_for_each(|_| self.texts.add(name))?;
        }
        Ok(row)
    }

    /// Adds to a function's own costs.
    pub(crate) fn add_base(&mut self, function: u32, costs: &[i64]) -> Result<(), Fault> {
        sum(&mut self.functions[function as usize].base, costs)
    }

    /// The sum of all functions' own costs in one value type.
    pub(crate) fn sum_of_base(&self, value: usize) -> i128 {
        let costs = self.functions.iter().map(|it| i128::from(it.base[value]));
        costs.sum()
    }

    /// Sets the cost of a function with everything that it calls.
    pub(crate) fn set_cum(&mut self, function: u32, costs: &[i64]) {
        self.functions[function as usize].cum = Some(costs.to_vec());
    }

    /// Adds calls: their cost with everything that they call, and their own cost when the file has it.
    pub(crate) fn add_call(
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

    /// Makes a graph for each value type.
    pub(crate) fn finish(self, format: Format) -> Result<Collected, Fault> {
        if self.functions.is_empty() {
            return Err(Fault::whole("the profile has no functions"));
        }
        let cums = self.cums()?;
        let graph = |(column, value_type): (usize, &ValueType)| {
            let functions = self.functions.iter().zip(&cums);
            let graph = CallGraph {
                value_type: value_type.clone(),
                functions: functions
                    .map(|(function, cum)| GraphFunction {
                        name: function.name.clone(),
                        base: function.base[column],
                        cum: cum[column],
                    })
                    .collect(),
                calls: self
                    .calls
                    .iter()
                    .map(|call| GraphCall {
                        caller: call.caller,
                        callee: call.callee,
                        base: call.base.as_ref().map(|base| base[column]),
                        cum: call.cum[column],
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

    /// The cost of each function with everything that it calls. The file's own value comes first. Otherwise it is the larger of
    /// two sums: the function's own cost plus its calls, or the calls to it, since a file may omit what those called. Calls to
    /// itself are part of the others. In a cycle, functions' costs contain each other: there it is the sum of the calls to the
    /// function, which counts some costs several times, but at most what the whole cycle and everything that it calls costs.
    fn cums(&self) -> Result<Vec<Vec<i64>>, Fault> {
        let between = self.calls.iter().map(|call| (call.caller, call.callee));
        let cycles = Cycles::new(self.functions.len(), between);
        let zeros = |count: usize| vec![vec![0; self.types.len()]; count];
        let mut incoming = zeros(self.functions.len());
        let mut most = zeros(cycles.count());
        for (row, function) in (0..).zip(&self.functions) {
            sum(&mut most[cycles.of(row)], &function.base)?;
        }
        for call in self.calls.iter().filter(|call| call.caller != call.callee) {
            sum(&mut incoming[call.callee as usize], &call.cum)?;
            if cycles.leaves(call.caller, call.callee) {
                sum(&mut most[cycles.of(call.caller)], &call.cum)?;
            }
        }
        let rows = (0..).zip(&self.functions).zip(incoming);
        let cum = |((row, function), incoming): ((u32, &Function), Vec<i64>)| {
            let most = &most[cycles.of(row)];
            match &function.cum {
                Some(stated) => stated.clone(),
                None if cycles.holds_several(row) => {
                    let both = incoming.iter().zip(most);
                    both.map(|(&cost, &most)| nearer_zero(cost, most)).collect()
                }
                None => {
                    let both = incoming.iter().zip(most);
                    both.map(|(&cost, &most)| farther_from_zero(cost, most))
                        .collect()
                }
            }
        };
        Ok(rows.map(cum).collect())
    }
}

fn farther_from_zero(a: i64, b: i64) -> i64 {
    if a.unsigned_abs() > b.unsigned_abs() {
        a
    } else {
        b
    }
}

fn sum(into: &mut [i64], values: &[i64]) -> Result<(), Fault> {
    for (sum, &value) in into.iter_mut().zip(values) {
        *sum = sum.checked_add(value).ok_or_else(too_large)?;
    }
    Ok(())
}
