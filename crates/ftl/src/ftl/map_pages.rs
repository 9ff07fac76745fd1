//! Pages of a map that lies on the media: units of their own behind those of the host, which are kept apart from data.

use ninescope_model::{Lpa, Pool, Ppa, Stream};

use super::{Ftl, Placed};

impl Ftl {
    /// Units that hold the map itself; 0 where it is all in memory.
    #[inline]
    pub fn translation_units(&self) -> u32 {
        self.translation_units
    }

    /// Units of the host that each of these tells of; 0 where there are none.
    #[inline]
    pub fn translation_entries(&self) -> u32 {
        self.translation_entries
    }

    /// The unit that holds a page of the map: they are numbered behind those of the host.
    #[inline]
    pub fn translation_unit(&self, page: u32) -> Lpa {
        Lpa(self.logical_units() + page)
    }

    /// Whether a unit holds a page of the map.
    #[inline]
    pub fn is_translation(&self, lpa: Lpa) -> bool {
        lpa.0 >= self.logical_units()
    }

    /// Places a page of the map, which is kept apart from data: one page of the media after another is filled, each in the next
    /// pool. `None`: no pool can take it now.
    pub fn write_translation(&mut self, page: u32) -> Option<Placed> {
        let (lpa, accepting) = (self.translation_unit(page), &self.accepting[Stream::APART.kind() as usize]);
        let position = match &mut self.partitioned {
            None => accepting.next_set(self.translation_turn as usize).or_else(|| accepting.next_set(0))? as u32,
            Some(partitioned) => partitioned.choose_for_map(lpa, accepting)?,
        };
        let pool = Pool(self.pool_at[position as usize]);
        let mut placed = self.allocate(pool, Stream::APART, lpa)?;
        placed.old = self.remap(lpa, placed.new);
        if placed.old != Ppa::UNMAPPED {
            self.invalidate(placed.old);
        }
        self.validate(placed.new);
        self.counters.map_units += 1;
        let next = position + u32::from(placed.stripe_complete);
        let turn = if next == self.geometry.pools() { 0 } else { next };
        match &mut self.partitioned {
            None => self.translation_turn = turn,
            Some(partitioned) => partitioned.map_turn_is(lpa, turn),
        }
        Some(placed)
    }

    /// The next page of the map goes where it does on a drive that was just prepared.
    pub(crate) fn begin_translation_turn(&mut self) {
        self.translation_turn = 0;
        if let Some(partitioned) = &mut self.partitioned {
            partitioned.begin_map_turns();
        }
    }
}
