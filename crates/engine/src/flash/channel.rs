//! What dies send over their channels: commands with the data of programs, and the data of reads.

use ninescope_kernel::{NONE, Ns, WakeQueue};
use ninescope_media::nand::{CommandKind, FlashCommand};
use ninescope_model::{ChannelId, DieId, Source};

use super::Flash;
use crate::error::SimulationError;
use crate::run::Run;
use crate::sched::Phase;
use crate::transaction::{BringsUp, QueueClass};

/// Who gets a channel, and for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granted {
    /// The command of a die goes out.
    Command(u32),
    /// Read data of a die come in.
    Data(u32),
}

/// Read data on their way from a die, one page after another.
#[derive(Clone, Copy, Debug)]
pub struct Leaving {
    /// Where the command runs: the die, or its plane.
    station: u32,
    /// When the pages sent so far have left.
    pub left: Ns,
    /// Planes whose data stays in the controller, so that its arrival is an event.
    staying: u8,
    /// A migration takes up some of the data.
    brought_up: bool,
}

impl Leaving {
    /// None has left by `now`.
    #[inline]
    pub fn from(station: u32, now: Ns) -> Self {
        Self { station, left: now, staying: 0, brought_up: false }
    }
}

impl Flash {
    /// A channel has freed: it may be granted before time moves on.
    #[inline]
    pub fn channel_woke(&mut self, channel: ChannelId) {
        self.dies.touch_bus(channel.0);
    }

    /// The next channel that may be granted before time moves on.
    #[inline]
    pub fn next_touched_channel(&mut self) -> Option<ChannelId> {
        self.dies.next_touched_bus().map(ChannelId)
    }

    /// Asks for the channel for the next phase of a die, or of a plane that reads by itself.
    #[inline]
    pub(super) fn request_channel<Q>(&mut self, run: &mut Run<Q>, station: u32, waits: Phase) {
        let unit = &self.dies[station];
        let die = unit.work.command.die;
        let bare = waits == Phase::WaitingToSend && unit.work.command.kind != CommandKind::Program;
        let shared = unit.work.shared;
        self.dies.ask_for_bus(run.now, station, self.geometry.channel_of_die(die).0, waits, bare);
        self.planes_follow(run, die);
        if shared {
            self.begin_shared_channel_wait(run, station);
        }
    }

    /// Gives a channel that is free to the first that waits for it.
    #[inline]
    pub fn grant_channel<Q: WakeQueue>(&mut self, run: &mut Run<Q>, channel: ChannelId) -> Option<Granted> {
        let (station, waited) = self.dies.grant(run, channel.0)?;
        run.counters.channel_waits += u64::from(waited);
        let sends = self.dies[station].phase() == Phase::WaitingToSend;
        Some(if sends { Granted::Command(station) } else { Granted::Data(station) })
    }

    /// The command that a die works on, or a plane that reads by itself.
    #[inline]
    pub fn command_of(&self, station: u32) -> FlashCommand {
        self.dies[station].work.command
    }

    /// Command, address and, for a program, the data of each plane; the array starts right after, later by what encoding
    /// takes, or what moves to another register first. Returns when they are sent and when the array starts.
    ///
    /// # Errors
    /// Where the media refuses the command.
    #[inline]
    pub fn send_command<Q: WakeQueue>(
        &mut self,
        run: &mut Run<Q>,
        (station, command): (u32, &FlashCommand),
        encode: Ns,
    ) -> Result<(Ns, Ns), SimulationError> {
        let (now, die) = (run.now, command.die);
        let mut data_in = Ns::ZERO;
        let mut sent = now + self.nand.command_address_time(command);
        if command.kind == CommandKind::Program {
            data_in = self.nand.data_in_time(command);
            sent = sent + data_in + self.nand.load_time(command);
        }
        let unit = &mut self.dies[station];
        unit.enter(now, Phase::Array, unit.occupancy);
        self.planes_follow(run, die);
        self.dies.take_bus(now, self.geometry.channel_of_die(die).0, sent);
        let begins = sent + encode + self.registers.map_or(Ns::ZERO, |of| self.page_goes_on(run, of, die, sent));
        let begun = self.nand.begin_array(command, begins);
        let end = begun.map_err(|source| SimulationError::Illegal { at: now, source })?;
        run.queue.schedule(self.dies.resource(station), end);
        if run.power.is_some() {
            self.command_draws(run, command, begins);
        }
        for plane in command.addressed_planes() {
            let index = command.transaction[plane];
            if run.transactions.slab[index].tracked {
                run.transactions.sent(index, now, data_in, encode);
            }
        }
        if self.dies[station].work.shared {
            self.end_shared_channel_wait(run, station, sent);
        }
        if command.kind != CommandKind::Read && self.dies[die.0].has_waiting(QueueClass::HostRead) {
            // Reads that were queued while the command waited, for its turn or for the channel.
            self.consider_suspend(run, die);
        }
        run.count_command(command);
        run.digest_command(command);
        Ok((sent, begins))
    }

