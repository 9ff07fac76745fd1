//! The shape of a drive and its one physical numbering.
//!
//! A physical page address (PPA) counts mapping units in the order in which a write frontier fills
//! them, so that "the next unit of the frontier" is an addition:
//!
//! ```text
//! ppa = ((group * pages_per_block + page) * frontier_planes + plane_in_group) * units_per_page + unit
//! group = pool * blocks_per_plane + block,   pool = die * pools_per_die + sub
//! ```
//!
//! A *stripe* is the pages at one page offset in the planes of a group: what one multi-plane command programs. Where all pages of a
//! wordline are programmed in one go, that is the stripes of a wordline.
//!
//! With [parity](Parity) a pool lies on a *set* of dies and a group on a block of each of its planes there, one die of which
//! holds parity: another one from block to block. `page` above is a *row* then, which goes round the dies that hold data, so
//! that rows of one page of all of them follow each other; they and the page of parity are a *parity stripe*. The parity has
//! addresses behind those of all units: it holds none. A [super-block](Superblock) is the same without parity: rows go round all dies
//! of a set.

use ninescope_kernel::FastDiv;
use serde::{Deserialize, Serialize};

mod parity;

pub use parity::{Parity, ParityOver, Superblock};

use crate::{BlockGroup, ChannelId, DieId, Pool, Ppa, SECTOR_BYTES};

/// The largest number of planes one command can address.
pub const PLANES_MAX: u32 = 4;
/// The largest number of mapping units in a page (masks are 32 bits).
const UNITS_PER_PAGE_MAX: u32 = 32;
/// The largest number of sectors in a mapping unit (masks are 32 bits).
const SECTORS_PER_UNIT_MAX: u32 = 32;

/// The numbers a geometry is made of. All are counts, but for the two sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Numbers", into = "Numbers")]
pub struct Geometry {
    /// Channels of the controller.
    pub channels: u32,
    /// Packages (chip enables) on a channel.
    pub packages_per_channel: u32,
    /// Dies (= LUNs) in a package.
    pub dies_per_package: u32,
    /// Planes in a die, 1 to 4.
    pub planes_per_die: u32,
    /// Blocks in a plane.
    pub blocks_per_plane: u32,
    /// Pages in a block.
    pub pages_per_block: u32,
    /// User bytes of a page, a power of two [B].
    pub page_bytes: u32,
    /// Bytes of a mapping unit: 512 B × 2^n up to the page [B].
    pub unit_bytes: u32,
    /// Planes that share a write frontier; divides `planes_per_die`.
    pub frontier_planes: u32,
    /// Parity over dies, if there is any.
    pub parity: Option<Parity>,
    /// Several dies that a block group lies on without that, if it does.
    pub superblock: Option<Superblock>,
    /// Pages of a block that one program is of, those of a wordline; 1 where each page is programmed by itself.
    pub pages_per_program: u32,
    /// Reciprocals and products of the above, filled in by [`Geometry::checked`].
    derived: Derived,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
struct Derived {
    units_per_page_shift: u32,
    units_per_group: FastDivOrOne,
    units_per_stripe: FastDivOrOne,
    blocks_per_plane: FastDivOrOne,
    pools_per_die: FastDivOrOne,
    dies_per_channel: FastDivOrOne,
    /// Whether a group lies on several dies.
    spans_dies: bool,
    /// Dies of a set that hold data; 1 where each die is one.
    data_dies: FastDivOrOne,
}

/// A [`FastDiv`] that compares by divisor and defaults to 1.
#[derive(Clone, Copy, Debug)]
struct FastDivOrOne(FastDiv);

impl Default for FastDivOrOne {
    fn default() -> Self {
        Self(FastDiv::new(1))
    }
}

impl PartialEq for FastDivOrOne {
    fn eq(&self, other: &Self) -> bool {
        self.0.divisor() == other.0.divisor()
    }
}

impl Eq for FastDivOrOne {}

/// The numbers of a geometry alone, by their configuration keys: what is written of it, and checked when it is read.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Numbers {
    channels: u32,
    packages_per_channel: u32,
    dies_per_package: u32,
    planes_per_die: u32,
    blocks_per_plane: u32,
    pages_per_block: u32,
    page_size: u32,
    mapping_unit: u32,
    frontier_planes: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parity: Option<Parity>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    superblock: Option<Superblock>,
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pages_per_program: u32,
}

