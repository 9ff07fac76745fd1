//! Filling an empty drive in order: what writing unit by unit would leave, a group at a time. What is then in the tables is
//! nothing; see `filling_order`.

use ninescope_kernel::NONE;
use ninescope_model::{BlockGroup, Lpa, Pool, Stream};

use super::Ftl;
use crate::filling_order::FillingOrder;
use crate::policies::Told;

impl Ftl {
    /// Begins to fill a drive that holds nothing from a unit on, in order. Returns whether that can be done a group at a time:
    /// whether the allocation fills pools in turn.
    pub fn begin_filling(&mut self, first: Lpa) -> bool {
        let is_new = self.closed_groups == 0
            && self.counters.programmed_units() == 0
            && self.groups.iter().all(|record| record.write_pointer == 0 && record.erase_count == 0);
        let is_new = is_new && self.retired_groups() == 0;
        match self.page_allocation.in_turn(first) {
            // A group of one turn is full before the next pool has its turn.
            Some(turn)
                if is_new
                    && self.partitioned.is_none()
                    && self.homes.is_none()
                    && self.zones.is_none()
                    && self.block_map.is_none()
                    && turn < self.geometry.units_per_group() =>
            {
                self.order = FillingOrder::new(&self.geometry, first, turn);
                true
            }
            _ => false,
        }
    }

    /// Units that can be filled next without moving any: a group in each pool, or as many as are left. 0 where pools cannot
    /// all take their group, or some of what was filled has moved.
    pub fn next_filling(&self, left: u32, clean: bool) -> u32 {
        let units = left.min(self.order.units_per_round());
        let accepting = &self.accepting[self.stream_of_filling(clean).kind() as usize];
        let takes = |position: u32| {
            let record = &self.pools[self.pool_at[position as usize] as usize];
            accepting.get(position as usize) && record.free.len() as u32 > self.reserve_groups
        };
        let positions = (0..self.geometry.pools()).filter(|&position| self.order.units_at(position, units) > 0);
        let untouched = self.counters.gc_victims == 0 && self.counters.erased_groups == 0;
        if untouched && positions.into_iter().all(takes) { units } else { 0 }
    }

    /// The pools that take part in filling so many units, in the order in which the first of them get to each.
    pub fn pools_of_filling(&self, units: u32) -> Vec<Pool> {
        let count = (0..self.geometry.pools()).take_while(|&position| self.order.units_at(position, units) > 0).count();
        self.pool_at[..count].iter().copied().map(Pool).collect()
    }

    /// Opens the next group of a filling; its pool may collect then.
    pub fn open_for_filling(&mut self, pool: Pool, clean: bool) {
        let stream = self.stream_of_filling(clean);
        let opened = self.open_group(pool, stream);
        debug_assert!(opened, "there is space for a filling");
        self.order.opens(BlockGroup(self.pools[pool.index()].frontiers[stream.index()].group));
    }

    /// Puts units into the groups that were opened for them. Returns the groups that are full, in the order in which they are:
    /// each is programmed.
    pub fn fill_opened(&mut self, units: u32, clean: bool) -> Vec<BlockGroup> {
        let stream = self.stream_of_filling(clean);
        let first = self.order.first().0 + self.order.units();
        let full: Vec<BlockGroup> = (0..self.geometry.pools())
            .filter_map(|position| self.fill_frontier(position, stream, self.order.units_at(position, units)))
            .collect();
        self.order.goes_on(units);
        if self.knows_clean && clean {
            self.clean.set_range(first as usize, (first + units) as usize);
        }
        if self.chooses_streams {
            self.counters.streams[stream.index()] += u64::from(units);
            (first..first + units).for_each(|unit| self.stream_choice.written(Lpa(unit), stream.kind()));
            if let Some(counted) = &mut self.reclaim_units {
                counted.filled_in_order(stream.kind(), units);
            }
        }
        self.mapped_units += units;
        self.counters.host_units += u64::from(units);
        self.page_allocation.placed_in_turn(self.order.units());
        full
    }

    /// The stream of units that lie nowhere yet, of which nothing is known: one for all of them.
    fn stream_of_filling(&self, clean: bool) -> Stream {
        Stream::of_writes(self.kind_of_write(self.order.first(), clean, Told::default()))
    }

    /// The open group at a position holds so many units, of those of the filling order. Returns it where it is full.
    fn fill_frontier(&mut self, position: u32, stream: Stream, units: u32) -> Option<BlockGroup> {
        if units == 0 {
            return None;
        }
        let pool = Pool(self.pool_at[position as usize]);
        let frontier = &mut self.pools[pool.index()].frontiers[stream.index()];
        let group = BlockGroup(frontier.group);
        frontier.next = units;
        let full = units == self.geometry.units_per_group();
        if full {
            frontier.group = NONE;
        }
        let first = self.geometry.first_unit(group).index();
        self.valid.set_range(first, first + units as usize);
        self.valid_counts.change_aside(group.index(), |valid| valid + units);
        self.groups[group.index()].write_pointer = units;
        if self.geometry.parity.is_some() {
            self.count_parity(0, units);
        }
        if full {
            self.close_group(pool, group);
        }
        full.then_some(group)
    }
}
