//! The cost of single transactions, and comparisons of types.

use fulcrum_stats::{Sample, welch};
use fulcrum_transactions::latency::{Instance, InstanceId};
use fulcrum_transactions::stitch::{Stitched, TypeProfile, compare};
use fulcrum_transactions::{self as transactions, Name, ProcessId, Spot, Synopsis};

use crate::support::bookstore::{MS, Process};
use crate::support::request;

/// A process that works for transactions of one or several types.
struct Shop {
    process: Process,
    threads: [Name; 2],
}

impl Shop {
    fn new(id: u64) -> Self {
        let mut process = Process::new(id, "shop");
        let threads = ["front", "back"].map(|it| process.dictionary.names.intern(it));
        Shop { process, threads }
    }

    fn context(&mut self, name: &str) -> Synopsis {
        let step = request(&mut self.process.dictionary, name);
        self.process.dictionary.append(Synopsis::EMPTY, step)
    }

    /// An instance of a type that takes this many milliseconds.
    fn instance(&mut self, name: &str, id: u64, wall_ms: u64) {
        let context = self.context(name);
        let record = &mut self.process.record;
        record.parts.push((context, InstanceId(id)));
        record.instances.push(Instance {
            id: InstanceId(id),
            context,
            wall_ns: wall_ms * MS,
            replied: true,
        });
    }

    /// A sample of one millisecond at a line of the innermost function.
    fn sample(&mut self, name: &str, instance: Option<u64>, stack: &str, line: u32) {
        self.sample_in(0, name, instance, stack, line);
    }

    fn sample_in(&mut self, thread: usize, name: &str, id: Option<u64>, stack: &str, line: u32) {
        let context = self.context(name);
        let names = &mut self.process.dictionary.names;
        let file = names.intern("shop.c");
        let functions = stack.split(" > ").map(|it| Spot::from(names.intern(it)));
        let mut stack: Vec<Spot> = functions.collect();
        if let Some(last) = stack.last_mut() {
            last.line = Some((file, line));
        }
        self.process.record.profile.add(&transactions::Sample {
            context,
            thread: self.threads[thread],
            instance: id.map(InstanceId),
            stack: &stack,
            cpu_ns: MS,
        });
    }

    fn stitched(self) -> Stitched {
        let mut record = self.process.record;
        record.dictionary = self.process.dictionary.export("shop");
        Stitched::of(vec![record], Vec::new()).unwrap()
    }
}

fn named(stitched: &Stitched, name: &str) -> TypeProfile {
    let mut types = stitched.types().into_iter();
    let found = types.find(|it| it.name == name);
    found.unwrap_or_else(|| panic!("no {name}"))
}

/// Four transactions: 7 has samples in both threads, 8 in one, 9 and 10 none. One more sample belongs to no transaction.
fn shop() -> Shop {
    let mut shop = Shop::new(1);
    for (id, wall_ms) in [(7, 10), (8, 20), (9, 1), (10, 1)] {
        shop.instance("GET /buy", id, wall_ms);
    }
    shop.sample("GET /buy", Some(7), "serve > sort", 12);
    shop.sample("GET /buy", Some(7), "serve > sort", 13);
    shop.sample_in(1, "GET /buy", Some(7), "serve_back > sort", 12);
    shop.sample("GET /buy", Some(8), "serve > sort", 12);
    shop.sample("GET /buy", Some(8), "serve", 40);
    shop.sample("GET /buy", None, "serve > sort", 12);
    shop.sample("GET /list", Some(8), "serve > list", 50);
    let list = shop.context("GET /list");
    shop.process.record.parts.push((list, InstanceId(8)));
    shop
}

#[test]
fn a_tree_comes_with_what_each_transaction_cost_in_its_nodes() {
    let stitched = shop().stitched();
    let buy = named(&stitched, "GET /buy");
    let observed = stitched.observed(buy.id).unwrap();
    assert_eq!((observed.transactions, observed.left_out_ns), (4, MS));
    let tree = &observed.tree;
    let stack = |node: u32| -> String {
        let names: Vec<&str> = tree.stack(node).map(|it| &*tree.frame(it).name).collect();
        names.join(" ")
    };
    let mut costs: Vec<(String, i64)> = observed
        .costs
        .iter()
        .map(|it| (stack(it.node), it.cpu_ns / MS as i64))
        .collect();
    costs.sort();
    let cost = |stack: &str, ms| (stack.to_owned(), ms);
    assert_eq!(
        costs,
        [
            cost("shop back serve_back sort", 1),
            cost("shop front serve", 1),
            cost("shop front serve sort", 1),
            cost("shop front serve sort", 2),
        ]
    );
    let rows: Vec<u32> = observed.costs.iter().map(|it| it.node).collect();
    assert!(rows.is_sorted(), "{rows:?}");
    let all: i64 = observed.costs.iter().map(|it| it.cpu_ns).sum();
    assert_eq!(all, tree.total(0));
    // The two samples of `serve > sort` from one transaction are one observation.
    let mut instances: Vec<u32> = observed.costs.iter().map(|it| it.instance).collect();
    instances.sort_unstable();
    instances.dedup();
    assert_eq!(instances.len(), 2);
}