fn one() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_one(pages: &u32) -> bool {
    *pages == 1
}

impl From<Geometry> for Numbers {
    fn from(geometry: Geometry) -> Self {
        Self {
            channels: geometry.channels,
            packages_per_channel: geometry.packages_per_channel,
            dies_per_package: geometry.dies_per_package,
            planes_per_die: geometry.planes_per_die,
            blocks_per_plane: geometry.blocks_per_plane,
            pages_per_block: geometry.pages_per_block,
            page_size: geometry.page_bytes,
            mapping_unit: geometry.unit_bytes,
            frontier_planes: geometry.frontier_planes,
            parity: geometry.parity,
            superblock: geometry.superblock,
            pages_per_program: geometry.pages_per_program,
        }
    }
}

impl TryFrom<Numbers> for Geometry {
    type Error = String;

    fn try_from(numbers: Numbers) -> Result<Self, String> {
        Self::checked(
            numbers.channels,
            numbers.packages_per_channel,
            numbers.dies_per_package,
            numbers.planes_per_die,
            numbers.blocks_per_plane,
            numbers.pages_per_block,
            numbers.page_size,
            numbers.mapping_unit,
            numbers.frontier_planes,
        )
        .and_then(|geometry| geometry.with_parity(numbers.parity))
        .and_then(|geometry| geometry.with_superblock(numbers.superblock))
        .and_then(|geometry| geometry.with_pages_per_program(numbers.pages_per_program))
        .map_err(|error| format!("{} {}", error.key, error.message).trim_start().to_owned())
    }
}

/// Why a geometry cannot be built. `key` is the configuration key at fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeometryError {
    /// The field at fault; of a product that is too large, its largest factor.
    pub key: &'static str,
    /// What is wrong with it, one sentence.
    pub message: String,
}

/// Where a physical unit lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhysicalUnit {
    /// Its block group.
    pub group: BlockGroup,
    /// Page offset within each block of the group.
    pub page: u32,
    /// Plane within the group, `0..frontier_planes`.
    pub plane_in_group: u32,
    /// Unit within the page.
    pub unit: u32,
}

impl Geometry {
    /// Builds the geometry from its nine numbers (in the order of the fields) after checking them.
    ///
    /// # Errors
    /// Names the first field that is zero, too large, not a power of two where it must be, or makes the
    /// drive hold more units than a 32-bit address can name.
    #[allow(clippy::too_many_arguments)] // the nine numbers of the configuration, in its order
    pub fn checked(
        channels: u32,
        packages_per_channel: u32,
        dies_per_package: u32,
        planes_per_die: u32,
        blocks_per_plane: u32,
        pages_per_block: u32,
        page_bytes: u32,
        unit_bytes: u32,
        frontier_planes: u32,
    ) -> Result<Self, GeometryError> {
        let mut geometry = Self {
            channels,
            packages_per_channel,
            dies_per_package,
            planes_per_die,
            blocks_per_plane,
            pages_per_block,
            page_bytes,
            unit_bytes,
            frontier_planes,
            parity: None,
            superblock: None,
            pages_per_program: 1,
            derived: Derived::default(),
        };
        geometry.check()?;
        geometry.derive();
        Ok(geometry)
    }

    fn derive(&mut self) {
        self.derived = Derived {
            units_per_page_shift: self.units_per_page().trailing_zeros(),
            units_per_group: FastDivOrOne(FastDiv::new(
                self.units_per_stripe() * self.pages_per_block * self.data_dies(),
            )),
            units_per_stripe: FastDivOrOne(FastDiv::new(self.units_per_stripe())),
            blocks_per_plane: FastDivOrOne(FastDiv::new(self.blocks_per_plane)),
            pools_per_die: FastDivOrOne(FastDiv::new(self.pools_per_die())),
            dies_per_channel: FastDivOrOne(FastDiv::new(self.dies_per_channel())),
            spans_dies: self.stripe_dies() > 1,
            data_dies: FastDivOrOne(FastDiv::new(self.data_dies())),
        };
    }

