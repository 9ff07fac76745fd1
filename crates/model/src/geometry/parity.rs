//! Block groups on several dies: which dies these are, which of them holds parity if one does, and where each page lies then.
//!
//! What is written, when, and what it is good for are not known here.

use std::ops::Range;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Geometry, GeometryError, PhysicalUnit};
use crate::{BlockGroup, DieId, Pool, Ppa};

/// What the dies of a set have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ParityOver {
    /// Nothing: each is on a channel of its own.
    #[default]
    Channels,
    /// The channel: they are the dies of one.
    Dies,
    /// Whatever it is: they follow each other where the dies of the drive are counted over its channels first.
    Drive,
}

/// A super-block: a block group that lies on several dies, and is filled row by row round them and erased on all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Superblock {
    /// Dies that a block group lies on [count].
    #[schemars(range(min = 1))]
    pub dies: u32,
    /// Which dies these are.
    #[serde(default)]
    pub over: ParityOver,
}

/// Parity over dies: of so many, one holds what the others' pages come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parity {
    /// Dies of a stripe, the one with parity among them [count].
    #[schemars(range(min = 2))]
    pub stripe: u32,
    /// Which dies these are.
    #[serde(default)]
    pub over: ParityOver,
}

impl Geometry {
    /// The same dies with parity over them, if that is asked for.
    ///
    /// # Errors
    /// Where dies cannot be put together so.
    pub fn with_parity(mut self, parity: Option<Parity>) -> Result<Self, GeometryError> {
        let Some(Parity { stripe, over }) = parity else { return Ok(self) };
        let (there_are, of) = self.dies_to_share(over);
        if stripe < 2 || !there_are.is_multiple_of(stripe) {
            let message = format!("is {stripe}, it must be 2 or more and divide the {there_are} {of}");
            return Err(GeometryError { key: "parity.stripe", message });
        }
        self.parity = parity;
        self.derive();
        Ok(self)
    }

    /// The same dies with block groups that lie on several of them, without parity, if that is asked for. On one of them each they lie
    /// anyway.
    ///
    /// # Errors
    /// Where dies cannot be put together so.
    pub fn with_superblock(mut self, superblock: Option<Superblock>) -> Result<Self, GeometryError> {
        let Some(Superblock { dies, over }) = superblock else { return Ok(self) };
        let (there_are, of) = self.dies_to_share(over);
        if dies == 0 || !there_are.is_multiple_of(dies) {
            let message = format!("is {dies}, it must be 1 or more and divide the {there_are} {of}");
            return Err(GeometryError { key: "superblock.dies", message });
        }
        if self.parity.is_some() {
            let message = "is given beside parity, whose stripes lie on several dies already".to_owned();
            return Err(GeometryError { key: "superblock", message });
        }
        self.superblock = superblock.filter(|superblock| superblock.dies > 1);
        self.derive();
        Ok(self)
    }

    /// How many dies, or channels, there are to be put together, and what they are.
    fn dies_to_share(&self, over: ParityOver) -> (u32, &'static str) {
        match over {
            ParityOver::Channels => (self.channels, "channels"),
            ParityOver::Dies => (self.dies_per_channel(), "dies of a channel"),
            ParityOver::Drive => (self.dies(), "dies"),
        }
    }

    /// Dies of a set, and which they are; `None` where each die is one.
    #[inline]
    fn set(&self) -> Option<(u32, ParityOver)> {
        let of_superblock = self.superblock.map(|superblock| (superblock.dies, superblock.over));
        self.parity.map(|parity| (parity.stripe, parity.over)).or(of_superblock)
    }

    /// Whether a block group lies on several dies.
    #[inline]
    pub fn spans_dies(&self) -> bool {
        self.derived.spans_dies
    }

    /// Dies of a set; 1 where each die is one.
    #[inline]
    pub fn stripe_dies(&self) -> u32 {
        self.set().map_or(1, |(dies, _)| dies)
    }

    /// Those of them that hold data of a group.
    #[inline]
    pub fn data_dies(&self) -> u32 {
        self.stripe_dies() - u32::from(self.parity.is_some())
    }

    /// Sets of dies that pools lie on: each die is one where groups lie on one.
    #[inline]
    pub fn die_sets(&self) -> u32 {
        self.dies() / self.stripe_dies()
    }

