//! The few functions of JNI that our libraries call.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};

/// JNI 1.6: JDK 6 and later.
pub const VERSION: i32 = 0x0001_0006;

/// Places in the table of JNI functions, named as in the specification.
mod slot {
    pub(super) const GET_VERSION: usize = 4;
    pub(super) const DEFINE_CLASS: usize = 5;
    pub(super) const FIND_CLASS: usize = 6;
    pub(super) const EXCEPTION_CLEAR: usize = 17;
    pub(super) const PUSH_LOCAL_FRAME: usize = 19;
    pub(super) const POP_LOCAL_FRAME: usize = 20;
    pub(super) const NEW_GLOBAL_REF: usize = 21;
    pub(super) const DELETE_GLOBAL_REF: usize = 22;
    pub(super) const DELETE_LOCAL_REF: usize = 23;
    pub(super) const IS_SAME_OBJECT: usize = 24;
    pub(super) const ENSURE_LOCAL_CAPACITY: usize = 26;
    pub(super) const GET_OBJECT_CLASS: usize = 31;
    pub(super) const IS_INSTANCE_OF: usize = 32;
    pub(super) const GET_FIELD_ID: usize = 94;
    pub(super) const GET_OBJECT_FIELD: usize = 95;
    pub(super) const GET_LONG_FIELD: usize = 101;
    pub(super) const GET_STATIC_METHOD_ID: usize = 113;
    pub(super) const CALL_STATIC_OBJECT_METHOD_A: usize = 116;
    pub(super) const CALL_STATIC_VOID_METHOD_A: usize = 143;
    pub(super) const GET_STATIC_FIELD_ID: usize = 144;
    pub(super) const GET_STATIC_OBJECT_FIELD: usize = 145;
    pub(super) const GET_STRING_LENGTH: usize = 164;
    pub(super) const NEW_STRING_UTF: usize = 167;
    pub(super) const GET_LONG_ARRAY_REGION: usize = 204;
    pub(super) const SET_BYTE_ARRAY_REGION: usize = 208;
    pub(super) const SET_LONG_ARRAY_REGION: usize = 212;
    pub(super) const REGISTER_NATIVES: usize = 215;
    pub(super) const GET_STRING_REGION: usize = 220;
    pub(super) const EXCEPTION_CHECK: usize = 228;
    pub(super) const IS_VIRTUAL_THREAD: usize = 234;
}

/// The place of `GetEnv` in the table of the invocation interface.
const GET_ENV: usize = 6;

/// A reference to an object, or null. It comes from the virtual machine and is valid as long as the specification says: local
/// ones until the native method or callback returns, global ones until they are deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Object(*mut c_void);

impl Object {
    /// No object.
    pub const NULL: Object = Object(null_mut());

    /// Whether it refers to no object.
    #[inline]
    pub fn is_null(self) -> bool {
        self.0.is_null()
    }
}

/// A field of a class (`jfieldID`), valid in all threads as long as the class is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Field(*mut c_void);
// SAFETY: field ids may be used by any thread.
unsafe impl Send for Field {}
// SAFETY: see above.
unsafe impl Sync for Field {}

/// A place for a global reference that all threads use.
#[derive(Debug)]
pub struct AtomicObject(AtomicPtr<c_void>);

impl AtomicObject {
    /// The place has no reference yet.
    pub const fn null() -> AtomicObject {
        AtomicObject(AtomicPtr::new(null_mut()))
    }

    /// The reference, or null.
    #[inline]
    pub fn load(&self, order: Ordering) -> Object {
        Object(self.0.load(order))
    }

    /// Stores a global reference.
    pub fn store(&self, object: Object, order: Ordering) {
        self.0.store(object.0, order);
    }
}

/// A place for a field that all threads use.
#[derive(Debug)]
pub struct AtomicField(AtomicPtr<c_void>);

impl AtomicField {
    /// The place has no field yet.
    pub const fn unknown() -> AtomicField {
        AtomicField(AtomicPtr::new(null_mut()))
    }

    /// The field, once it is known.
    #[inline]
    pub fn load(&self, order: Ordering) -> Option<Field> {
        let field = self.0.load(order);
        (!field.is_null()).then_some(Field(field))
    }

    /// Stores a field.
    pub fn store(&self, field: Field, order: Ordering) {
        self.0.store(field.0, order);
    }
}

type Table = *const *const c_void;

/// `JNINativeMethod`.
#[repr(C)]
pub struct NativeMethod {
    /// Its name, a C string.
    pub name: *const c_char,
    /// Its descriptor, a C string.
    pub signature: *const c_char,
    /// What it is bound to.
    pub function: *const c_void,
}

