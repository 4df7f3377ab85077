//! The few functions of JNI that the agent calls. Their numbers are those of the specification's function table.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::null_mut;

/// A reference to an object.
pub type Object = *mut c_void;
type Table = *const *const c_void;

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
    ($(#[$doc:meta])* $name:ident = $number:literal ($($argument:ident: $type:ty),*) -> $result:ty) => {
        $(#[$doc])*
        pub fn $name(self, $($argument: $type),*) -> $result {
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
    calls!(define_class_raw = 5 (name: *const c_char, loader: Object, bytes: *const u8, length: i32) -> Object);
    calls!(
        /// Forgets an exception.
        clear = 17 () -> ()
    );
    calls!(global_raw = 21 (object: Object) -> Object);
    calls!(
        /// Gives back a reference; the machine does it when a callback returns.
        forget = 23 (object: Object) -> ()
    );
    calls!(
        /// So many references will be held at once.
        expect_references = 26 (count: i32) -> i32
    );
    calls!(
        /// An object's class.
        class_of = 31 (object: Object) -> Object
    );
    calls!(static_method_raw = 113 (class: Object, name: *const c_char, signature: *const c_char) -> *mut c_void);
    calls!(call_static_void_raw = 143 (class: Object, method: *mut c_void, arguments: *const i64) -> ());
    calls!(
        /// Whether an exception is on its way.
        has_exception = 228 () -> u8
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

    /// Calls a static method with one `int`.
    pub fn call_static_int(self, class: Object, name: &CStr, argument: i32) -> Option<()> {
        let method =
            self.checked(self.static_method_raw(class, name.as_ptr(), c"(I)V".as_ptr()))?;
        // A `jvalue`, of which an `int` is the first four bytes.
        let arguments = [i64::from(argument)];
        self.call_static_void_raw(class, method, arguments.as_ptr());
        self.without_exception().then_some(())
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
