//! Blocks that break: no program goes to one that is bad, each that is retired had failed or was worn out, and the drive takes no
//! more writes when a pool has too few left, and not before.
//!
//! What is drawn is not known here; what follows from it is.

use ninescope_engine::{Event, SimulationError, View};
use ninescope_ftl::{Broken, GroupState};
use ninescope_media::nand::{CommandKind, FlashCommand};
use ninescope_model::{BlockGroup, Pool, Ppa};

use crate::blocks::group_of_block;
use crate::groups::Groups;
use crate::marks::{Mark, Marks};
use crate::rule::{Checked, require};

/// What became of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Fate {
    #[default]
    Good,
    /// A program of it failed.
    Failed,
    /// All that was to be programmed there has another place.
    Left,
    Retired,
}

/// The checker's own table of bad blocks, of a drive whose blocks break.
#[derive(Debug)]
pub struct BadBlockBook {
    fates: Vec<Fate>,
    /// By pool.
    retired: Vec<u32>,
    needed: Vec<u32>,
    /// A pool has too few groups left, and that was not said yet.
    lacking: Option<Pool>,
    read_only: bool,
    counts: [u64; 4],
    again: u64,
    kept: u64,
    refused: u64,
}

impl BadBlockBook {
    /// Takes over what was retired before the run; none where nothing breaks.
    pub fn started(view: &View<'_>) -> Option<Self> {
        if !view.ftl.blocks_break() {
            return None;
        }
        let geometry = view.ftl.geometry();
        let mut retired = vec![0; geometry.pools() as usize];
        let fate = |group| match view.ftl.group(group).state {
            GroupState::Retired => {
                retired[geometry.pool_and_block(group).0.index()] += 1;
                Fate::Retired
            }
            _ => Fate::Good,
        };
        let fates = (0..geometry.groups()).map(BlockGroup).map(fate).collect();
        let needed = (0..geometry.pools()).map(|pool| view.ftl.groups_needed(Pool(pool))).collect();
        let (lacking, read_only) = (None, view.ftl.is_read_only());
        Some(Self { fates, retired, needed, lacking, read_only, counts: [0; 4], again: 0, kept: 0, refused: 0 })
    }

    /// A command was issued.
    pub fn issued(&self, view: &View<'_>, command: &FlashCommand) -> Checked {
        if command.kind == CommandKind::Read {
            return Ok(());
        }
        for plane in command.addressed_planes() {
            let group = group_of_block(view.ftl.geometry(), command.die, plane, command.block[plane]);
            let fate = self.fates[group.index()];
            require!(
                fate == Fate::Good,
                BadBlocks,
                view.now,
                "group {group} is {fate:?}, and gets a {:?} of page {}",
                command.kind,
                command.page[plane]
            );
        }
        Ok(())
    }

    /// The program of a page failed.
    fn program_failed(&mut self, view: &View<'_>, ppa: Ppa) -> Checked {
        let group = view.ftl.geometry().group_and_offset(ppa).0;
        let fate = &mut self.fates[group.index()];
        require!(
            matches!(fate, Fate::Good | Fate::Failed),
            BadBlocks,
            view.now,
            "a program of group {group} fails, which is {fate:?}"
        );
        *fate = Fate::Failed;
        self.counts[0] += 1;
        Ok(())
    }

    /// A page was given another place, or none: its group failed.
    fn leaves(&self, view: &View<'_>, from: Ppa, to: Option<Ppa>) -> Checked {
        let geometry = view.ftl.geometry();
        let group = geometry.group_and_offset(from).0;
        let fate = self.fates[group.index()];
        require!(fate == Fate::Failed, BadBlocks, view.now, "page {from} leaves group {group}, which is {fate:?}");
        let Some(to) = to else { return Ok(()) };
        let other = geometry.group_and_offset(to).0;
        let same_pool = geometry.pool_and_block(group).0 == geometry.pool_and_block(other).0;
        require!(
            same_pool
                && view.ftl.stream_of(from) == view.ftl.stream_of(to)
                && self.fates[other.index()] == Fate::Good
                && geometry.first_unit_of_page(to) == to,
            BadBlocks,
            view.now,
            "page {from} goes to {to} in group {other}, which is {:?}, of another pool or stream, or no page begins there",
            self.fates[other.index()]
        );
        Ok(())
    }

