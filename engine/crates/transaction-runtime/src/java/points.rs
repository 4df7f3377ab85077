//! The JDK methods by which tasks are handed on and run, and by which threads wait for locks, for JDK 8 to 25.

/// The role of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Point {
    /// Hands its argument, a task, to an executor.
    Submit,
    /// Puts its argument, a task, into a queue of a `ForkJoinPool`.
    Fork,
    /// Registers its argument, to be called when a future completes.
    Register,
    /// A pool's thread asks for its next task, and runs it after the method has returned it.
    NextTask,
    /// A pool's thread starts, with the first task of its `Worker`.
    Worker,
    /// A thread of a `ForkJoinPool` starts.
    ForkWorker,
    /// Runs the task that it is called on.
    Run,
    /// Puts its argument into a queue.
    Put,
    /// Takes its result from a queue.
    Take,
    /// Starts the virtual thread that it is called on.
    StartVirtual,
    /// Runs the virtual thread that it is called on, until it waits or ends.
    RunVirtual,
    /// A virtual thread leaves its carrier.
    Unmount,
    /// A virtual thread has ended.
    EndVirtual,
    /// Resumes a virtual thread. The task that it hands to a pool is the thread itself, which knows what it works for.
    Resume,
    /// Waits until another thread ends the wait. Its argument is what it waits for.
    Park,
    /// Ends the wait of its argument, a thread.
    Unpark,
}

impl Point {
    const ALL: [Point; 16] = [
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
        Point::Park,
        Point::Unpark,
    ];

    /// The point with this number.
    pub(crate) fn of(number: i32) -> Option<Point> {
        Point::ALL.get(usize::try_from(number).ok()?).copied()
    }
}

/// A method: its name, the start of its descriptor, and its role.
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
const PARKING: &[Method] = &[
    ("park", "(Ljava/lang/Object;)V", Point::Park),
    ("parkNanos", "(Ljava/lang/Object;J)V", Point::Park),
    ("parkUntil", "(Ljava/lang/Object;J)V", Point::Park),
    ("unpark", "(Ljava/lang/Thread;)V", Point::Unpark),
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

/// Classes with their methods. No listed method of a class calls another listed one for the same object, unless the outer
/// one is reported first and last.
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
    ("java/util/concurrent/locks/LockSupport", PARKING),
    ("java/lang/VirtualThread", VIRTUAL),
];

/// The role of a method in a class, if any. `class` has slashes.
pub(crate) fn point(methods: &[Method], name: &str, descriptor: &str) -> Option<Point> {
    let is = |it: &&Method| it.0 == name && descriptor.starts_with(it.1);
    methods.iter().find(is).map(|it| it.2)
}

/// The methods of a class that are probed.
pub(crate) fn methods_of(class: &str) -> Option<&'static [Method]> {
    CLASSES.iter().find(|it| it.0 == class).map(|it| it.1)
}
