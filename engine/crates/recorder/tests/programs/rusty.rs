// Line 17 does the work; progress by coz's published protocol.
use std::ffi::{CString, c_char, c_int, c_void};
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

type GetCounter = unsafe extern "C" fn(c_int, *const c_char) -> *const AtomicUsize;

#[inline(never)]
fn work(rounds: u64) -> u64 {
    let mut y = rounds;
    let mut i = 0;
    while i < rounds {
        y = black_box(y.wrapping_mul(6364136223846793005).wrapping_add(i));
        i += 1;
    }
    y
}

fn main() {
    let (symbol, name) = (CString::new("_coz_get_counter").unwrap(), CString::new("round").unwrap());
    let found = unsafe { dlsym(std::ptr::null_mut(), symbol.as_ptr()) };
    assert!(!found.is_null(), "the runtime is not here");
    let counter = unsafe { std::mem::transmute::<*mut c_void, GetCounter>(found)(1, name.as_ptr()) };
    loop {
        black_box(work(1_000_000));
        unsafe { &*counter }.fetch_add(1, Ordering::Relaxed);
    }
}
