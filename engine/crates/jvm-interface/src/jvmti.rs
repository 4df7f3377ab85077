//! The functions of JVMTI that our libraries call.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::{null, null_mut};

use crate::jni::Object;

/// JVMTI 1.2: JDK 8 and later.
pub const VERSION: i32 = 0x3001_0200;

/// Numbers of JVMTI's functions, named as in the specification. They count from 1.
mod function {
    pub(super) const SET_EVENT_NOTIFICATION_MODE: usize = 2;
    pub(super) const GET_THREAD_INFO: usize = 9;
    pub(super) const GET_THREAD_GROUP_INFO: usize = 14;
    pub(super) const GET_CURRENT_THREAD: usize = 18;
    pub(super) const IS_MODIFIABLE_CLASS: usize = 45;
    pub(super) const ALLOCATE: usize = 46;
    pub(super) const DEALLOCATE: usize = 47;
    pub(super) const GET_CLASS_SIGNATURE: usize = 48;
    pub(super) const GET_OBJECT_HASH_CODE: usize = 58;
    pub(super) const GET_METHOD_NAME: usize = 64;
    pub(super) const GET_METHOD_DECLARING_CLASS: usize = 65;
    pub(super) const GET_LOADED_CLASSES: usize = 78;
    pub(super) const GET_THREAD_LOCAL_STORAGE: usize = 102;
    pub(super) const SET_THREAD_LOCAL_STORAGE: usize = 103;
    pub(super) const GET_STACK_TRACE: usize = 104;
    pub(super) const GET_TAG: usize = 106;
    pub(super) const SET_TAG: usize = 107;
    pub(super) const FORCE_GARBAGE_COLLECTION: usize = 108;
    pub(super) const SET_EVENT_CALLBACKS: usize = 122;
    pub(super) const GET_EXTENSION_EVENTS: usize = 125;
    pub(super) const SET_EXTENSION_EVENT_CALLBACK: usize = 126;
    pub(super) const GET_SYSTEM_PROPERTY: usize = 131;
    pub(super) const GET_POTENTIAL_CAPABILITIES: usize = 140;
    pub(super) const ADD_CAPABILITIES: usize = 142;
    pub(super) const RELINQUISH_CAPABILITIES: usize = 143;
    pub(super) const RETRANSFORM_CLASSES: usize = 152;
    pub(super) const SET_HEAP_SAMPLING_INTERVAL: usize = 156;
}

type Table = *const *const c_void;

/// `jvmtiEnv`: valid in all threads, as long as the machine lives.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Jvmti(*mut Table);
// SAFETY: JVMTI environments may be used by any thread.
unsafe impl Send for Jvmti {}
// SAFETY: see above.
unsafe impl Sync for Jvmti {}

/// Numbers of events.
#[allow(missing_docs, reason = "they are named as in the specification")]
pub mod event {
    pub const FIRST: i32 = 50;
    pub const VM_INIT: i32 = 50;
    pub const VM_DEATH: i32 = 51;
    pub const THREAD_START: i32 = 52;
    pub const THREAD_END: i32 = 53;
    pub const CLASS_FILE_LOAD: i32 = 54;
    pub const WAIT: i32 = 73;
    pub const WAITED: i32 = 74;
    pub const CONTENDED_ENTER: i32 = 75;
    pub const CONTENDED_ENTERED: i32 = 76;
    pub const GC_START: i32 = 81;
    pub const GC_FINISH: i32 = 82;
    pub const FREE: i32 = 83;
    pub const SAMPLED_ALLOCATION: i32 = 86;
    pub const VIRTUAL_THREAD_START: i32 = 87;
    pub const VIRTUAL_THREAD_END: i32 = 88;
    pub const LAST: i32 = 90;
}

/// Bits of `jvmtiCapabilities`.
#[allow(missing_docs, reason = "they are named as in the specification")]
pub mod capability {
    pub const TAG: u32 = 0;
    pub const ALL_CLASS_HOOK: u32 = 26;
    pub const MONITORS: u32 = 28;
    pub const COLLECTIONS: u32 = 31;
    pub const FREE: u32 = 32;
    pub const RETRANSFORM: u32 = 37;
    pub const RETRANSFORM_ANY: u32 = 38;
    pub const SAMPLED_ALLOCATION: u32 = 43;
    pub const VIRTUAL_THREADS: u32 = 44;
}

/// `jvmtiEventCallbacks`: a function for each event's number, from [`event::FIRST`].
pub type Callbacks = [*const c_void; (event::LAST - event::FIRST) as usize];

/// A method (`jmethodID`), valid in all threads as long as its class is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Method(usize);