/// `JavaVM`.
#[repr(C)]
pub struct JavaVm {
    table: Table,
}

/// `JNIEnv` of the calling thread. Native methods and callbacks get it as a parameter.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Env(*mut Table);

impl JavaVm {
    /// An interface of the virtual machine: of JNI for the calling thread, or of JVMTI.
    ///
    /// # Safety
    /// `self` is the virtual machine's own.
    pub unsafe fn interface(&mut self, version: i32) -> Option<*mut c_void> {
        let mut found = null_mut();
        // SAFETY: this place of the table is `GetEnv`, with these types.
        unsafe {
            let function: unsafe extern "system" fn(*mut JavaVm, *mut *mut c_void, i32) -> i32 =
                std::mem::transmute(*self.table.add(GET_ENV));
            (function(self, &raw mut found, version) == 0).then_some(found)
        }
    }
}

/// Defines a method that calls the function in a [`slot`]: a safe one where all arguments are numbers and what the machine gave
/// us, an unsafe one where they are pointers of ours.
macro_rules! function {
    ($(#[$doc:meta])* $visible:vis fn $name:ident = $slot:ident ($($argument:ident: $type:ty),*) -> $result:ty) => {
        $(#[$doc])*
        $visible fn $name(self, $($argument: $type),*) -> $result {
            // SAFETY: this place of the table is a function of these types. `Env` values, references and fields come from the
            // machine, for the thread that uses them.
            unsafe {
                let function: unsafe extern "system" fn(*mut Table $(, $type)*) -> $result =
                    std::mem::transmute(*(*self.0).add(slot::$slot));
                function(self.0 $(, $argument)*)
            }
        }
    };
    (unsafe fn $name:ident = $slot:ident ($($argument:ident: $type:ty),*) -> $result:ty) => {
        /// # Safety
        /// The pointers are as the specification of this function says.
        unsafe fn $name(self, $($argument: $type),*) -> $result {
            // SAFETY: as above, and the caller's promise.
            unsafe {
                let function: unsafe extern "system" fn(*mut Table $(, $type)*) -> $result =
                    std::mem::transmute(*(*self.0).add(slot::$slot));
                function(self.0 $(, $argument)*)
            }
        }
    };
}

impl Env {
    /// What `JavaVm::interface` gave for [`VERSION`].
    ///
    /// # Safety
    /// It is the calling thread's, which uses it no longer than it is attached to the machine.
    pub unsafe fn from_raw(env: *mut c_void) -> Env {
        Env(env.cast())
    }

    function!(fn version = GET_VERSION () -> i32);
    function!(unsafe fn define_class_raw = DEFINE_CLASS (name: *const c_char, loader: Object, bytes: *const u8, length: i32) -> Object);
    function!(
        /// Clears a pending exception.
        pub fn clear = EXCEPTION_CLEAR () -> ()
    );
    function!(
        /// Starts a frame with room for at least so many local references, which are deleted together. 0 on success.
        pub fn push_frame = PUSH_LOCAL_FRAME (count: i32) -> i32
    );
    function!(
        /// Deletes the local references of the innermost frame, and returns `kept` as a new reference.
        pub fn pop_frame = POP_LOCAL_FRAME (kept: Object) -> Object
    );
    function!(unsafe fn find_class_raw = FIND_CLASS (name: *const c_char) -> Object);
    function!(fn global_raw = NEW_GLOBAL_REF (object: Object) -> Object);
    function!(
        /// Deletes a global reference.
        pub fn forget_global = DELETE_GLOBAL_REF (object: Object) -> ()
    );
    function!(
        /// Deletes a local reference. The machine does so itself when a native method or callback returns.
        pub fn forget = DELETE_LOCAL_REF (object: Object) -> ()
    );
    function!(fn is_same_raw = IS_SAME_OBJECT (one: Object, other: Object) -> u8);
    function!(
        /// Makes room for at least so many local references. 0 on success.
        pub fn expect_references = ENSURE_LOCAL_CAPACITY (count: i32) -> i32
    );
    function!(
        /// An object's class.
        pub fn class_of = GET_OBJECT_CLASS (object: Object) -> Object
    );
    function!(fn is_instance_raw = IS_INSTANCE_OF (object: Object, class: Object) -> u8);
    function!(fn object_in_raw = GET_OBJECT_FIELD (object: Object, field: Field) -> Object);
    function!(unsafe fn field_raw = GET_FIELD_ID (class: Object, name: *const c_char, signature: *const c_char) -> *mut c_void);
    function!(fn long_in_raw = GET_LONG_FIELD (object: Object, field: Field) -> i64);
    function!(unsafe fn static_method_raw = GET_STATIC_METHOD_ID (class: Object, name: *const c_char, signature: *const c_char) -> *mut c_void);
    function!(unsafe fn call_static_object_raw = CALL_STATIC_OBJECT_METHOD_A (class: Object, method: *mut c_void, arguments: *const i64) -> Object);
    function!(unsafe fn call_static_void_raw = CALL_STATIC_VOID_METHOD_A (class: Object, method: *mut c_void, arguments: *const i64) -> ());
    function!(unsafe fn static_field_raw = GET_STATIC_FIELD_ID (class: Object, name: *const c_char, signature: *const c_char) -> *mut c_void);
    function!(unsafe fn static_object_raw = GET_STATIC_OBJECT_FIELD (class: Object, field: *mut c_void) -> Object);
    function!(unsafe fn new_string_raw = NEW_STRING_UTF (text: *const c_char) -> Object);
    function!(
        /// The length of a string, in units of UTF-16.
        pub fn string_length = GET_STRING_LENGTH (string: Object) -> i32
    );
    function!(unsafe fn get_longs_raw = GET_LONG_ARRAY_REGION (array: Object, from: i32, count: i32, into: *mut i64) -> ());
    function!(unsafe fn set_bytes_raw = SET_BYTE_ARRAY_REGION (array: Object, from: i32, count: i32, values: *const i8) -> ());
    function!(unsafe fn set_longs_raw = SET_LONG_ARRAY_REGION (array: Object, from: i32, count: i32, values: *const i64) -> ());
    function!(unsafe fn register_raw = REGISTER_NATIVES (class: Object, methods: *const NativeMethod, count: i32) -> i32);
    function!(unsafe fn string_region_raw = GET_STRING_REGION (string: Object, from: i32, count: i32, into: *mut u16) -> ());
    function!(fn is_virtual_raw = IS_VIRTUAL_THREAD (thread: Object) -> u8);
    function!(fn has_exception_raw = EXCEPTION_CHECK () -> u8);

    /// Whether two references refer to the same object.
    pub fn is_same(self, one: Object, other: Object) -> bool {
        self.is_same_raw(one, other) != 0
    }

    /// Whether an object is an instance of a class.
    pub fn is_instance(self, object: Object, class: Object) -> bool {
        self.is_instance_raw(object, class) != 0
    }

    /// The object in a field of an object; null for none.
    ///
    /// # Safety
    /// The field is one of the object's class, of a reference type.
    pub unsafe fn object_in(self, object: Object, field: Field) -> Object {
        self.object_in_raw(object, field)
    }

    /// The value of a field of an object.
    ///
    /// # Safety
    /// The field is a `long` of the object's class.
    pub unsafe fn long_in(self, object: Object, field: Field) -> i64 {
        self.long_in_raw(object, field)
    }

    /// Whether an exception is pending.
    pub fn has_exception(self) -> bool {
        self.has_exception_raw() != 0
    }

    /// Defines a class of the boot loader, for good.
    pub fn define_boot_class(self, name: &CStr, bytes: &[u8]) -> Option<Object> {
        let (bytes, length) = (bytes.as_ptr(), bytes.len() as i32);
        // SAFETY: a C string and so many bytes, which the machine only reads.
        let class = unsafe { self.define_class_raw(name.as_ptr(), Object::NULL, bytes, length) };
        let class = self.checked(class)?;
        self.checked(self.global_raw(class))
    }

    /// A class of the platform.
    pub fn find_class(self, name: &CStr) -> Option<Object> {
        // SAFETY: a C string.
        self.checked(unsafe { self.find_class_raw(name.as_ptr()) })
    }

    /// A class of the platform, loaded but not initialised: the program may still set what its static initialiser reads.
    pub fn load_class(self, name: &CStr) -> Option<Object> {
        let loader = self.find_class(c"java/lang/Class")?;
        let signature = c"(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;";
        let method = self.static_method(loader, c"forName", signature)?;
        // SAFETY: a C string.
        let name = self.checked(unsafe { self.new_string_raw(name.as_ptr()) })?;
        // Each a `jvalue`: the name, `false`, and the boot loader.
        let arguments = [name.0.addr().cast_signed() as i64, 0, 0];
        // SAFETY: a method of that class, and as many arguments as it has, of its types.
        self.checked(unsafe { self.call_static_object_raw(loader, method, arguments.as_ptr()) })
    }

    /// A field of a class, or of a class that it extends.
    pub fn field(self, class: Object, name: &CStr, signature: &CStr) -> Option<Field> {
        // SAFETY: C strings.
        let field = unsafe { self.field_raw(class, name.as_ptr(), signature.as_ptr()) };
        self.found(field).map(Field)
    }

    /// A new global reference, which lasts until it is deleted.
    pub fn global(self, object: Object) -> Option<Object> {
        let global = self.global_raw(object);
        (!global.is_null()).then_some(global)
    }

    /// Binds a native method.
    ///
    /// # Safety
    /// Its name and signature are C strings, and its function has the types that the signature says.
    pub unsafe fn register(self, class: Object, method: &NativeMethod) -> bool {
        // SAFETY: the caller's promise; one method.
        let failed = unsafe { self.register_raw(class, method, 1) } != 0;
        self.without_exception() && !failed
    }

    /// Whether a thread is a virtual one.
    pub fn is_virtual(self, thread: Object) -> bool {
        const JDK_21: i32 = 0x0015_0000;
        !thread.is_null() && self.version() >= JDK_21 && self.is_virtual_raw(thread) != 0
    }

    /// Calls a static method that takes one `int` and returns nothing.
    pub fn call_static_int(self, class: Object, name: &CStr, argument: i32) -> Option<()> {
        let method = self.static_method(class, name, c"(I)V")?;
        // A `jvalue`, of which an `int` is the first four bytes.
        let arguments = [i64::from(argument)];
        // SAFETY: a method of that class, and its one argument.
        unsafe { self.call_static_void_raw(class, method, arguments.as_ptr()) };
        self.without_exception().then_some(())
    }

    /// A global reference to the array in a static field.
    pub fn static_array(self, class: Object, name: &CStr, signature: &CStr) -> Option<Object> {
        // SAFETY: C strings.
        let field = unsafe { self.static_field_raw(class, name.as_ptr(), signature.as_ptr()) };
        let field = self.found(field)?;
        // SAFETY: a static field of that class; arrays are objects.
        let array = self.checked(unsafe { self.static_object_raw(class, field) })?;
        self.checked(self.global_raw(array))
    }

    /// Copies the beginning of a string, as many units of UTF-16 as `into` has; nothing when the string is shorter.
    pub fn string_start(self, string: Object, into: &mut [u16]) {
        // SAFETY: the machine checks the string's length, and writes so many units.
        unsafe { self.string_region_raw(string, 0, into.len() as i32, into.as_mut_ptr()) };
        self.without_exception();
    }

    /// The `long` field of this name that objects of the same class as this one have.
    pub fn long_field_of(self, object: Object, name: &CStr) -> Option<Field> {
        let class = self.class_of(object);
        let field = self.field(class, name, c"J");
        self.forget(class);
        field
    }

    /// Sets a part of a byte array; does nothing beyond its end.
    pub fn set_bytes(self, array: Object, from: usize, values: &[i8]) {
        let (count, values) = (values.len() as i32, values.as_ptr());
        // SAFETY: the machine checks the array's length, and reads so many values.
        unsafe { self.set_bytes_raw(array, from as i32, count, values) };
        self.without_exception();
    }

    /// Sets the beginning of a long array; does nothing when it is shorter.
    pub fn set_longs(self, array: Object, values: &[i64]) {
        // SAFETY: the machine checks the array's length, and reads so many values.
        unsafe { self.set_longs_raw(array, 0, values.len() as i32, values.as_ptr()) };
        self.without_exception();
    }

    /// The beginning of a long array; zeros when it is shorter.
    pub fn longs(self, array: Object, count: usize) -> Vec<i64> {
        let mut values = vec![0; count];
        // SAFETY: the machine checks the array's length, and writes so many values.
        unsafe { self.get_longs_raw(array, 0, count as i32, values.as_mut_ptr()) };
        self.without_exception();
        values
    }

    fn static_method(self, class: Object, name: &CStr, signature: &CStr) -> Option<*mut c_void> {
        // SAFETY: C strings.
        let method = unsafe { self.static_method_raw(class, name.as_ptr(), signature.as_ptr()) };
        self.found(method)
    }

    fn checked(self, object: Object) -> Option<Object> {
        self.found(object.0).map(Object)
    }

    /// What a function found, unless it is null or the function threw.
    fn found(self, result: *mut c_void) -> Option<*mut c_void> {
        (self.without_exception() && !result.is_null()).then_some(result)
    }

    /// Clears an exception that a call of ours left pending: the program must not see it. `false` when there was one.
    fn without_exception(self) -> bool {
        let thrown = self.has_exception();
        if thrown {
            self.clear();
        }
        !thrown
    }
}