    /// Channels, and dies of each, where a set counts as one die of one channel.
    pub fn sets_by_channel(&self) -> (u32, u32) {
        match self.set() {
            None => (self.channels, self.dies_per_channel()),
            Some((dies, ParityOver::Channels)) => (self.channels / dies, self.dies_per_channel()),
            Some((dies, ParityOver::Dies)) => (self.channels, self.dies_per_channel() / dies),
            Some((dies, ParityOver::Drive)) => (1, self.dies() / dies),
        }
    }

    /// The set that a die belongs to.
    #[inline]
    pub fn set_of_die(&self, die: DieId) -> u32 {
        if self.derived.spans_dies { self.set_and_member(die).0 } else { die.0 }
    }

    /// The set that a pool lies on.
    #[inline]
    pub fn set_of_pool(&self, pool: Pool) -> u32 {
        self.derived.pools_per_die.0.quotient(pool.0)
    }

    /// The pools that lie on a die.
    #[inline]
    pub fn pools_of_die(&self, die: DieId) -> Range<u32> {
        let (set, pools) = (self.set_of_die(die), self.pools_per_die());
        set * pools..(set + 1) * pools
    }

    /// The set of a die, and which of its dies it is.
    fn set_and_member(&self, die: DieId) -> (u32, u32) {
        let Some((stripe, over)) = self.set() else { return (die.0, 0) };
        match over {
            ParityOver::Dies => (die.0 / stripe, die.0 % stripe),
            ParityOver::Drive => {
                let (channel, way) = self.derived.dies_per_channel.0.div_rem(die.0);
                let number = way * self.channels + channel;
                (number / stripe, number % stripe)
            }
            ParityOver::Channels => {
                let (channel, way) = self.derived.dies_per_channel.0.div_rem(die.0);
                (channel / stripe * self.dies_per_channel() + way, channel % stripe)
            }
        }
    }

    /// The dies of a set.
    pub fn dies_of_set(&self, set: u32) -> impl Iterator<Item = DieId> + use<> {
        let geometry = *self;
        (0..self.stripe_dies()).map(move |member| geometry.die_of_set(set, member))
    }

    /// A die of a set.
    pub(super) fn die_of_set(&self, set: u32, member: u32) -> DieId {
        let Some((stripe, over)) = self.set() else { return DieId(set) };
        match over {
            ParityOver::Dies => DieId(set * stripe + member),
            ParityOver::Drive => {
                let number = set * stripe + member;
                DieId(number % self.channels * self.dies_per_channel() + number / self.channels)
            }
            ParityOver::Channels => {
                let (channels, way) = self.derived.dies_per_channel.0.div_rem(set);
                DieId((channels * stripe + member) * self.dies_per_channel() + way)
            }
        }
    }

    /// The dies of a group, those first that hold data, in the order of its rows; the last one holds its parity, if there is
    /// any.
    pub fn dies_of_group(&self, group: BlockGroup) -> impl Iterator<Item = DieId> + use<> {
        let geometry = *self;
        (0..self.stripe_dies()).map(move |member| geometry.die_of_member(group, member))
    }

    /// The die of a member of a group: they count in the order of rows, and the last one holds parity.
    fn die_of_member(&self, group: BlockGroup, member: u32) -> DieId {
        let (pool, block) = self.pool_and_block(group);
        let (stripe, set) = (self.stripe_dies(), self.set_of_pool(pool));
        if self.parity.is_none() {
            return self.die_of_set(set, member);
        }
        // Blocks of parity go round the dies.
        let of_parity = stripe - 1 - block % stripe;
        let at = if member == self.data_dies() { of_parity } else { member + u32::from(member >= of_parity) };
        self.die_of_set(set, at)
    }

    /// Mapping units of a parity stripe.
    #[inline]
    pub fn units_per_parity_stripe(&self) -> u32 {
        self.units_per_stripe() * self.data_dies()
    }

    /// The page and the member of a row of a group.
    #[inline]
    pub fn page_and_member(&self, row: u32) -> (u32, u32) {
        self.derived.data_dies.0.div_rem(row)
    }

