//! Planes that read each by itself: one read at a time of each, none of another kind of command beside them, and what their dies are
//! occupied with meanwhile.

use ninescope_engine::View;
use ninescope_kernel::Ns;
use ninescope_media::nand::{FlashCommand, PlaneReads};
use ninescope_model::DieId;

use crate::rule::{Checked, require};

/// What a read of a plane waits for or does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    /// It waits for the channel, to be sent or to leave.
    Waits,
    /// It is sent, and sensed from `begins` on for so long.
    Senses { begins: Ns, time: Ns },
    /// Its data leave until then.
    Leaves(Ns),
}

#[derive(Clone, Copy, Debug)]
struct Read {
    plane: u32,
    transaction: u32,
    doing: Doing,
}

/// The reads of a die, the first to be taken up in front.
#[derive(Clone, Debug, Default)]
struct DieReads {
    reads: Vec<Read>,
    /// Up to when it is counted what the die did for the first of them.
    counted: Ns,
    /// Sending, sensing and leaving of the first of them, since measuring began [ns].
    working: u64,
}

impl DieReads {
    /// Counts up to now, and forgets what has left.
    fn advance(&mut self, now: Ns) {
        while let Some(first) = self.reads.first() {
            match first.doing {
                Doing::Leaves(until) if until <= now => {
                    self.working += until.saturating_since(self.counted).0;
                    self.counted = self.counted.max(until);
                    self.reads.remove(0);
                }
                Doing::Waits => break,
                Doing::Senses { .. } | Doing::Leaves(_) => {
                    self.working += now.saturating_since(self.counted).0;
                    break;
                }
            }
        }
        self.counted = now;
        self.reads.retain(|read| !matches!(read.doing, Doing::Leaves(until) if until <= now));
    }

    /// Another plane than that of a command reads.
    fn beside(&self, command: &FlashCommand) -> bool {
        self.reads.iter().any(|read| command.planes >> read.plane & 1 == 0)
    }
}

/// The reads of all planes; empty where those of a die read together.
#[derive(Debug, Default)]
pub struct PlaneBook {
    dies: Vec<DieReads>,
    /// Reads that were taken up beside others of their dies, since measuring began.
    beside: u64,
}

impl PlaneBook {
    pub fn started(view: &View<'_>) -> Option<Self> {
        let dies = vec![DieReads::default(); view.ftl.geometry().dies() as usize];
        (view.nand.timing().plane_reads == PlaneReads::Independently).then_some(Self { dies, beside: 0 })
    }

    /// Counts up to now.
    pub fn advance(&mut self, now: Ns, die: DieId) {
        self.dies[die.index()].advance(now);
    }

    /// No plane of a die is at a read, which takes up something that takes all of it, or takes it up again.
    pub fn require_none(&mut self, now: Ns, die: DieId, what: &str) -> Checked {
        self.advance(now, die);
        let reads = &self.dies[die.index()].reads;
        require!(reads.is_empty(), DieDoubleBooked, now, "die {die} begins {what} while its planes are at {reads:?}");
        Ok(())
    }

    /// A read is taken up.
    pub fn dispatched(&mut self, now: Ns, command: &FlashCommand) -> Checked {
        let (die, plane) = (command.die, command.planes.trailing_zeros());
        self.advance(now, die);
        let book = &mut self.dies[die.index()];
        require!(
            command.plane_count() == 1 && book.reads.iter().all(|read| read.plane != plane),
            DieDoubleBooked,
            now,
            "die {die} takes up {command:?} while its planes, which read each by itself, are at {:?}",
            book.reads
        );
        self.beside += u64::from(book.beside(command));
        let transaction = command.transaction[plane as usize & 3];
        book.reads.push(Read { plane, transaction, doing: Doing::Waits });
        Ok(())
    }

    /// Whether another plane of its die reads beside a command.
    pub fn reads_beside(&self, command: &FlashCommand) -> bool {
        self.dies[command.die.index()].beside(command)
    }