    /// The same with programs of so many pages of a block, those of a wordline.
    ///
    /// # Errors
    /// Where a block is not made of whole wordlines, or groups lie on several dies.
    pub fn with_pages_per_program(mut self, pages: u32) -> Result<Self, GeometryError> {
        if pages == 0 || !self.pages_per_block.is_multiple_of(pages) {
            let message = format!(
                "is {}, no multiple of the {pages} pages of a wordline, which are programmed in one go",
                self.pages_per_block
            );
            return Err(GeometryError { key: "pages_per_block", message });
        }
        let units = u64::from(self.units_per_page()) * u64::from(pages);
        if units > u64::from(u8::MAX) {
            let message = format!("is {pages}, and makes {units} units of a plane, at most {} are supported", u8::MAX);
            return Err(GeometryError { key: "pages_per_program", message });
        }
        if pages > 1 && self.derived.spans_dies {
            let message = "is more than 1, and a block group lies on several dies".to_owned();
            return Err(GeometryError { key: "pages_per_program", message });
        }
        self.pages_per_program = pages;
        Ok(self)
    }

    /// No flash at all: a drive that is made of storage-class memory alone. Its unit is a sector, and it has none.
    pub fn absent() -> Self {
        Self {
            channels: 0,
            packages_per_channel: 0,
            dies_per_package: 0,
            planes_per_die: 1,
            blocks_per_plane: 0,
            pages_per_block: 0,
            page_bytes: SECTOR_BYTES as u32,
            unit_bytes: SECTOR_BYTES as u32,
            frontier_planes: 1,
            parity: None,
            superblock: None,
            pages_per_program: 1,
            derived: Derived::default(),
        }
    }

    /// One pool of this drive as a drive by itself.
    #[must_use]
    pub fn of_one_pool(&self) -> Self {
        let mut pool = Self {
            channels: 1,
            packages_per_channel: 1,
            dies_per_package: self.stripe_dies(),
            planes_per_die: self.frontier_planes,
            parity: self.parity.map(|parity| Parity { over: ParityOver::Dies, ..parity }),
            superblock: self.superblock.map(|superblock| Superblock { over: ParityOver::Dies, ..superblock }),
            ..*self
        };
        pool.derive();
        pool
    }

    fn check(&self) -> Result<(), GeometryError> {
        let error = |key, message: String| Err(GeometryError { key, message });
        let factors = [
            ("channels", self.channels),
            ("packages_per_channel", self.packages_per_channel),
            ("dies_per_package", self.dies_per_package),
            ("planes_per_die", self.planes_per_die),
            ("blocks_per_plane", self.blocks_per_plane),
            ("pages_per_block", self.pages_per_block),
        ];
        let others = [
            ("page_size", self.page_bytes),
            ("mapping_unit", self.unit_bytes),
            ("frontier_planes", self.frontier_planes),
        ];
        for (key, value) in factors.into_iter().chain(others) {
            if value == 0 {
                return error(key, "must not be zero".into());
            }
        }
        if self.planes_per_die > PLANES_MAX {
            return error("planes_per_die", format!("is {}, at most {PLANES_MAX} are supported", self.planes_per_die));
        }
        if !self.page_bytes.is_power_of_two() || u64::from(self.page_bytes) < SECTOR_BYTES {
            return error("page_size", format!("is {} B, it must be 512 B x 2^n", self.page_bytes));
        }
        let unit = self.unit_bytes;
        let sectors = u64::from(unit) / SECTOR_BYTES;
        if !unit.is_power_of_two() || sectors == 0 || unit > self.page_bytes {
            let message = format!(
                "is {unit} B, it must be 512 B x 2^n and at most the page (geometry.page_size is {} B)",
                self.page_bytes
            );
            return error("mapping_unit", message);
        }
        if sectors > u64::from(SECTORS_PER_UNIT_MAX) {
            return error(
                "mapping_unit",
                format!("is {unit} B, at most {} B are supported", 512 * SECTORS_PER_UNIT_MAX),
            );
        }
        if self.page_bytes / unit > UNITS_PER_PAGE_MAX {
            let message = format!(
                "is {unit} B: a page (geometry.page_size is {} B) may hold at most {UNITS_PER_PAGE_MAX} units",
                self.page_bytes
            );
            return error("mapping_unit", message);
        }
        if !self.planes_per_die.is_multiple_of(self.frontier_planes) {
            return error(
                "frontier_planes",
                format!("is {}, it must divide planes_per_die = {}", self.frontier_planes, self.planes_per_die),
            );
        }
        let units_per_page = u64::from(self.page_bytes / unit);
        let units =
            factors.iter().try_fold(units_per_page, |product, (_, factor)| product.checked_mul((*factor).into()));
        // One value is taken by `Ppa::UNMAPPED`.
        if units.is_none_or(|units| units >= u64::from(u32::MAX)) {
            // The largest of them is the likeliest slip.
            let (key, value) = factors.into_iter().max_by_key(|(_, factor)| *factor).unwrap_or_default();
            let message = format!(
                "is {value}, and the geometry makes more mapping units than a 32-bit address can name (2^32 - 2); use \
                 fewer channels, dies, blocks or pages, or a larger ftl.mapping_unit"
            );
            return error(key, message);
        }
        Ok(())
    }

