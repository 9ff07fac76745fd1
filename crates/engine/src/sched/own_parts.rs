//! Waits behind other parts of the same command: who has shares of what, and when dies, banks and channels work for them.
//!
//! A command that may have several parts keeps a share in each die or bank that has one of them
//! ([`OwnParts`](crate::meter::OwnParts)). What the share grew by while a part waited is the part's wait behind its own
//! command; the rest is behind others.

use ninescope_ftl::Placed;
use ninescope_kernel::{NONE, Ns};
use ninescope_media::nand::FlashCommand;
use ninescope_model::{BankId, DieId, Op, Source};

use crate::config::WriteCompletion;
use crate::device::{Device, Flow};
use crate::host::HostCommand;
use crate::kind::Kind;
use crate::meter::{DieLedger, OwnParts};
use crate::transaction::{QueueClass, TransactionStore, UnitRecord};

/// The share that a transaction works for, `NONE` for none.
fn share_of(own: &OwnParts, transactions: &TransactionStore, index: u32) -> u32 {
    let transaction = &transactions.slab[index];
    let track = &transactions.tracks[index as usize];
    match transaction.class {
        _ if transaction.tracked => track.share,
        QueueClass::HostRead => track.share,
        // Out of a write buffer, which the command may have left long ago.
        QueueClass::HostProgram => own.of_lasting(track.filled_by),
        // The track is that of somebody before.
        _ => NONE,
    }
}

/// Visits the shares that a command of a die works for.
fn each_share_of(
    own: &mut OwnParts,
    transactions: &TransactionStore,
    command: &FlashCommand,
    mut visit: impl FnMut(&mut OwnParts, u32),
) {
    for plane in command.addressed_planes() {
        let share = share_of(own, transactions, command.transaction[plane]);
        if share != NONE {
            visit(own, share);
        }
    }
}

impl TransactionStore {
    /// A wait for a die begins: the ledger of others is kept, that is the die's without what it did for the transaction's
    /// own command.
    pub(crate) fn begin_wait(&mut self, own: &OwnParts, index: u32, now: Ns, ledger: &DieLedger) {
        let track = &mut self.tracks[index as usize];
        (track.snapshot_taken, track.die_wait) = (true, *ledger);
        if track.share != NONE {
            let held = own.held(track.share, now, ledger);
            held.take_out_of(&mut track.die_wait);
            track.own_parts = held.total();
        }
    }

    /// The wait ends: it is what the ledger of others and that of the own command grew by.
    #[inline]
    pub(crate) fn end_wait(&mut self, own: &OwnParts, index: u32, now: Ns, ledger: &DieLedger) {
        let track = &mut self.tracks[index as usize];
        track.mark = now;
        if !track.snapshot_taken {
            (track.die_wait, track.own_parts) = (DieLedger::default(), Ns::ZERO);
            return;
        }
        let mut of_others = *ledger;
        if track.share == NONE {
            track.own_parts = Ns::ZERO;
        } else {
            let held = own.held(track.share, now, ledger);
            held.take_out_of(&mut of_others);
            track.own_parts = held.total() - track.own_parts;
        }
        track.die_wait.iter_mut().zip(of_others).for_each(|(wait, held)| *wait = held - *wait);
    }

    /// The wait for a channel begins.
    pub(crate) fn begin_channel_wait(&mut self, own: &OwnParts, index: u32, now: Ns) {
        let track = &mut self.tracks[index as usize];
        if track.share != NONE {
            track.channel_of_own = own.channel_held(track.share, now);
        }
    }

    /// The wait for a channel ends: what it did for the own command meanwhile is taken out of the wait.
    pub(crate) fn end_channel_wait(&mut self, own: &OwnParts, index: u32, now: Ns) {
        let track = &mut self.tracks[index as usize];
        if track.share != NONE {
            let behind_own = own.channel_held(track.share, now) - track.channel_of_own;
            track.channel = track.channel - behind_own;
            track.own_parts += behind_own;
        }
    }

