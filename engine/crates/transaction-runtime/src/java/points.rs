//! The methods of the platform by which tasks are handed on and done, of JDK 8 to 25.

/// What a method is to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Point {
    /// Hands a task to an executor: what it is given.
    Submit,
    /// Puts a task into a queue of a `ForkJoinPool`: what it is given.
    Fork,
    /// Registers with a future what is to be done when that is there: what it is given.
    Register,
    /// A pool's thread asks for its next task, and does it when the method has returned it.
    NextTask,
    /// A pool's thread begins, with the task that its `Worker` was made with.
    Worker,
    /// A thread of a `ForkJoinPool` begins.
    ForkWorker,
    /// Does the task that it is called on.
    Run,
    /// Puts what it is given into a queue.
    Put,
    /// Takes what it returns from a queue.
    Take,
    /// Starts the virtual thread that it is called on.
    StartVirtual,
    /// Runs the virtual thread that it is called on, until that waits or ends.
    RunVirtual,
    /// The virtual thread leaves its carrier.
    Unmount,
    /// The virtual thread has ended.
    EndVirtual,
    /// Has a virtual thread go on: the task that it hands to a pool is the thread, which knows itself for whom it works.
    Resume,
}

impl Point {
    const ALL: [Point; 14] = [
        Point::Submit,
        Point::Fork,
        Point::Register,
        Point::NextTask,
        Point::Worker,
        Point::ForkWorker,
        Point::Run,
        Point::Put,
        Point::Take,
        Point::StartVirtual,
        Point::RunVirtual,
        Point::Unmount,
        Point::EndVirtual,
        Point::Resume,
    ];

    /// The one of this number.
    pub(crate) fn of(number: i32) -> Option<Point> {
        Point::ALL.get(usize::try_from(number).ok()?).copied()
    }
}

/// A method: its name, how its descriptor begins, and what it is.
type Method = (&'static str, &'static str, Point);

const POOL: &[Method] = &[
    ("execute", "(Ljava/lang/Runnable;", Point::Submit),
    ("getTask", "()", Point::NextTask),
    ("runWorker", "(", Point::Worker),
];
const SCHEDULED: &[Method] = &[("delayedExecute", "(", Point::Submit)];
const FORK_QUEUE: &[Method] = &[
    ("push", "(Ljava/util/concurrent/ForkJoinTask;", Point::Fork),
    (
        "lockedPush",
        "(Ljava/util/concurrent/ForkJoinTask;",
        Point::Fork,
    ),
];
const FORK_POOL: &[Method] = &[("runWorker", "(", Point::ForkWorker)];
const FORK_TASK: &[Method] = &[("doExec", "()", Point::Run)];
const FUTURE: &[Method] = &[("tryPushStack", "(", Point::Register)];
const COMPLETION: &[Method] = &[("tryFire", "(I)", Point::Run)];
const QUEUE: &[Method] = &[
    ("put", "(L", Point::Put),
    ("offer", "(L", Point::Put),
    ("take", "()", Point::Take),
    ("poll", "(", Point::Take),
];
const TRANSFER: &[Method] = &[
    ("put", "(L", Point::Put),
    ("offer", "(L", Point::Put),
    ("add", "(L", Point::Put),
    ("transfer", "(L", Point::Put),
    ("tryTransfer", "(L", Point::Put),
    ("take", "()", Point::Take),
    ("poll", "(", Point::Take),
];
const DEQUE: &[Method] = &[
    ("putFirst", "(L", Point::Put),
    ("putLast", "(L", Point::Put),
    ("offerFirst", "(L", Point::Put),
    ("offerLast", "(L", Point::Put),
    ("takeFirst", "()", Point::Take),
    ("takeLast", "()", Point::Take),
    ("pollFirst", "(", Point::Take),
    ("pollLast", "(", Point::Take),
];
const CONCURRENT_DEQUE: &[Method] = &[
    ("linkFirst", "(L", Point::Put),
    ("linkLast", "(L", Point::Put),
    ("pollFirst", "()", Point::Take),
    ("pollLast", "()", Point::Take),
];
const VIRTUAL: &[Method] = &[
    (
        "start",
        "(Ljdk/internal/vm/ThreadContainer;",
        Point::StartVirtual,
    ),
    ("runContinuation", "()", Point::RunVirtual),
    ("unmount", "()", Point::Unmount),
    ("afterDone", "(Z", Point::EndVirtual),
    ("afterTerminate", "(Z", Point::EndVirtual),
    ("submitRunContinuation", "(", Point::Resume),
    ("lazySubmitRunContinuation", "(", Point::Resume),
    ("externalSubmitRunContinuation", "(", Point::Resume),
    ("externalSubmitRunContinuationOrThrow", "(", Point::Resume),
];

