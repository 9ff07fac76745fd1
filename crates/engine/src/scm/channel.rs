//! What banks send over their channels: commands with the data of writes, sectors that are copied, the data of reads.

use ninescope_kernel::{Ns, WakeQueue};
use ninescope_media::scm::{ScmCommand, ScmCommandKind};
use ninescope_model::{BankId, ChannelId, Occupancy};

use super::ScmPart;
use crate::error::SimulationError;
use crate::run::Run;
use crate::sched::Phase;

/// Who gets a channel, and for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BankGranted {
    /// The command of a bank goes out.
    Command(BankId),
    /// So many sectors of a bank go out and back in, because wear levelling copies them.
    Copies(BankId, u32),
    /// Read data of a bank come in.
    Data(BankId),
}

impl ScmPart {
    /// A channel has freed: it may be granted before time moves on.
    pub(crate) fn channel_woke(&mut self, channel: ChannelId) {
        self.banks.touch_bus(channel.0);
    }

    /// When the first of those that wait for a channel asked for it; none where nobody waits.
    pub(crate) fn first_asked(&self, channel: ChannelId) -> Option<Ns> {
        self.banks.first_asked(channel.0)
    }

    /// The next channel that may be granted before time moves on.
    pub(crate) fn next_touched_channel(&mut self) -> Option<ChannelId> {
        self.banks.next_touched_bus().map(ChannelId)
    }

    /// A bank asks for its channel to send its command.
    pub(crate) fn ask_to_send<Q>(&mut self, run: &mut Run<Q>, bank: BankId) {
        self.request_channel(run, bank, Phase::WaitingToSend);
    }

    /// Asks for the channel, for which the bank waits in the phase named: to send its command, what it copies, or the data
    /// that it read.
    #[inline]
    pub(super) fn request_channel<Q>(&mut self, run: &mut Run<Q>, bank: BankId, waits: Phase) {
        let work = &self.banks[bank.0].work;
        let bare = waits == Phase::WaitingToSend && work.command.kind == ScmCommandKind::Read;
        run.transactions.begin_channel_wait(work.transaction, run.now);
        if run.transactions.tenants.is_some() && waits != Phase::WaitingToCopy {
            // Copies of wear levelling are a wait of their own, of which the channel is a part.
            let channel = self.banks.bus_resource(self.layout.channel_of_bank(bank).0);
            run.transactions.begin_channel_wait_by_tenant(work.transaction, channel, run.now);
        }
        self.banks.ask_for_bus(run.now, bank.0, self.layout.channel_of_bank(bank).0, waits, bare);
    }

    /// Gives a channel that is free to the first that waits for it.
    pub(crate) fn grant_channel<Q: WakeQueue>(&mut self, run: &mut Run<Q>, channel: ChannelId) -> Option<BankGranted> {
        let (bank, waited) = self.banks.grant(run, channel.0)?;
        let (phase, copies, bank) = (self.banks[bank].phase(), self.banks[bank].work.copies, BankId(bank));
        self.counters_of(bank).channel_waits += u64::from(waited);
        Some(match phase {
            Phase::WaitingToSend => BankGranted::Command(bank),
            Phase::WaitingToCopy => BankGranted::Copies(bank, copies),
            _ => BankGranted::Data(bank),
        })
    }

    /// The command of a bank, and the transaction that it works for.
    pub(crate) fn command_of(&self, bank: BankId) -> (ScmCommand, u32) {
        let work = &self.banks[bank.0].work;
        (work.command, work.transaction)
    }

    /// Sectors that wear levelling copies cross the channel to the controller and, behind command and address, back; the
    /// array writes them right after. The channel is taken once for all of it. Returns the command and when it is sent.
    ///
    /// # Errors
    /// Where the media refuses the command.
    pub(crate) fn send_copies<Q: WakeQueue>(
        &mut self,
        run: &mut Run<Q>,
        bank: BankId,
        sectors: u32,
        bytes: u64,
    ) -> Result<(ScmCommand, Ns), SimulationError> {
        let now = run.now;
        let burst = self.media.data_time(bank, bytes);
        let sent = now + burst + self.media.command_address_time(bank) + burst;
        let command = ScmCommand { kind: ScmCommandKind::CopyIn, bank, sectors };
        self.begin_array(run, &command, sent)?;
        self.banks[bank.0].enter(now, Phase::Copying, Occupancy::WearLeveling);
        self.banks.take_bus(now, self.layout.channel_of_bank(bank).0, sent);
        if let Some(tenants) = &mut run.transactions.tenants {
            let channel = self.banks.bus_resource(self.layout.channel_of_bank(bank).0);
            tenants.ledgers.channel_taken(channel, tenants.ledgers.drive(), now, sent);
        }
        self.counters_of(bank).sectors_copied += u64::from(sectors);
        self.digest_command(run, &command);
        Ok((command, sent))
    }

