//! Options of sanitizers that allow a preloaded library.

/// Lets programs built with AddressSanitizer run. It would end them with
/// "ASan runtime does not come first in initial library list", because a library before it could hide what it intercepts. We pass
/// on what we hide. Its options in the environment still count, and the program may define this function itself.
#[macro_export]
macro_rules! sanitizer_options {
    () => {
        /// Options of AddressSanitizer, which calls this when it starts.
        #[unsafe(no_mangle)]
        pub extern "C" fn __asan_default_options() -> *const ::core::ffi::c_char {
            c"verify_asan_link_order=0".as_ptr()
        }
    };
}