/// `jvmtiFrameInfo`.
#[derive(Clone, Copy)]
#[repr(C)]
struct Frame {
    method: Method,
    location: i64,
}

/// `jvmtiThreadInfo`.
#[repr(C)]
struct ThreadInfo {
    name: *mut c_char,
    priority: i32,
    daemon: u8,
    group: Object,
    loader: Object,
}

/// `jvmtiThreadGroupInfo`.
#[repr(C)]
struct GroupInfo {
    parent: Object,
    name: *mut c_char,
    priority: i32,
    daemon: u8,
}

/// `jvmtiParamInfo`.
#[repr(C)]
struct ParameterInfo {
    name: *mut c_char,
    kind: i32,
    base_type: i32,
    null_ok: u8,
}

/// `jvmtiExtensionEventInfo`.
#[repr(C)]
struct ExtensionInfo {
    index: i32,
    id: *mut c_char,
    description: *mut c_char,
    parameter_count: i32,
    parameters: *mut ParameterInfo,
}

/// An event that only this machine has.
pub struct Extension {
    /// For [`Jvmti::set_extension`].
    pub index: i32,
    /// `com.sun.hotspot.events.…`
    pub id: String,
    /// Types of parameters: [`parameter`].
    pub parameters: Vec<i32>,
}

/// Values of `jvmtiParamTypes`.
#[allow(missing_docs, reason = "they are named as in the specification")]
pub mod parameter {
    pub const THREAD: i32 = 110;
    pub const CHARACTERS: i32 = 115;
    pub const ENVIRONMENT: i32 = 117;
}

/// A thread's properties.
#[derive(Default)]
pub struct Thread {
    /// Its name.
    pub name: String,
    /// Its group's name.
    pub group: String,
    /// Whether the machine ends without waiting for it.
    pub daemon: bool,
}

/// Defines a method that calls a [`function`]. What it returns is a `jvmtiError`, 0 for none.
macro_rules! calls {
    (fn $name:ident = $function:ident ($($argument:ident: $type:ty),*)) => {
        fn $name(self, $($argument: $type),*) -> i32 {
            // SAFETY: this number of JVMTI's table is a function of these types, and the environment lives as long as the
            // process. The arguments are numbers, and references that the machine gave us.
            unsafe {
                let function: unsafe extern "system" fn(*mut Table $(, $type)*) -> i32 =
                    std::mem::transmute(*(*self.0).add(function::$function - 1));
                function(self.0 $(, $argument)*)
            }
        }
    };
    (unsafe fn $name:ident = $function:ident ($($argument:ident: $type:ty),*)) => {
        /// # Safety
        /// The pointers are as the specification of this function says.
        unsafe fn $name(self, $($argument: $type),*) -> i32 {
            // SAFETY: as above, and the caller's promise.
            unsafe {
                let function: unsafe extern "system" fn(*mut Table $(, $type)*) -> i32 =
                    std::mem::transmute(*(*self.0).add(function::$function - 1));
                function(self.0 $(, $argument)*)
            }
        }
    };
}

impl Jvmti {
    /// The interface that a machine has given.
    ///
    /// # Safety
    /// It is one of [`VERSION`], or a later one, of a machine that lives as long as the process.
    pub unsafe fn from_raw(environment: *mut c_void) -> Jvmti {
        Jvmti(environment.cast())
    }

