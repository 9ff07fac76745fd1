//! A page on its way from one medium to the other.

use ninescope_ftl::Residence;
use ninescope_kernel::NONE;

use crate::transaction::Harm;

/// What a migration does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MigrationKind {
    /// Copies the dirty sectors of a slot down, so that it becomes free.
    #[default]
    Evict,
    /// Copies the sectors that a slot lacks up; they are clean there.
    CopyUp,
    /// The same, and the lower medium forgets them.
    MoveUp,
}

/// Why a page moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Occasion {
    /// A request, a FLUSH or the policy needs it.
    #[default]
    Need,
    /// A read goes on where others ended, and may come to it.
    ReadAhead,
    /// The host rests.
    Rest,
}

/// One page on its way from one medium to the other.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// What it does.
    pub kind: MigrationKind,
    /// Why it does that.
    pub occasion: Occasion,
    /// The page.
    pub page: u32,
    /// Of one that comes up, the tenant for whom it does: it comes into his part.
    pub tenant: u16,
    /// Its slot, `NONE` while it waits for one.
    pub slot: u32,
    /// How often the slot's content had been forgotten when it began.
    pub forgotten: u16,
    /// Sectors that go down; of a page that comes up, those that the host writes meanwhile.
    pub sectors: u32,
    /// Reads under way.
    pub reads: u8,
    /// An eviction is completed with what the unit held below.
    pub merges: bool,
    /// That is read when the slot has been, not beside it.
    pub rest_is_due: bool,
    /// Where the unit lay in flash whose content was read, if any was.
    pub taken_from: Residence,
    /// The host command that completes when this has ended, or has read what it carries; `NONE` for none.
    pub command: u32,
    /// What it read from flash is no good.
    pub harm_in_flash: Option<Harm>,
    /// What a bank read for it is no good.
    pub harm_in_slot: Option<Harm>,
}

impl Default for Migration {
    fn default() -> Self {
        Self {
            kind: MigrationKind::Evict,
            occasion: Occasion::Need,
            page: NONE,
            tenant: 0,
            slot: NONE,
            forgotten: 0,
            sectors: 0,
            reads: 0,
            merges: false,
            rest_is_due: false,
            taken_from: Residence::NONE,
            command: NONE,
            harm_in_flash: None,
            harm_in_slot: None,
        }
    }
}
