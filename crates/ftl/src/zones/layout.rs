//! Where the units of a zone lie: stripe after stripe, each in the next pool of the zone, in blocks of one number.

use ninescope_model::{BlockGroup, Geometry, Lpa, Pool, Ppa, Stream};

use super::ZoneConfig;

/// The arithmetic of zones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ZoneLayout {
    geometry: Geometry,
    /// Pools of a zone.
    width: u32,
    /// Sets of pools: zones take them in turn.
    sets: u32,
    /// From one zone to the next [units].
    size: u32,
    /// What a zone takes [units].
    capacity: u32,
    /// The pools in the order in which zones take them, side by side on other channels.
    pool_at: Vec<u32>,
}

impl ZoneLayout {
    /// The zones of a drive whose pools are taken in this order.
    pub fn new(config: &ZoneConfig, geometry: &Geometry, pool_at: Vec<u32>) -> Self {
        Self {
            geometry: *geometry,
            width: config.pools,
            sets: geometry.pools() / config.pools,
            size: config.size,
            capacity: config.pools * geometry.units_per_group(),
            pool_at,
        }
    }

    /// How many zones there are.
    pub fn zones(&self) -> u32 {
        self.sets * self.geometry.blocks_per_plane
    }

    /// Units from the first one of a zone to that of the next.
    #[inline]
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Units that a zone takes.
    #[inline]
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Sets of pools that zones lie on: zones of different ones share no die.
    pub fn sets(&self) -> u32 {
        self.sets
    }

    /// The set of a zone.
    #[inline]
    pub fn set_of(&self, zone: u32) -> u32 {
        zone % self.sets
    }

    /// The zone of a unit, and where in it that is.
    #[inline]
    pub fn zone_and_offset(&self, lpa: Lpa) -> (u32, u32) {
        (lpa.0 / self.size, lpa.0 % self.size)
    }

    /// The first unit of a zone.
    #[inline]
    pub fn first_unit(&self, zone: u32) -> Lpa {
        Lpa(zone * self.size)
    }

    /// The zone that a block group belongs to.
    pub fn zone_of(&self, group: BlockGroup) -> u32 {
        let (pool, block) = self.geometry.pool_and_block(group);
        let position = self.pool_at.iter().position(|&at| at == pool.0).unwrap_or_default() as u32;
        block * self.sets + position / self.width
    }

    /// The block groups of a zone, in the order in which stripes take them.
    pub fn groups(&self, zone: u32) -> impl Iterator<Item = BlockGroup> + use<'_> {
        let (first, block) = (self.set_of(zone) * self.width, zone / self.sets);
        (first..first + self.width).map(move |position| self.group_at(position, block))
    }

    fn group_at(&self, position: u32, block: u32) -> BlockGroup {
        BlockGroup(self.pool_at[position as usize] * self.geometry.blocks_per_plane + block)
    }

    /// The place of a unit of a zone, which is one that it takes.
    pub fn place(&self, zone: u32, offset: u32) -> Ppa {
        let per_stripe = self.geometry.units_per_stripe();
        let (stripe, rest) = (offset / per_stripe, offset % per_stripe);
        let (turn, page) = (stripe % self.width, stripe / self.width);
        let group = self.group_at(self.set_of(zone) * self.width + turn, zone / self.sets);
        Ppa(self.geometry.first_unit(group).0 + page * per_stripe + rest)
    }

    /// The pool of a group, and the stream that fills it: each block of a pool is filled by itself.
    pub fn frontier(&self, group: BlockGroup) -> (Pool, Stream) {
        let (pool, block) = self.geometry.pool_and_block(group);
        (pool, Stream::of_writes(block))
    }

    /// Whether units of a zone that has taken `placed` of them begin where a stripe does.
    pub fn is_at_stripe(&self, placed: u32) -> bool {
        placed.is_multiple_of(self.geometry.units_per_stripe())
    }
}
