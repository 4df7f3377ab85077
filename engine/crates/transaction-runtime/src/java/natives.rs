//! The native methods that the methods in [`points`](super::points) call.

use core::sync::atomic::Ordering;
use std::panic::{AssertUnwindSafe, catch_unwind};

use fulcrum_jvm_interface::jni::{AtomicField, AtomicObject, Env, Object};
use fulcrum_jvm_interface::jvmti::Jvmti;
use fulcrum_preload::sys;
use fulcrum_wire::transactions::Record;

use super::interface;
use super::lock_waits;
use super::names::{self, VIRTUAL_THREAD};
use super::points::Point;
use super::queues::{self, UNNUMBERED};
use super::scopes::{Kind, Scope, Tasks};
use super::tags::{self, Tag};
use super::virtual_threads;
use crate::libraries::next_item;
use crate::threads::thread::{self, Inside};

/// The classes of tasks.
static RUNNABLE: AtomicObject = AtomicObject::null();
static CALLABLE: AtomicObject = AtomicObject::null();
/// The field of a pool's `Worker` that holds its first task.
static FIRST_TASK: AtomicField = AtomicField::unknown();
/// Tells threads created by a pool apart from virtual ones.
const OF_VIRTUAL: u64 = 1 << 63;

/// Looks up what is needed later. Returns `None` if the machine lacks it.
pub(crate) fn prepare(env: Env) -> Option<()> {
    for (place, name) in [
        (&RUNNABLE, c"java.lang.Runnable"),
        (&CALLABLE, c"java.util.concurrent.Callable"),
    ] {
        let class = env.load_class(name)?;
        place.store(env.global(class)?, Ordering::Release);
    }
    Some(())
}

/// Our native method with the name that a virtual machine looks up.
pub(crate) fn address(name: &[u8]) -> Option<usize> {
    let method = name.strip_prefix(b"Java_java_lang_FulcrumTasks_")?;
    let function = match method {
        b"entered" => entered as *const (),
        b"returns" => returns as *const (),
        b"says" => says as *const (),
        b"exit" => exit as *const (),
        b"thrown" => thrown as *const (),
        _ => return None,
    };
    Some(function.addr())
}

unsafe extern "system" fn entered(env: Env, _class: Object, on: Object, given: Object, point: i32) {
    guarded(point, |point, jvmti| {
        enters(point, env, jvmti, (on, given));
    });
}

unsafe extern "system" fn returns(env: Env, _class: Object, object: Object, point: i32) {
    guarded(point, |point, jvmti| match point {
        Point::NextTask => next_task(env, jvmti, object),
        Point::Take => taken(env, jvmti, object),
        _ => leaves(point),
    });
}

unsafe extern "system" fn says(_env: Env, _class: Object, _yes: i32, point: i32) {
    guarded(point, |point, _| leaves(point));
}

unsafe extern "system" fn exit(env: Env, _class: Object, point: i32) {
    guarded(point, |point, jvmti| match point {
        Point::Park => lock_waits::ends(env, jvmti, None),
        Point::Unpark => lock_waits::unparked(env, jvmti),
        _ => leaves(point),
    });
}

unsafe extern "system" fn thrown(_env: Env, _class: Object, point: i32) {
    guarded(point, |point, _| match point {
        Point::Park | Point::Unpark => lock_waits::forget(),
        _ => leaves(point),
    });
}

/// Nothing here panics. If it did, the program would continue.
fn guarded(point: i32, what: impl FnOnce(Point, Jvmti)) {
    if let (Some(point), Some(jvmti)) = (Point::of(point), interface::jvmti()) {
        let _ = catch_unwind(AssertUnwindSafe(|| what(point, jvmti)));
    }
}

/// Works with the thread's scopes, and may write records. Calls nothing of the machine meanwhile.
fn with<T>(what: impl FnOnce(&Inside, &Tasks) -> T) -> Option<T> {
    let inside = thread::enter()?;
    let tasks = &inside.thread().tasks;
    Some(what(&inside, tasks))
}

/// The same without writing records.
fn tasks() -> Option<&'static Tasks> {
    with(|inside, _| &inside.thread().tasks)
}

