//! Randomly scheduled servers with threads, queues and connections: all CPU time is attributed to the right request.

use std::collections::BTreeMap;

use fulcrum_stats::Random;
use fulcrum_wire::transactions::{LockKind, StreamKind, Via};

use crate::support::script::{Script, Thread};

const WORKERS: usize = 3;
const KINDS: [&str; 3] = ["buy", "home", "search"];

/// How workers get their requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Queue {
    /// Through a queue whose flow is seen.
    Seen,
    /// Through one whose flow is not seen: each worker reads what it answers.
    Unseen,
}

/// A request in progress: the remaining steps, with the next one last.
struct Job {
    kind: usize,
    worker: usize,
    steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// It is put into the queue, and taken from it.
    Queue,
    /// A part of the request, and whether it is the first.
    Read(u64, bool),
    Compute(u64),
    Ask(u64),
    Serve(u64),
    Sort(u64),
    Reply(u64),
    Result(u64),
    Answer(u64),
}

struct Servers<'a> {
    script: Script,
    random: &'a mut Random,
    queue: Queue,
    listener: Thread,
    workers: Vec<Thread>,
    backends: Vec<Thread>,
    items: u64,
    /// Milliseconds by kind, in the front end and the back end.
    expect: BTreeMap<(usize, &'static str), u64>,
}

/// Splits `total` bytes into parts.
fn parts(random: &mut Random, total: u64) -> Vec<u64> {
    let mut parts = Vec::new();
    let mut left = total;
    while left > 0 {
        let part = 1 + random.below(left);
        parts.push(part);
        left -= part;
    }
    parts
}

impl<'a> Servers<'a> {
    fn new(random: &'a mut Random, queue: Queue) -> Self {
        let mut script = Script::default();
        let web = script.process(10, "web");
        let db = script.process(20, "db");
        for process in [web.process, db.process] {
            script.skew(process, random.below(1_900_000_000) as i64 - 950_000_000);
        }
        let listener = script.spawn(web, "main > start", 2, "listener");
        let workers: Vec<Thread> = (0..WORKERS as u32)
            .map(|n| script.spawn(web, "main > start", 3 + n, "worker"))
            .collect();
        let backends: Vec<Thread> = (0..WORKERS as u32)
            .map(|n| script.spawn(db, "main > start", 2 + n, "backend"))
            .collect();
        let is_unix = random.below(2) == 0;
        for n in 0..WORKERS {
            let (stream, port) = (n as u32 + 1, n as u16);
            let client = (80, 4000 + port);
            script.tcp(
                workers[n],
                "work > accept",
                100 + stream,
                Via::Accepted,
                client,
            );
            if is_unix {
                let inodes = (500 + n as u64, 600 + n as u64);
                script.inode(
                    workers[n],
                    stream,
                    StreamKind::Unix,
                    Via::Connected,
                    (inodes.0, 0),
                );
                script.inode(
                    backends[n],
                    stream,
                    StreamKind::Unix,
                    Via::Accepted,
                    (inodes.1, inodes.0),
                );
            } else {
                script.tcp(workers[n], "", stream, Via::Connected, (5000 + port, 90));
                script.tcp(backends[n], "", stream, Via::Accepted, (90, 5000 + port));
            }
        }
        Servers {
            script,
            random,
            queue,
            listener,
            workers,
            backends,
            items: 0,
            expect: BTreeMap::new(),
        }
    }

    fn job(&mut self, worker: usize) -> Job {
        let random = &mut *self.random;
        let mut steps = vec![Step::Queue];
        let total = 20 + random.below(100);
        let read = parts(random, total).into_iter().enumerate();
        steps.extend(read.map(|(n, it)| Step::Read(it, n == 0)));
        for _ in 0..random.below(4) {
            steps.push(Step::Compute(1 + random.below(9)));
            let asked = 1 + random.below(50);
            steps.extend(parts(random, asked).into_iter().map(Step::Ask));
            steps.extend(parts(random, asked).into_iter().map(Step::Serve));
            steps.push(Step::Sort(1 + random.below(9)));
            let replied = 1 + random.below(500);
            steps.extend(parts(random, replied).into_iter().map(Step::Reply));
            steps.extend(parts(random, replied).into_iter().map(Step::Result));
        }
        steps.push(Step::Compute(1 + random.below(9)));
        let answered = 1 + random.below(500);
        steps.extend(parts(random, answered).into_iter().map(Step::Answer));
        steps.reverse();
        Job {
            kind: random.index(KINDS.len()),
            worker,
            steps,
        }
    }

