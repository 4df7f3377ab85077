//! Processes that record what they do, and the paper's bookstore built from them (§8.4).

use fulcrum_transactions::crosstalk::{Holder, LockKind, Paths, Wait};
use fulcrum_transactions::latency::{Instance, InstanceId};
use fulcrum_transactions::messages::{ReceiveRecord, SendRecord, StreamId};
use fulcrum_transactions::stitch::ProcessRecord;
use fulcrum_transactions::{
    Activity, Chain, ContextProfile, Dictionary, LockId, ProcessId, Sample, Synopsis,
};

use super::{handler, path, request};

/// Nanoseconds in a millisecond.
pub(crate) const MS: u64 = 1_000_000;

/// A running process, with what it has recorded so far.
pub(crate) struct Process {
    pub dictionary: Dictionary,
    profile: ContextProfile,
    pub record: ProcessRecord,
}

impl Process {
    pub(crate) fn new(id: u64, program: &str) -> Self {
        let dictionary = Dictionary::new(ProcessId(id));
        let record = ProcessRecord::new(dictionary.export(program));
        Process {
            dictionary,
            profile: ContextProfile::default(),
            record,
        }
    }

    pub(crate) fn sample(&mut self, context: Synopsis, thread: &str, stack: &str, ns: u64) {
        self.sample_of(None, context, thread, stack, ns);
    }

    /// A sample for one transaction.
    pub(crate) fn sample_of(
        &mut self,
        instance: Option<u64>,
        context: Synopsis,
        thread: &str,
        stack: &str,
        ns: u64,
    ) {
        let instance = instance.map(InstanceId);
        let names = &mut self.dictionary.names;
        let stack = stack.split(" > ").map(|it| names.intern(it).into());
        let stack: Vec<_> = stack.collect();
        let thread = names.intern(thread);
        self.profile.add(&Sample {
            context,
            thread,
            instance,
            stack: &stack,
            cpu_ns: ns,
        });
    }

    pub(crate) fn end(self) -> ProcessRecord {
        ProcessRecord {
            dictionary: self.dictionary.export(self.record.dictionary.program),
            profile: self.profile,
            ..self.record
        }
    }

    /// The context of a call path alone.
    pub(crate) fn at(&mut self, text: &str) -> Synopsis {
        let step = path(&mut self.dictionary, text);
        self.dictionary.append(Synopsis::EMPTY, step)
    }
}

/// Sends a message of ten bytes, with what accompanies it.
pub(crate) fn message(
    from: (&mut Process, &Activity, &str),
    to: (&mut Process, &mut Activity),
    stream: u64,
    nth: u64,
) {
    let (sender, activity, call) = from;
    let step = path(&mut sender.dictionary, call);
    let context = sender.dictionary.append(activity.context(), step.clone());
    let chain: Chain = activity.send(&mut sender.dictionary, step);
    let range = 10 * nth..10 * nth + 10;
    let stream = StreamId(stream);
    sender.record.messages.sends.push(SendRecord {
        stream,
        range: range.clone(),
        context,
    });
    let (receiver, activity) = to;
    activity.receive(&mut receiver.dictionary, &chain).unwrap();
    let at = receiver.at("main > read_message");
    receiver
        .record
        .messages
        .receives
        .push(ReceiveRecord { stream, range, at });
}

/// Table 1: interactions with their shares of MySQL's CPU profile in parts of 10,000, and their mean crosstalk waits in
/// microseconds.
pub(crate) const TABLE_1: [(&str, u64, u64); 5] = [
    ("BestSellers", 5150, 22_160),
    ("SearchResult", 4328, 5520),
    ("NewProducts", 329, 1590),
    ("AdminConfirm", 82, 93_760),
    ("Home", 57, 1510),
];

/// Squid, Tomcat and MySQL (§8.4). Squid sends every page from one path. Tomcat has a servlet for each interaction.
pub(crate) fn bookstore(named_by_request: bool) -> Vec<ProcessRecord> {
    let (mut squid, mut tomcat, mut mysql) = (
        Process::new(1, "squid"),
        Process::new(2, "java"),
        Process::new(3, "mysqld"),
    );
    for (n, (interaction, cpu, wait)) in TABLE_1.into_iter().enumerate() {
        for instance in 0..4 {
            let nth = 4 * n as u64 + instance;
            let [mut front, mut middle, mut back] = [(); 3].map(|()| Activity::default());
            let accept = handler(&mut squid.dictionary, "httpAccept");
            front.execute(&mut squid.dictionary, Synopsis::EMPTY, accept);
            message(
                (&mut squid, &front, "main > forward"),
                (&mut tomcat, &mut middle),
                1,
                nth,
            );
            if named_by_request {
                let step = request(&mut tomcat.dictionary, &format!("GET /{interaction}"));
                middle.go_on(&mut tomcat.dictionary, step);
            }
            let servlet = format!("Thread.run > {interaction}.doGet > execute");
            tomcat.sample(middle.context(), "exec", &servlet, MS);
            message(
                (&mut tomcat, &middle, &servlet),
                (&mut mysql, &mut back),
                2,
                nth,
            );
            mysql.sample(
                back.context(),
                "connection",
                "do_command > mysql_execute > filesort",
                cpu * MS / 4,
            );
            let at = mysql.at("do_command > lock_table");
            mysql.record.waits.add(Wait {
                waiter: back.context(),
                holder: Holder::Unknown,
                lock: LockId(0x17),
                kind: LockKind::ReadWrite,
                wait_ns: wait * 1000,
                paths: Paths {
                    waiter: at,
                    holder: None,
                },
            });
            message(
                (&mut mysql, &back, "do_command > net_flush"),
                (&mut tomcat, &mut middle),
                3,
                nth,
            );
            message(
                (&mut tomcat, &middle, "Thread.run > respond"),
                (&mut squid, &mut front),
                4,
                nth,
            );
            squid.record.instances.push(Instance {
                id: InstanceId(nth),
                context: front.context(),
                wall_ns: (nth + 1) * MS,
                replied: true,
            });
        }
    }
    mysql.record.lock_names.insert(LockId(0x17), "item".into());
    [squid, tomcat, mysql].map(Process::end).into()
}
