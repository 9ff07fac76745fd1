//! The drive is erased as a whole: nothing is under way when that begins, nothing of the host is carried out until it is over, and nothing
//! is held then.

use ninescope_engine::View;
use ninescope_ftl::GroupState;
use ninescope_model::{BlockGroup, DriveErase, Request};

use crate::groups::Groups;
use crate::rule::{Checked, require};

/// An erase that has begun and is not over.
#[derive(Clone, Copy, Debug)]
struct UnderWay {
    /// The command.
    slot: u32,
    what: DriveErase,
}

/// What is known of erases of the whole drive.
#[derive(Debug, Default)]
pub struct WholeEraseBook {
    /// Commands inside that ask for one: the number and the slot.
    asked: Vec<(u64, u32)>,
    under_way: Option<UnderWay>,
    /// Its number: commands after it are aborted.
    id: u64,
    counts: Counts,
}

/// Since measuring began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    began: u64,
    aborted: u64,
}

impl WholeEraseBook {
    /// A command is taken in.
    pub fn fetched(&mut self, (slot, id): (u32, u64), request: &Request) {
        if request.remark.erase() != DriveErase::None {
            self.asked.push((id, slot));
        }
    }

    /// Whether one is asked for, and is not over.
    pub fn is_asked(&self) -> bool {
        !self.asked.is_empty() || self.under_way.is_some()
    }

    /// It begins: all that came before is done.
    pub fn began(
        &mut self,
        view: &View<'_>,
        (slot, what): (u32, DriveErase),
        oldest_inside: u64,
        groups: &mut Groups,
    ) -> Checked {
        let id = self.asked.iter().find(|&&(_, of)| of == slot).map(|&(id, _)| id);
        require!(
            self.under_way.is_none() && id == Some(oldest_inside),
            DriveErase,
            view.now,
            "the drive is erased for slot {slot}, request {id:?}, and {oldest_inside} is inside"
        );
        self.id = id.unwrap_or_default();
        self.under_way = Some(UnderWay { slot, what });
        self.counts.began += 1;
        groups.all_given_up(view)
    }

    /// A command is aborted.
    pub fn aborted(&mut self, view: &View<'_>, (slot, id): (u32, u64)) -> Checked {
        let after = self.asked.iter().any(|&(of, _)| of < id) || self.under_way.is_some() && self.id < id;
        self.asked.retain(|&(_, of)| of != slot);
        self.counts.aborted += 1;
        require!(after, DriveErase, view.now, "request {id} is aborted, and no erase came before it");
        Ok(())
    }

    /// Something is done for the host.
    pub fn nothing_is_done(&self, view: &View<'_>, slot: u32) -> Checked {
        let is_free = self.under_way.is_none();
        require!(is_free, DriveErase, view.now, "the command of slot {slot} is carried out while the drive is erased");
        Ok(())
    }

    /// It is over: nothing is held any more, but where the key alone was changed.
    pub fn ended(&mut self, view: &View<'_>) -> Checked {
        let under_way = self.under_way.take();
        let holds = |group: &BlockGroup| {
            let record = view.ftl.group(*group);
            view.ftl.valid_units(*group) > 0 || record.state != GroupState::Free && record.state != GroupState::Retired
        };
        let by_blocks = under_way.is_some_and(|under_way| under_way.what != DriveErase::SanitizeCrypto);
        let left = (0..view.ftl.geometry().groups()).map(BlockGroup).filter(holds).count();
        require!(
            under_way.is_some() && view.ftl.mapped_units() == 0 && (left == 0 || !by_blocks),
            DriveErase,
            view.now,
            "{under_way:?} is over, {} units are mapped and {left} groups are not erased",
            view.ftl.mapped_units()
        );
        Ok(())
    }

    /// A command completes.
    pub fn completed(&mut self, view: &View<'_>, slot: u32) -> Checked {
        self.asked.retain(|&(_, of)| of != slot);
        let format = |under_way: UnderWay| under_way.slot == slot && under_way.what == DriveErase::Format;
        let early = self.under_way.is_some_and(format);
        require!(!early, DriveErase, view.now, "a format completes before all blocks are erased");
        Ok(())
    }

    pub fn measuring_began(&mut self) {
        self.counts = Counts::default();
    }

    /// What the device counted is what was seen.
    pub fn finished(&self, view: &View<'_>) -> Checked {
        let counted = Counts { began: view.counters.whole_erases, aborted: view.counters.aborted_commands };
        require!(
            counted == self.counts && self.under_way.is_none(),
            Ledger,
            view.now,
            "{counted:?} are counted, {:?} were seen",
            self.counts
        );
        Ok(())
    }
}
