//! Storage-class memory: banks and buses one at a time, wear pulse by pulse, and every sector's content where wear
//! levelling says it lies.
//!
//! A bank's accesses are atomic: its order of issue is the order of contents, and each lies between the fetch and the
//! completion of its command. So a read must find the version issued last, and nothing has to be judged later. How many
//! verify cycles a sector drew is told; that they fit into the loop, and that its bank takes as long as they say, is
//! seen here. Copies of wear levelling are followed phase by phase, and their time on the channel is worked out here. What
//! pages lie in the slots of a drive of two media is the account of [`crate::tier`].

use ninescope_engine::{ScmCounters, SimulationError, Utilization, View};
use ninescope_kernel::Ns;
use ninescope_media::scm::{CopyPath, ScmCommand, ScmCommandKind as Kind, Verified};
use ninescope_model::{BankId, Lpa, OCCUPANCIES, Occupancy, Op, Request, SECTOR_BYTES, SlotId, Source};

use crate::requests::Requests;
use crate::rule::{Checked, Rule, require};
use crate::transfers::{Booking, compare};

/// What a bank does with the access it took up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// Takes an access.
    #[default]
    Free,
    /// Took one up, or has its copies behind it.
    Taken,
    /// A command is sent or in the array until then.
    Array(Kind, Ns),
    /// What it copies was read and waits for the channel.
    CopiedOut,
    /// Read data wait.
    Sensed,
    /// Read data leave until then.
    DataOut(Ns),
}

/// Kinds of command.
const KINDS: usize = Kind::CopyIn as usize + 1;

/// What the time of a bank is spent on, waits for the channel aside.
const HELD_AS: [Occupancy; 4] =
    [Occupancy::HostRead, Occupancy::HostProgram, Occupancy::Migration, Occupancy::WearLeveling];

#[derive(Clone, Debug, Default)]
struct Bank {
    phase: Phase,
    kind: Kind,
    /// On whose behalf: of the host command or the migration of this number.
    source: Source,
    owner: u32,
    slot: SlotId,
    sectors: u32,
    /// Copies told since it was taken up that were not written yet, and placings.
    copies: u32,
    placed: u32,
    /// How many of them, by kind of command, know how they are verified, and what the array needs for those.
    verified: [u32; KINDS],
    array_time: [Ns; KINDS],
    /// By sector of the bank, if contents are followed: the logical sector and the version that lie there.
    content: Vec<(u32, u64)>,
    /// By logical sector: its newest version, 0 for never written.
    newest: Vec<u64>,
    wear: Vec<u32>,
    /// Time in the array and on the way out by what it was spent on, since measuring began [ns].
    held: [u64; OCCUPANCIES],
}

/// All banks and buses.
#[derive(Debug, Default)]
pub struct ScmBanks {
    each: Vec<Bank>,
    channels: Vec<Booking>,
    /// By slot of a host command: sectors read or written for it, in flash or here.
    done: Vec<u32>,
    versions: u64,
    /// Sectors since measuring began, by kind of command.
    sectors: [u64; KINDS],
    commands: [u64; KINDS],
    verify_cycles: u64,
    verify_reads: u64,
    trimmed: u64,
    /// Sectors of host writes that were taken up.
    of_host: u64,
}

impl ScmBanks {
    /// The banks of a drive, and none where it has no such memory.
    pub fn started(view: &View<'_>, follows_contents: bool) -> Option<Self> {
        let shape = view.scm.layout();
        let followed = |sectors: u32| if follows_contents { sectors as usize } else { 0 };
        let bank = |index: u32| {
            let medium = shape.medium(shape.medium_of_bank(BankId(index)));
            Bank {
                content: vec![(u32::MAX, 0); followed(medium.sectors_per_bank())],
                newest: vec![0; followed(medium.logical_sectors_per_bank())],
                wear: view.scm.media().wear_of(BankId(index)).to_vec(),
                ..Bank::default()
            }
        };
        (shape.banks() > 0).then(|| Self {
            each: (0..shape.banks()).map(bank).collect(),
            channels: vec![Booking::default(); shape.channels() as usize],
            ..Self::default()
        })
    }

