//! For whom pages of a map that lies in flash are read and written, where several tenants share the drive.
//!
//! A page that commands wait for is read for the tenant that asked for it first. One that is to be written anew, and what is read
//! to complete it, counts for the tenant that changed it last before that; the drive's own are those that nobody changed.
//!
//! Who waits for a page waits until its read can begin, because too many pages are to be written: that is shared out by whose
//! these are, pages times time. What the read waits for afterwards is told by who knows dies; who came while it was under way has
//! his part of that by how long he waited.
//!
//! Knows nothing of what the map says.

use ninescope_kernel::Ns;

use super::SharedPlaces;

/// A page of the map.
#[derive(Clone, Copy, Debug)]
struct Page {
    /// Who asked for it, of those that wait for it the first.
    asked_by: u16,
    /// Since when it is read for them, or otherwise on its way.
    comes_since: Ns,
    /// Who changed it last.
    changed_by: u16,
    /// Of one that is to be written: for whom.
    written_for: u16,
}

/// Who has what of the map read and written.
#[derive(Debug)]
pub struct MapHolders {
    pages: Vec<Page>,
    /// Pages that are to be written and have no place yet.
    writes: SharedPlaces,
    /// By holder: what the page that came last waited for [ns].
    came: Vec<u64>,
    /// Since when it did.
    came_since: Ns,
}

impl MapHolders {
    /// A map of so many pages, of which nobody changed anything.
    pub fn new(pages: usize, holders: usize) -> Self {
        let drive = (holders - 1) as u16;
        let page = Page { asked_by: drive, comes_since: Ns::ZERO, changed_by: drive, written_for: drive };
        Self {
            pages: vec![page; pages],
            writes: SharedPlaces::new(holders),
            came: vec![0; holders],
            came_since: Ns::ZERO,
        }
    }

    /// A command of a tenant is the first that waits for a page.
    pub fn asked(&mut self, page: u32, tenant: u16) {
        self.pages[page as usize].asked_by = tenant;
    }

    /// Who is, or was.
    pub fn asked_by(&self, page: u32) -> u16 {
        self.pages[page as usize].asked_by
    }

    /// The page begins to come.
    pub fn comes(&mut self, page: u32, now: Ns) {
        self.pages[page as usize].comes_since = now;
    }

    /// Something of a page changes, by what a holder writes.
    pub fn changed(&mut self, page: u32, holder: u16) {
        self.pages[page as usize].changed_by = holder;
    }

    /// A page is to be written.
    pub fn is_to_be_written(&mut self, page: u32, now: Ns) {
        let page = &mut self.pages[page as usize];
        page.written_for = page.changed_by;
        self.writes.taken(now, page.written_for);
    }

    /// For whom it is.
    pub fn written_for(&self, page: u32) -> u16 {
        self.pages[page as usize].written_for
    }

    /// It is written, or need not be any more.
    pub fn written(&mut self, page: u32, now: Ns) {
        self.writes.left(now, self.pages[page as usize].written_for);
    }

    /// A page is in the controller, for which its read waited so long behind each holder; nothing where it was not read.
    pub fn came(&mut self, page: u32, waits: impl Iterator<Item = u64>) {
        self.came.fill(0);
        self.came.iter_mut().zip(waits).for_each(|(came, wait)| *came = wait);
        self.came_since = self.pages[page as usize].comes_since;
    }

    /// A command of a tenant waited until now for the page that came last. Tells whom for.
    pub fn waited(&self, (since, now): (Ns, Ns), own: u16, mut tell: impl FnMut(usize, u64)) {
        if self.came_since > since {
            self.writes.share((since, self.came_since), self.came_since - since, own, &mut tell);
        }
        let (all, of_this) = ((now - self.came_since).0, (now - since.max(self.came_since)).0);
        for (holder, &wait) in self.came.iter().enumerate().filter(|_| all > 0) {
            tell(holder, (u128::from(wait) * u128::from(of_this) / u128::from(all)) as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waited(holders: &MapHolders, span: (u64, u64)) -> [u64; 3] {
        let mut waits = [0; 3];
        holders.waited((Ns(span.0), Ns(span.1)), 0, |holder, time| waits[holder] += time);
        waits
    }

    #[test]
    fn a_page_waits_for_those_that_are_to_be_written_and_then_as_its_read_does() {
        let mut holders = MapHolders::new(4, 3);
        holders.changed(1, 0);
        holders.changed(2, 1);
        for page in [1, 2, 3] {
            holders.is_to_be_written(page, Ns(100));
        }
        holders.asked(0, 0);
        assert_eq!((holders.written_for(1), holders.written_for(2), holders.written_for(3)), (0, 1, 2));
        // It was asked for at 100, and its read begins at 160.
        holders.written(3, Ns(130));
        holders.comes(0, Ns(160));
        assert_eq!(holders.asked_by(0), 0);
        holders.came(0, [0, 40, 7].into_iter());
        // Until then 60, 60 and 30 of 150 places times time; then as the read did, all of it or a half.
        assert_eq!(waited(&holders, (100, 260)), [24, 24 + 40, 12 + 7]);
        assert_eq!(waited(&holders, (210, 260)), [0, 20, 3]);
        // One that came at once waits for nobody, and so does who waits for nothing that is to be written.
        holders.came(3, [].into_iter());
        assert_eq!(waited(&holders, (90, 90)), [0, 0, 0]);
    }
}