    /// The page of a plane leaves its die, behind those before it. Returns its transaction, and whether that sends it on to
    /// the host. With `decoded` the data goes through a decoder, which sends it on.
    #[inline]
    pub fn page_leaves<Q>(
        &mut self,
        run: &mut Run<Q>,
        command: &FlashCommand,
        plane: usize,
        leaving: &mut Leaving,
        decoded: bool,
    ) -> (u32, bool) {
        let index = command.transaction[plane];
        let begins = leaving.left;
        leaving.left += self.nand.data_time(u64::from(command.bytes[plane]));
        let transaction = run.transactions.slab[index];
        let to_host = transaction.source == Source::Host;
        if !decoded && !to_host {
            leaving.staying |= 1 << plane;
            return (index, to_host);
        }
        if transaction.tracked {
            let transfer = leaving.left - begins;
            if self.dies[leaving.station].work.shared {
                self.shared_page_leaves(run, command, plane, (begins, transfer));
            } else {
                run.transactions.leaves(index, begins, transfer, Ns::ZERO);
            }
        }
        if !decoded {
            leaving.brought_up |= transaction.brings_up().is_some();
            self.dies[leaving.station].work.bringing_up[plane] = transaction.brings_up();
        }
        (index, to_host)
    }

    /// All pages of a command are leaving; the die is held until then, which is later than they have left where it keeps
    /// them for a decoder.
    #[inline]
    pub fn pages_leave<Q: WakeQueue>(
        &mut self,
        run: &mut Run<Q>,
        command: &FlashCommand,
        Leaving { station, left, staying, brought_up }: Leaving,
        held: Ns,
    ) {
        let (now, die) = (run.now, command.die);
        if run.power.is_some() {
            self.data_draw(run, command);
        }
        if staying != 0 {
            self.data_stay(run, command, staying, left);
        }
        self.dies.take_bus(now, self.geometry.channel_of_die(die).0, left);
        if self.dies[station].work.shared {
            self.end_shared_channel_wait(run, station, left);
            if !self.is_register(station) {
                self.close_shares(run, station, held);
            }
        }
        self.dies[station].work.staying_planes = staying;
        let awaited = staying != 0 || brought_up || self.nand.parked(die).is_some();
        // A die that is to rest must be told that it is free, and so must one whose planes read by themselves, or which a page waits
        // in to follow that of its other register.
        let tells = self.collection.is_timed() || self.is_beside(station);
        self.dies.leave(run, station, held, awaited || tells);
        self.planes_follow(run, die);
    }

    /// The data of a read have left a die, or a plane that read by itself, which is free. Returns its command and, by plane, what
    /// stays in the controller and which migrations take something up.
    pub fn data_left<Q>(&mut self, run: &mut Run<Q>, station: u32) -> (FlashCommand, u8, [BringsUp; 4]) {
        if !self.is_beside(station) {
            self.dies.set_free(run.now, station);
        } else if self.registers.is_some() {
            self.register_is_free(run, station);
        } else {
            self.plane_is_free(run, station);
        }
        let work = &mut self.dies[station].work;
        (work.command, work.staying_planes, std::mem::take(&mut work.bringing_up))
    }

    // ---- what they draw ----------------------------------------------------------------------------

    /// A command is sent, with the data of a program, and the array is to work on it from `begins` on.
    #[inline(never)]
    fn command_draws<Q>(&self, run: &mut Run<Q>, command: &FlashCommand, begins: Ns) {
        let (now, occupancy) = (run.now, self.dies[command.die.0].occupancy);
        if let Some(power) = &mut run.power {
            if command.kind == CommandKind::Program {
                power.bytes_cross(now, bytes_of(command), occupancy);
            }
            power.die_works(now, command.die, command.kind, begins);
        }
    }

    /// The data of a read leave.
    #[inline(never)]
    fn data_draw<Q>(&self, run: &mut Run<Q>, command: &FlashCommand) {
        let (now, occupancy) = (run.now, self.dies[command.die.0].occupancy);
        if let Some(power) = &mut run.power {
            power.bytes_cross(now, bytes_of(command), occupancy);
        }
    }

    // ---- other parts of the same command -----------------------------------------------------------

    /// A die begins with its command, or takes it up again.
    #[inline(never)]
    pub(super) fn open_shares<Q>(&mut self, run: &mut Run<Q>, station: u32) {
        self.die_works_for_tenant(run, station);
        let unit = &mut self.dies[station];
        let command = unit.work.command;
        let ledger = unit.ledger(run.now);
        for plane in command.addressed_planes() {
            run.transactions.open_share(command.transaction[plane], ledger);
        }
    }