    /// The command that a page which is programmed belongs to: without a write buffer no page is of two.
    fn parent_of_program(&self, first_record: u32) -> u32 {
        let UnitRecord { parent, source, mut next, .. } = self.units[first_record];
        while cfg!(debug_assertions) && next != NONE {
            let other = &self.units[next];
            debug_assert_eq!((other.parent, other.source), (parent, source), "a page is of one command");
            next = other.next;
        }
        parent
    }
}

impl<K: Kind> Device<K> {
    /// Gives a transaction that is queued on a die its share of it, if its command has several parts.
    #[inline]
    pub(super) fn join_share(&mut self, die: DieId, index: u32) {
        let transaction = self.transactions.slab[index];
        let command = match (transaction.class, transaction.source) {
            (QueueClass::HostRead, Source::Host) => transaction.command(),
            (QueueClass::HostRead, _) => self.transactions.units[transaction.records()].parent,
            // Nobody waits for the end of a program of a write buffer: see `unit_written_last`.
            _ if self.write_completion == WriteCompletion::Buffer => NONE,
            (QueueClass::HostProgram, Source::Host) => self.transactions.parent_of_program(transaction.records()),
            _ => NONE,
        };
        let shares = command != NONE && self.commands[command].several_parts;
        let share = if shares { self.join_share_of_die(die, command) } else { NONE };
        self.transactions.tracks[index as usize].share = share;
    }

    /// A command that buffers its writes, and may still read the rest of a unit, wrote a unit: the program of the page is its own
    /// unless somebody writes into the page after it.
    #[inline(never)]
    pub(crate) fn unit_written_last(&mut self, placed: &Placed, command: u32) {
        let share = self.join_share_of_die(self.geometry.die_of_pool(placed.pool), command);
        let stripe = &mut self.stripes[Self::stripe_index(placed.pool, placed.stream)];
        stripe.writer = (placed.new, self.own_parts.lasting(share));
    }

    #[inline(never)]
    fn join_share_of_die(&mut self, die: DieId, command: u32) -> u32 {
        let resources = [self.resources.die(die), self.resources.channel(self.geometry.channel_of_die(die))];
        let HostCommand { op, shares: first, .. } = &mut self.commands[command];
        // Reads of flash alone are split in one go.
        let splitting = self.flow == Flow::Flash && *op == Op::Read;
        self.own_parts.join(command, first, resources, splitting)
    }

    /// Gives a transaction that is queued on a bank its share of it, if its command has several parts.
    pub(super) fn join_share_of_bank(&mut self, bank: BankId, index: u32) {
        let transaction = self.transactions.slab[index];
        let shares = transaction.source == Source::Host && self.commands[transaction.command()].several_parts;
        self.transactions.tracks[index as usize].share = if shares {
            let channel = self.resources.bank_channel(self.scm.layout().channel_of_bank(bank));
            let first = &mut self.commands[transaction.command()].shares;
            let resources = [self.resources.bank(bank), channel];
            self.own_parts.join(transaction.command(), first, resources, self.flow == Flow::Scm)
        } else {
            NONE
        };
    }

    // ---- dies ------------------------------------------------------------------------------------

    /// A die begins with its command, or takes it up again.
    #[inline(never)]
    pub(super) fn open_shares(&mut self, die: DieId) {
        let unit = &mut self.dies[die.index()];
        let ledger = unit.ledger.read(self.now);
        each_share_of(&mut self.own_parts, &self.transactions, &unit.command, |own, share| own.open(share, ledger));
    }

    /// A die is through with its command but for data that leave `until` then, or is stopped.
    #[inline(never)]
    pub(crate) fn close_shares(&mut self, die: DieId, until: Ns) {
        let (now, unit) = (self.now, &mut self.dies[die.index()]);
        let ledger = unit.ledger.read(now);
        each_share_of(&mut self.own_parts, &self.transactions, &unit.command, |own, share| {
            own.close(share, now, until, ledger);
        });
    }

    /// A die goes on with a command that was suspended.
    #[inline(never)]
    pub(super) fn take_up_shares(&mut self, die: DieId) {
        let mut shared = false;
        let command = self.dies[die.index()].command;
        each_share_of(&mut self.own_parts, &self.transactions, &command, |_, _| shared = true);
        self.dies[die.index()].shared = shared;
        if shared {
            self.open_shares(die);
        }
    }

