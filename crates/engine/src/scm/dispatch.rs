//! Queueing a transaction on its bank, and giving a free bank its next one.

use ninescope_ftl::policies::SectorWrite;
use ninescope_kernel::{NONE, Ns, WakeQueue};
use ninescope_media::scm::{CopyPath, ScmCommand, ScmCommandKind, Verified};
use ninescope_model::{BankId, Occupancy, Source};

use super::ScmPart;
use crate::error::SimulationError;
use crate::run::Run;
use crate::sched::Phase;
use crate::transaction::{QueueClass, Transaction};

impl ScmPart {
    /// Queues a transaction on its bank, from which it is dispatched before time moves on if the bank is free.
    #[inline]
    pub(crate) fn enqueue<Q: WakeQueue>(&mut self, run: &mut Run<Q>, transaction: Transaction) {
        let bank = self.layout.bank_of_slot(transaction.slot());
        let index = run.transactions.insert(run.now, transaction);
        self.banks.free_after_data_out(run, bank.0);
        let command = if transaction.source == Source::Host { transaction.command() } else { NONE };
        let channel = self.layout.channel_of_bank(bank);
        let shared = [self.banks.resource(bank.0), self.banks.bus_resource(channel.0)];
        run.transactions.join_share(index, command, shared);
        self.banks.enqueue(run, bank.0, index, transaction.class, true);
    }

    /// The next bank that may be given a command before time moves on.
    pub(crate) fn next_touched_bank(&mut self) -> Option<BankId> {
        self.banks.next_touched().map(BankId)
    }

    /// Whether a bank is free.
    pub(crate) fn is_free<Q: WakeQueue>(&mut self, run: &Run<Q>, bank: BankId) -> bool {
        self.banks.free_after_data_out(run, bank.0);
        self.banks[bank.0].phase() == Phase::Free
    }

    /// Takes the transaction that is next on a free bank from its queue.
    pub(crate) fn take_next<Q>(&mut self, run: &mut Run<Q>, bank: BankId) -> Option<u32> {
        let class = self.banks.pick(run, bank.0, || false)?;
        Some(self.banks.take_first(&mut run.transactions, bank.0, class))
    }

    /// A transaction that was taken from its queue is not wanted any more.
    pub(crate) fn forget<Q>(&mut self, run: &mut Run<Q>, bank: BankId, index: u32) {
        self.banks.forget_wait(bank.0, index);
        run.transactions.slab.remove(index);
    }

    /// A bank takes a transaction up. Returns what it does for it.
    pub(crate) fn take_up<Q>(&mut self, run: &mut Run<Q>, bank: BankId, index: u32) -> ScmCommandKind {
        let Transaction { class, source, sectors, .. } = run.transactions.slab[index];
        let reads = matches!(class, QueueClass::HostRead | QueueClass::MoveRead);
        let kind = if reads { ScmCommandKind::Read } else { ScmCommandKind::Write };
        let unit = &mut self.banks[bank.0];
        unit.work.command = ScmCommand { kind, bank, sectors: u32::from(sectors) };
        unit.work.transaction = index;
        unit.occupancy = class.occupancy(source);
        if run.transactions.tenants.is_some() {
            self.bank_works_for(run, bank);
        }
        self.banks.end_wait(run, bank.0, index);
        run.transactions.open_share(index, self.banks[bank.0].ledger(run.now));
        if !reads && source == Source::Host {
            self.counters_of(bank).host_sectors_taken += u64::from(sectors);
        }
        kind
    }

    /// A bank takes up an access of a slot: for the tenant whose command it is of, or whose page moves.
    #[inline(never)]
    fn bank_works_for<Q>(&mut self, run: &mut Run<Q>, bank: BankId) {
        let resource = self.banks.resource(bank.0);
        let unit = &mut self.banks[bank.0];
        let access = &run.transactions.slab[unit.work.transaction];
        if let Some(tenants) = &mut run.transactions.tenants {
            let of_host = access.source == Source::Host;
            let holder =
                if of_host { tenants.of_command(access.command()) } else { tenants.of_migration(access.migration()) };
            tenants.ledgers.works_for(resource, holder, unit.ledger(run.now));
        }
    }

