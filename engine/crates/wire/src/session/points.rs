//! `<pid>-<n>.points`: where and how the runtime counts visits to lines without a change of the source.
//!
//! Written by the engine before it answers a process, applied by the runtime while the process has one thread. All
//! code is encoded by the engine; the runtime copies bytes. What was done is written back for the engine's notes.

use core::mem::size_of;
use core::sync::atomic::AtomicU32;

use super::map::Text;

/// First word of [`PointsHeader`].
pub const POINTS_MAGIC: u64 = u64::from_le_bytes(*b"FULCPNTS");

/// How visits are counted; bits, because a site may be allowed several and a point's sites may differ.
pub mod mechanism {
    /// A jump to a counting stub.
    pub const TRAMPOLINE: u32 = 1;
    /// A uprobe that counts (perf; needs root).
    pub const UPROBE: u32 = 2;
    /// A hardware breakpoint that counts (perf; four at most).
    pub const HARDWARE: u32 = 4;
    /// Samples in the line stand for visits.
    pub const SAMPLED: u32 = 8;
}

/// Head of the file; the arrays follow at the offsets it names.
#[repr(C)]
pub struct PointsHeader {
    /// [`POINTS_MAGIC`].
    pub magic: u64,
    /// [`crate::VERSION`].
    pub version: u32,
    /// Number of [`PointEntry`]s.
    pub point_count: u32,
    /// Number of [`SiteEntry`]s.
    pub site_count: u32,
    /// Number of [`Stretch`]es.
    pub stretch_count: u32,
    /// The kernel's number for uprobes as perf events, or [`crate::NONE`].
    pub uprobe_type: u32,
    /// Keeps the layout the same everywhere.
    pub unused: u32,
    /// Byte offset of `[PointEntry; point_count]`.
    pub points_at: u64,
    /// Byte offset of `[SiteEntry; site_count]`.
    pub sites_at: u64,
    /// Byte offset of `[Stretch; stretch_count]`.
    pub stretches_at: u64,
    /// Byte offset of the stubs' code.
    pub code_at: u64,
    /// Length of the stubs' code, bytes.
    pub code_length: u64,
    /// Address to map the arena at: one page of counters, then the stubs. 0 when there are no stubs.
    pub arena: u64,
    /// Length of the whole file.
    pub length: u64,
}

/// A progress point.
#[repr(C)]
pub struct PointEntry {
    /// Its name, UTF-8.
    pub name: Text,
    /// Address of its counter in the arena's first page; 0 when there is no arena.
    pub counter: u64,
    /// Index of its first site.
    pub first_site: u32,
    /// Number of its sites.
    pub site_count: u32,
    /// Index of its first stretch.
    pub first_stretch: u32,
    /// Number of its stretches.
    pub stretch_count: u32,
    /// Whether [`mechanism::SAMPLED`] may be used.
    pub may_sample: u32,
    /// Written by the runtime: all [`mechanism`]s in use, 0 when nothing worked.
    pub used: AtomicU32,
}

/// A place where visits to a line begin.
#[repr(C)]
pub struct SiteEntry {
    /// Its address in the process.
    pub address: u64,
    /// Its offset in the module's file.
    pub offset: u64,
    /// The module's path, ended by a zero byte (not counted in the length).
    pub file: Text,
    /// What is there, five bytes.
    pub original: [u8; 8],
    /// The jump to put there, five bytes.
    pub jump: [u8; 8],
    /// The [`mechanism`]s that may be used.
    pub allowed: u32,
    /// Keeps the layout the same everywhere.
    pub unused: u32,
}

/// Code of a point's line, for counting by samples.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// First address.
    pub start: u64,
    /// One past the last.
    pub end: u64,
}

/// Bytes that a jump overwrites.
pub const JUMP: usize = 5;
/// Bytes between two counters in the arena: a cache line each.
pub const COUNTER_STRIDE: usize = 64;
/// Where the stubs begin in the arena.
pub const STUBS_AT: usize = 4096;
/// Most points that one arena counts.
pub const MOST_POINTS: usize = STUBS_AT / COUNTER_STRIDE;

const _: () = assert!(size_of::<PointsHeader>() == 88);
const _: () = assert!(size_of::<PointEntry>() == 48);
const _: () = assert!(size_of::<SiteEntry>() == 56);
