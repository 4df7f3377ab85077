//! Functions that others hide, and symbols of any library.

use std::ffi::{c_char, c_int};

use fulcrum_preload::real;
use fulcrum_preload::real::Real;

#[test]
fn a_hidden_function_can_be_called() {
    // SAFETY: as C declares it; the string ends in 0.
    let length = unsafe { real!(strlen: fn(*const c_char) -> usize)(c"four".as_ptr()) };
    assert_eq!(length, 4);
    // SAFETY: as C declares it.
    let absolute = unsafe { real!(abs: fn(c_int) -> c_int)(-7) };
    assert_eq!(absolute, 7);
}

#[test]
fn what_is_nowhere_has_no_address() {
    assert_eq!(Real::new(c"fulcrum_no_such_function").address(), 0);
    assert_ne!(Real::versioned(c"strlen", c"NO_SUCH_VERSION").address(), 0);
    assert!(real::find(c"fulcrum_no_such_function").is_none());
    assert!(real::find(c"strlen").is_some());
}