    /// Dies of the drive.
    pub fn dies(&self) -> u32 {
        self.channels * self.dies_per_channel()
    }

    /// Dies on one channel.
    pub fn dies_per_channel(&self) -> u32 {
        self.packages_per_channel * self.dies_per_package
    }

    /// Pools of one die.
    pub fn pools_per_die(&self) -> u32 {
        self.planes_per_die / self.frontier_planes
    }

    /// Pools of the drive.
    pub fn pools(&self) -> u32 {
        self.die_sets() * self.pools_per_die()
    }

    /// Block groups of the drive.
    pub fn groups(&self) -> u32 {
        self.pools() * self.blocks_per_plane
    }

    /// Mapping units in a page.
    pub fn units_per_page(&self) -> u32 {
        self.page_bytes / self.unit_bytes
    }

    /// Mapping units in a stripe.
    pub fn units_per_stripe(&self) -> u32 {
        self.units_per_page() * self.frontier_planes
    }

    /// Mapping units that one program is of: those of a stripe, or of all stripes of a wordline.
    pub fn units_per_program(&self) -> u32 {
        self.units_per_stripe() * self.pages_per_program
    }

    /// Mapping units that are programmed together or not at all, so that padding fills them up: those of a page, or of a wordline in all
    /// planes of a frontier where its pages are programmed in one go.
    #[inline]
    pub fn units_padded_together(&self) -> u32 {
        if self.pages_per_program > 1 { self.units_per_program() } else { self.units_per_page() }
    }

    /// The unit number `number` of those of one plane that a program has which begins at `first`, counted page by page.
    #[inline]
    pub fn unit_of_program(&self, first: Ppa, number: u32) -> Ppa {
        let page = number >> self.derived.units_per_page_shift;
        Ppa(first.0 + number + page * (self.units_per_stripe() - self.units_per_page()))
    }

    /// Mapping units in a block group.
    pub fn units_per_group(&self) -> u32 {
        self.derived.units_per_group.0.divisor()
    }

    /// Mapping units of the drive.
    pub fn units(&self) -> u32 {
        self.units_per_group() * self.groups()
    }

    /// Host sectors in a mapping unit.
    pub fn sectors_per_unit(&self) -> u32 {
        self.unit_bytes / SECTOR_BYTES as u32
    }

    /// Raw user bytes of the drive, without those of parity [B].
    pub fn raw_bytes(&self) -> u64 {
        u64::from(self.units()) * u64::from(self.unit_bytes)
    }

    /// The same with those of parity [B].
    pub fn media_bytes(&self) -> u64 {
        self.raw_bytes() / u64::from(self.data_dies()) * u64::from(self.stripe_dies())
    }

    /// The channel of a die.
    #[inline]
    pub fn channel_of_die(&self, die: DieId) -> ChannelId {
        ChannelId(self.derived.dies_per_channel.0.quotient(die.0))
    }

    /// The die of a pool; the first one where it lies on a set of them.
    #[inline]
    pub fn die_of_pool(&self, pool: Pool) -> DieId {
        let set = self.derived.pools_per_die.0.quotient(pool.0);
        if self.derived.spans_dies { self.die_of_set(set, 0) } else { DieId(set) }
    }

