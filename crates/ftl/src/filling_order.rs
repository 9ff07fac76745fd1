//! The law of a drive that was filled in order: where each unit lies is arithmetic, so that tables need to hold only what
//! differs from it, and a filled drive takes neither time nor memory by its capacity.
//!
//! Units go to stripe positions in turn, so many to each before the next; a pool fills one group after the other. Which
//! groups these were is told, a number for each. Who fills, and what is in the tables, is not known here.

use ninescope_kernel::{FastDiv, NONE, SectionReader, SectionWriter, SnapshotError, must_hold};
use ninescope_model::{BlockGroup, Geometry, Lpa, Ppa};

/// What was filled in order, and into which groups. Of nothing at first.
#[derive(Debug)]
pub struct FillingOrder {
    /// The first unit.
    first: u32,
    /// How many there are, one after the other.
    units: u32,
    /// Units that go to a position before the next one has its turn.
    turn: FastDiv,
    positions: FastDiv,
    turns_per_group: FastDiv,
    units_per_group: u32,
    /// The group that was filled at each position, round by round.
    groups: Vec<u32>,
    /// By group, in what row of turns it begins; `NONE` for a group that was not filled so.
    first_rows: Vec<u32>,
}

/// How many of so many units go to a position when each of all positions takes `turn` of them in turn.
pub fn dealt_to(position: u32, positions: u32, turn: u32, units: u32) -> u32 {
    let row = turn * positions;
    units / row * turn + (units % row).saturating_sub(position * turn).min(turn)
}

impl FillingOrder {
    /// Nothing was filled.
    pub fn of_nothing() -> Self {
        let one = FastDiv::new(1);
        Self {
            first: 0,
            units: 0,
            turn: one,
            positions: one,
            turns_per_group: one,
            units_per_group: 0,
            groups: Vec::new(),
            first_rows: Vec::new(),
        }
    }

    /// The order in which a drive is filled from unit `first` on, `turn` units at each position in turn. Nothing is
    /// filled yet.
    pub fn new(geometry: &Geometry, first: Lpa, turn: u32) -> Self {
        Self {
            first: first.0,
            units: 0,
            turn: FastDiv::new(turn),
            positions: FastDiv::new(geometry.pools()),
            turns_per_group: FastDiv::new(geometry.units_per_group() / turn),
            units_per_group: geometry.units_per_group(),
            groups: Vec::with_capacity(geometry.groups() as usize),
            first_rows: vec![NONE; geometry.groups() as usize],
        }
    }

    /// Units that a round takes: one group at each position.
    pub fn units_per_round(&self) -> u32 {
        self.units_per_group * self.positions.divisor()
    }

    /// How many of the first `units` of a round go to a position.
    pub fn units_at(&self, position: u32, units: u32) -> u32 {
        dealt_to(position, self.positions.divisor(), self.turn.divisor(), units)
    }

    /// The next position fills a group.
    pub fn opens(&mut self, group: BlockGroup) {
        let round = self.groups.len() as u32 / self.positions.divisor();
        self.first_rows[group.index()] = round * self.turns_per_group.divisor();
        self.groups.push(group.0);
    }

    /// So many units more are filled: groups were told for all of them.
    pub fn goes_on(&mut self, units: u32) {
        self.units += units;
    }

    /// The first of all.
    pub fn first(&self) -> Lpa {
        Lpa(self.first)
    }

    /// Units filled so far.
    pub fn units(&self) -> u32 {
        self.units
    }

    /// How many units were put into a group, which lies at that stripe position: they are its first.
    pub fn units_in(&self, group: BlockGroup, position: u32) -> u32 {
        let Some(&row) = self.first_rows.get(group.index()).filter(|&&row| row != NONE) else { return 0 };
        let before = row / self.turns_per_group.divisor() * self.units_per_round();
        self.units_at(position, self.units.saturating_sub(before).min(self.units_per_round()))
    }

    /// Where a unit was put, `Ppa::UNMAPPED` where it was not filled.
    #[inline]
    pub fn place_of(&self, lpa: Lpa) -> Ppa {
        let index = lpa.0.wrapping_sub(self.first);
        if index >= self.units {
            return Ppa::UNMAPPED;
        }
        let (turn, rest) = self.turn.div_rem(index);
        let (row, position) = self.positions.div_rem(turn);
        let (round, row) = self.turns_per_group.div_rem(row);
        let group = self.groups[(round * self.positions.divisor() + position) as usize];
        Ppa(group * self.units_per_group + row * self.turn.divisor() + rest)
    }

    /// What was put at an offset in a group, which lies at that stripe position; `Lpa::NONE` where nothing was.
    #[inline]
    pub fn content_of(&self, group: BlockGroup, position: u32, offset: u32) -> Lpa {
        if self.units == 0 || self.first_rows[group.index()] == NONE {
            return Lpa::NONE;
        }
        let (row, rest) = self.turn.div_rem(offset);
        let turn = u64::from(self.first_rows[group.index()] + row) * u64::from(self.positions.divisor());
        let index = (turn + u64::from(position)) * u64::from(self.turn.divisor()) + u64::from(rest);
        if index < u64::from(self.units) { Lpa(self.first + index as u32) } else { Lpa::NONE }
    }

    /// Saves the order: what follows from it needs not to be saved.
    pub fn save(&self, to: &mut dyn SectionWriter) -> Result<(), SnapshotError> {
        to.u32(self.units)?;
        if self.units == 0 {
            return Ok(());
        }
        to.u32(self.first)?;
        to.u32(self.turn.divisor())?;
        to.column(self.groups.iter().copied())
    }

    /// Reads the order in which a drive of so many logical units was filled; groups lie at the stripe positions that are
    /// told.
    pub fn load(
        from: &mut dyn SectionReader,
        geometry: &Geometry,
        logical_units: u32,
        position_of: impl Fn(BlockGroup) -> u32,
    ) -> Result<Self, SnapshotError> {
        let units = from.u32()?;
        if units == 0 {
            return Ok(Self::of_nothing());
        }
        let (first, turn) = (from.u32()?, from.u32()?);
        must_hold(first.checked_add(units).is_some_and(|end| end <= logical_units), || {
            format!("{units} units were filled from unit {first} on, of {logical_units}")
        })?;
        let whole = geometry.units_per_group();
        must_hold((1..whole).contains(&turn) && whole.is_multiple_of(turn), || {
            format!("{turn} units were filled in turn, into groups of {whole}")
        })?;
        let mut order = Self::new(geometry, Lpa(first), turn);
        let rounds = units / order.units_per_round();
        let rest = units % order.units_per_round();
        let last = (0..geometry.pools()).filter(|&position| order.units_at(position, rest) > 0).count();
        let mut groups = vec![0; rounds as usize * geometry.pools() as usize + last];
        from.column(&mut groups, |group| group)?;
        for (number, group) in groups.into_iter().map(BlockGroup).enumerate() {
            let position = number as u32 % geometry.pools();
            let fits = group.0 < geometry.groups()
                && position_of(group) == position
                && order.first_rows[group.index()] == NONE;
            must_hold(fits, || format!("group {group} cannot be filled at position {position}"))?;
            order.opens(group);
        }
        order.goes_on(units);
        Ok(order)
    }
}