#[test]
fn functions_have_their_files_and_lines_are_told_apart() {
    let stitched = shop().stitched();
    let buy = named(&stitched, "GET /buy").id;
    let lines_of = |tree: &fulcrum_model::CallTree| -> Vec<(String, Option<u32>)> {
        let frames = tree.frames().iter().filter(|it| it.file.is_some());
        let mut lines: Vec<_> = frames.map(|it| (it.name.clone(), it.line)).collect();
        lines.sort();
        lines
    };
    let line = |name: &str, line| (name.to_owned(), line);
    let whole = stitched.tree(buy).unwrap();
    assert_eq!(lines_of(&whole), [line("serve", None), line("sort", None)]);
    let expect = [
        line("serve", Some(40)),
        line("sort", Some(12)),
        line("sort", Some(13)),
    ];
    assert_eq!(lines_of(&stitched.lines_tree(buy).unwrap()), expect);
    let observed = stitched.observed(buy).unwrap();
    assert_eq!(lines_of(&observed.lines), expect);
    assert_eq!(whole.total(0) - observed.lines.total(0), MS as i64);
}

/// Each transaction is an observation, with or without samples.
#[test]
fn a_type_costs_what_its_transactions_cost() {
    let stitched = shop().stitched();
    let found = stitched.type_cost(&named(&stitched, "GET /buy"));
    let ms = |values: &[f64]| Sample::of(&values.iter().map(|it| it * 1e6).collect::<Vec<_>>());
    assert_eq!(found.cpu, ms(&[3.0, 2.0, 0.0, 0.0]));
    assert_eq!((found.cpu_ns, found.left_out_ns), (6 * MS, MS));
    assert_eq!(found.latency.map(|it| it.count), Some(4));
    // It worked for one transaction, which began under another name.
    let list = stitched.type_cost(&named(&stitched, "GET /list"));
    assert_eq!((list.transactions, list.cpu, list.latency), (1, None, None));
}

#[test]
fn types_of_two_profiles_are_compared_by_their_names() {
    let mut faster = Shop::new(2);
    for id in 1..=3 {
        faster.instance("GET /buy", id, 1);
        faster.instance("GET /new", 10 + id, 1);
    }
    faster.sample("GET /buy", Some(1), "serve > sort", 12);
    let (a, b) = (shop().stitched(), faster.stitched());
    let all = compare(&a, &b);
    let names: Vec<&str> = all.iter().map(|it| &*it.name).collect();
    assert_eq!(names, ["GET /buy", "GET /list", "GET /new"]);
    let buy = &all[0];
    let cpu = buy.difference.cpu.unwrap();
    let samples =
        [vec![3e6, 2e6, 0.0, 0.0], vec![1e6, 0.0, 0.0]].map(|it| Sample::of(&it).unwrap());
    assert_eq!(cpu, welch(samples[0], samples[1]));
    let walls = [vec![10e6, 20e6, 1e6, 1e6], vec![1e6; 3]].map(|it| Sample::of(&it).unwrap());
    assert_eq!(buy.difference.wall, Some(welch(walls[0], walls[1])));
    let new = &all[2];
    assert_eq!((new.a, new.difference.cpu), (None, None));
    assert_eq!(new.b.map(|it| it.transactions), Some(3));
}

/// A transaction that several processes work for counts once.
#[test]
fn a_transaction_counts_once_in_all_processes() {
    let mut records = Vec::new();
    for id in [1, 2] {
        let mut shop = Shop::new(id);
        let context = shop.context("GET /buy");
        let part = (context, InstanceId(7));
        shop.process.record.parts = vec![part, (context, InstanceId(id + 10))];
        shop.sample("GET /buy", Some(7), "serve", 1);
        let mut record = shop.process.record;
        record.dictionary = shop.process.dictionary.export("shop");
        assert_eq!(record.dictionary.process, ProcessId(id));
        records.push(record);
    }
    let stitched = Stitched::of(records, Vec::new()).unwrap();
    let buy = named(&stitched, "GET /buy");
    assert_eq!(stitched.transactions_of(buy.id), 3);
    let found = stitched.type_cost(&buy);
    assert_eq!(found.cpu, Sample::of(&[2e6, 0.0, 0.0]));
}
