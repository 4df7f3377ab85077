//! Names of tasks: their classes. For objects that only wrap a task, such as `FutureTask`, the name is the task's class.

use core::ffi::CStr;
use core::sync::atomic::{AtomicU64, Ordering};

use fulcrum_jvm_interface::jni::{Env, Field, Object};
use fulcrum_jvm_interface::jvmti::Jvmti;
use fulcrum_preload::quiet::Shared;
use fulcrum_wire::transactions::{NAMED_FUNCTIONS, Record};

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
        let (known, wraps) = match Tag::get(jvmti, class) {
            Tag::Class { name, wraps } => (name, wraps),
            _ => describe(env, jvmti, class),
        };
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

fn field_of(name: u64) -> Option<Field> {
    let fields = FIELDS.lock_unless_left()?;
    let found = fields.iter().find(|it| it.0 == name)?;
    Some(found.1)
}

/// Describes a class on first sight: the number of its name, and whether it wraps a task.
#[cold]
fn describe(env: Env, jvmti: Jvmti, class: Object) -> (u64, bool) {
    let text = jvmti.class_name(class);
    let name = LAST.fetch_add(1, Ordering::Relaxed) + 1;
    let short = text.strip_prefix(PACKAGE);
    let wrapper = short.and_then(|short| WRAPPERS.iter().find(|it| it.0 == short));
    let field = wrapper.and_then(|(_, field, kind)| env.field(class, field, kind));
    if let (Some(field), Some(mut fields)) = (field, FIELDS.lock_unless_left()) {
        fields.push((name, field));
    }
    let wraps = field.is_some();
    Tag::Class { name, wraps }.set(jvmti, class);
    define(name, shown(&text));
    (name, wraps)
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
