//! How large a profile may be.

/// How large a compressed profile may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes after decompression.
    pub bytes: usize,
    /// Times the compressed size. Applies above 64 MiB only, because short texts may repeat themselves.
    pub ratio: usize,
}

impl Default for Limits {
    /// 4 GiB, and 400 times the compressed size. Folded stacks, which compress best, reach 100 times.
    fn default() -> Self {
        Limits {
            bytes: 4 << 30,
            ratio: 400,
        }
    }
}

impl Limits {
    /// For a file that the user trusts: up to `bytes`, however well they are compressed.
    pub fn up_to(bytes: usize) -> Self {
        Limits {
            bytes,
            ratio: usize::MAX,
        }
    }
}

/// What to do about a file that is larger than [`Limits`] allow, as the end of a sentence.
pub const ALLOW_MORE: &str = "if you trust it, allow more with --max-size; the editor opens what `fulcrum profile convert \
                              --max-size SIZE --to pprof` writes";
