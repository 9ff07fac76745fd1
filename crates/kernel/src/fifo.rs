//! A first-in first-out list threaded through records that live elsewhere.

/// The link value that means "no record".
pub const NONE: u32 = u32::MAX;

/// Head, tail and length of a list whose links lie in the records; the caller says where.
///
/// The list itself is 12 bytes and never allocates. A record may be on one list at a time.
#[derive(Clone, Copy, Debug)]
pub struct Fifo {
    head: u32,
    tail: u32,
    len: u32,
}

impl Default for Fifo {
    fn default() -> Self {
        Self { head: NONE, tail: NONE, len: 0 }
    }
}

impl Fifo {
    /// Appends record `index`; `link(i)` is the link field of record `i`.
    #[inline]
    pub fn push_back<T: ?Sized>(&mut self, records: &mut T, index: u32, link: impl Fn(&mut T, u32) -> &mut u32) {
        *link(records, index) = NONE;
        if self.tail == NONE {
            self.head = index;
        } else {
            *link(records, self.tail) = index;
        }
        self.tail = index;
        self.len += 1;
    }

    /// Puts record `index` before all others.
    #[inline]
    pub fn push_front<T: ?Sized>(&mut self, records: &mut T, index: u32, link: impl Fn(&mut T, u32) -> &mut u32) {
        *link(records, index) = self.head;
        if self.tail == NONE {
            self.tail = index;
        }
        self.head = index;
        self.len += 1;
    }

    /// Removes and returns the first record's index.
    #[inline]
    pub fn pop_front<T: ?Sized>(&mut self, records: &mut T, link: impl Fn(&mut T, u32) -> &mut u32) -> Option<u32> {
        if self.head == NONE {
            return None;
        }
        let index = self.head;
        self.head = *link(records, index);
        if self.head == NONE {
            self.tail = NONE;
        }
        self.len -= 1;
        Some(index)
    }

    /// Unlinks the record that follows `previous` (`NONE`: the first one) and returns its index.
    #[inline]
    pub fn remove_after<T: ?Sized>(
        &mut self,
        records: &mut T,
        previous: u32,
        link: impl Fn(&mut T, u32) -> &mut u32,
    ) -> Option<u32> {
        if previous == NONE {
            return self.pop_front(records, link);
        }
        let index = *link(records, previous);
        if index == NONE {
            return None;
        }
        let after = *link(records, index);
        *link(records, previous) = after;
        if self.tail == index {
            self.tail = previous;
        }
        self.len -= 1;
        Some(index)
    }

    /// Takes the last record to the front, behind those there of which `stays` holds. Returns whether it passed any.
    pub fn bring_last_forward<T: ?Sized>(
        &mut self,
        records: &mut T,
        stays: impl Fn(&T, u32) -> bool,
        link: impl Fn(&mut T, u32) -> &mut u32,
    ) -> bool {
        let last = self.tail;
        let (mut ahead, mut passed) = (NONE, self.head);
        while passed != last && stays(records, passed) {
            (ahead, passed) = (passed, *link(records, passed));
        }
        if passed == last {
            return false;
        }
        let mut before_last = passed;
        while *link(records, before_last) != last {
            before_last = *link(records, before_last);
        }
        (*link(records, before_last), self.tail) = (NONE, before_last);
        *link(records, last) = passed;
        *(if ahead == NONE { &mut self.head } else { link(records, ahead) }) = last;
        true
    }

    /// The first record's index, `NONE` when empty.
    #[inline]
    #[must_use]
    pub fn head(&self) -> u32 {
        self.head
    }

    /// The last record's index, `NONE` when empty.
    #[inline]
    #[must_use]
    pub fn tail(&self) -> u32 {
        self.tail
    }

    /// Records on the list.
    #[inline]
    #[must_use]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether the list holds nothing.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(links: &mut [u32], index: u32) -> &mut u32 {
        &mut links[index as usize]
    }

    #[test]
    fn records_leave_in_the_order_they_came() {
        let mut links = [NONE; 4];
        let mut fifo = Fifo::default();
        for index in [2, 0, 3] {
            fifo.push_back(&mut links[..], index, link);
        }
        assert_eq!(fifo.remove_after(&mut links[..], 2, link), Some(0));
        assert_eq!(fifo.pop_front(&mut links[..], link), Some(2));
        assert_eq!(fifo.pop_front(&mut links[..], link), Some(3));
        assert_eq!((fifo.pop_front(&mut links[..], link), fifo.len()), (None, 0));
    }

    #[test]
    fn the_last_record_goes_behind_those_in_front_that_stay() {
        let mut links = [NONE; 6];
        let mut fifo = Fifo::default();
        let stays = |_: &[u32], index: u32| index >= 4;
        let mut come = |fifo: &mut Fifo, index: u32| {
            fifo.push_back(&mut links[..], index, link);
            fifo.bring_last_forward(&mut links[..], stays, link)
        };
        assert!(!come(&mut fifo, 0), "it is alone");
        fifo.push_back(&mut links[..], 1, link);
        let mut come = |fifo: &mut Fifo, index: u32| {
            fifo.push_back(&mut links[..], index, link);
            fifo.bring_last_forward(&mut links[..], stays, link)
        };
        assert!(come(&mut fifo, 4), "before 0");
        assert!(come(&mut fifo, 5), "behind 4");
        fifo.push_back(&mut links[..], 2, link);
        let left: Vec<_> = std::iter::from_fn(|| fifo.pop_front(&mut links[..], link)).collect();
        assert_eq!((left, fifo.len()), (vec![4, 5, 0, 1, 2], 0));
    }

    #[test]
    fn one_put_before_all_others_leaves_first() {
        let mut links = [NONE; 4];
        let mut fifo = Fifo::default();
        fifo.push_front(&mut links[..], 1, link);
        fifo.push_back(&mut links[..], 2, link);
        fifo.push_front(&mut links[..], 0, link);
        let order = [(); 4].map(|()| fifo.pop_front(&mut links[..], link));
        assert_eq!((order, fifo.len()), ([Some(0), Some(1), Some(2), None], 0));
        fifo.push_back(&mut links[..], 3, link);
        assert_eq!(fifo.head(), 3);
    }

    #[test]
    fn removing_the_last_record_moves_the_tail() {
        let mut links = [NONE; 3];
        let mut fifo = Fifo::default();
        fifo.push_back(&mut links[..], 0, link);
        fifo.push_back(&mut links[..], 1, link);
        assert_eq!(fifo.remove_after(&mut links[..], 0, link), Some(1));
        fifo.push_back(&mut links[..], 2, link);
        assert_eq!(fifo.pop_front(&mut links[..], link), Some(0));
        assert_eq!(fifo.pop_front(&mut links[..], link), Some(2));
    }
}