    fn retires(&mut self, view: &View<'_>, group: BlockGroup) -> Checked {
        let pool = view.ftl.geometry().pool_and_block(group).0;
        let fate = std::mem::replace(&mut self.fates[group.index()], Fate::Retired);
        require!(fate != Fate::Retired, BadBlocks, view.now, "group {group} is retired twice");
        let valid = view.ftl.valid_units(group);
        require!(valid == 0, BadBlocks, view.now, "group {group} is retired with {valid} valid units");
        self.retired[pool.index()] += 1;
        self.counts[3] += 1;
        let left = view.ftl.geometry().blocks_per_plane - self.retired[pool.index()];
        if left < self.needed[pool.index()] && !self.read_only {
            self.lacking.get_or_insert(pool);
        }
        Ok(())
    }

    /// An erase ended.
    pub fn erased(&self, view: &View<'_>, group: BlockGroup) -> Checked {
        let erases = view.ftl.group(group).erase_count;
        require!(
            view.ftl.endurance(group).is_none_or(|bears| erases < bears) && self.fates[group.index()] == Fate::Good,
            BadBlocks,
            view.now,
            "group {group} is free after {erases} erases, which bears {:?} and is {:?}",
            view.ftl.endurance(group),
            self.fates[group.index()]
        );
        Ok(())
    }

    fn erase_broke(&mut self, view: &View<'_>, group: BlockGroup, broken: Broken) -> Checked {
        let erases = view.ftl.group(group).erase_count;
        let worn_out = view.ftl.endurance(group).is_some_and(|bears| erases >= bears);
        require!(
            worn_out == (broken == Broken::WornOut) && self.fates[group.index()] == Fate::Good,
            BadBlocks,
            view.now,
            "group {group}, {:?}, is said to be broken by {broken:?} after {erases} erases of {:?}",
            self.fates[group.index()],
            view.ftl.endurance(group)
        );
        self.counts[if broken == Broken::WornOut { 2 } else { 1 }] += 1;
        self.retires(view, group)
    }

    fn read_only_began(&mut self, view: &View<'_>, pool: Pool) -> Checked {
        let left = view.ftl.geometry().blocks_per_plane - self.retired[pool.index()];
        let (needed, free) = (self.needed[pool.index()], view.ftl.free_groups(pool));
        require!(
            !self.read_only && (left < needed || free == 0),
            BadBlocks,
            view.now,
            "the drive takes no more writes for want of groups in pool {pool}, which has {left}, needs {needed}, and has {free} free"
        );
        (self.read_only, self.lacking) = (true, None);
        Ok(())
    }

    /// A unit that the host writes got a place.
    pub fn written(&self, view: &View<'_>, place: Ppa) -> Checked {
        require!(!self.read_only, BadBlocks, view.now, "unit {place} is written, and the drive takes no more writes");
        Ok(())
    }

    /// Something is refused: the drive takes no more writes.
    fn refuses(&self, view: &View<'_>, what: std::fmt::Arguments<'_>) -> Checked {
        let known = self.read_only || view.ftl.is_read_only();
        require!(known, BadBlocks, view.now, "{what} is refused by a drive that takes writes");
        Ok(())
    }