    fn step(&mut self, job: &mut Job) {
        let Some(step) = job.steps.pop() else { return };
        let (worker, backend) = (self.workers[job.worker], self.backends[job.worker]);
        let stream = job.worker as u32 + 1;
        let kind = KINDS[job.kind];
        let query = format!("work > {kind}_query > send");
        match step {
            Step::Queue if self.queue == Queue::Seen => {
                self.items += 1;
                self.script.idle(self.listener, "listen > poll");
                let item = self.items * WORKERS as u64 + job.worker as u64;
                self.script.produce(self.listener, "listen > push", item);
                let condition = LockKind::Condition;
                self.script
                    .release(self.listener, "listen > push", condition);
                self.script
                    .wait(worker, "work > pop > wait", condition, 1, 0);
                self.script.consume(worker, "work > pop", item);
            }
            Step::Queue => {}
            Step::Read(bytes, is_first) => {
                let request = format!("GET /{kind} HTTP/1.1\r\n");
                let head = if is_first { &*request } else { "" };
                self.script
                    .receive(worker, "work > recv", 100 + stream, bytes, head);
            }
            Step::Compute(ms) => {
                self.script.sample(worker, "work > compute", ms);
                *self.expect.entry((job.kind, "web/worker")).or_default() += ms;
            }
            Step::Ask(bytes) => self.script.send(worker, &query, stream, bytes),
            Step::Serve(bytes) => self
                .script
                .receive(backend, "serve > recv", stream, bytes, ""),
            Step::Sort(ms) => {
                self.script.sample(backend, "serve > sort", ms);
                *self.expect.entry((job.kind, "db/backend")).or_default() += ms;
            }
            Step::Reply(bytes) => self.script.send(backend, "serve > send", stream, bytes),
            Step::Result(bytes) => self.script.receive(worker, &query, stream, bytes, ""),
            Step::Answer(bytes) => self.script.send(worker, "work > send", 100 + stream, bytes),
        }
    }

    /// Runs this many requests, at most one for each worker at a time, in random order.
    fn run(mut self, requests: usize) -> (Script, Vec<String>) {
        let mut jobs: Vec<Job> = Vec::new();
        let mut begun = 0;
        while begun < requests || !jobs.is_empty() {
            if begun < requests && jobs.len() < WORKERS {
                let free = (0..WORKERS).filter(|n| jobs.iter().all(|it| it.worker != *n));
                let free: Vec<usize> = free.collect();
                let worker = free[self.random.index(free.len())];
                let job = self.job(worker);
                jobs.push(job);
                begun += 1;
            }
            let n = self.random.index(jobs.len());
            let mut job = jobs.swap_remove(n);
            self.step(&mut job);
            if !job.steps.is_empty() {
                jobs.push(job);
            }
        }
        let line = |(&(kind, place), ms): (&(usize, &str), &u64)| {
            format!("{ms} ms of GET /{} in {place}", KINDS[kind])
        };
        (self.script, self.expect.iter().map(line).collect())
    }
}

#[test]
fn all_cpu_time_is_told_by_the_right_request() {
    for queue in [Queue::Seen, Queue::Unseen] {
        for seed in 0..8 {
            let mut random = Random::new(seed);
            let (script, mut expect) = Servers::new(&mut random, queue).run(80);
            let shown = script.open();
            let mut costs = shown.costs();
            costs.sort();
            expect.sort();
            assert_eq!(costs, expect, "{queue:?} {seed}");
            let types = shown.0.stitched.types();
            let count: u64 = types
                .iter()
                .filter_map(|it| it.latency)
                .map(|it| it.count)
                .sum();
            assert_eq!(count, 80);
            assert_eq!(shown.waits(), [""; 0]);
        }
    }
}