    /// Pages, of all planes, that a member of a group holds when its first `units` are filled; of the last member those of
    /// parity, of whole stripes.
    pub fn pages_of_member(&self, units: u32, member: u32) -> u32 {
        let (row, planes, _) = self.within_group(units);
        let (page, at) = self.page_and_member(row);
        let of_page = match member.cmp(&at) {
            _ if member == self.data_dies() => 0,
            std::cmp::Ordering::Less => self.frontier_planes,
            std::cmp::Ordering::Equal => planes,
            std::cmp::Ordering::Greater => 0,
        };
        page * self.frontier_planes + of_page
    }

    /// Where the parity of a page of a plane of a group is: behind all units.
    #[inline]
    pub fn parity_page(&self, group: BlockGroup, page: u32, plane_in_group: u32) -> Ppa {
        let pages = (group.0 * self.pages_per_block + page) * self.frontier_planes + plane_in_group;
        Ppa(self.units() + (pages << self.derived.units_per_page_shift))
    }

    /// The first unit of the page that a member of a group has in a stripe, the one with parity as the last.
    pub fn page_of_stripe(&self, group: BlockGroup, (page, plane_in_group): (u32, u32), member: u32) -> Ppa {
        if member == self.data_dies() {
            return self.parity_page(group, page, plane_in_group);
        }
        let row = page * self.data_dies() + member;
        let pages = row * self.frontier_planes + plane_in_group;
        Ppa(self.first_unit(group).0 + (pages << self.derived.units_per_page_shift))
    }

    /// The same of the page that a die of its set has in it.
    pub fn page_on_die(&self, group: BlockGroup, (page, plane_in_group): (u32, u32), die: DieId) -> Ppa {
        let member = (0..self.stripe_dies()).find(|&member| self.die_of_member(group, member) == die);
        self.page_of_stripe(group, (page, plane_in_group), member.unwrap_or(0))
    }

    /// Whether that is a page of parity, and no unit.
    #[inline]
    pub fn is_parity(&self, ppa: Ppa) -> bool {
        self.parity.is_some() && ppa.0 >= self.units() && ppa != Ppa::UNMAPPED
    }

    #[inline(never)]
    pub(super) fn place_in_set(&self, ppa: Ppa) -> PhysicalUnit {
        self.locate_in_set(ppa).0
    }