    /// The first plane (within its die) of a pool.
    #[inline]
    pub fn first_plane_of_pool(&self, pool: Pool) -> u32 {
        self.derived.pools_per_die.0.div_rem(pool.0).1 * self.frontier_planes
    }

    /// `(pool, block index within each plane)` of a group.
    #[inline]
    pub fn pool_and_block(&self, group: BlockGroup) -> (Pool, u32) {
        let (pool, block) = self.derived.blocks_per_plane.0.div_rem(group.0);
        (Pool(pool), block)
    }

    /// `(group, unit offset within the group)` of a physical unit.
    #[inline]
    pub fn group_and_offset(&self, ppa: Ppa) -> (BlockGroup, u32) {
        let (group, offset) = self.derived.units_per_group.0.div_rem(ppa.0);
        (BlockGroup(group), offset)
    }

    /// The first unit of a group.
    #[inline]
    pub fn first_unit(&self, group: BlockGroup) -> Ppa {
        Ppa(group.0 * self.derived.units_per_group.0.divisor())
    }

    /// The first unit of the page that holds `ppa`.
    #[inline]
    pub fn first_unit_of_page(&self, ppa: Ppa) -> Ppa {
        Ppa(ppa.0 >> self.derived.units_per_page_shift << self.derived.units_per_page_shift)
    }

    /// Where a unit offset lies within its group: `(page, plane in group, unit in page)`; with parity the row instead of the page.
    #[inline]
    pub fn within_group(&self, offset: u32) -> (u32, u32, u32) {
        let (page, rest) = self.derived.units_per_stripe.0.div_rem(offset);
        let plane = rest >> self.derived.units_per_page_shift;
        (page, plane, rest - (plane << self.derived.units_per_page_shift))
    }

    /// The page within its block of a unit of a group.
    #[inline]
    pub fn page_in_group(&self, group: BlockGroup, ppa: Ppa) -> u32 {
        let row = self.derived.units_per_stripe.0.quotient(ppa.0 - self.first_unit(group).0);
        if self.derived.spans_dies { self.derived.data_dies.0.quotient(row) } else { row }
    }

    /// Everything about a physical unit's place.
    #[inline]
    pub fn locate(&self, ppa: Ppa) -> PhysicalUnit {
        if self.derived.spans_dies {
            return self.place_in_set(ppa);
        }
        let (group, offset) = self.group_and_offset(ppa);
        let (page, plane_in_group, unit) = self.within_group(offset);
        PhysicalUnit { group, page, plane_in_group, unit }
    }