    /// What the access that a bank has taken up occupies it with.
    pub(crate) fn occupancy_of(&self, bank: BankId) -> Occupancy {
        self.banks[bank.0].occupancy
    }

    /// What a bank was given at this instant and did not take up has to wait.
    pub(crate) fn turn_ends<Q>(&mut self, run: &mut Run<Q>, bank: BankId) {
        self.banks.take_late_snapshot(run, bank.0);
    }

    // ---- writes ------------------------------------------------------------------------------------

    /// A logical sector of a bank is to be written now: wear levelling says where, and what is copied before.
    #[inline]
    pub(crate) fn place_write(&mut self, bank: BankId, sector: u32) -> SectorWrite {
        let placed = self.leveling[bank.index()].write(sector, self.media.wear_of(bank));
        if let Some(copy) = &placed.copy {
            self.media.pulse_copy(bank, copy.to);
        }
        placed
    }

    /// A sector is written at a place.
    #[inline]
    pub(crate) fn pulse(&mut self, bank: BankId, place: u32) {
        self.media.pulse(bank, place);
    }

    /// Lets a sector that is written or copied know its verify cycles.
    pub(crate) fn verify(&mut self, bank: BankId, kind: ScmCommandKind) -> Verified {
        let verified = self.media.verify(bank, kind);
        let counters = self.counters_of(bank);
        counters.verify_cycles += u64::from(verified.cycles);
        counters.verify_reads += u64::from(verified.reads);
        verified
    }

    /// Begins with the copies that wear levelling wants before a write: all of it, where the memory copies by itself, or
    /// reading what then goes through the controller.
    ///
    /// # Errors
    /// Where the media refuses the command.
    pub(crate) fn copy_out_of_the_way<Q: WakeQueue>(
        &mut self,
        run: &mut Run<Q>,
        bank: BankId,
        sectors: u32,
    ) -> Result<ScmCommand, SimulationError> {
        let now = run.now;
        self.banks[bank.0].work.copies = sectors;
        let (kind, phase) = match self.media.copy_path(bank) {
            CopyPath::ThroughController => (ScmCommandKind::CopyOut, Phase::CopyingOut),
            CopyPath::InMemory => (ScmCommandKind::Copy, Phase::Copying),
        };
        let command = ScmCommand { kind, bank, sectors };
        self.begin_array(run, &command, now)?;
        self.banks[bank.0].enter(now, phase, Occupancy::WearLeveling);
        if kind == ScmCommandKind::Copy {
            self.counters_of(bank).sectors_copied += u64::from(sectors);
        }
        self.digest_command(run, &command);
        Ok(command)
    }

    pub(super) fn begin_array<Q: WakeQueue>(
        &mut self,
        run: &mut Run<Q>,
        command: &ScmCommand,
        at: Ns,
    ) -> Result<(), SimulationError> {
        let begun = self.media.begin_array(command, at);
        let end = begun.map_err(|source| SimulationError::IllegalOnScm { at: run.now, source })?;
        run.queue.schedule(self.banks.resource(command.bank.0), end);
        Ok(())
    }

    pub(super) fn digest_command<Q>(&self, run: &mut Run<Q>, command: &ScmCommand) {
        // Dies number fewer than 2^47: the top bit tells a bank from a die.
        let what = 1 << 63 | u64::from(command.bank.0) << 16 | u64::from(command.sectors) << 8 | command.kind as u64;
        let transaction = &run.transactions.slab[self.banks[command.bank.0].work.transaction];
        let address = u64::from(transaction.slot().0) << 32 | u64::from(transaction.sector_mask());
        run.digest.word(run.now.0);
        run.digest.word(what);
        run.digest.word(address);
    }
}