    calls!(fn set_notification_raw = SET_EVENT_NOTIFICATION_MODE (mode: i32, event: i32, thread: Object));
    calls!(unsafe fn thread_info_raw = GET_THREAD_INFO (thread: Object, info: *mut ThreadInfo));
    calls!(unsafe fn group_info_raw = GET_THREAD_GROUP_INFO (group: Object, info: *mut GroupInfo));
    calls!(unsafe fn current_thread_raw = GET_CURRENT_THREAD (thread: *mut Object));
    calls!(unsafe fn is_modifiable_raw = IS_MODIFIABLE_CLASS (class: Object, is: *mut u8));
    calls!(unsafe fn allocate_raw = ALLOCATE (size: i64, at: *mut *mut u8));
    calls!(unsafe fn deallocate_raw = DEALLOCATE (at: *mut u8));
    calls!(unsafe fn class_signature_raw = GET_CLASS_SIGNATURE (class: Object, signature: *mut *mut c_char, generic: *mut *mut c_char));
    calls!(unsafe fn hash_code_raw = GET_OBJECT_HASH_CODE (object: Object, hash: *mut i32));
    calls!(unsafe fn method_name_raw = GET_METHOD_NAME (method: Method, name: *mut *mut c_char, signature: *mut *mut c_char, generic: *mut *mut c_char));
    calls!(unsafe fn declaring_class_raw = GET_METHOD_DECLARING_CLASS (method: Method, class: *mut Object));
    calls!(unsafe fn stack_trace_raw = GET_STACK_TRACE (thread: Object, from: i32, most: i32, frames: *mut Frame, count: *mut i32));
    calls!(unsafe fn loaded_classes_raw = GET_LOADED_CLASSES (count: *mut i32, classes: *mut *mut Object));
    calls!(unsafe fn get_storage_raw = GET_THREAD_LOCAL_STORAGE (thread: Object, data: *mut *mut c_void));
    // The machine keeps the pointer and never follows it.
    calls!(fn set_storage_raw = SET_THREAD_LOCAL_STORAGE (thread: Object, data: *mut c_void));
    calls!(unsafe fn get_tag_raw = GET_TAG (object: Object, tag: *mut i64));
    calls!(fn set_tag_raw = SET_TAG (object: Object, tag: i64));
    calls!(fn collect_raw = FORCE_GARBAGE_COLLECTION ());
    calls!(unsafe fn set_callbacks_raw = SET_EVENT_CALLBACKS (callbacks: *const Callbacks, size: i32));
    calls!(unsafe fn extensions_raw = GET_EXTENSION_EVENTS (count: *mut i32, events: *mut *mut ExtensionInfo));
    calls!(unsafe fn set_extension_raw = SET_EXTENSION_EVENT_CALLBACK (index: i32, callback: *const c_void));
    calls!(unsafe fn system_property_raw = GET_SYSTEM_PROPERTY (name: *const c_char, value: *mut *mut c_char));
    calls!(unsafe fn potential_raw = GET_POTENTIAL_CAPABILITIES (capabilities: *mut u128));
    calls!(unsafe fn add_capabilities_raw = ADD_CAPABILITIES (capabilities: *const u128));
    calls!(unsafe fn give_back_capabilities_raw = RELINQUISH_CAPABILITIES (capabilities: *const u128));
    calls!(unsafe fn retransform_raw = RETRANSFORM_CLASSES (count: i32, classes: *const Object));
    calls!(fn sampling_interval_raw = SET_HEAP_SAMPLING_INTERVAL (interval: i32));

    /// Turns on an event. It is possible only with the event's capability.
    pub fn enable(self, event: i32) -> bool {
        self.set_notification_raw(1, event, Object::NULL) == 0
    }

    /// Turns off an event.
    pub fn disable(self, event: i32) {
        // It fails only for an event that is off because its capability is missing.
        self.set_notification_raw(0, event, Object::NULL);
    }

    /// Sets the functions that are called for events.
    ///
    /// # Safety
    /// Each is [`NO_CALLBACK`], or a function with its event's parameters that lives as long as the process.
    pub unsafe fn set_callbacks(self, callbacks: &Callbacks) -> bool {
        // SAFETY: the caller's promise; the machine copies so many bytes.
        unsafe { self.set_callbacks_raw(callbacks, size_of::<Callbacks>() as i32) == 0 }
    }

    /// Asks for capabilities, leaving out those that are not available. Returns those that were given.
    pub fn ask_for(self, wanted: &[u32]) -> u128 {
        let mut potential = 0_u128;
        // SAFETY: `jvmtiCapabilities` is 16 bytes.
        unsafe { self.potential_raw(&raw mut potential) };
        let all = wanted.iter().fold(0, |all, bit| all | 1_u128 << bit) & potential;
        // SAFETY: likewise.
        if unsafe { self.add_capabilities_raw(&raw const all) } == 0 {
            all
        } else {
            0
        }
    }

    /// A thread's name and group; those of the calling thread for null.
    pub fn thread(self, thread: Object) -> Option<Thread> {
        let mut info = ThreadInfo {
            name: null_mut(),
            priority: 0,
            daemon: 0,
            group: Object::NULL,
            loader: Object::NULL,
        };
        // SAFETY: a `jvmtiThreadInfo` to write to.
        if unsafe { self.thread_info_raw(thread, &raw mut info) } != 0 {
            return None;
        }
        let mut group = GroupInfo {
            parent: Object::NULL,
            name: null_mut(),
            priority: 0,
            daemon: 0,
        };
        if !info.group.is_null() {
            // SAFETY: a `jvmtiThreadGroupInfo` to write to.
            unsafe { self.group_info_raw(info.group, &raw mut group) };
        }
        // SAFETY: the machine has allocated both names for us, or left them null.
        unsafe {
            Some(Thread {
                name: self.taken(info.name),
                group: self.taken(group.name),
                daemon: info.daemon != 0,
            })
        }
    }