    /// A command entered the device.
    pub fn fetched(&mut self, slot: u32) {
        if self.done.len() <= slot as usize {
            self.done.resize(slot as usize + 1, 0);
        }
        self.done[slot as usize] = 0;
    }

    /// The command of a slot has sectors read or written in flash.
    pub fn done_in_flash(&mut self, slot: u32, sectors: u32) {
        self.done[slot as usize] += sectors;
    }

    /// On a drive without flash each access is for a command that asked for its sectors.
    pub fn asked_for(
        view: &View<'_>,
        requests: &Requests,
        (kind, command): (Kind, u32),
        (slot, mask): (SlotId, u32),
    ) -> Checked {
        let request = requests.get(view, command)?.request;
        let first = u64::from(slot.0) * u64::from(view.scm.layout().sectors_per_slot(slot));
        let (from, to) = (first + u64::from(mask.trailing_zeros()), first + 32 - u64::from(mask.leading_zeros()));
        let op = if kind == Kind::Read { Op::Read } else { Op::Write };
        require!(
            request.op == op && mask != 0 && from >= request.lba.0 && to <= request.end(),
            MisdirectedData,
            view.now,
            "a {kind:?} of sectors {mask:#x} of slot {slot} for {request:?}"
        );
        Ok(())
    }

    /// An access leaves its queue: its bank is free. A read finds what was issued last.
    pub fn dispatched(
        &mut self,
        view: &View<'_>,
        (kind, source, owner): (Kind, Source, u32),
        (slot, mask): (SlotId, u32),
    ) -> Checked {
        let shape = view.scm.layout();
        let (now, id) = (view.now, shape.bank_of_slot(slot));
        if (kind, source) == (Kind::Write, Source::Host) {
            self.of_host += u64::from(mask.count_ones());
        }
        let bank = &mut self.each[id.index()];
        let free = match bank.phase {
            Phase::Free => true,
            Phase::DataOut(until) => until <= now,
            _ => false,
        };
        require!(
            free,
            BankDoubleBooked,
            now,
            "bank {id} takes up an access of slot {slot} while it is {:?}",
            bank.phase
        );
        (bank.phase, bank.kind, bank.source, bank.owner) = (Phase::Taken, kind, source, owner);
        (bank.slot, bank.sectors, bank.copies, bank.placed) = (slot, mask.count_ones(), 0, 0);
        (bank.verified, bank.array_time) = Default::default();
        if kind == Kind::Read && !bank.content.is_empty() {
            for sector in (0..shape.sectors_per_slot(slot)).filter(|sector| mask >> sector & 1 == 1) {
                bank.finds_newest(view, slot, sector)?;
            }
        }
        Ok(())
    }

    /// A sector that is copied or written takes so many verify cycles, and reads to know that.
    pub fn verified(
        &mut self,
        view: &View<'_>,
        id: BankId,
        kind: Kind,
        Verified { cycles, reads }: Verified,
    ) -> Checked {
        let cap = view.scm.media().verify_cycles_max(id);
        require!(
            cycles <= cap && (cycles..=cap.min(cycles + 1)).contains(&reads),
            PulseTime,
            view.now,
            "a sector of bank {id} takes {cycles} verify cycles of at most {cap}, and {reads} verify reads"
        );
        let bank = &mut self.each[id.index()];
        bank.verified[kind as usize] += 1;
        bank.array_time[kind as usize] += view.scm.media().sector_time(id, kind, cycles);
        self.verify_cycles += u64::from(cycles);
        self.verify_reads += u64::from(reads);
        Ok(())
    }

    pub fn copied(&mut self, view: &View<'_>, id: BankId, from: u32, to: u32) -> Checked {
        let bank = &mut self.each[id.index()];
        require!(
            bank.phase == Phase::Taken && bank.kind == Kind::Write,
            BankDoubleBooked,
            view.now,
            "bank {id} copies sector {from} to {to} while it is {:?}",
            bank.phase
        );
        bank.copies += 1;
        bank.wear[to as usize] += 1;
        if !bank.content.is_empty() {
            bank.content[to as usize] = bank.content[from as usize];
        }
        Ok(())
    }

