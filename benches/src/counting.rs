//! A global allocator that counts allocations.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicU64, Ordering},
};

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

/// Counts allocations and, if `KEPT` is true, the bytes that are not freed. `KEPT` is a constant, so that benchmarks that count
/// instructions do not execute code for these bytes.
pub struct Counting<const KEPT: bool>;

/// Returns the number of allocations so far.
#[must_use]
pub fn allocations() -> u64 {
    ALLOCATIONS.load(Ordering::Relaxed)
}

/// Returns the number of bytes that are not freed.
#[must_use]
pub fn kept() -> u64 {
    BYTES.load(Ordering::Relaxed)
}

/// Counts one allocation without a locked instruction, which would take a tenth of the time of a call. The benches allocate on one thread.
fn count() {
    ALLOCATIONS.store(ALLOCATIONS.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

// SAFETY: every call is forwarded to the system's allocator.
unsafe impl<const KEPT: bool> GlobalAlloc for Counting<KEPT> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        if KEPT {
            BYTES.fetch_add(layout.size() as u64, Ordering::Relaxed);
        }
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        if KEPT {
            BYTES.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        }
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        if KEPT {
            BYTES.fetch_add(size as u64, Ordering::Relaxed);
            BYTES.fetch_sub(layout.size() as u64, Ordering::Relaxed);
        }
        unsafe { System.realloc(pointer, layout, size) }
    }
}