    /// How long data of the same command leave before that of a plane, when its die gets the channel.
    #[inline]
    pub(crate) fn own_data_before(&self, command: &FlashCommand, plane: usize) -> Ns {
        if self.dies[command.die.index()].shared { self.own_data_of_planes_before(command, plane) } else { Ns::ZERO }
    }

    #[inline(never)]
    fn own_data_of_planes_before(&self, command: &FlashCommand, plane: usize) -> Ns {
        self.own_data_of_planes(command, plane, |other| other < plane)
    }

    /// How long data of the same command leave from those other planes.
    fn own_data_of_planes(&self, command: &FlashCommand, plane: usize, which: impl Fn(usize) -> bool) -> Ns {
        let share = |plane: usize| self.transactions.tracks[command.transaction[plane] as usize].share;
        let own = command.addressed_planes().filter(|&other| which(other) && share(other) == share(plane));
        match share(plane) {
            NONE => Ns::ZERO,
            _ => own.fold(Ns::ZERO, |sum, other| sum + self.nand.data_time(u64::from(command.bytes[other]))),
        }
    }

    /// The data of a page that stays in the controller for a command leave its die, whose channel is granted now. They are
    /// there when the data of all planes have left, `until` then.
    #[inline(never)]
    pub(super) fn data_stay_for_command(&mut self, command: &FlashCommand, plane: usize, until: Ns) {
        let transfer = self.nand.data_time(u64::from(command.bytes[plane]));
        let own_beside = self.own_data_of_planes(command, plane, |other| other != plane);
        let track = &mut self.transactions.tracks[command.transaction[plane] as usize];
        track.channel += until - track.mark - transfer - own_beside;
        track.own_parts += own_beside;
        track.transfer = transfer;
    }

    /// The command of a die begins to wait for its channel.
    #[inline(never)]
    pub(super) fn begin_shared_channel_wait(&mut self, die: DieId) {
        let unit = &self.dies[die.index()];
        for plane in unit.command.addressed_planes() {
            let index = unit.command.transaction[plane];
            if self.transactions.slab[index].tracked {
                self.transactions.begin_channel_wait(&self.own_parts, index, self.now);
            }
        }
    }

    /// The command of a die gets its channel `until` then, after waiting for it.
    #[inline(never)]
    pub(crate) fn end_shared_channel_wait(&mut self, die: DieId, until: Ns) {
        let (now, unit) = (self.now, &self.dies[die.index()]);
        for plane in unit.command.addressed_planes() {
            let index = unit.command.transaction[plane];
            if self.transactions.slab[index].tracked {
                self.transactions.end_channel_wait(&self.own_parts, index, now);
            }
        }
        each_share_of(&mut self.own_parts, &self.transactions, &unit.command, |own, share| {
            own.channel_taken(share, now, until);
        });
    }

    // ---- banks -----------------------------------------------------------------------------------

    /// A bank begins with its transaction.
    pub(super) fn open_share_of_bank(&mut self, bank: BankId) {
        let unit = &mut self.scm.banks[bank.index()];
        let ledger = unit.ledger.read(self.now);
        let share = share_of(&self.own_parts, &self.transactions, unit.transaction);
        if share != NONE {
            self.own_parts.open(share, ledger);
        }
    }

    /// A bank is through with its transaction but for data that leave `until` then.
    pub(super) fn close_share_of_bank(&mut self, bank: BankId, until: Ns) {
        let (now, unit) = (self.now, &mut self.scm.banks[bank.index()]);
        let ledger = unit.ledger.read(now);
        let share = share_of(&self.own_parts, &self.transactions, unit.transaction);
        if share != NONE {
            self.own_parts.close(share, now, until, ledger);
        }
    }

    /// The transaction of a bank gets its channel `until` then, after waiting for it.
    pub(super) fn end_shared_channel_wait_of_bank(&mut self, bank: BankId, until: Ns) {
        let (now, index) = (self.now, self.scm.banks[bank.index()].transaction);
        let share = share_of(&self.own_parts, &self.transactions, index);
        if share != NONE {
            self.transactions.end_channel_wait(&self.own_parts, index, now);
            self.own_parts.channel_taken(share, now, until);
        }
    }
}