fn enters(point: Point, env: Env, jvmti: Jvmti, (on, given): (Object, Object)) {
    match point {
        Point::Submit => submits(jvmti, given),
        Point::Fork => forks(jvmti, given),
        Point::Register if !given.is_null() => tags::register(jvmti, given),
        Point::Register => {}
        Point::NextTask => asks(),
        Point::Worker => begins_worker(env, jvmti, given),
        Point::ForkWorker => rests(),
        Point::Run => runs(env, jvmti, on),
        Point::Put => puts(env, jvmti, on, given),
        Point::Take => takes(jvmti, on),
        Point::StartVirtual => starts_virtual(jvmti, on),
        Point::RunVirtual => runs_virtual(jvmti, on),
        Point::Unmount => unmounts(),
        Point::EndVirtual => ends_virtual(jvmti, on),
        Point::Resume => {
            with(|_, tasks| tasks.mark(Kind::Resuming, 0, 0));
        }
        Point::Park => lock_waits::parks(env, jvmti, given),
        Point::Unpark => lock_waits::unparks(),
    }
}

/// A method is left, by a return or an exception.
fn leaves(point: Point) {
    with(|inside, tasks| match point {
        Point::Submit | Point::Put => {
            tasks.unmark(Kind::Handing);
        }
        Point::NextTask => {
            tasks.unmark(Kind::Asking);
        }
        Point::Take => {
            tasks.unmark(Kind::Taking);
        }
        Point::Resume => {
            tasks.unmark(Kind::Resuming);
        }
        Point::Run => tasks.leave(inside, Kind::Task),
        Point::Worker => {
            if let Some(at) = tasks.find(Kind::Worker) {
                tasks.close(inside, at);
            }
        }
        _ => {}
    });
    if point == Point::RunVirtual {
        // It did not run, so it has not left its carrier.
        unmounts();
    }
}

/// Whether the object is already being handed on, by a method that calls this one.
fn is_handed_on(jvmti: Jvmti, object: Object) -> Option<u64> {
    let around = tasks()?.innermost().filter(|it| it.kind == Kind::Handing)?;
    let is_same = around.item != 0 && tags::item_of(jvmti, object) == around.item;
    is_same.then_some(around.item)
}

/// Hands on an object, and remembers this until the method is left.
fn hands_on(jvmti: Jvmti, object: Object, flows: impl FnOnce() -> bool) {
    let item = match object.is_null() {
        true => 0,
        false => is_handed_on(jvmti, object).unwrap_or_else(|| match flows() {
            true => tags::hand_on(jvmti, object),
            false => 0,
        }),
    };
    with(|_, tasks| tasks.mark(Kind::Handing, item, 0));
}

fn submits(jvmti: Jvmti, task: Object) {
    hands_on(jvmti, task, || true);
}

fn forks(jvmti: Jvmti, task: Object) {
    let around = tasks().and_then(Tasks::innermost);
    let is_virtual = around.is_some_and(|it| it.kind == Kind::Resuming);
    if !is_virtual && !task.is_null() {
        tags::hand_on(jvmti, task);
    }
}

/// A pool's thread has finished its task.
fn asks() {
    with(|inside, tasks| {
        if let Some(at) = tasks.find(Kind::Worker) {
            tasks.close(inside, at);
        }
        tasks.mark(Kind::Asking, 0, 0);
    });
}

fn next_task(env: Env, jvmti: Jvmti, task: Object) {
    with(|_, tasks| tasks.unmark(Kind::Asking));
    if !task.is_null() {
        does(env, jvmti, Kind::Worker, task);
    }
}

/// The thread runs a task.
fn does(env: Env, jvmti: Jvmti, kind: Kind, task: Object) {
    let item = tags::take(jvmti, task);
    let function = match item {
        0 => 0,
        _ => names::of_task(env, jvmti, task),
    };
    let scope = Scope {
        kind,
        item,
        ..Scope::default()
    };
    with(|inside, tasks| tasks.enter(inside, scope, function));
}

fn runs(env: Env, jvmti: Jvmti, task: Object) {
    does(env, jvmti, Kind::Task, task);
}

/// The creator of a pool's thread created it for the pool, and not for its own work.
fn rests() {
    with(|inside, tasks| {
        if tasks.count() == 0 {
            let began_ns = sys::now();
            inside.write(0, &Record::Idle { began_ns });
        }
    });
}

fn begins_worker(env: Env, jvmti: Jvmti, worker: Object) {
    rests();
    if worker.is_null() {
        return;
    }
    let field = FIRST_TASK.load(Ordering::Relaxed).or_else(|| {
        let class = env.class_of(worker);
        let found = env.field(class, c"firstTask", c"Ljava/lang/Runnable;")?;
        FIRST_TASK.store(found, Ordering::Relaxed);
        Some(found)
    });
    let Some(field) = field else { return };
    // SAFETY: the field is one of a worker's class, of a reference type.
    let task = unsafe { env.object_in(worker, field) };
    if !task.is_null() {
        does(env, jvmti, Kind::Worker, task);
    }
}