    pub fn placed(&mut self, view: &View<'_>, requests: &mut Requests, id: BankId, sector: u32, place: u32) -> Checked {
        let shape = view.scm.layout();
        let bank = &mut self.each[id.index()];
        let first = shape.first_sector_of_slot(bank.slot);
        require!(
            bank.phase == Phase::Taken && (first..first + shape.sectors_per_slot(bank.slot)).contains(&sector),
            MisdirectedData,
            view.now,
            "bank {id} places its sector {sector} for an access of slot {}",
            bank.slot
        );
        if view.tier.is_none() {
            let host_sector = bank.slot.0 * shape.sectors_per_slot(bank.slot) + sector - first;
            requests.unit_done(view, bank.owner, Lpa(host_sector), Op::Write)?;
        }
        bank.placed += 1;
        bank.wear[place as usize] += 1;
        if !bank.content.is_empty() {
            self.versions += 1;
            bank.content[place as usize] = (sector, self.versions);
            bank.newest[sector as usize] = self.versions;
        }
        Ok(())
    }

    pub fn issued(&mut self, view: &View<'_>, command: &ScmCommand, sent: Ns, begins: Ns) -> Checked {
        let (now, id) = (view.now, command.bank);
        let bank = &mut self.each[id.index()];
        bank.follows_the_copy_path(view, command, sent)?;
        let awaited = if command.kind == Kind::CopyIn { Phase::CopiedOut } else { Phase::Taken };
        require!(
            bank.phase == awaited,
            BankDoubleBooked,
            now,
            "bank {id} is given {command:?}, it is {:?}",
            bank.phase
        );
        let copies = matches!(command.kind, Kind::Copy | Kind::CopyOut | Kind::CopyIn);
        let wanted = if copies { bank.copies } else { bank.sectors };
        let all_placed = bank.placed == if bank.kind == Kind::Write { bank.sectors } else { 0 };
        require!(
            command.sectors == wanted && all_placed && (copies || command.kind == bank.kind),
            Wear,
            now,
            "bank {id} is given {command:?} for an access of {} sectors, {} to copy and {} placed",
            bank.sectors,
            bank.copies,
            bank.placed
        );
        let (media, verified) = (view.scm.media(), bank.verified[command.kind as usize]);
        let verifies = command.kind.writes() && media.verifies(id);
        require!(
            verified == if verifies { command.sectors } else { 0 },
            PulseTime,
            now,
            "bank {id} is given {command:?}, of which {verified} sectors are verified"
        );
        let plain = Ns(media.sector_time(id, command.kind, 0).0 * u64::from(command.sectors));
        let end = begins + if verifies { bank.array_time[command.kind as usize] } else { plain };
        bank.phase = Phase::Array(command.kind, end);
        bank.holds(now, end);
        self.sectors[command.kind as usize] += u64::from(command.sectors);
        self.commands[command.kind as usize] += 1;
        if matches!(command.kind, Kind::Copy | Kind::CopyOut) { Ok(()) } else { self.channel_taken(view, id, sent) }
    }

    /// The array phase of a command ended. Returns the migration whose write that was, if it was one.
    pub fn ended(&mut self, view: &View<'_>, command: &ScmCommand) -> Result<Option<u32>, SimulationError> {
        let bank = &mut self.each[command.bank.index()];
        let expected = Phase::Array(command.kind, view.now);
        if bank.phase != expected {
            let what = format!("{command:?} of bank {} ends while it is {:?}", command.bank, bank.phase);
            return Err(Rule::PulseTime.violated(view.now, what));
        }
        bank.phase = match command.kind {
            Kind::Read => Phase::Sensed,
            Kind::Write => Phase::Free,
            Kind::CopyOut => Phase::CopiedOut,
            Kind::Copy | Kind::CopyIn => Phase::Taken,
        };
        if matches!(command.kind, Kind::Copy | Kind::CopyIn) {
            bank.copies = 0;
        }
        let writes = command.kind == Kind::Write;
        if writes && bank.source != Source::Migration {
            self.done[bank.owner as usize] += bank.sectors;
        }
        Ok((writes && bank.source == Source::Migration).then_some(bank.owner))
    }

