//! A hint that a table entry will be needed soon.

/// Asks the processor to load the cache line of `table[index]`; does nothing out of bounds or on
/// processors without the hint. It changes no result, only when a cache miss is paid.
#[inline]
pub fn prefetch<T>(table: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(entry) = table.get(index) {
        // SAFETY: the pointer comes from a live reference, and a prefetch reads nothing the program sees.
        #[allow(unsafe_code)]
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(entry).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (table, index);
}