    /// What its plane does goes on from one thing to the next.
    fn goes_on(&mut self, now: Ns, command: &FlashCommand, fits: impl Fn(Doing) -> bool, to: Doing) -> Checked {
        self.advance(now, command.die);
        let (plane, book) = (command.planes.trailing_zeros(), &mut self.dies[command.die.index()]);
        let transaction = command.transaction[plane as usize & 3];
        let read = book.reads.iter_mut().find(|read| read.plane == plane && read.transaction == transaction);
        if let Some(read) = read.filter(|read| fits(read.doing)) {
            read.doing = to;
            return Ok(());
        }
        let die = command.die;
        require!(false, DieDoubleBooked, now, "die {die} goes on to {to:?} with {command:?}, it is at {book:?}");
        Ok(())
    }

    /// It is sent, and is sensed from `begins` on.
    pub fn issued(&mut self, view: &View<'_>, command: &FlashCommand, (begins, time): (Ns, Ns)) -> Checked {
        let waits = |doing| doing == Doing::Waits;
        self.goes_on(view.now, command, waits, Doing::Senses { begins, time })
    }

    /// It is sensed.
    pub fn ended(&mut self, now: Ns, command: &FlashCommand) -> Checked {
        let through = |doing| matches!(doing, Doing::Senses { begins, time } if begins + time == now);
        self.goes_on(now, command, through, Doing::Waits)
    }

    /// Its data leave, or are kept for a decoder, until then.
    pub fn data_out(&mut self, now: Ns, command: &FlashCommand, held: Ns) -> Checked {
        self.goes_on(now, command, |doing| doing == Doing::Waits, Doing::Leaves(held))
    }

    pub fn measuring_began(&mut self, now: Ns) {
        for book in &mut self.dies {
            book.advance(now);
            book.working = 0;
        }
        self.beside = 0;
    }

    /// What a die did for reads of its planes, by the first of them at each time, since measuring began [ns].
    pub fn working(&mut self, now: Ns, die: usize) -> u64 {
        self.dies[die].advance(now);
        self.dies[die].working
    }

    /// What the device counted is what was seen.
    pub fn compare(&self, view: &View<'_>) -> Checked {
        let (said, seen) = (view.counters.reads_beside_reads, self.beside);
        require!(said == seen, Ledger, view.now, "engine.reads_beside_reads is {said}, {seen} were seen");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ninescope_media::nand::CommandKind;

    fn read(plane: u32) -> FlashCommand {
        FlashCommand { kind: CommandKind::Read, planes: 1 << plane, transaction: [7, 8, 9, 10], ..Default::default() }
    }

    fn book() -> PlaneBook {
        PlaneBook { dies: vec![DieReads::default()], beside: 0 }
    }

    #[test]
    fn two_reads_of_one_plane_are_seen_and_so_is_what_takes_all_of_the_die() {
        let mut book = book();
        book.dispatched(Ns(0), &read(0)).expect("it is free");
        book.dispatched(Ns(5), &read(2)).expect("another plane");
        assert_eq!(book.beside, 1);
        assert!(book.dispatched(Ns(9), &read(0)).is_err() && book.require_none(Ns(9), DieId(0), "a program").is_err());
        let two = FlashCommand { planes: 0b1010, ..read(1) };
        assert!(book.dispatched(Ns(9), &two).is_err(), "each by itself");
    }

    #[test]
    fn a_die_works_as_the_first_of_its_reads_does() {
        let mut book = book();
        for plane in [1, 0] {
            book.dispatched(Ns(0), &read(plane)).expect("it is free");
        }
        for plane in [1, 0] {
            let senses = Doing::Senses { begins: Ns(10), time: Ns(40 + u64::from(plane)) };
            book.goes_on(Ns(5), &read(plane), |_| true, senses).expect("it waits");
        }
        assert!(book.ended(Ns(49), &read(0)).is_err(), "too early");
        book.ended(Ns(50), &read(0)).expect("in time");
        book.ended(Ns(51), &read(1)).expect("in time");
        book.data_out(Ns(60), &read(1), Ns(70)).expect("it waits");
        // From 5 to 51 and from 60 to 70 the first one works; the other one waits until 80, and leaves until 95.
        book.data_out(Ns(80), &read(0), Ns(95)).expect("it waits");
        assert_eq!(book.working(Ns(90), 0), 46 + 10 + 10);
        assert_eq!(book.working(Ns(200), 0), 46 + 10 + 15);
        book.require_none(Ns(200), DieId(0), "a program").expect("all have left");
    }
}
