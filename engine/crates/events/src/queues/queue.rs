//! A replayed queue.

/// How puts and takes are joined to requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// First in, first out: the oldest request is taken.
    #[default]
    Fifo,
    /// Last in, first out: the newest request is taken.
    Lifo,
    /// By identity: a take returns the object that was put. Assumes nothing about the order.
    Identity,
}

/// A replayed queue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Queue {
    /// How puts and takes were joined.
    pub order: Order,
    /// The queues, in the order of their first puts. Only one, unless the log distinguishes several.
    pub queues: Vec<QueueObject>,
    /// The requests, in the order in which they were put.
    pub requests: Vec<Request>,
    /// The number of takes that returned without a request.
    pub empty_takes: u64,
    /// The number of puts that returned false, because the queue was full.
    pub rejected: u64,
    /// The number of takes of an object that had not been put before.
    pub before_put: u64,
    /// The number of takes that returned another object than by the order. Only counted if the log has objects and the user chose an order.
    pub mismatched: u64,
    /// The number of requests that were taken after one that was put later; neither their puts nor their takes overlap. `None` if the order was
    /// assumed.
    pub overtaken: Option<u64>,
    /// The number of puts and takes that ended by an exception.
    pub thrown: u64,
    /// What could not be matched and why, and what the log lacks, in whole sentences.
    pub notes: Vec<String>,
}

/// One of the queues that were replayed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueObject {
    /// The queue object. `None` if the log does not have it, and all queues are treated as one.
    pub object: Option<u64>,
    /// The number of requests that were put.
    pub put: u64,
    /// The number of them that were taken.
    pub taken: u64,
    /// The greatest length.
    pub length_max: u64,
}

/// A request. Times are in nanoseconds since the log's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The number, from 1, in the order in which puts returned.
    pub number: u64,
    /// The object into which it was put. `None` if queues are not distinguished.
    pub queue: Option<u64>,
    /// The object that was put. `None` if the log does not have it.
    pub object: Option<u64>,
    /// The thread that put it.
    pub put_thread: u32,
    /// The put's node.
    pub put_node: u64,
    /// When it came into the queue: when the put returned, or when it was taken if that was earlier.
    pub enqueue_ns: u64,
    /// The length of the queue after the put.
    pub put_length: u64,
    /// How it was taken. `None` if it never was.
    pub take: Option<Take>,
    /// Whether its identity is certain. False if its take returned another object, and from the point on at which the log contradicts that this is
    /// one queue with this order.
    pub sure: bool,
}

/// How a request left the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Take {
    /// The thread that took it.
    pub thread: u32,
    /// The take's node.
    pub node: u64,
    /// When the take returned.
    pub dispatch_ns: u64,
    /// The length of the queue after it.
    pub length: u64,
    /// When the thread came back for another request, or ended. `None` if neither is in the log.
    pub finish_ns: Option<u64>,
}

impl Request {
    /// Its time in the queue.
    pub fn wait_ns(&self) -> Option<u64> {
        self.take.map(|it| it.dispatch_ns - self.enqueue_ns)
    }

    /// The time from being taken until its thread came back.
    pub fn service_ns(&self) -> Option<u64> {
        let take = self.take?;
        Some(take.finish_ns?.saturating_sub(take.dispatch_ns))
    }
}

/// Numbers requests in the order in which they came into their queues. Returns the numbers, by the previous positions of the requests.
pub(crate) fn number(queue: &mut Queue) -> Vec<u64> {
    let mut order: Vec<usize> = (0..queue.requests.len()).collect();
    order.sort_by_key(|at| queue.requests[*at].enqueue_ns);
    let mut numbers = vec![0; order.len()];
    for (number, at) in (1..).zip(order) {
        numbers[at] = number;
        queue.requests[at].number = number;
    }
    queue.requests.sort_by_key(|it| it.number);
    numbers
}