/// Whether an object is a task.
fn is_task(env: Env, object: Object) -> bool {
    let classes = [&RUNNABLE, &CALLABLE];
    let mut classes = classes.iter().map(|it| it.load(Ordering::Relaxed));
    classes.any(|class| env.is_instance(object, class))
}

/// The number of a queue.
fn number(jvmti: Jvmti, queue: Object) -> u64 {
    match Tag::get(jvmti, queue) {
        Tag::Queue(number) => number,
        Tag::None => match queues::begin() {
            Some(number) => {
                Tag::Queue(number).set(jvmti, queue);
                number
            }
            None => UNNUMBERED,
        },
        _ => UNNUMBERED,
    }
}

/// Which threads put into queues and take from them.
fn role() -> u64 {
    let role = with(|inside, tasks| match tasks.carried() {
        0 => u64::from(inside.thread().number()),
        carried => carried | OF_VIRTUAL,
    });
    role.unwrap_or(0)
}

fn puts(env: Env, jvmti: Jvmti, queue: Object, element: Object) {
    hands_on(jvmti, element, || {
        is_task(env, element) || queues::produces(number(jvmti, queue), role())
    });
}

fn takes(jvmti: Jvmti, queue: Object) {
    let around = tasks().and_then(Tasks::innermost);
    if around.is_some_and(|it| it.kind == Kind::Asking) {
        with(|_, tasks| tasks.mark(Kind::Taking, 0, 0));
        return;
    }
    let queue = number(jvmti, queue);
    queues::consumes(queue, role());
    with(|inside, tasks| {
        // What was taken from it before has ended.
        if let Some(at) = tasks.find_taken(queue) {
            tasks.close(inside, at);
        }
        tasks.mark(Kind::Taking, 0, queue);
    });
}

fn taken(env: Env, jvmti: Jvmti, element: Object) {
    let scope = with(|_, tasks| tasks.unmark(Kind::Taking)).flatten();
    let queue = scope.map_or(0, |it| it.number);
    if queue == 0 || element.is_null() {
        return;
    }
    let item = tags::take(jvmti, element);
    if item == 0 || !(is_task(env, element) || queues::flows(queue)) {
        return;
    }
    let function = names::of_task(env, jvmti, element);
    with(|inside, tasks| {
        let scope = Scope {
            kind: Kind::Taken,
            recorded: false,
            item,
            number: queue,
        };
        tasks.enter_if_room(inside, scope, function);
    });
}

fn starts_virtual(jvmti: Jvmti, thread: Object) {
    let item = next_item();
    with(|inside, _| inside.write(0, &Record::Produce { item }));
    if let Some(number) = virtual_threads::begin(item)
        && !Tag::Virtual(number).set(jvmti, thread)
    {
        virtual_threads::end(number);
    }
}

/// A carrier continues a virtual thread.
fn runs_virtual(jvmti: Jvmti, thread: Object) {
    let waiting = match Tag::get(jvmti, thread) {
        Tag::Virtual(number) => virtual_threads::carry(number),
        _ => None,
    };
    with(|inside, tasks| match &waiting {
        Some(waiting) => {
            let function = if waiting.has_run { 0 } else { VIRTUAL_THREAD };
            tasks.resume(inside, &waiting.scopes, function);
        }
        None => {
            let unknown = Scope {
                kind: Kind::Virtual,
                ..Scope::default()
            };
            tasks.enter(inside, unknown, 0);
        }
    });
}

/// A virtual thread leaves its carrier, with all of its scopes. It waits without the carrier.
fn unmounts() {
    lock_waits::forget();
    let Some(at) = tasks().and_then(|it| it.find(Kind::Virtual)) else {
        return;
    };
    let most = tasks().map_or(0, Tasks::count);
    let mut kept = Vec::with_capacity(most);
    with(|inside, tasks| tasks.take_along(inside, at, &mut kept));
    if let Some(number) = kept.first().map(|it| it.number).filter(|it| *it != 0) {
        virtual_threads::wait(number, kept);
    }
}

fn ends_virtual(jvmti: Jvmti, thread: Object) {
    if let Tag::Virtual(number) = Tag::get(jvmti, thread) {
        Tag::None.set(jvmti, thread);
        virtual_threads::end(number);
    }
}