    /// The place of a unit or a page of parity, and its die.
    #[inline(never)]
    pub(super) fn locate_in_set(&self, ppa: Ppa) -> (PhysicalUnit, DieId) {
        if self.is_parity(ppa) {
            let pages = (ppa.0 - self.units()) >> self.derived.units_per_page_shift;
            let (rows, plane_in_group) = (pages / self.frontier_planes, pages % self.frontier_planes);
            let group = BlockGroup(rows / self.pages_per_block);
            let place = PhysicalUnit { group, page: rows % self.pages_per_block, plane_in_group, unit: 0 };
            return (place, self.die_of_member(group, self.data_dies()));
        }
        let (group, offset) = self.group_and_offset(ppa);
        let (row, plane_in_group, unit) = self.within_group(offset);
        let (page, member) = self.page_and_member(row);
        (PhysicalUnit { group, page, plane_in_group, unit }, self.die_of_member(group, member))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Four channels of two dies of two planes, three blocks of two pages of four units.
    fn drive(stripe: u32, over: ParityOver, frontier_planes: u32) -> Geometry {
        let plain = Geometry::checked(4, 1, 2, 2, 3, 2, 16_384, 4_096, frontier_planes).expect("a legal geometry");
        plain.with_parity(Some(Parity { stripe, over })).expect("legal parity")
    }

    #[test]
    fn dies_make_sets_over_channels_or_on_one() {
        let over_channels = drive(4, ParityOver::Channels, 2);
        assert_eq!((over_channels.die_sets(), over_channels.pools(), over_channels.groups()), (2, 2, 6));
        let of_set = |geometry: &Geometry, set| geometry.dies_of_set(set).map(|die| die.0).collect::<Vec<_>>();
        assert_eq!(of_set(&over_channels, 0), [0, 2, 4, 6], "the first die of each channel");
        assert_eq!(of_set(&over_channels, 1), [1, 3, 5, 7]);
        let pairs = drive(2, ParityOver::Channels, 2);
        assert_eq!((0..4).map(|set| of_set(&pairs, set)).collect::<Vec<_>>(), [[0, 2], [1, 3], [4, 6], [5, 7]]);
        let on_one = drive(2, ParityOver::Dies, 2);
        assert_eq!((0..4).map(|set| of_set(&on_one, set)).collect::<Vec<_>>(), [[0, 1], [2, 3], [4, 5], [6, 7]]);
        for geometry in [over_channels, pairs, on_one] {
            for set in 0..geometry.die_sets() {
                assert!(geometry.dies_of_set(set).all(|die| geometry.set_of_die(die) == set));
            }
        }
    }

    #[test]
    fn parity_goes_round_the_dies_from_block_to_block() {
        let geometry = drive(4, ParityOver::Channels, 2);
        let dies = |group| geometry.dies_of_group(BlockGroup(group)).map(|die| die.0).collect::<Vec<_>>();
        assert_eq!(dies(0), [0, 2, 4, 6], "the parity of the first block is on the last die");
        assert_eq!(dies(1), [0, 2, 6, 4]);
        assert_eq!(dies(2), [0, 4, 6, 2]);
        assert_eq!(dies(3), [1, 3, 5, 7], "of the other set");
    }

    #[test]
    fn rows_go_round_the_dies_that_hold_data() {
        let geometry = drive(4, ParityOver::Channels, 2);
        // Eight units to a row of two planes, three rows to a page of the dies.
        let at = |unit: u32| {
            let place = geometry.locate(Ppa(unit));
            (geometry.die_of(Ppa(unit)).0, place.page, place.plane_in_group, place.unit)
        };
        assert_eq!(
            [at(0), at(4), at(8), at(16), at(24)],
            [(0, 0, 0, 0), (0, 0, 1, 0), (2, 0, 0, 0), (4, 0, 0, 0), (0, 1, 0, 0)]
        );
        assert_eq!(geometry.units_per_group(), 48);
        let parity = geometry.parity_page(BlockGroup(0), 1, 1);
        assert!(geometry.is_parity(parity));
        assert_eq!((geometry.die_of(parity).0, geometry.locate(parity).page), (6, 1));
        assert_eq!(geometry.page_in_group(BlockGroup(0), Ppa(24)), 1);
        // The second page of both planes: rows 3 to 5, and parity behind all 288 units of 6 groups.
        let stripe = (0..4).map(|member| geometry.page_of_stripe(BlockGroup(0), (1, 1), member).0);
        assert_eq!(stripe.collect::<Vec<_>>(), [28, 36, 44, parity.0]);
        assert_eq!(parity.0, 288 + 3 * 4);
    }

    #[test]
    fn data_and_parity_take_each_page_of_the_media_once() {
        for (stripe, over) in
            [(2, ParityOver::Channels), (4, ParityOver::Channels), (2, ParityOver::Dies), (8, ParityOver::Drive)]
        {
            for frontier_planes in [1, 2] {
                let geometry = drive(stripe, over, frontier_planes);
                let mut pages = BTreeSet::new();
                let mut take = |ppa: Ppa| {
                    let place = geometry.locate(ppa);
                    let (pool, block) = geometry.pool_and_block(place.group);
                    let plane = geometry.first_plane_of_pool(pool) + place.plane_in_group;
                    assert!(pages.insert((geometry.die_of(ppa).0, plane, block, place.page)), "{ppa} is taken");
                };
                (0..geometry.units()).step_by(4).for_each(|unit| take(Ppa(unit)));
                for group in (0..geometry.groups()).map(BlockGroup) {
                    let pages = (0..2).flat_map(|page| (0..frontier_planes).map(move |plane| (page, plane)));
                    pages.for_each(|(page, plane)| take(geometry.parity_page(group, page, plane)));
                }
                assert_eq!(pages.len(), 8 * 2 * 3 * 2);
                assert_eq!(geometry.media_bytes(), 8 * 2 * 3 * 2 * 16_384);
                assert_eq!(geometry.raw_bytes() * u64::from(stripe), geometry.media_bytes() * u64::from(stripe - 1));
            }
        }
    }

    #[test]
    fn pages_of_each_die_follow_from_the_units_that_are_filled() {
        let geometry = drive(4, ParityOver::Channels, 2);
        let pages = |units| (0..4).map(|member| geometry.pages_of_member(units, member)).collect::<Vec<_>>();
        assert_eq!(pages(0), [0, 0, 0, 0]);
        assert_eq!(pages(12), [2, 1, 0, 0], "a row, and a plane of the next");
        assert_eq!(pages(24), [2, 2, 2, 2], "a stripe, with its parity");
        assert_eq!(pages(48), [4, 4, 4, 4]);
        let plain = Geometry::checked(1, 1, 1, 2, 3, 2, 16_384, 4_096, 2).expect("a legal geometry");
        assert_eq!([plain.pages_of_member(4, 0), plain.pages_of_member(16, 0)], [1, 4]);
    }

    #[test]
    fn super_blocks_go_round_any_dies_and_hold_data_on_all_of_them() {
        let plain = Geometry::checked(4, 1, 2, 2, 3, 2, 16_384, 4_096, 2).expect("a legal geometry");
        let on = |dies, over| plain.with_superblock(Some(Superblock { dies, over }));
        let dies = |geometry: &Geometry, set| geometry.dies_of_set(set).map(|die| die.0).collect::<Vec<_>>();
        let all = on(8, ParityOver::Drive).expect("all of them");
        assert_eq!(dies(&all, 0), [0, 2, 4, 6, 1, 3, 5, 7], "over the channels first");
        assert_eq!((all.groups(), all.units(), all.media_bytes()), (3, plain.units(), plain.media_bytes()));
        assert_eq!(dies(&on(2, ParityOver::Drive).expect("pairs"), 1), [4, 6]);
        for (width, over) in
            [(8, ParityOver::Drive), (2, ParityOver::Drive), (4, ParityOver::Channels), (2, ParityOver::Dies)]
        {
            let geometry = on(width, over).expect("a legal width");
            let places: BTreeSet<_> = (0..geometry.units())
                .step_by(4)
                .map(|unit| {
                    let place = geometry.locate(Ppa(unit));
                    let (pool, block) = geometry.pool_and_block(place.group);
                    let plane = geometry.first_plane_of_pool(pool) + place.plane_in_group;
                    assert_eq!(geometry.page_in_group(place.group, Ppa(unit)), place.page);
                    assert_eq!(geometry.set_of_die(geometry.die_of(Ppa(unit))), geometry.set_of_pool(pool));
                    (geometry.die_of(Ppa(unit)), plane, block, place.page)
                })
                .collect();
            assert_eq!(places.len(), 8 * 2 * 3 * 2, "each page of the media once");
            let halves = (0..width).map(|member| geometry.pages_of_member(geometry.units_per_group() / 2, member));
            assert_eq!(halves.sum::<u32>(), width * 2, "half of the pages of each");
        }
        assert_eq!(on(1, ParityOver::Channels), Ok(plain), "on one die each they lie anyway");
        assert_eq!(on(3, ParityOver::Drive).expect_err("refused").key, "superblock.dies");
        let beside =
            drive(2, ParityOver::Channels, 2).with_superblock(Some(Superblock { dies: 2, over: ParityOver::Dies }));
        assert_eq!(beside.expect_err("refused").key, "superblock");
    }

    #[test]
    fn one_pool_is_a_drive_by_itself_with_parity() {
        let whole = drive(4, ParityOver::Channels, 1);
        let pool = whole.of_one_pool();
        assert_eq!((pool.pools(), pool.dies(), pool.units() * whole.pools()), (1, 4, whole.units()));
    }

    #[test]
    fn a_stripe_divides_what_it_goes_over() {
        let plain = Geometry::checked(4, 1, 2, 2, 3, 2, 16_384, 4_096, 2).expect("a legal geometry");
        for (stripe, over) in
            [(0, ParityOver::Channels), (1, ParityOver::Channels), (3, ParityOver::Channels), (4, ParityOver::Dies)]
        {
            let error = plain.with_parity(Some(Parity { stripe, over })).expect_err("refused");
            assert_eq!(error.key, "parity.stripe");
        }
        assert_eq!(plain.with_parity(None), Ok(plain));
    }
}
