//! The causal runtime's decisions, without its I/O: no system calls, no allocation, no globals.
//!
//! The cdylib `fulcrum-runtime` supplies the clock, sleeping, rings and threads. This crate decides what to do with them, so that
//! a simulated scheduler can test it.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

pub mod attribute;
pub mod budget;
pub mod calls;
pub mod draw;
pub mod first;
pub mod ledger;
pub mod pace;
pub mod record;
pub mod request;
pub mod ring;
pub mod seccomp;
pub mod spread;
pub mod tail;
