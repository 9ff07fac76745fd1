//! Second registers: a page is in one from when the read that follows it is taken up, moves there when that is sent, and leaves from
//! there before another one comes.

use ninescope_engine::View;
use ninescope_kernel::Ns;
use ninescope_media::nand::{CommandKind, FlashCommand};
use ninescope_model::DieId;

use crate::rule::{Checked, require};

/// What a page does on its way through a second register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    /// The read that follows it waits for the channel.
    IsFollowed,
    /// That is sent then.
    Follows(Ns),
    /// It moves until then, and leaves at any time after that.
    Moves(Ns),
    /// It leaves until then.
    Leaves(Ns),
}

#[derive(Clone, Copy, Debug)]
struct Page {
    /// The issuer's number of its first plane.
    transaction: u32,
    doing: Doing,
}

/// The second registers of all dies.
#[derive(Debug)]
pub struct RegisterBook {
    /// What a move takes.
    time: Ns,
    each: Vec<Option<Page>>,
    /// Pages that were followed, since measuring began.
    followed: u64,
}

fn number(command: &FlashCommand) -> u32 {
    command.transaction[command.planes.trailing_zeros() as usize & 3]
}

impl RegisterBook {
    /// Nothing where pages leave from the register that they were sensed into.
    pub fn started(view: &View<'_>) -> Option<Self> {
        let dies = view.ftl.geometry().dies() as usize;
        view.nand.timing().cache_read.map(|time| Self { time, each: vec![None; dies], followed: 0 })
    }

    /// Whether a page is in the second register of a die, or on its way there.
    pub fn is_taken(&self, now: Ns, die: DieId) -> bool {
        self.each[die.index()].is_some_and(|page| !matches!(page.doing, Doing::Leaves(until) if until <= now))
    }

    /// Nothing is there.
    pub fn require_none(&self, now: Ns, die: DieId, what: &str) -> Checked {
        let page = &self.each[die.index()];
        let is_taken = self.is_taken(now, die);
        require!(!is_taken, SecondRegister, now, "die {die} begins {what} while its second register has {page:?}");
        Ok(())
    }

    /// A command is taken up by a die that has sensed the page of another one, which it follows.
    pub fn followed(&mut self, now: Ns, command: &FlashCommand, transaction: u32) -> Checked {
        let die = command.die;
        self.require_none(now, die, "another read")?;
        require!(
            command.kind == CommandKind::Read,
            SecondRegister,
            now,
            "die {die} takes up {command:?} while what it has sensed is in its register"
        );
        self.each[die.index()] = Some(Page { transaction, doing: Doing::IsFollowed });
        self.followed += 1;
        Ok(())
    }

    /// The command of a die is sent then. Returns for how long a page moves then, before the array begins.
    pub fn issued(&mut self, die: DieId, sent: Ns) -> Ns {
        match &mut self.each[die.index()] {
            Some(Page { doing: doing @ Doing::IsFollowed, .. }) => {
                *doing = Doing::Follows(sent);
                self.time
            }
            _ => Ns::ZERO,
        }
    }

    /// A page moves, until then.
    pub fn moves(&mut self, now: Ns, command: &FlashCommand, until: Ns) -> Checked {
        let page = &mut self.each[command.die.index()];
        let follows = Some((number(command), Doing::Follows(now)));
        require!(
            page.map(|page| (page.transaction, page.doing)) == follows && until == now + self.time,
            SecondRegister,
            now,
            "the page of {command:?} moves until {until}, its die has {page:?}"
        );
        *page = page.map(|page| Page { doing: Doing::Moves(until), ..page });
        Ok(())
    }

    /// The data of a read leave until `held`. Returns whether they do so from a second register.
    pub fn data_out(
        &mut self,
        now: Ns,
        command: &FlashCommand,
        held: Ns,
    ) -> Result<bool, ninescope_engine::SimulationError> {
        let page = &mut self.each[command.die.index()];
        match page {
            Some(Page { transaction, doing: doing @ Doing::Moves(_) }) if *transaction == number(command) => {
                let moved = matches!(*doing, Doing::Moves(until) if until <= now);
                require!(moved, SecondRegister, now, "the data of {command:?} leave, whose page is at {doing:?}");
                *doing = Doing::Leaves(held);
                Ok(true)
            }
            _ => {
                self.require_none(now, command.die, "to send what it has sensed,")?;
                Ok(false)
            }
        }
    }

    /// Whether the data of a read leave from a second register.
    pub fn has(&self, command: &FlashCommand) -> bool {
        self.each[command.die.index()]
            .is_some_and(|page| page.transaction == number(command) && matches!(page.doing, Doing::Moves(_)))
    }

    pub fn measuring_began(&mut self) {
        self.followed = 0;
    }

    /// What the device counted is what was seen.
    pub fn compare(&self, view: &View<'_>) -> Checked {
        let (said, seen) = (view.counters.cached_reads, self.followed);
        require!(said == seen, Ledger, view.now, "engine.cached_reads is {said}, {seen} were seen");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(transaction: u32) -> FlashCommand {
        FlashCommand { kind: CommandKind::Read, planes: 1, transaction: [transaction; 4], ..Default::default() }
    }

    fn book() -> RegisterBook {
        RegisterBook { time: Ns(3), each: vec![None], followed: 0 }
    }

    #[test]
    fn a_page_goes_through_the_register_in_order() {
        let mut book = book();
        assert_eq!(book.issued(DieId(0), Ns(5)), Ns::ZERO, "nothing is followed");
        book.followed(Ns(10), &read(8), 7).expect("it is free");
        assert!(book.data_out(Ns(11), &read(7), Ns(20)).is_err(), "it has not moved");
        assert_eq!(book.issued(DieId(0), Ns(12)), Ns(3));
        assert!(book.moves(Ns(11), &read(7), Ns(14)).is_err() && book.moves(Ns(12), &read(8), Ns(15)).is_err());
        book.moves(Ns(12), &read(7), Ns(15)).expect("now");
        assert!(book.data_out(Ns(14), &read(7), Ns(20)).is_err(), "it moves");
        assert!(book.data_out(Ns(16), &read(8), Ns(20)).is_err(), "the other one has to wait");
        assert!(book.has(&read(7)) && !book.has(&read(8)));
        assert!(book.data_out(Ns(16), &read(7), Ns(20)).expect("it is there"));
        assert!(book.followed(Ns(19), &read(9), 8).is_err() && book.is_taken(Ns(19), DieId(0)));
        assert!(!book.data_out(Ns(20), &read(8), Ns(30)).expect("from the other register"));
        book.followed(Ns(20), &read(9), 8).expect("it has left");
        assert_eq!(book.followed, 2);
    }

    #[test]
    fn a_program_finds_it_empty() {
        let mut book = book();
        let program = FlashCommand { kind: CommandKind::Program, ..read(8) };
        assert!(book.followed(Ns(10), &program, 7).is_err());
        book.followed(Ns(10), &read(8), 7).expect("it is free");
        assert!(book.require_none(Ns(11), DieId(0), "a program").is_err());
    }
}
