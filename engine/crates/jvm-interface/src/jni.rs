//! The few functions of JNI that our libraries call. Their numbers are those of the specification's function table.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::null_mut;

/// JNI 1.6: JDK 6 and later.
pub const VERSION: i32 = 0x0001_0006;

/// A reference to an object.
pub type Object = *mut c_void;
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

/// `JNIEnv` of the calling thread. Only callbacks have one.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Env(*mut Table);

impl JavaVm {
    /// An interface of the machine.
    ///
    /// # Safety
    /// `self` is the machine's own.
    pub unsafe fn interface(&mut self, version: i32) -> Option<*mut c_void> {
        const GET_ENV: usize = 6;
        let mut found = null_mut();
        // SAFETY: function 6 of the table is `GetEnv`, with these types.
        unsafe {
            let function: unsafe extern "system" fn(*mut JavaVm, *mut *mut c_void, i32) -> i32 =
                std::mem::transmute(*self.table.add(GET_ENV));
            (function(self, &raw mut found, version) == 0).then_some(found)
        }
    }
}

/// Defines a method that calls function `$number` of the table.
macro_rules! calls {
    ($(#[$doc:meta])* $visible:vis $name:ident = $number:literal ($($argument:ident: $type:ty),*) -> $result:ty) => {
        $(#[$doc])*
        $visible fn $name(self, $($argument: $type),*) -> $result {
            // SAFETY: this number of JNI's table is a function of these types; `Env` values come from the machine, to the
            // thread that they are for, and are not kept.
            unsafe {
                let function: unsafe extern "system" fn(*mut Table $(, $type)*) -> $result =
                    std::mem::transmute(*(*self.0).add($number));
                function(self.0 $(, $argument)*)
            }
        }
    };
}

impl Env {
    /// What a native method was called with.
    pub fn from_raw(env: *mut c_void) -> Env {
        Env(env.cast())
    }

    calls!(version = 4 () -> i32);
    calls!(define_class_raw = 5 (name: *const c_char, loader: Object, bytes: *const u8, length: i32) -> Object);
    calls!(
        /// Forgets an exception.
        pub clear = 17 () -> ()
    );
    calls!(
        /// References from now on are given back together, so many at least.
        pub push_frame = 19 (count: i32) -> i32
    );
    calls!(
        /// Gives back the references since; the one that is named stays, as another one.
        pub pop_frame = 20 (kept: Object) -> Object
    );
    calls!(find_class_raw = 6 (name: *const c_char) -> Object);
    calls!(global_raw = 21 (object: Object) -> Object);
    calls!(
        /// Gives back a global reference.
        pub forget_global = 22 (object: Object) -> ()
    );
    calls!(
        /// Gives back a reference; the machine does it when a callback returns.
        pub forget = 23 (object: Object) -> ()
    );
    calls!(
        /// Whether two references are to one object: 1 or 0.
        pub is_same = 24 (one: Object, other: Object) -> u8
    );
    calls!(
        /// So many references will be held at once.
        pub expect_references = 26 (count: i32) -> i32
    );
    calls!(
        /// An object's class.
        pub class_of = 31 (object: Object) -> Object
    );
    calls!(
        /// Whether an object is of a class: 1 or 0.
        pub is_instance = 32 (object: Object, class: Object) -> u8
    );
    calls!(
        /// The object in a field of an object's; null for none.
        pub object_in = 95 (object: Object, field: *mut c_void) -> Object
    );
    calls!(field_raw = 94 (class: Object, name: *const c_char, signature: *const c_char) -> *mut c_void);
    calls!(
        /// A long in a field of an object's.
        pub long_in = 101 (object: Object, field: *mut c_void) -> i64
    );
    calls!(static_method_raw = 113 (class: Object, name: *const c_char, signature: *const c_char) -> *mut c_void);
    calls!(call_static_object_raw = 116 (class: Object, method: *mut c_void, arguments: *const i64) -> Object);
    calls!(call_static_void_raw = 143 (class: Object, method: *mut c_void, arguments: *const i64) -> ());
    calls!(static_field_raw = 144 (class: Object, name: *const c_char, signature: *const c_char) -> *mut c_void);
    calls!(static_object_raw = 145 (class: Object, field: *mut c_void) -> Object);
    calls!(new_string_raw = 167 (text: *const c_char) -> Object);
    calls!(
        /// Units of UTF-16 that a string has.
        pub string_length = 164 (string: Object) -> i32
    );
    calls!(get_longs_raw = 204 (array: Object, from: i32, count: i32, into: *mut i64) -> ());
    calls!(set_bytes_raw = 208 (array: Object, from: i32, count: i32, values: *const i8) -> ());
    calls!(set_longs_raw = 212 (array: Object, from: i32, count: i32, values: *const i64) -> ());
    calls!(register_raw = 215 (class: Object, methods: *const NativeMethod, count: i32) -> i32);
    calls!(string_region_raw = 220 (string: Object, from: i32, count: i32, into: *mut u16) -> ());
    calls!(is_virtual_raw = 234 (thread: Object) -> u8);
    calls!(
        /// Whether an exception is on its way.
        pub has_exception = 228 () -> u8
    );

    /// Defines a class of the boot loader, for good.
    pub fn define_boot_class(self, name: &CStr, bytes: &[u8]) -> Option<Object> {
        let class = self.define_class_raw(
            name.as_ptr(),
            null_mut(),
            bytes.as_ptr(),
            bytes.len() as i32,
        );
        let class = self.checked(class)?;
        self.checked(self.global_raw(class))
    }

    /// A class of the platform.
    pub fn find_class(self, name: &CStr) -> Option<Object> {
        self.checked(self.find_class_raw(name.as_ptr()))
    }

    /// A class of the platform, loaded but not initialised: what its static initialiser looks at, the program may still set.
    pub fn load_class(self, name: &CStr) -> Option<Object> {
        let loader = self.find_class(c"java/lang/Class")?;
        let signature = c"(Ljava/lang/String;ZLjava/lang/ClassLoader;)Ljava/lang/Class;";
        let method = self.static_method_raw(loader, c"forName".as_ptr(), signature.as_ptr());
        let method = self.checked(method)?;
        let name = self.checked(self.new_string_raw(name.as_ptr()))?;
        // Each a `jvalue`: the name, `false`, and the boot loader.
        let arguments = [name.addr().cast_signed() as i64, 0, 0];
        self.checked(self.call_static_object_raw(loader, method, arguments.as_ptr()))
    }

    /// A field of a class, or of one that it extends.
    pub fn field(self, class: Object, name: &CStr, signature: &CStr) -> Option<*mut c_void> {
        self.checked(self.field_raw(class, name.as_ptr(), signature.as_ptr()))
    }

    /// A reference that lasts until it is given back.
    pub fn global(self, object: Object) -> Option<Object> {
        let global = self.global_raw(object);
        (!global.is_null()).then_some(global)
    }

    /// Binds a native method.
    pub fn register(self, class: Object, method: &NativeMethod) -> bool {
        let failed = self.register_raw(class, method, 1) != 0;
        self.without_exception() && !failed
    }

    /// Whether a thread is a virtual one.
    pub fn is_virtual(self, thread: Object) -> bool {
        const JDK_21: i32 = 0x0015_0000;
        !thread.is_null() && self.version() >= JDK_21 && self.is_virtual_raw(thread) != 0
    }

    /// Calls a static method with one `int`.
    pub fn call_static_int(self, class: Object, name: &CStr, argument: i32) -> Option<()> {
        let method =
            self.checked(self.static_method_raw(class, name.as_ptr(), c"(I)V".as_ptr()))?;
        // A `jvalue`, of which an `int` is the first four bytes.
        let arguments = [i64::from(argument)];
        self.call_static_void_raw(class, method, arguments.as_ptr());
        self.without_exception().then_some(())
    }

    /// An array in a static field, for good.
    pub fn static_array(self, class: Object, name: &CStr, signature: &CStr) -> Option<Object> {
        let field = self.static_field_raw(class, name.as_ptr(), signature.as_ptr());
        let field = self.checked(field)?;
        let array = self.checked(self.static_object_raw(class, field))?;
        self.checked(self.global_raw(array))
    }

    /// The beginning of a string, as many units of UTF-16 as `into` takes. It has as many.
    pub fn string_start(self, string: Object, into: &mut [u16]) {
        self.string_region_raw(string, 0, into.len() as i32, into.as_mut_ptr());
        self.without_exception();
    }

    /// Where objects of this one's class have a long of this name.
    pub fn long_field_of(self, object: Object, name: &CStr) -> Option<*mut c_void> {
        let class = self.class_of(object);
        let field = self.checked(self.field_raw(class, name.as_ptr(), c"J".as_ptr()));
        self.forget(class);
        field
    }

    /// Sets a part of a byte array. Beyond its end nothing happens.
    pub fn set_bytes(self, array: Object, from: usize, values: &[i8]) {
        self.set_bytes_raw(array, from as i32, values.len() as i32, values.as_ptr());
        self.without_exception();
    }

    /// Sets the beginning of a long array. When it is shorter nothing happens.
    pub fn set_longs(self, array: Object, values: &[i64]) {
        self.set_longs_raw(array, 0, values.len() as i32, values.as_ptr());
        self.without_exception();
    }

    /// The beginning of a long array; zeros when it is shorter.
    pub fn longs(self, array: Object, count: usize) -> Vec<i64> {
        let mut values = vec![0; count];
        self.get_longs_raw(array, 0, count as i32, values.as_mut_ptr());
        self.without_exception();
        values
    }

    fn checked(self, result: *mut c_void) -> Option<*mut c_void> {
        (self.without_exception() && !result.is_null()).then_some(result)
    }

    /// No exception of ours is left to the program.
    fn without_exception(self) -> bool {
        let thrown = self.has_exception() != 0;
        if thrown {
            self.clear();
        }
        !thrown
    }
}