    /// Something happened with bad blocks, or something else.
    pub fn sees(&mut self, view: &View<'_>, event: &Event<'_>, marks: &mut Marks) -> Checked {
        match *event {
            Event::ProgramFailed { ppa } => {
                marks.hit(Mark::ProgramFailed);
                self.program_failed(view, ppa)
            }
            Event::PageRewritten { from, to, .. } => {
                self.again += 1;
                self.leaves(view, from, Some(to))
            }
            Event::PageKept { ppa, .. } => {
                marks.hit(Mark::PageKept);
                self.kept += 1;
                self.leaves(view, ppa, None)
            }
            Event::GroupFailed { group } => {
                let fate = std::mem::replace(&mut self.fates[group.index()], Fate::Left);
                require!(fate == Fate::Failed, BadBlocks, view.now, "group {group} is left, which is {fate:?}");
                Ok(())
            }
            Event::EraseBroke { group, broken } => {
                marks.hit(if broken == Broken::WornOut { Mark::WornOut } else { Mark::EraseFailed });
                self.erase_broke(view, group, broken)
            }
            Event::GroupRetired { group } => {
                let fate = self.fates[group.index()];
                require!(fate == Fate::Left, BadBlocks, view.now, "group {group} is retired, which is {fate:?}");
                marks.hit(Mark::FailedGroupRetired);
                self.retires(view, group)
            }
            Event::ReadOnlyBegan { pool } => {
                marks.hit(Mark::ReadOnlyBegan);
                self.read_only_began(view, pool)
            }
            Event::CommandRefused { slot } => {
                marks.hit(Mark::CommandRefused);
                self.refused += 1;
                self.refuses(view, format_args!("the command of slot {slot}"))
            }
            Event::UnitRefused { lpa, .. } => self.refuses(view, format_args!("unit {lpa}")),
            Event::Fetched { .. } | Event::Finished { .. } => {
                require!(
                    self.lacking.is_none(),
                    BadBlocks,
                    view.now,
                    "pool {:?} has too few groups left, and the drive goes on",
                    self.lacking
                );
                Ok(())
            }
            Event::MeasuringBegan => {
                (self.counts, self.again, self.kept, self.refused) = ([0; 4], 0, 0, 0);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The drive's own table says the same, and its counters do.
    pub fn sweep(&self, view: &View<'_>, groups: &Groups) -> Result<(), SimulationError> {
        let geometry = view.ftl.geometry();
        for group in (0..geometry.groups()).map(BlockGroup) {
            let (said, own) = (view.ftl.group(group).state == GroupState::Retired, self.fates[group.index()]);
            require!(
                said == (own == Fate::Retired),
                BadBlocks,
                view.now,
                "group {group} is {own:?}, and the table of bad blocks says {said}"
            );
            let valid = groups.get(group).valid;
            require!(
                own != Fate::Retired || valid == 0,
                BadBlocks,
                view.now,
                "group {group} is retired and holds {valid} valid units"
            );
        }
        let left = self.retired.iter().zip(&self.needed);
        let spare = left.map(|(retired, needed)| (geometry.blocks_per_plane - retired).saturating_sub(*needed)).min();
        let (said, seen) = (view.ftl.spare_groups_left(), spare.unwrap_or(0));
        require!(said == seen, BadBlocks, view.now, "{said} spare groups are said to be left, they are {seen}");
        Ok(())
    }

    /// Counters are the numbers of what was seen.
    pub fn compare(&self, view: &View<'_>) -> Checked {
        let said = view.ftl.bad_blocks();
        let counted = [said.program_failures, said.erase_failures, said.worn_out, said.retired];
        let engine = view.counters;
        let of_engine = [engine.pages_programmed_again, engine.pages_kept, engine.refused_commands];
        require!(
            counted == self.counts && of_engine == [self.again, self.kept, self.refused],
            Ledger,
            view.now,
            "failed programs, failed erases, worn out and retired groups are {counted:?}, seen were {:?}; pages programmed again, \
             kept, and commands refused are {of_engine:?}, seen were {:?}",
            self.counts,
            [self.again, self.kept, self.refused]
        );
        Ok(())
    }
}
