//! Large tables on huge pages, so that random accesses do not pay for address translation.

/// A table of `len` copies of `value`. Where the system can (Linux), its memory is advised to be on huge
/// pages before it is first touched: on a drive of 64 GiB a random lookup then costs one cache miss
/// instead of a cache miss and a page walk.
pub fn table<T: Clone>(len: usize, value: T) -> Vec<T> {
    let mut table = Vec::with_capacity(len);
    advise_huge_pages(&table);
    table.resize(len, value);
    table
}

#[cfg(target_os = "linux")]
fn advise_huge_pages<T>(table: &Vec<T>) {
    const HUGE_PAGE_BYTES: usize = 2 << 20;
    let begin = (table.as_ptr() as usize).next_multiple_of(HUGE_PAGE_BYTES);
    let end = table.as_ptr() as usize + table.capacity() * size_of::<T>();
    let len = end.saturating_sub(begin) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
    if len == 0 {
        return;
    }
    // SAFETY: the range lies within one live allocation, and the advice changes no content. Its failure
    // (a kernel without huge pages) costs speed only.
    #[allow(unsafe_code)]
    unsafe {
        libc::madvise(begin as *mut libc::c_void, len, libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(target_os = "linux"))]
fn advise_huge_pages<T>(_table: &Vec<T>) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_holds_its_value_everywhere_whatever_its_size() {
        for len in [0, 1, 1000, (5 << 20) / 4 + 3] {
            let filled = table(len, 7_u32);
            assert!(filled.len() == len && filled.iter().all(|&value| value == 7));
        }
    }
}