    pub fn data_out(
        &mut self,
        view: &View<'_>,
        id: BankId,
        (source, owner): (Source, u32),
        until: Ns,
        held: Ns,
    ) -> Checked {
        let bank = &mut self.each[id.index()];
        require!(
            bank.phase == Phase::Sensed && (bank.source, bank.owner) == (source, owner),
            BankDoubleBooked,
            view.now,
            "data leave bank {id} for {source:?} {owner} while it is {:?} for {:?} {}",
            bank.phase,
            bank.source,
            bank.owner
        );
        bank.phase = Phase::DataOut(held);
        bank.holds(view.now, held);
        if source != Source::Migration {
            self.done[owner as usize] += bank.sectors;
        }
        self.channel_taken(view, id, until)
    }

    /// For whom a bank works: a host command or a migration, as the source says.
    pub fn works_for(&self, bank: BankId) -> (Source, u32) {
        let Bank { source, owner, .. } = self.each[bank.index()];
        (source, owner)
    }

    fn channel_taken(&mut self, view: &View<'_>, bank: BankId, until: Ns) -> Checked {
        let channel = view.scm.layout().channel_of_bank(bank);
        let booking = &mut self.channels[channel.index()];
        let busy_until = booking.until();
        require!(
            booking.take(view.now, until),
            ChannelDoubleBooked,
            view.now,
            "SCM channel {channel} is taken for bank {bank} until {until}, a transfer runs on it until {busy_until}"
        );
        Ok(())
    }

    /// A command completed: every sector it asked for was read or written.
    pub fn completed(&mut self, view: &View<'_>, slot: u32, request: &Request) -> Checked {
        match request.op {
            Op::Read | Op::Write => {
                let done = self.done[slot as usize];
                require!(
                    done == request.sectors,
                    LostData,
                    view.now,
                    "{request:?} completes with {done} of its {} sectors done",
                    request.sectors
                );
            }
            Op::Trim | Op::Flush => {}
        }
        Ok(())
    }

    /// Nothing is left to do for a TRIM, which such media do not know.
    pub fn trim_ignored(&mut self, request: &Request) {
        self.trimmed += u64::from(request.sectors);
    }

    pub fn measuring_began(&mut self, now: Ns) {
        self.channels.iter_mut().for_each(|channel| channel.measuring_began(now));
        (self.sectors, self.commands, self.trimmed, self.of_host) = Default::default();
        (self.verify_cycles, self.verify_reads) = Default::default();
        for bank in &mut self.each {
            bank.held = Default::default();
            if let Phase::Array(_, until) | Phase::DataOut(until) = bank.phase {
                bank.holds(now, now.max(until));
            }
        }
    }

    /// Nothing runs; wear, counters and busy times are those seen; every sector written lies where it is looked for.
    pub fn finished(&self, view: &View<'_>, used: &Utilization) -> Checked {
        let now = view.now;
        for (index, (own, busy)) in self.channels.iter().zip(&used.bank_channels).enumerate() {
            compare(now, &format!("SCM channel {index}"), own.busy(), *busy, used.elapsed)?;
        }
        for (index, (bank, ledger)) in self.each.iter().zip(&used.banks).enumerate() {
            let rests = matches!(bank.phase, Phase::Free | Phase::DataOut(_));
            require!(rests, Leftover, now, "bank {index} is {:?} at the end", bank.phase);
            let sum: u64 = ledger.iter().sum();
            require!(
                sum == used.elapsed.0,
                BusyTime,
                now,
                "the ledger of bank {index} sums to {sum} of {}",
                used.elapsed
            );
            for occupancy in HELD_AS {
                let (seen, said) = (bank.held[occupancy as usize], ledger[occupancy as usize]);
                require!(
                    seen == said,
                    BusyTime,
                    now,
                    "bank {index} was held by {occupancy:?} for {seen} ns, its ledger says {said} ns"
                );
            }
            let worn = view.scm.media().wear_of(BankId(index as u32));
            let differs = worn.iter().zip(&bank.wear).position(|(said, seen)| said != seen);
            require!(
                differs.is_none(),
                Wear,
                now,
                "the wear of sector {differs:?} of bank {index} is not what was seen"
            );
        }
        self.contents_are_found(view)?;
        let of_both = |count: fn(&ScmCounters) -> u64| count(view.scm.counters(0)) + count(view.scm.counters(1));
        let said = [
            (of_both(|counters| counters.sectors_read), self.sectors[Kind::Read as usize]),
            (of_both(|counters| counters.sectors_written), self.sectors[Kind::Write as usize]),
            (
                of_both(|counters| counters.sectors_copied),
                self.sectors[Kind::Copy as usize] + self.sectors[Kind::CopyIn as usize],
            ),
            (of_both(|counters| counters.read_commands), self.commands[Kind::Read as usize]),
            (of_both(|counters| counters.write_commands), self.commands[Kind::Write as usize]),
            (of_both(|counters| counters.verify_cycles), self.verify_cycles),
            (of_both(|counters| counters.verify_reads), self.verify_reads),
            (of_both(|counters| counters.trim_sectors_ignored), self.trimmed),
            (of_both(|counters| counters.host_sectors_taken), self.of_host),
        ];
        require!(
            said.iter().all(|(said, seen)| said == seen),
            Ledger,
            now,
            "counters of SCM against what was seen: {said:?}"
        );
        Ok(())
    }

