//! The start of a virtual machine in this process: the methods in [`points`](super::points) get their probes.
//!
//! This happens once the machine exists, before any code of the program runs, through JVMTI, which any code in the process
//! may request. No option is needed, and no agent is announced. Classes are loaded for this, but not initialised.
//! Afterwards the machine no longer reports classes to us, but when threads wait for monitors.

use core::ffi::{CStr, c_char, c_void};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};

use fulcrum_jvm_core::{ClassFile, Selected, rewrite};
use fulcrum_jvm_interface::jni::{Env, JavaVm, Object};
use fulcrum_jvm_interface::jvmti::{Callbacks, Jvmti, NO_CALLBACK, VERSION, capability, event};
use fulcrum_wire::transactions::Record;

use super::points::{CLASSES, methods_of, point};
use super::{interface, lock_waits, names, natives, probe_class};
use crate::active;
use crate::threads::thread;

/// The function that creates a virtual machine.
pub(crate) const CREATE: &CStr = c"JNI_CreateJavaVM";
/// Object references needed while classes are loaded.
const REFERENCES: i32 = 256;
/// Native, abstract, or made by the compiler.
const WITHOUT_CODE: u16 = 0x500;
const SYNTHETIC: u16 = 0x1000;

type Create = unsafe extern "C" fn(*mut *mut JavaVm, *mut *mut c_void, *mut c_void) -> i32;

static REAL: AtomicUsize = AtomicUsize::new(0);

/// Returns the function that the program gets in place of the machine's.
pub(crate) fn hide(real: usize) -> usize {
    REAL.store(real, Ordering::Release);
    (create as *const ()).addr()
}

unsafe extern "C" fn create(
    machine: *mut *mut JavaVm,
    env: *mut *mut c_void,
    arguments: *mut c_void,
) -> i32 {
    // SAFETY: the function was set before the program could call ours, and gets the program's arguments.
    let result = unsafe {
        let real = core::mem::transmute::<usize, Create>(REAL.load(Ordering::Acquire));
        real(machine, env, arguments)
    };
    static ONCE: AtomicBool = AtomicBool::new(false);
    if result == 0 && active::is_active() && !ONCE.swap(true, Ordering::AcqRel) {
        // Nothing here panics. If it did, the program would continue, and nothing would be printed.
        std::panic::set_hook(Box::new(|_| {}));
        // SAFETY: the call has succeeded, so the machine and the environment exist.
        let done = catch_unwind(AssertUnwindSafe(|| unsafe {
            prepare(*machine, Env::from_raw(*env))
        }));
        if let Ok(Err(why)) = done {
            note(&format!(
                "Transactions are not followed through executors, futures, queues and virtual threads: {why}."
            ));
        }
    }
    result
}

/// Writes a note for readers of the log.
fn note(text: &str) {
    if let Some(inside) = thread::enter() {
        inside.write(0, &Record::Note(text.as_bytes()));
    }
}

/// # Safety
/// The machine is valid, and this is the thread that has created it.
unsafe fn prepare(machine: *mut JavaVm, env: Env) -> Result<(), &'static str> {
    // SAFETY: the caller promises a valid machine.
    let interface = unsafe { (*machine).interface(VERSION) };
    let interface = interface.ok_or("this virtual machine has no tool interface")?;
    // SAFETY: the interface has this version, and the machine lives as long as the process.
    let jvmti = unsafe { Jvmti::from_raw(interface) };
    let wanted = [
        capability::TAG,
        capability::ALL_CLASS_HOOK,
        capability::RETRANSFORM,
        capability::RETRANSFORM_ANY,
        capability::MONITORS,
    ];
    let has = jvmti.ask_for(&wanted);
    let needed = 1_u128 << capability::TAG | 1 << capability::RETRANSFORM;
    if has & needed != needed {
        return Err("this virtual machine does not allow its classes to be changed");
    }
    env.define_boot_class(probe_class::NAME, &probe_class::bytes())
        .ok_or("this virtual machine rejects Fulcrum's class")?;
    natives::prepare(env).ok_or("this virtual machine lacks classes of executors")?;
    // Everything that callbacks need is in place from here on.
    interface::set(jvmti);
    names::prepare();
    // References are released immediately, because the thread may never return to Java.
    if env.push_frame(REFERENCES) != 0 {
        return Err("this virtual machine is out of memory");
    }
    let names = CLASSES.iter().map(|(name, _)| name.replace('/', "."));
    let names = names.filter_map(|name| CString::new(name).ok());
    let classes: Vec<Object> = names.filter_map(|name| env.load_class(&name)).collect();
    let changed = change(jvmti, &classes);
    env.pop_frame(Object::NULL);
    if has & 1 << capability::MONITORS != 0 {
        // A machine that does not report them still waits at its conditions.
        waits().for_each(|(event, _)| {
            jvmti.enable(event);
        });
    }
    changed
}