    /// A reference to the calling thread; null before the machine has started.
    pub fn current_thread(self) -> Object {
        let mut thread = Object::NULL;
        // SAFETY: a place for the reference.
        unsafe { self.current_thread_raw(&raw mut thread) };
        thread
    }

    /// What was stored for a thread; null for nothing, and for a thread that has ended.
    pub fn thread_storage(self, thread: Object) -> *mut c_void {
        let mut data = null_mut();
        // SAFETY: a place for the pointer.
        unsafe { self.get_storage_raw(thread, &raw mut data) };
        data
    }

    /// Stores a pointer for a thread. `false` when it has ended.
    pub fn set_thread_storage(self, thread: Object, data: *mut c_void) -> bool {
        self.set_storage_raw(thread, data) == 0
    }

    /// The events that only this machine has.
    pub fn extensions(self) -> Vec<Extension> {
        let (mut count, mut list) = (0, null_mut());
        // SAFETY: places for the count and the list.
        let error = unsafe { self.extensions_raw(&raw mut count, &raw mut list) };
        if error != 0 || list.is_null() {
            return Vec::new();
        }
        let mut all = Vec::new();
        for at in 0..count as usize {
            // SAFETY: the machine gives so many descriptions, each with so many parameters. All of it is ours until we give it
            // back, once for each part.
            unsafe {
                let info = list.add(at).read();
                let parameters =
                    (0..info.parameter_count as usize).map(|n| info.parameters.add(n).read());
                let parameters = parameters.map(|it| {
                    self.deallocate_raw(it.name.cast());
                    it.base_type
                });
                all.push(Extension {
                    index: info.index,
                    id: self.taken(info.id),
                    parameters: parameters.collect(),
                });
                self.deallocate_raw(info.description.cast());
                self.deallocate_raw(info.parameters.cast());
            }
        }
        // SAFETY: the machine has allocated it for us.
        unsafe { self.deallocate_raw(list.cast()) };
        all
    }