    /// Command, address and, for a write, its data; the array starts right after, later by what encoding takes. Returns when
    /// they are sent.
    ///
    /// # Errors
    /// Where the media refuses the command.
    pub(crate) fn send_command<Q: WakeQueue>(
        &mut self,
        run: &mut Run<Q>,
        bank: BankId,
        bytes: u64,
        encode: Ns,
    ) -> Result<Ns, SimulationError> {
        let now = run.now;
        let (command, index) = self.command_of(bank);
        let writes = command.kind == ScmCommandKind::Write;
        let data_in = if writes { self.media.data_time(bank, bytes) } else { Ns::ZERO };
        let sent = now + self.media.command_address_time(bank) + data_in;
        self.begin_array(run, &command, sent + encode)?;
        let unit = &mut self.banks[bank.0];
        unit.enter(now, Phase::Array, unit.occupancy);
        self.banks.take_bus(now, self.layout.channel_of_bank(bank).0, sent);
        run.transactions.sent(index, now, data_in, encode);
        self.channel_granted_by_tenant(run, bank, sent);
        run.transactions.end_channel_wait(index, now);
        run.transactions.channel_taken(index, self.banks.resource(bank.0), now, sent);
        let counters = self.counters_of(bank);
        let (commands, sectors) = if writes {
            (&mut counters.write_commands, &mut counters.sectors_written)
        } else {
            (&mut counters.read_commands, &mut counters.sectors_read)
        };
        *commands += 1;
        *sectors += u64::from(command.sectors);
        self.digest_command(run, &command);
        Ok(sent)
    }

    /// The data of a read leave a bank. Returns when they have.
    pub(crate) fn data_leave<Q>(&mut self, run: &mut Run<Q>, bank: BankId, bytes: u64) -> Ns {
        let now = run.now;
        let left = now + self.media.data_time(bank, bytes);
        let index = self.banks[bank.0].work.transaction;
        run.transactions.leaves(index, now, left - now, Ns::ZERO);
        left
    }

    /// They are leaving; the bank is held until then, which is later than they have left where it keeps them for a decoder.
    /// With `stays` their arrival in the controller is an event.
    pub(crate) fn held_by_data<Q: WakeQueue>(
        &mut self,
        run: &mut Run<Q>,
        bank: BankId,
        (left, held): (Ns, Ns),
        stays: bool,
    ) {
        let now = run.now;
        let index = self.banks[bank.0].work.transaction;
        self.channel_granted_by_tenant(run, bank, left);
        run.transactions.end_channel_wait(index, now);
        run.transactions.channel_taken(index, self.banks.resource(bank.0), now, left);
        run.transactions.close_share(index, now, held, self.banks[bank.0].ledger(now));
        self.banks.take_bus(now, self.layout.channel_of_bank(bank).0, left);
        self.banks[bank.0].work.stays = stays;
        self.banks.leave(run, bank.0, held, stays);
    }

    /// The access of a bank gets its channel `until` then, after waiting for it.
    fn channel_granted_by_tenant<Q>(&self, run: &mut Run<Q>, bank: BankId, until: Ns) {
        if run.transactions.tenants.is_none() {
            return;
        }
        let channel = self.banks.bus_resource(self.layout.channel_of_bank(bank).0);
        run.transactions.end_channel_wait_by_tenant(self.banks[bank.0].work.transaction, channel, run.now);
        if let Some(tenants) = &mut run.transactions.tenants {
            let holder = tenants.ledgers.holder(self.banks.resource(bank.0));
            tenants.ledgers.channel_taken(channel, holder, run.now, until);
        }
    }
}