    /// The die that a physical unit, or a page of parity, lies on.
    #[inline]
    pub fn die_of(&self, ppa: Ppa) -> DieId {
        if self.derived.spans_dies {
            return self.locate_in_set(ppa).1;
        }
        self.die_of_pool(self.pool_and_block(self.group_and_offset(ppa).0).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn small(frontier_planes: u32) -> Geometry {
        Geometry::checked(2, 1, 2, 4, 5, 6, 16_384, 4_096, frontier_planes).expect("a legal geometry")
    }

    #[test]
    fn one_pool_is_a_drive_by_itself() {
        for frontier_planes in [1, 2, 4] {
            let whole = small(frontier_planes);
            let pool = Geometry::checked(1, 1, 1, frontier_planes, 5, 6, 16_384, 4_096, frontier_planes);
            assert_eq!(Ok(whole.of_one_pool()), pool);
            assert_eq!(whole.of_one_pool().units() * whole.pools(), whole.units());
        }
    }

    #[test]
    fn the_physical_numbering_is_a_bijection_in_filling_order() {
        for frontier_planes in [1, 2, 4] {
            let geometry = small(frontier_planes);
            assert_eq!(geometry.units(), 2 * 2 * 4 * 5 * 6 * 4);
            let mut expected = 0;
            for group in 0..geometry.groups() {
                for page in 0..6 {
                    for plane_in_group in 0..frontier_planes {
                        for unit in 0..4 {
                            let place = PhysicalUnit { group: BlockGroup(group), page, plane_in_group, unit };
                            assert_eq!(geometry.locate(Ppa(expected)), place);
                            assert_eq!(geometry.first_unit_of_page(Ppa(expected)), Ppa(expected - unit));
                            expected += 1;
                        }
                    }
                }
            }
            assert_eq!(expected, geometry.units());
        }
    }

    #[test]
    fn a_program_of_a_wordline_has_the_pages_of_its_planes_stripe_by_stripe() {
        for (frontier_planes, pages) in [(1, 3), (2, 3), (4, 2)] {
            let geometry = small(frontier_planes).with_pages_per_program(pages).expect("whole wordlines");
            assert_eq!(geometry.units_per_program(), pages * frontier_planes * 4);
            assert_eq!(geometry.units_padded_together(), geometry.units_per_program());
            for plane in 0..frontier_planes {
                let first = Ppa(geometry.units_per_program() + plane * 4);
                for number in 0..pages * 4 {
                    let place = geometry.locate(geometry.unit_of_program(first, number));
                    let expected = (pages + number / 4, plane, number % 4);
                    assert_eq!((place.page, place.plane_in_group, place.unit), expected);
                }
            }
        }
        assert_eq!((small(2).units_padded_together(), small(2).units_per_program()), (4, 8), "by pages");
        let error = small(2).with_pages_per_program(4).expect_err("6 pages are no wordlines of 4");
        assert_eq!(error.key, "pages_per_block");
        let written = small(2).with_pages_per_program(3).expect("whole wordlines");
        let read = serde_json::from_value(serde_json::to_value(written).expect("numbers can be written"));
        assert_eq!(read.ok(), Some(written));
    }

    #[test]
    fn pools_dies_and_channels_nest() {
        let geometry = small(2);
        assert_eq!((geometry.pools_per_die(), geometry.pools(), geometry.groups()), (2, 8, 40));
        assert_eq!(geometry.die_of_pool(Pool(5)), DieId(2));
        assert_eq!(geometry.first_plane_of_pool(Pool(5)), 2);
        assert_eq!(geometry.channel_of_die(DieId(2)), ChannelId(1));
        assert_eq!(geometry.pool_and_block(BlockGroup(27)), (Pool(5), 2));
    }

    #[test]
    fn a_drive_without_flash_has_nothing_of_it() {
        let absent = Geometry::absent();
        assert_eq!((absent.dies(), absent.pools(), absent.groups(), absent.units()), (0, 0, 0, 0));
        assert_eq!((absent.raw_bytes(), absent.sectors_per_unit(), absent.units_per_page()), (0, 1, 1));
    }

    #[test]
    fn what_is_written_of_a_geometry_reads_back_and_is_checked() {
        let written = serde_json::to_value(small(2)).expect("numbers can be written");
        assert_eq!(serde_json::from_value::<Geometry>(written.clone()).expect("what was written"), small(2));
        let mut wrong = written;
        wrong["frontier_planes"] = 3.into();
        let message = serde_json::from_value::<Geometry>(wrong).expect_err("refused").to_string();
        assert!(message.contains("frontier_planes is 3"), "{message}");
    }

    #[test]
    fn an_impossible_geometry_names_its_key() {
        let key = |result: Result<Geometry, GeometryError>| result.expect_err("refused").key;
        assert_eq!(key(Geometry::checked(0, 1, 1, 1, 1, 1, 4096, 4096, 1)), "channels");
        assert_eq!(key(Geometry::checked(1, 1, 1, 8, 1, 1, 4096, 4096, 1)), "planes_per_die");
        assert_eq!(key(Geometry::checked(1, 1, 1, 1, 1, 1, 5000, 4096, 1)), "page_size");
        assert_eq!(key(Geometry::checked(1, 1, 1, 1, 1, 1, 4096, 8192, 1)), "mapping_unit");
        assert_eq!(key(Geometry::checked(1, 1, 1, 1, 1, 1, 32_768, 512, 1)), "mapping_unit");
        assert_eq!(key(Geometry::checked(1, 1, 1, 4, 1, 1, 4096, 4096, 3)), "frontier_planes");
        assert_eq!(key(Geometry::checked(64, 64, 8, 4, 65_536, 4096, 4096, 4096, 1)), "blocks_per_plane");
    }
}
