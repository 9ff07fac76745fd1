//! Classes of jobs in dies: while a read of an urgent one waits on a die, no read goes there that is of none.

use ninescope_engine::Access;
use ninescope_kernel::{NONE, Ns};
use ninescope_media::nand::{CommandKind, FlashCommand};
use ninescope_model::{Source, UrgencyClass};

use crate::rule::{Checked, require};

/// What dies took up.
#[derive(Debug)]
pub struct ClassBook {
    /// By tenant.
    classes: Vec<UrgencyClass>,
    /// By die: when it last took up reads of tenants that are not urgent, and none beside them.
    others: Vec<Ns>,
}

impl ClassBook {
    pub fn started(classes: &[UrgencyClass]) -> Self {
        Self { classes: classes.to_vec(), others: Vec::new() }
    }

    /// A die takes up a command; `tenant_of` says whose a command of the host is.
    pub fn dispatched(
        &mut self,
        now: Ns,
        command: &FlashCommand,
        accesses: &[Access],
        tenant_of: impl Fn(u32) -> u16,
    ) -> Checked {
        if command.kind != CommandKind::Read {
            return Ok(());
        }
        let die = command.die.index();
        if self.others.len() <= die {
            self.others.resize(die + 1, Ns::ZERO);
        }
        let of_host =
            |access: &&Access| access.slot != NONE && matches!(access.source, Source::Host | Source::ReadModifyWrite);
        let class_of = |access: &Access| self.classes[tenant_of(access.slot) as usize];
        let urgent = accesses.iter().filter(of_host).find(|access| class_of(access) == UrgencyClass::Urgent);
        if let Some(access) = urgent {
            require!(
                self.others[die] <= access.queued,
                Classes,
                now,
                "an urgent read of page {} was queued on die {die} at {}, which took up others at {}",
                access.ppa,
                access.queued,
                self.others[die]
            );
        } else if accesses.iter().all(|access| of_host(&access)) {
            self.others[die] = now;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_that_goes_before_an_urgent_one_is_seen() {
        let told = |reads: &[(u64, u64, u32)]| {
            let mut book = ClassBook::started(&[UrgencyClass::High, UrgencyClass::Urgent]);
            let command = FlashCommand { kind: CommandKind::Read, ..FlashCommand::default() };
            let mut each = reads.iter();
            each.try_for_each(|&(now, queued, slot)| {
                let access = Access { slot, queued: Ns(queued), ..Access::default() };
                book.dispatched(Ns(now), &command, &[access], |slot| slot as u16)
            })
            .is_ok()
        };
        assert!(told(&[(10, 5, 0), (20, 12, 1), (30, 5, 0)]));
        assert!(!told(&[(10, 5, 0), (20, 15, 0), (30, 12, 1)]), "the second one went before it");
    }
}