    fn contents_are_found(&self, view: &View<'_>) -> Checked {
        let shape = view.scm.layout();
        for slot in (0..shape.slots()).map(SlotId) {
            let bank = &self.each[shape.bank_of_slot(slot).index()];
            for sector in (0..shape.sectors_per_slot(slot)).filter(|_| !bank.content.is_empty()) {
                bank.finds_newest(view, slot, sector)?;
            }
        }
        Ok(())
    }
}

impl Bank {
    /// Copies come before their write, the way that the memory allows: within it, or out of the array, over the channel and
    /// back, and into the array.
    fn follows_the_copy_path(&self, view: &View<'_>, command: &ScmCommand, sent: Ns) -> Checked {
        let (id, media) = (command.bank, view.scm.media());
        let through_controller = media.copy_path(id) == CopyPath::ThroughController;
        let (in_order, crossing) = match command.kind {
            Kind::Read | Kind::Write => (self.copies == 0, None),
            Kind::Copy => (!through_controller, Some(Ns::ZERO)),
            Kind::CopyOut => (through_controller, Some(Ns::ZERO)),
            Kind::CopyIn => {
                let medium = view.scm.layout().medium_of_bank(id);
                let code = view.reliability.and_then(|reliability| reliability.scm_code(medium));
                let sectors = command.sectors;
                let plain = u64::from(sectors) * SECTOR_BYTES;
                let bytes = code.map_or(plain, |code| u64::from(code.channel_bytes(sectors)));
                let both_ways = Ns(2 * media.data_time(id, bytes).0);
                (self.phase == Phase::CopiedOut, Some(both_ways + media.command_address_time(id)))
            }
        };
        let took = sent.saturating_since(view.now);
        require!(
            in_order && crossing.is_none_or(|crossing| crossing == took),
            CopyPath,
            view.now,
            "bank {id} is given {command:?} with {} sectors left to copy while it is {:?}; its channel is taken for {took}",
            self.copies,
            self.phase
        );
        Ok(())
    }

    /// It works on its access, or on the copies before it, from `now` until `until`.
    fn holds(&mut self, now: Ns, until: Ns) {
        let occupancy = match (self.phase, self.source, self.kind) {
            (Phase::Array(Kind::Copy | Kind::CopyOut | Kind::CopyIn, _), ..) => Occupancy::WearLeveling,
            (_, Source::Migration, _) => Occupancy::Migration,
            (_, _, Kind::Read) => Occupancy::HostRead,
            _ => Occupancy::HostProgram,
        };
        self.held[occupancy as usize] += (until - now).0;
    }

    /// The sector that wear levelling names for a sector of a slot holds its newest content.
    fn finds_newest(&self, view: &View<'_>, slot: SlotId, sector: u32) -> Checked {
        let logical = view.scm.layout().first_sector_of_slot(slot) + sector;
        let newest = self.newest[logical as usize];
        let place = view.scm.locate(slot, sector);
        let found = self.content[place as usize];
        require!(
            newest == 0 || found == (logical, newest),
            StaleData,
            view.now,
            "sector {sector} of slot {slot} lies in place {place}, where version {} of sector {} is; its newest is {newest}",
            found.1,
            found.0
        );
        Ok(())
    }
}
