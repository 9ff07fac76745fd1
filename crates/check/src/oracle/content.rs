//! What lies at each physical place: a version per sector, carried along by moves.

use ninescope_kernel::Slab;
use ninescope_model::{Lpa, Ppa};

/// Version of a sector: 0 nothing, 1 what preparing wrote, above that one per write or TRIM command.
pub type Version = u32;
/// Nothing was ever written.
pub const NEVER_WRITTEN: Version = 0;
/// Written while the drive was prepared.
pub const PREPARED: Version = 1;
/// The first version of a command.
pub const FIRST_COMMAND: Version = 2;
/// No good: a read did not bring what it should have.
pub const SPOILED: Version = Version::MAX;

/// A TRIM of a unit that is in the map still, of whose data reads return what was there before.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    /// The version of its zeros.
    pub version: Version,
    /// Its place in the order of fetches and completions.
    pub invocation: u64,
}

/// A unit's content: unchanging, shared by every place it lies at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content(u32);

impl Content {
    /// None known: nothing was programmed there, or the unit is not followed.
    pub const NONE: Self = Self(u32::MAX);
    /// Set: what preparing wrote into the unit given by the other bits. Needs no record.
    const PREPARED_BIT: u32 = 1 << 31;

    /// What preparing wrote into a unit.
    pub fn prepared(lpa: Lpa) -> Self {
        Self(lpa.0 | Self::PREPARED_BIT)
    }

    fn is_prepared(self) -> bool {
        self.0 & Self::PREPARED_BIT != 0
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Record {
    lpa: Lpa,
    references: u32,
}

/// All contents, and which lies where.
#[derive(Debug)]
pub struct Contents {
    at: Vec<Content>,
    records: Slab<Record>,
    versions: Vec<Version>,
    sectors: usize,
}

impl Contents {
    /// Nothing anywhere. Units have `sectors` sectors.
    pub fn new(places: u32, sectors: u32) -> Self {
        Self {
            at: vec![Content::NONE; places as usize],
            records: Slab::with_capacity(0),
            versions: Vec::new(),
            sectors: sectors as usize,
        }
    }

    /// What lies at a place.
    #[inline]
    pub fn at(&self, place: Ppa) -> Content {
        self.at[place.index()]
    }

    /// Puts content at a place, which takes over the caller's reference.
    pub fn put(&mut self, place: Ppa, content: Content) {
        let before = std::mem::replace(&mut self.at[place.index()], content);
        self.release(before);
    }

    /// New content with one reference. `version_of(sector)` says what each sector holds.
    pub fn create(&mut self, lpa: Lpa, mut version_of: impl FnMut(&Self, usize) -> Version) -> Content {
        let index = self.records.insert(Record { lpa, references: 1 });
        let first = index as usize * self.sectors;
        if self.versions.len() < first + self.sectors {
            self.versions.resize(first + self.sectors, NEVER_WRITTEN);
        }
        for sector in 0..self.sectors {
            self.versions[first + sector] = version_of(self, sector);
        }
        Content(index)
    }

    /// One more reference.
    pub fn share(&mut self, content: Content) -> Content {
        if content != Content::NONE && !content.is_prepared() {
            self.records[content.0].references += 1;
        }
        content
    }

    /// One reference less.
    pub fn release(&mut self, content: Content) {
        if content == Content::NONE || content.is_prepared() {
            return;
        }
        let record = &mut self.records[content.0];
        record.references -= 1;
        if record.references == 0 {
            self.records.remove(content.0);
        }
    }

    /// The unit whose content it is; [`Lpa::NONE`] for none.
    pub fn lpa(&self, content: Content) -> Lpa {
        if content == Content::NONE {
            Lpa::NONE
        } else if content.is_prepared() {
            Lpa(content.0 & !Content::PREPARED_BIT)
        } else {
            self.records[content.0].lpa
        }
    }

    /// The version of a sector.
    pub fn version(&self, content: Content, sector: usize) -> Version {
        if content == Content::NONE {
            NEVER_WRITTEN
        } else if content.is_prepared() {
            PREPARED
        } else {
            self.versions[content.0 as usize * self.sectors + sector]
        }
    }
}