/// Classes with their methods. Of each class, no method of the list calls another one of it for the same object, unless the outer
/// one is told of first and last.
pub(crate) const CLASSES: &[(&str, &[Method])] = &[
    ("java/util/concurrent/ThreadPoolExecutor", POOL),
    (
        "java/util/concurrent/ScheduledThreadPoolExecutor",
        SCHEDULED,
    ),
    ("java/util/concurrent/ForkJoinPool", FORK_POOL),
    ("java/util/concurrent/ForkJoinPool$WorkQueue", FORK_QUEUE),
    ("java/util/concurrent/ForkJoinTask", FORK_TASK),
    ("java/util/concurrent/CompletableFuture", FUTURE),
    (
        "java/util/concurrent/CompletableFuture$UniApply",
        COMPLETION,
    ),
    (
        "java/util/concurrent/CompletableFuture$UniAccept",
        COMPLETION,
    ),
    ("java/util/concurrent/CompletableFuture$UniRun", COMPLETION),
    (
        "java/util/concurrent/CompletableFuture$UniWhenComplete",
        COMPLETION,
    ),
    (
        "java/util/concurrent/CompletableFuture$UniHandle",
        COMPLETION,
    ),
    (
        "java/util/concurrent/CompletableFuture$UniExceptionally",
        COMPLETION,
    ),
    (
        "java/util/concurrent/CompletableFuture$UniComposeExceptionally",
        COMPLETION,
    ),
    (
        "java/util/concurrent/CompletableFuture$UniCompose",
        COMPLETION,
    ),
    ("java/util/concurrent/CompletableFuture$BiApply", COMPLETION),
    (
        "java/util/concurrent/CompletableFuture$BiAccept",
        COMPLETION,
    ),
    ("java/util/concurrent/CompletableFuture$BiRun", COMPLETION),
    ("java/util/concurrent/CompletableFuture$OrApply", COMPLETION),
    (
        "java/util/concurrent/CompletableFuture$OrAccept",
        COMPLETION,
    ),
    ("java/util/concurrent/CompletableFuture$OrRun", COMPLETION),
    ("java/util/concurrent/ArrayBlockingQueue", QUEUE),
    ("java/util/concurrent/LinkedBlockingQueue", QUEUE),
    ("java/util/concurrent/SynchronousQueue", QUEUE),
    ("java/util/concurrent/PriorityBlockingQueue", QUEUE),
    ("java/util/concurrent/DelayQueue", QUEUE),
    ("java/util/concurrent/ConcurrentLinkedQueue", QUEUE),
    ("java/util/concurrent/LinkedTransferQueue", TRANSFER),
    ("java/util/concurrent/LinkedBlockingDeque", DEQUE),
    (
        "java/util/concurrent/ConcurrentLinkedDeque",
        CONCURRENT_DEQUE,
    ),
    ("java/lang/VirtualThread", VIRTUAL),
];

/// What a method of a class is, if anything. `class` has slashes.
pub(crate) fn point(methods: &[Method], name: &str, descriptor: &str) -> Option<Point> {
    let is = |it: &&Method| it.0 == name && descriptor.starts_with(it.1);
    methods.iter().find(is).map(|it| it.2)
}

/// The methods of a class that are looked for.
pub(crate) fn methods_of(class: &str) -> Option<&'static [Method]> {
    CLASSES.iter().find(|it| it.0 == class).map(|it| it.1)
}
