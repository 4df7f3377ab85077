//! A queue that was replayed.

/// By what a put and a take are known to be of one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// First in, first out: the oldest request is taken.
    #[default]
    Fifo,
    /// Last in, first out: the newest one is.
    Lifo,
    /// The object that is returned is the one that was put. Nothing is assumed about the order.
    Identity,
}

/// A queue that was replayed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Queue {
    /// By what puts and takes were joined.
    pub order: Order,
    /// The queues, in the order of their first puts: one, unless the log tells several apart.
    pub queues: Vec<QueueObject>,
    /// In the order in which they were put.
    pub requests: Vec<Request>,
    /// Takes that returned without a request.
    pub empty_takes: u64,
    /// Puts that returned false: there was no place.
    pub rejected: u64,
    /// Takes of an object that no put had brought until then.
    pub before_put: u64,
    /// Takes that returned another object than the order says. They are told only where the log tells objects and the order
    /// was chosen all the same.
    pub mismatched: u64,
    /// Requests that were taken after one that was put later, neither both puts nor both takes at the same time. `None`: the
    /// order was assumed.
    pub overtaken: Option<u64>,
    /// Puts and takes that ended by an exception.
    pub thrown: u64,
    /// What could not be matched and why, and what the log lacks. Whole sentences.
    pub notes: Vec<String>,
}

/// One of the queues that were replayed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueObject {
    /// What is put into; `None` where that is not told, and all are taken for one.
    pub object: Option<u64>,
    /// Requests that were put.
    pub put: u64,
    /// Of these, taken.
    pub taken: u64,
    /// Most requests in it.
    pub length_max: u64,
}

/// A request. Times are nanoseconds since the log's start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// From 1, in the order in which puts returned.
    pub number: u64,
    /// The object that it was put into; `None` where queues are not told apart.
    pub queue: Option<u64>,
    /// The object that was put; `None` when the log does not tell it.
    pub object: Option<u64>,
    /// The thread that put it.
    pub put_thread: u32,
    /// The put's node.
    pub put_node: u64,
    /// When it was in the queue: when the put returned, or when it was taken if that was earlier.
    pub enqueue_ns: u64,
    /// Requests in the queue after the put.
    pub put_length: u64,
    /// `None`: it was never taken.
    pub take: Option<Take>,
    /// False when its take returned another object, and from where on the log contradicts that this is one queue of this order.
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
    /// Requests in the queue after it.
    pub length: u64,
    /// When the thread came back for another request, or ended. `None`: neither is in the log.
    pub finish_ns: Option<u64>,
}

impl Request {
    /// How long it was in the queue.
    pub fn wait_ns(&self) -> Option<u64> {
        self.take.map(|it| it.dispatch_ns - self.enqueue_ns)
    }

    /// From being taken to when its thread came back.
    pub fn service_ns(&self) -> Option<u64> {
        let take = self.take?;
        Some(take.finish_ns?.saturating_sub(take.dispatch_ns))
    }
}

/// Numbers requests in the order in which they came into their queues. The numbers, by where the requests were before.
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