    /// A die is through with its command but for data that leave `until` then, or is stopped.
    #[inline(never)]
    pub(super) fn close_shares<Q>(&mut self, run: &mut Run<Q>, station: u32, until: Ns) {
        let now = run.now;
        let unit = &mut self.dies[station];
        let command = unit.work.command;
        let ledger = unit.ledger(now);
        for plane in command.addressed_planes() {
            run.transactions.close_share(command.transaction[plane], now, until, ledger);
        }
    }

    /// A die goes on with a command that was suspended.
    #[inline(never)]
    pub(super) fn take_up_shares<Q>(&mut self, run: &mut Run<Q>, die: DieId) {
        let command = self.dies[die.0].work.command;
        let shared = run.transactions.tenants.is_some()
            || command.addressed_planes().any(|plane| run.transactions.share_of(command.transaction[plane]) != NONE);
        self.dies[die.0].work.shared = shared;
        if shared {
            self.open_shares(run, die.0);
        }
    }

    /// The page of a plane leaves a die that got the channel, behind data of other planes, some of which may be of the same
    /// command.
    #[inline(never)]
    fn shared_page_leaves<Q>(
        &self,
        run: &mut Run<Q>,
        command: &FlashCommand,
        plane: usize,
        (begins, transfer): (Ns, Ns),
    ) {
        let own_before = self.own_data_of_planes(run, command, plane, |other| other < plane);
        run.transactions.leaves(command.transaction[plane], begins, transfer, own_before);
        self.wait_for_data_by_tenant(run, command, plane, |other| other < plane);
    }

    /// How long data of the same command leave from those other planes.
    fn own_data_of_planes<Q>(
        &self,
        run: &Run<Q>,
        command: &FlashCommand,
        plane: usize,
        which: impl Fn(usize) -> bool,
    ) -> Ns {
        let share = |plane: usize| run.transactions.joined_share(command.transaction[plane]);
        let own = command.addressed_planes().filter(|&other| which(other) && share(other) == share(plane));
        match share(plane) {
            NONE => Ns::ZERO,
            _ => own.fold(Ns::ZERO, |sum, other| sum + self.nand.data_time(u64::from(command.bytes[other]))),
        }
    }

    /// The data of those planes stay in the controller, which may be for a command.
    #[inline(never)]
    fn data_stay<Q>(&self, run: &mut Run<Q>, command: &FlashCommand, staying: u8, until: Ns) {
        for plane in command.addressed_planes().filter(|plane| staying >> plane & 1 == 1) {
            if run.transactions.slab[command.transaction[plane]].tracked {
                self.data_stay_for_command(run, command, plane, until);
            }
        }
    }

    /// The data of a page that stays in the controller for a command leave its die, whose channel is granted now. They are
    /// there when the data of all planes have left, `until` then.
    fn data_stay_for_command<Q>(&self, run: &mut Run<Q>, command: &FlashCommand, plane: usize, until: Ns) {
        let transfer = self.nand.data_time(u64::from(command.bytes[plane]));
        let own_beside = self.own_data_of_planes(run, command, plane, |other| other != plane);
        run.transactions.leaves(command.transaction[plane], until - transfer, transfer, own_beside);
        self.wait_for_data_by_tenant(run, command, plane, |other| other != plane);
    }

    /// The command of a die begins to wait for its channel.
    #[inline(never)]
    pub(super) fn begin_shared_channel_wait<Q>(&mut self, run: &mut Run<Q>, station: u32) {
        let command = &self.dies[station].work.command;
        for plane in command.addressed_planes() {
            let index = command.transaction[plane];
            if run.transactions.slab[index].tracked {
                run.transactions.begin_channel_wait(index, run.now);
            }
        }
        self.begin_channel_wait_by_tenant(run, station);
    }

    /// The command of a die gets its channel `until` then, after waiting for it.
    #[inline(never)]
    fn end_shared_channel_wait<Q>(&mut self, run: &mut Run<Q>, station: u32, until: Ns) {
        self.channel_granted_by_tenant(run, station, until);
        self.channel_awaited(run, station);
        let by = self.dies.resource(station);
        let (now, command) = (run.now, &self.dies[station].work.command);
        for plane in command.addressed_planes() {
            run.transactions.channel_taken(command.transaction[plane], by, now, until);
        }
    }

    /// It has waited for it, whoever gets it.
    pub(super) fn channel_awaited<Q>(&self, run: &mut Run<Q>, station: u32) {
        let (now, command) = (run.now, &self.dies[station].work.command);
        for plane in command.addressed_planes() {
            let index = command.transaction[plane];
            if run.transactions.slab[index].tracked {
                run.transactions.end_channel_wait(index, now);
            }
        }
    }
}

/// What a command moves over the channel [B].
fn bytes_of(command: &FlashCommand) -> u64 {
    command.addressed_planes().map(|plane| u64::from(command.bytes[plane])).sum()
}