/// Sends the classes through the hook.
fn change(jvmti: Jvmti, classes: &[Object]) -> Result<(), &'static str> {
    let mut callbacks: Callbacks = [NO_CALLBACK; size_of::<Callbacks>() / size_of::<usize>()];
    let hook = (event::CLASS_FILE_LOAD, loaded as *const c_void);
    for (event, function) in waits().chain([hook]) {
        callbacks[(event - event::FIRST) as usize] = function;
    }
    // SAFETY: the functions have the parameters of their events, and live as long as the process.
    let is_set = unsafe { jvmti.set_callbacks(&callbacks) };
    if !is_set || !jvmti.enable(event::CLASS_FILE_LOAD) {
        return Err("this virtual machine does not report classes");
    }
    // A class that cannot be changed must not keep the others from it.
    let all_are_changed = jvmti.retransform(classes) == 0
        || classes
            .iter()
            .map(|it| jvmti.retransform(&[*it]))
            .fold(true, |all, error| all & (error == 0));
    jvmti.disable(event::CLASS_FILE_LOAD);
    match all_are_changed {
        true => Ok(()),
        false => Err("this virtual machine did not change all of their classes"),
    }
}

/// The events of waits for monitors, with our functions for them, which have the parameters of the specification.
fn waits() -> impl Iterator<Item = (i32, *const c_void)> {
    [
        (event::CONTENDED_ENTER, contends as *const c_void),
        (event::CONTENDED_ENTERED, entered as *const c_void),
        (event::WAIT, awaits as *const c_void),
        (event::WAITED, waited as *const c_void),
    ]
    .into_iter()
}

unsafe extern "system" fn contends(jvmti: Jvmti, env: Env, _thread: Object, lock: Object) {
    let _ = catch_unwind(AssertUnwindSafe(|| lock_waits::contends(env, jvmti, lock)));
}

unsafe extern "system" fn entered(jvmti: Jvmti, env: Env, _thread: Object, _lock: Object) {
    let _ = catch_unwind(AssertUnwindSafe(|| {
        lock_waits::ends(env, jvmti, Some(false));
    }));
}

unsafe extern "system" fn awaits(
    jvmti: Jvmti,
    env: Env,
    _thread: Object,
    object: Object,
    _timeout: i64,
) {
    let _ = catch_unwind(AssertUnwindSafe(|| lock_waits::awaits(env, jvmti, object)));
}

unsafe extern "system" fn waited(
    jvmti: Jvmti,
    env: Env,
    _thread: Object,
    _object: Object,
    timed_out: u8,
) {
    let _ = catch_unwind(AssertUnwindSafe(|| {
        lock_waits::ends(env, jvmti, Some(timed_out != 0));
    }));
}

/// The machine's hook for class loading, with the parameters of the specification.
unsafe extern "system" fn loaded(
    jvmti: Jvmti,
    _env: Env,
    _changed: Object,
    _loader: Object,
    name: *const c_char,
    _domain: Object,
    length: i32,
    bytes: *const u8,
    new_length: *mut i32,
    new_bytes: *mut *mut u8,
) {
    if name.is_null() || bytes.is_null() {
        return;
    }
    // SAFETY: the machine passes a C string and this many bytes of a class file.
    let (name, bytes) = unsafe {
        let bytes = core::slice::from_raw_parts(bytes, length.max(0) as usize);
        (CStr::from_ptr(name), bytes)
    };
    let rewritten = catch_unwind(|| rewritten(name, bytes)).ok().flatten();
    let Some(new) = rewritten else { return };
    let at = jvmti.give(&new);
    if !at.is_null() {
        // SAFETY: the machine passes places for the result, which it reads on return.
        unsafe {
            new_bytes.write(at);
            new_length.write(new.len() as i32);
        }
    }
}

/// The class with probes, or `None` if it stays unchanged.
fn rewritten(name: &CStr, bytes: &[u8]) -> Option<Vec<u8>> {
    let methods = methods_of(name.to_str().ok()?)?;
    let class = ClassFile::parse(bytes).ok()?;
    let chosen = |(method, it): (usize, &fulcrum_jvm_core::Method<'_>)| {
        let has_code = it.access & (WITHOUT_CODE | SYNTHETIC) == 0;
        let point = has_code.then(|| point(methods, &it.name, &it.descriptor));
        point.flatten().map(|point| Selected {
            method,
            number: point as u32,
            gated: false,
            objects: true,
            values: None,
        })
    };
    let methods = class.methods.iter().enumerate();
    let selected: Vec<Selected> = methods.filter_map(chosen).collect();
    let rewritten = rewrite(&class, &selected, &probe_class::PROBES);
    if selected.is_empty() || !rewritten.refused.is_empty() {
        note(&format!(
            "Transactions are not followed through all of {}: this virtual machine has a different version of it.",
            class.name().replace('/', ".")
        ));
    }
    rewritten.bytes
}
