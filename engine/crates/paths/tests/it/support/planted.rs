//! A pair of profiles with planted overheads, of the shape of the paper's Trade3 (Table 1): A with security, B without.

use std::sync::Arc;

use fulcrum_model::call_tree::{Frame, FrameId, ValueType};
use fulcrum_model::{CallTree, CallTreeBuilder};
use fulcrum_stats::Random;

/// The pair.
pub(crate) struct Planted {
    /// With the overheads.
    pub a: Arc<CallTree>,
    /// Without.
    pub b: Arc<CallTree>,
    /// The planted sequences, the most costly first.
    pub sequences: Vec<Vec<String>>,
}

const METHODS: usize = 2568;
/// What all sequences end with: the same names do not tell them apart.
const TAIL: [&str; 3] = ["doPrivileged", "checkPermission", "getStackACC"];

/// About `nodes` nodes in each tree. Sixteen sequences cause 88 % of the difference; the rest is spread over all
/// methods. The samples are in random order.
pub(crate) fn planted(seed: u64, nodes: usize) -> Planted {
    let random = &mut Random::new(seed);
    let callees: Vec<Vec<usize>> = (0..METHODS)
        .map(|_| {
            (0..1 + random.index(6))
                .map(|_| random.index(METHODS))
                .collect()
        })
        .collect();
    let sequences: Vec<Vec<String>> = (0..16)
        .map(|n| {
            let own = (0..5 + random.index(12)).map(|m| format!("Security{n}.step{m}"));
            own.chain(TAIL.map(String::from)).collect()
        })
        .collect();
    let mut a = Side::new(&sequences);
    let mut b = Side::new(&sequences);
    let mut samples = Vec::new();
    let mut stack = vec![0];
    let mut made = 0;
    while made < nodes {
        let keep = stack.len() - random.index(stack.len().min(5));
        stack.truncate(keep);
        while stack.len() < 30 || (stack.len() < 75 && random.index(8) > 0) {
            let out = &callees[*stack.last().unwrap()];
            stack.push(out[random.index(out.len())]);
            made += 1;
        }
        let cost = 100 + random.index(200) as i64;
        samples.push((stack.clone(), None, [cost, cost - random.index(13) as i64]));
        if random.index(8) == 0 {
            // The first sequences are the most frequent.
            let n = random.index(16).min(random.index(16));
            let at = 10 + random.index(stack.len() - 10);
            samples.push((stack[..at].to_vec(), Some(n), [370, 0]));
            made += sequences[n].len();
        }
    }
    for n in (1..samples.len()).rev() {
        samples.swap(n, random.index(n + 1));
    }
    for (stack, sequence, [in_a, in_b]) in &samples {
        a.add(stack, *sequence, *in_a);
        if *in_b > 0 {
            b.add(stack, *sequence, *in_b);
        }
    }
    Planted {
        a: Arc::new(a.builder.finish().unwrap()),
        b: Arc::new(b.builder.finish().unwrap()),
        sequences,
    }
}

struct Side {
    builder: CallTreeBuilder,
    methods: Vec<FrameId>,
    sequences: Vec<Vec<FrameId>>,
}

impl Side {
    fn new(sequences: &[Vec<String>]) -> Self {
        let mut builder = CallTreeBuilder::new(vec![ValueType::new("instructions", "")]).unwrap();
        let mut intern = |name: String| builder.intern(Frame::function(name)).unwrap();
        let methods = (0..METHODS)
            .map(|n| intern(format!("Trade.method{n}")))
            .collect();
        let sequences = sequences.iter();
        let sequences = sequences
            .map(|names| names.iter().map(|name| intern(name.clone())).collect())
            .collect();
        Side {
            builder,
            methods,
            sequences,
        }
    }

    fn add(&mut self, stack: &[usize], sequence: Option<usize>, cost: i64) {
        let mut ids: Vec<FrameId> = stack.iter().map(|&n| self.methods[n]).collect();
        ids.extend(sequence.iter().flat_map(|&n| &self.sequences[n]));
        self.builder.add(&ids, &[cost]).unwrap();
    }
}