    /// Sets the function that is called for an event of [`Self::extensions`]; none for null.
    ///
    /// # Safety
    /// It has the event's parameters, and lives as long as the process.
    pub unsafe fn set_extension(self, index: i32, callback: *const c_void) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.set_extension_raw(index, callback) == 0 }
    }

    /// Gives capabilities back, so that the program no longer pays for them.
    pub fn give_back(self, capabilities: u128) {
        // SAFETY: `jvmtiCapabilities` is 16 bytes.
        unsafe { self.give_back_capabilities_raw(&raw const capabilities) };
    }

    /// All loaded classes.
    pub fn loaded_classes(self) -> Vec<Object> {
        let (mut count, mut classes) = (0, null_mut());
        // SAFETY: places for the count and the list, which the machine allocates for us.
        unsafe {
            match self.loaded_classes_raw(&raw mut count, &raw mut classes) {
                0 => self.taken_list(classes, count),
                _ => Vec::new(),
            }
        }
    }

    /// A class's name with dots; arrays are `int[]`.
    pub fn class_name(self, class: Object) -> String {
        let mut signature = null_mut();
        // SAFETY: a place for the signature, which the machine allocates for us; no generic one is asked for.
        unsafe {
            if self.class_signature_raw(class, &raw mut signature, null_mut()) != 0 {
                return "?".into();
            }
            readable(&self.taken(signature))
        }
    }

    /// Whether a class may be changed.
    pub fn is_modifiable(self, class: Object) -> bool {
        let mut is = 0;
        // SAFETY: a place for a `jboolean`.
        unsafe { self.is_modifiable_raw(class, &raw mut is) == 0 && is != 0 }
    }

    /// Sends loaded classes through the hook again. Returns the machine's error number.
    pub fn retransform(self, classes: &[Object]) -> i32 {
        // SAFETY: so many references.
        unsafe { self.retransform_raw(classes.len() as i32, classes.as_ptr()) }
    }

    /// An object's identity hash; 0 for null.
    pub fn hash_code(self, object: Object) -> i32 {
        let mut hash = 0;
        if !object.is_null() {
            // SAFETY: a place for the hash.
            unsafe { self.hash_code_raw(object, &raw mut hash) };
        }
        hash
    }

    /// The methods that the calling thread is in, innermost first. Returns how many of the array they are.
    pub fn methods<const MOST: usize>(self) -> ([Method; MOST], usize) {
        let none = Frame {
            method: Method(0),
            location: 0,
        };
        let (mut frames, mut count) = ([none; MOST], 0);
        // SAFETY: room for so many frames, and for the count; a null thread is the calling one.
        let error = unsafe {
            self.stack_trace_raw(
                Object::NULL,
                0,
                MOST as i32,
                frames.as_mut_ptr(),
                &raw mut count,
            )
        };
        let count = if error == 0 { count.max(0) as usize } else { 0 };
        (frames.map(|it| it.method), count.min(MOST))
    }

    /// The class of a method that the calling thread is in: a local reference, or null.
    pub fn class_of_method(self, method: Method) -> Object {
        let mut class = Object::NULL;
        // SAFETY: a place for the reference; the class of a running method is loaded.
        unsafe { self.declaring_class_raw(method, &raw mut class) };
        class
    }

    /// The name of a method that the calling thread is in.
    pub fn method_name(self, method: Method) -> String {
        let mut name = null_mut();
        // SAFETY: a place for the name, which the machine allocates for us; nothing else is asked for.
        unsafe {
            if self.method_name_raw(method, &raw mut name, null_mut(), null_mut()) != 0 {
                return "?".into();
            }
            self.taken(name)
        }
    }

    /// An object's tag, 0 for none.
    pub fn tag(self, object: Object) -> i64 {
        let mut tag = 0;
        // SAFETY: a place for the tag.
        match unsafe { self.get_tag_raw(object, &raw mut tag) } {
            0 => tag,
            _ => 0,
        }
    }

    /// Gives an object a tag.
    pub fn set_tag(self, object: Object, tag: i64) -> bool {
        self.set_tag_raw(object, tag) == 0
    }

    /// Has an object reported for every so many allocated bytes; every object for 0.
    pub fn sample_allocations(self, interval: i32) -> bool {
        self.sampling_interval_raw(interval) == 0
    }

    /// Collects garbage.
    pub fn collect(self) {
        // It fails only when the machine itself does.
        self.collect_raw();
    }

    /// The virtual machine's name and version.
    pub fn machine_name(self) -> String {
        format!(
            "{} {}",
            self.property(c"java.vm.name"),
            self.property(c"java.vm.version")
        )
    }

    /// A property such as `java.vm.version`.
    fn property(self, name: &CStr) -> String {
        let mut value = null_mut();
        // SAFETY: a C string, and a place for the value, which the machine allocates for us.
        unsafe {
            match self.system_property_raw(name.as_ptr(), &raw mut value) {
                0 => self.taken(value),
                _ => String::new(),
            }
        }
    }

    /// A copy of bytes in memory that the machine frees; null when there is none.
    pub fn give(self, bytes: &[u8]) -> *mut u8 {
        let mut at = null_mut();
        // SAFETY: a place for the address.
        let error = unsafe { self.allocate_raw(bytes.len() as i64, &raw mut at) };
        if error != 0 || at.is_null() {
            return null_mut();
        }
        // SAFETY: the machine has just given us so many bytes.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at, bytes.len()) };
        at
    }

    /// Text that the machine allocated for us, which is freed.
    ///
    /// # Safety
    /// It is null, or such a text, and used no more.
    unsafe fn taken(self, text: *mut c_char) -> String {
        if text.is_null() {
            return String::new();
        }
        // SAFETY: the caller's promise; the machine gives C strings.
        let owned = unsafe { CStr::from_ptr(text) }
            .to_string_lossy()
            .into_owned();
        // SAFETY: the caller's promise.
        unsafe { self.deallocate_raw(text.cast()) };
        owned
    }

    /// A list of references that the machine allocated for us, which is freed.
    ///
    /// # Safety
    /// It is null, or such a list with so many references, and used no more.
    unsafe fn taken_list(self, list: *mut Object, count: i32) -> Vec<Object> {
        if list.is_null() {
            return Vec::new();
        }
        // SAFETY: the caller's promise.
        let owned = unsafe { std::slice::from_raw_parts(list, count as usize) }.to_vec();
        // SAFETY: the caller's promise.
        unsafe { self.deallocate_raw(list.cast()) };
        owned
    }
}

/// `[Ljava/lang/String;` as `java.lang.String[]`.
pub fn readable(signature: &str) -> String {
    let element = signature.trim_start_matches('[');
    let brackets = "[]".repeat(signature.len() - element.len());
    let name = match element {
        "Z" => "boolean",
        "B" => "byte",
        "C" => "char",
        "S" => "short",
        "I" => "int",
        "J" => "long",
        "F" => "float",
        "D" => "double",
        "V" => "void",
        object => object
            .strip_prefix('L')
            .unwrap_or(object)
            .trim_end_matches(';'),
    };
    name.replace('/', ".") + &brackets
}

/// No function.
pub const NO_CALLBACK: *const c_void = null();
