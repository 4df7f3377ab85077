//! Names of tasks and locks: their classes. For objects that only wrap a task, such as `FutureTask`, the name is the task's class.

use core::ffi::CStr;
use core::sync::atomic::{AtomicU64, Ordering};
use std::collections::BTreeMap;

use fulcrum_jvm_interface::jni::{Env, Field, Object};
use fulcrum_jvm_interface::jvmti::{Jvmti, Method};
use fulcrum_preload::quiet::Shared;
use fulcrum_wire::transactions::{LockKind, NAMED_FUNCTIONS, Record};

use super::tags::Tag;
use crate::threads::thread;

/// A class that wraps tasks, with dots; the field that holds the task; and the field's type.
type Wrapper = (&'static str, &'static CStr, &'static CStr);

const RUNNABLE: &CStr = c"Ljava/lang/Runnable;";
const CALLABLE: &CStr = c"Ljava/util/concurrent/Callable;";
const FUNCTION: &CStr = c"Ljava/util/function/Function;";
const FUNCTION_OF_TWO: &CStr = c"Ljava/util/function/BiFunction;";
const CONSUMER: &CStr = c"Ljava/util/function/Consumer;";
const CONSUMER_OF_TWO: &CStr = c"Ljava/util/function/BiConsumer;";
const SUPPLIER: &CStr = c"Ljava/util/function/Supplier;";

/// Class names relative to their packages.
const WRAPPERS: [Wrapper; 23] = [
    ("FutureTask", c"callable", CALLABLE),
    (
        "ScheduledThreadPoolExecutor$ScheduledFutureTask",
        c"callable",
        CALLABLE,
    ),
    (
        "ExecutorCompletionService$QueueingFuture",
        c"callable",
        CALLABLE,
    ),
    ("Executors$RunnableAdapter", c"task", RUNNABLE),
    ("CompletableFuture$AsyncSupply", c"fn", SUPPLIER),
    ("CompletableFuture$AsyncRun", c"fn", RUNNABLE),
    ("CompletableFuture$UniApply", c"fn", FUNCTION),
    ("CompletableFuture$UniAccept", c"fn", CONSUMER),
    ("CompletableFuture$UniRun", c"fn", RUNNABLE),
    ("CompletableFuture$UniWhenComplete", c"fn", CONSUMER_OF_TWO),
    ("CompletableFuture$UniHandle", c"fn", FUNCTION_OF_TWO),
    ("CompletableFuture$UniExceptionally", c"fn", FUNCTION),
    ("CompletableFuture$UniComposeExceptionally", c"fn", FUNCTION),
    ("CompletableFuture$UniCompose", c"fn", FUNCTION),
    ("CompletableFuture$BiApply", c"fn", FUNCTION_OF_TWO),
    ("CompletableFuture$BiAccept", c"fn", CONSUMER_OF_TWO),
    ("CompletableFuture$BiRun", c"fn", RUNNABLE),
    ("CompletableFuture$OrApply", c"fn", FUNCTION),
    ("CompletableFuture$OrAccept", c"fn", CONSUMER),
    ("CompletableFuture$OrRun", c"fn", RUNNABLE),
    ("ForkJoinTask$AdaptedRunnableAction", c"runnable", RUNNABLE),
    ("ForkJoinTask$RunnableExecuteAction", c"runnable", RUNNABLE),
    ("ForkJoinTask$AdaptedCallable", c"callable", CALLABLE),
];
const PACKAGE: &str = "java.util.concurrent.";
/// The most nested wrappers that are opened.
const MOST: usize = 4;
/// Classes that the compiler makes for lambdas have numbers that differ between runs.
const LAMBDA: &str = "$$Lambda";
/// The most bytes of a name.
const LONGEST: usize = 200;

/// The fields of wrappers, by the number of the class name.
static FIELDS: Shared<Vec<(u64, Field)>> = Shared::new(Vec::new());
static LAST: AtomicU64 = AtomicU64::new(1);

/// The name of a virtual thread.
pub(crate) const VIRTUAL_THREAD: u64 = NAMED_FUNCTIONS | 1;

/// Defines the names that exist from the start.
pub(crate) fn prepare() {
    define(1, "java.lang.VirtualThread");
}

/// The number of a task's name, as records use it for functions.
pub(crate) fn of_task(env: Env, jvmti: Jvmti, task: Object) -> u64 {
    let mut task = task;
    let mut name = 0;
    for _ in 0..MOST {
        let class = env.class_of(task);
        let (known, wraps, _) = described(env, jvmti, class);
        name = known;
        env.forget(class);
        let Some(field) = wraps.then(|| field_of(known)).flatten() else {
            break;
        };
        // SAFETY: the field is one of the task's class, of a reference type.
        let wrapped = unsafe { env.object_in(task, field) };
        if wrapped.is_null() {
            break;
        }
        task = wrapped;
    }
    NAMED_FUNCTIONS | name
}

/// The number of a class's name, and what its objects are as locks.
pub(crate) fn of_lock(env: Env, jvmti: Jvmti, lock: Object) -> (u64, LockKind) {
    let class = env.class_of(lock);
    let (name, _, kind) = described(env, jvmti, class);
    env.forget(class);
    (NAMED_FUNCTIONS | name, kind)
}

/// A class: the number of its name, whether it wraps a task, and what its objects are as locks.
fn described(env: Env, jvmti: Jvmti, class: Object) -> (u64, bool, LockKind) {
    match Tag::get(jvmti, class) {
        Tag::Class { name, wraps, lock } => (name, wraps, lock),
        _ => describe(env, jvmti, class),
    }
}

/// What threads park for: `Sync` and its subclasses are what locks of `java.util.concurrent` consist of.
fn lock_kind(class: &str) -> LockKind {
    let is_part_of = |lock: &str| {
        class
            .strip_prefix(lock)
            .is_some_and(|it| it.starts_with('$'))
    };
    const LOCKS: [&str; 2] = [
        "java.util.concurrent.locks.ReentrantLock",
        "java.util.concurrent.locks.ReentrantReadWriteLock",
    ];
    if LOCKS.into_iter().any(is_part_of) || class == "java.util.concurrent.locks.StampedLock" {
        LockKind::Mutex
    } else if is_part_of("java.util.concurrent.Semaphore") {
        LockKind::Semaphore
    } else {
        LockKind::Condition
    }
}

/// The most methods between one of the program's and the lock.
const DEEPEST: usize = 24;

/// Methods that have waited for a lock or released one: the number of the name, and whether the method is part of the lock.
static METHODS: Shared<BTreeMap<Method, (u64, bool)>> = Shared::new(BTreeMap::new());

/// The number of the name of the method that waits for a lock, or releases one: the innermost one that is no part of the lock. 0
/// without one.
pub(crate) fn of_locking_method(env: Env, jvmti: Jvmti) -> u64 {
    let (methods, count) = jvmti.methods::<DEEPEST>();
    for method in &methods[..count] {
        let (name, is_part) = method_name(env, jvmti, *method);
        if !is_part {
            return NAMED_FUNCTIONS | name;
        }
    }
    0
}

fn method_name(env: Env, jvmti: Jvmti, method: Method) -> (u64, bool) {
    if let Some(known) = METHODS.lock_unless_left()
        && let Some(found) = known.get(&method)
    {
        return *found;
    }
    let class = jvmti.class_of_method(method);
    let class_name = jvmti.class_name(class);
    env.forget(class);
    const PARTS: [&str; 5] = [
        PACKAGE,
        "java.lang.FulcrumTasks",
        "java.lang.Object",
        "jdk.internal.misc.",
        "sun.misc.",
    ];
    let is_part = PARTS.iter().any(|it| class_name.starts_with(it));
    let mut name = 0;
    if !is_part {
        name = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        let method = jvmti.method_name(method);
        define(name, &format!("{}.{method}", shown(&class_name)));
    }
    if let Some(mut known) = METHODS.lock_unless_left() {
        known.insert(method, (name, is_part));
    }
    (name, is_part)
}

fn field_of(name: u64) -> Option<Field> {
    let fields = FIELDS.lock_unless_left()?;
    let found = fields.iter().find(|it| it.0 == name)?;
    Some(found.1)
}

/// Describes a class on first sight: the number of its name, and whether it wraps a task.
#[cold]
fn describe(env: Env, jvmti: Jvmti, class: Object) -> (u64, bool, LockKind) {
    let text = jvmti.class_name(class);
    let name = LAST.fetch_add(1, Ordering::Relaxed) + 1;
    let short = text.strip_prefix(PACKAGE);
    let wrapper = short.and_then(|short| WRAPPERS.iter().find(|it| it.0 == short));
    let field = wrapper.and_then(|(_, field, kind)| env.field(class, field, kind));
    if let (Some(field), Some(mut fields)) = (field, FIELDS.lock_unless_left()) {
        fields.push((name, field));
    }
    let wraps = field.is_some();
    let lock = lock_kind(&text);
    Tag::Class { name, wraps, lock }.set(jvmti, class);
    define(name, shown(&text));
    (name, wraps, lock)
}

/// A class name as it is shown.
fn shown(text: &str) -> &str {
    let text = match text.find(LAMBDA) {
        Some(at) => &text[..at + LAMBDA.len()],
        None => text,
    };
    let mut ends = (0..=text.len().min(LONGEST)).rev();
    let end = ends.find(|at| text.is_char_boundary(*at));
    &text[..end.unwrap_or(0)]
}

fn define(name: u64, text: &str) {
    if let Some(inside) = thread::enter() {
        let record = Record::Function {
            function: NAMED_FUNCTIONS | name,
            name: text.as_bytes(),
        };
        inside.write(0, &record);
    }
}
