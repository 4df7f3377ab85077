//! The functions of JVMTI that our libraries call. Their numbers are those of the specification.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::{null, null_mut};

use crate::jni::Object;

/// JVMTI 1.2: JDK 8 and later.
pub const VERSION: i32 = 0x3001_0200;

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

/// Defines a method that calls function `$number`; what it returns is a `jvmtiError`, 0 for none.
macro_rules! calls {
    ($name:ident = $number:literal ($($argument:ident: $type:ty),*)) => {
        fn $name(self, $($argument: $type),*) -> i32 {
            // SAFETY: this number of JVMTI's table is a function of these types (numbers count from 1), and the
            // environment lives as long as the process. The callers below give it places to write to.
            unsafe {
                let function: unsafe extern "system" fn(*mut Table $(, $type)*) -> i32 =
                    std::mem::transmute(*(*self.0).add($number - 1));
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

    calls!(set_notification_raw = 2 (mode: i32, event: i32, thread: Object));
    calls!(thread_info_raw = 9 (thread: Object, info: *mut ThreadInfo));
    calls!(group_info_raw = 14 (group: Object, info: *mut GroupInfo));
    calls!(current_thread_raw = 18 (thread: *mut Object));
    calls!(is_modifiable_raw = 45 (class: Object, is: *mut u8));
    calls!(allocate_raw = 46 (size: i64, at: *mut *mut u8));
    calls!(deallocate_raw = 47 (at: *mut u8));
    calls!(class_signature_raw = 48 (class: Object, signature: *mut *mut c_char, generic: *mut *mut c_char));
    calls!(hash_code_raw = 58 (object: Object, hash: *mut i32));
    calls!(loaded_classes_raw = 78 (count: *mut i32, classes: *mut *mut Object));
    calls!(get_storage_raw = 102 (thread: Object, data: *mut *mut c_void));
    calls!(set_storage_raw = 103 (thread: Object, data: *mut c_void));
    calls!(get_tag_raw = 106 (object: Object, tag: *mut i64));
    calls!(set_tag_raw = 107 (object: Object, tag: i64));
    calls!(collect_raw = 108());
    calls!(set_callbacks_raw = 122 (callbacks: *const Callbacks, size: i32));
    calls!(extensions_raw = 125 (count: *mut i32, events: *mut *mut ExtensionInfo));
    calls!(set_extension_raw = 126 (index: i32, callback: *const c_void));
    calls!(system_property_raw = 131 (name: *const c_char, value: *mut *mut c_char));
    calls!(potential_raw = 140 (capabilities: *mut u128));
    calls!(add_capabilities_raw = 142 (capabilities: *const u128));
    calls!(give_back_capabilities_raw = 143 (capabilities: *const u128));
    calls!(retransform_raw = 152 (count: i32, classes: *const Object));
    calls!(sampling_interval_raw = 156 (interval: i32));

    /// Turns an event on. It is possible only with the event's capability.
    pub fn enable(self, event: i32) -> bool {
        self.set_notification_raw(1, event, null_mut()) == 0
    }

    /// Turns an event off.
    pub fn disable(self, event: i32) {
        // It fails only for an event that is off for want of its capability.
        self.set_notification_raw(0, event, null_mut());
    }

    /// Sets what is called for each event.
    pub fn set_callbacks(self, callbacks: &Callbacks) -> bool {
        self.set_callbacks_raw(callbacks, size_of::<Callbacks>() as i32) == 0
    }

    /// Asks for capabilities; those that are not to be had are left out. What was got.
    pub fn ask_for(self, wanted: &[u32]) -> u128 {
        let mut potential = 0_u128;
        self.potential_raw(&raw mut potential);
        let all = wanted.iter().fold(0, |all, bit| all | 1_u128 << bit) & potential;
        if self.add_capabilities_raw(&raw const all) == 0 {
            all
        } else {
            0
        }
    }

    /// A thread's name and group; of the calling thread for null.
    pub fn thread(self, thread: Object) -> Option<Thread> {
        let mut info = ThreadInfo {
            name: null_mut(),
            priority: 0,
            daemon: 0,
            group: null_mut(),
            loader: null_mut(),
        };
        if self.thread_info_raw(thread, &raw mut info) != 0 {
            return None;
        }
        let mut group = GroupInfo {
            parent: null_mut(),
            name: null_mut(),
            priority: 0,
            daemon: 0,
        };
        if !info.group.is_null() {
            self.group_info_raw(info.group, &raw mut group);
        }
        Some(Thread {
            name: self.taken(info.name),
            group: self.taken(group.name),
            daemon: info.daemon != 0,
        })
    }

    /// A reference to the calling thread; null before the machine is there.
    pub fn current_thread(self) -> Object {
        let mut thread = null_mut();
        self.current_thread_raw(&raw mut thread);
        thread
    }

    /// What was stored for a thread; null for nothing, and for a thread that has ended.
    pub fn thread_storage(self, thread: Object) -> *mut c_void {
        let mut data = null_mut();
        self.get_storage_raw(thread, &raw mut data);
        data
    }

    /// Stores a pointer for a thread. `false` when it has ended.
    pub fn set_thread_storage(self, thread: Object, data: *mut c_void) -> bool {
        self.set_storage_raw(thread, data) == 0
    }

    /// The events that only this machine has.
    pub fn extensions(self) -> Vec<Extension> {
        let (mut count, mut list) = (0, null_mut());
        if self.extensions_raw(&raw mut count, &raw mut list) != 0 || list.is_null() {
            return Vec::new();
        }
        let mut all = Vec::new();
        for at in 0..count as usize {
            // SAFETY: the machine gives so many descriptions, each with so many parameters; all of it is ours until we give
            // it back, which is done once for each part.
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
        self.deallocate_raw(list.cast());
        all
    }

    /// Sets what is called for an event of [`Self::extensions`]; nothing for null.
    pub fn set_extension(self, index: i32, callback: *const c_void) -> bool {
        self.set_extension_raw(index, callback) == 0
    }

    /// Gives capabilities back: what they cost the program is over.
    pub fn give_back(self, capabilities: u128) {
        self.give_back_capabilities_raw(&raw const capabilities);
    }

    /// All loaded classes.
    pub fn loaded_classes(self) -> Vec<Object> {
        let (mut count, mut classes) = (0, null_mut());
        match self.loaded_classes_raw(&raw mut count, &raw mut classes) {
            0 => self.taken_list(classes, count),
            _ => Vec::new(),
        }
    }

    /// A class's name with dots; arrays are `int[]`.
    pub fn class_name(self, class: Object) -> String {
        let mut signature = null_mut();
        if self.class_signature_raw(class, &raw mut signature, null_mut()) != 0 {
            return "?".into();
        }
        readable(&self.taken(signature))
    }

    /// Whether a class may be changed.
    pub fn is_modifiable(self, class: Object) -> bool {
        let mut is = 0;
        self.is_modifiable_raw(class, &raw mut is) == 0 && is != 0
    }

    /// Sends loaded classes through the hook again. The machine's error number.
    pub fn retransform(self, classes: &[Object]) -> i32 {
        self.retransform_raw(classes.len() as i32, classes.as_ptr())
    }

    /// An object's identity hash; 0 for null.
    pub fn hash_code(self, object: Object) -> i32 {
        let mut hash = 0;
        if !object.is_null() {
            self.hash_code_raw(object, &raw mut hash);
        }
        hash
    }

    /// An object's tag, 0 for none.
    pub fn tag(self, object: Object) -> i64 {
        let mut tag = 0;
        match self.get_tag_raw(object, &raw mut tag) {
            0 => tag,
            _ => 0,
        }
    }

    /// Gives an object a tag.
    pub fn set_tag(self, object: Object, tag: i64) -> bool {
        self.set_tag_raw(object, tag) == 0
    }

    /// Every so many allocated bytes an object is told; every object for 0.
    pub fn sample_allocations(self, interval: i32) -> bool {
        self.sampling_interval_raw(interval) == 0
    }

    /// Collects garbage.
    pub fn collect(self) {
        // What this is for can only fail with the machine.
        self.collect_raw();
    }

    /// What machine this is.
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
        match self.system_property_raw(name.as_ptr(), &raw mut value) {
            0 => self.taken(value),
            _ => String::new(),
        }
    }

    /// Bytes in memory that the machine frees.
    pub fn give(self, bytes: &[u8]) -> *mut u8 {
        let mut at = null_mut();
        if self.allocate_raw(bytes.len() as i64, &raw mut at) != 0 || at.is_null() {
            return null_mut();
        }
        // SAFETY: the machine has just given us so many bytes.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at, bytes.len()) };
        at
    }

    /// Text that the machine allocated for us.
    fn taken(self, text: *mut c_char) -> String {
        if text.is_null() {
            return String::new();
        }
        // SAFETY: the machine gives strings that end with a zero, ours until we give them back.
        let owned = unsafe { CStr::from_ptr(text) }
            .to_string_lossy()
            .into_owned();
        self.deallocate_raw(text.cast());
        owned
    }

    fn taken_list(self, list: *mut Object, count: i32) -> Vec<Object> {
        if list.is_null() {
            return Vec::new();
        }
        // SAFETY: the machine gives so many references, ours until we give the list back.
        let owned = unsafe { std::slice::from_raw_parts(list, count as usize) }.to_vec();
        self.deallocate_raw(list.cast());
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
