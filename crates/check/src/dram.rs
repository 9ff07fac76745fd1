//! The controller's DRAM: its bus carries one access after another, each for as long as its rows and bytes take, and what goes
//! through it is what commands read and write.
//!
//! What an access must be is worked out from requests, units and programs, not from what the device says of it. Whom a command
//! waited for is laid over what the bus was seen to do.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use ninescope_engine::meter::{Parts, SPLIT, Waits};
use ninescope_engine::{DramAccess, DramConfig, DramCounters, DramUse, ReadFrom, Utilization, View};
use ninescope_kernel::{NONE, Ns};
use ninescope_media::nand::{CommandKind, FlashCommand};
use ninescope_model::{Cause, Lpa, Op, Request, SECTOR_BYTES, Source};

use crate::marks::{Mark, Marks};
use crate::rule::{Checked, require};
use crate::transfers::compare;

/// Bytes of an entry of the map [B].
const ENTRY_BYTES: u64 = 4;

/// What a command was in DRAM for, and how long.
#[derive(Clone, Debug, Default)]
struct Spent {
    time: u64,
    /// By holder: of the time, what the bus was taken for that one [ns].
    behind: BTreeMap<u16, u64>,
}

/// A command inside.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools)] // four independent facts of it
struct Command {
    request: Request,
    tenant: u16,
    /// Before it set out: whether its data came in and it looked up the map, and when the last of that ended.
    came_in: bool,
    looked_up: bool,
    /// Of data that are cut through: when the last of them were in, which nothing but the command's end waits for.
    beside: Option<(Ns, Spent)>,
    /// Of these, what has its place and is not in: from when on, and bytes.
    let_in: VecDeque<(Ns, u64)>,
    /// Units of it were placed in flash.
    placed: bool,
    set_out: Ns,
    front: Spent,
    /// By page access: what was read of it.
    reads: BTreeMap<u32, Read>,
    through: u64,
    answer: Spent,
    /// Sectors that lie on the media, and that the controller holds.
    of_media: u64,
    held: u64,
    answered: u64,
    /// Something of it is lost: an error has no data.
    reported: bool,
}

/// Data of a page access.
#[derive(Clone, Debug, Default)]
struct Read {
    bytes: u64,
    /// When they were in, and whether they have begun to leave.
    until: Ns,
    leaves: bool,
    spent: Spent,
}

/// The bus taken for a holder.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    from: Ns,
    until: Ns,
    holder: u16,
    of_cache: bool,
}

/// A program whose pages are to leave DRAM.
#[derive(Clone, Copy, Debug)]
struct Leaving {
    command: FlashCommand,
    usage: DramUse,
    rows: u32,
    asked: Ns,
    holder: u16,
}

/// A page of one that has.
#[derive(Clone, Debug, Default)]
struct Program {
    spent: Spent,
    /// When its program ended.
    ended: Option<Ns>,
}

/// The checker's own account.
#[derive(Debug)]
pub struct DramBook {
    config: DramConfig,
    /// Every write waits for its program.
    completes_at_program: bool,
    /// It is known for whom dies work.
    knows_holders: bool,
    until: Ns,
    /// When the access that began last was asked for; with turns of holders that of each.
    asked: Ns,
    asked_by: BTreeMap<u16, Ns>,
    stretches: VecDeque<Stretch>,
    commands: Vec<Command>,
    /// By the first page access of a program.
    leaving: BTreeMap<u32, Leaving>,
    /// By page access.
    programs: BTreeMap<u32, Program>,
    map_reads: u64,
    map_pages_in: u64,
    counted: DramCounters,
    busy: u64,
}

impl DramBook {
    /// Of a drive that has a DRAM. Whom commands waited for is compared where it is known for whom dies work.
    pub fn started(view: &View<'_>, completes_at_program: bool, lanes: usize, knows_holders: bool) -> Option<Self> {
        let mut config = view.dram?.config().clone();
        // One job alone has no turns, nor has the drive beside it.
        config.in_turn &= lanes > 1;
        Some(Self {
            config,
            completes_at_program,
            knows_holders,
            until: Ns::ZERO,
            asked: Ns::ZERO,
            asked_by: BTreeMap::new(),
            stretches: VecDeque::new(),
            commands: Vec::new(),
            leaving: BTreeMap::new(),
            programs: BTreeMap::new(),
            map_reads: 0,
            map_pages_in: 0,
            counted: DramCounters::default(),
            busy: 0,
        })
    }

    // ---- what is to go through ---------------------------------------------------------------------

    pub fn fetched(&mut self, slot: u32, tenant: u16, request: &Request) {
        if self.commands.len() <= slot as usize {
            self.commands.resize(slot as usize + 1, Command::default());
        }
        self.commands[slot as usize] = Command { request: *request, tenant, ..Command::default() };
    }

    /// A read found out where so many sectors of a unit are.
    pub fn unit_read(&mut self, slot: u32, from: ReadFrom, sectors: u64) {
        let command = &mut self.commands[slot as usize];
        match from {
            ReadFrom::Media(_) => command.of_media += sectors,
            ReadFrom::Controller(_) | ReadFrom::Area => command.held += sectors,
            ReadFrom::Nowhere => {}
        }
    }

    /// A read answers with an error for something of it.
    pub fn reported(&mut self, slot: u32) {
        self.commands[slot as usize].reported = true;
    }

    pub fn read_queued(&mut self, source: Source) {
        self.map_reads += u64::from(source == Source::Mapping);
    }

    /// A free die takes up a command, for accesses of these sources (of so many pages each) and this holder: pages of a program that lie in DRAM leave it
    /// in one go.
    pub fn dispatched(
        &mut self,
        view: &View<'_>,
        command: &FlashCommand,
        sources: impl Iterator<Item = (Source, u32)>,
        holder: u16,
    ) {
        if command.kind != CommandKind::Program {
            return;
        }
        for plane in command.addressed_planes() {
            self.programs.remove(&command.transaction[plane]);
        }
        let (mut of_host, mut of_map) = (0, 0);
        for (source, pages) in sources {
            of_host += if source == Source::Host && self.goes_in_first() { pages } else { 0 };
            of_map += if source == Source::Mapping && self.config.map { pages } else { 0 };
        }
        if of_host + of_map == 0 {
            return;
        }
        let usage = if of_host > 0 { DramUse::PageOut } else { DramUse::MapOut };
        let first = command.transaction[command.planes.trailing_zeros() as usize];
        let leaving = Leaving { command: *command, usage, rows: of_host + of_map, asked: view.now, holder };
        self.leaving.insert(first, leaving);
    }

    /// A command of a die ends.
    pub fn ended(&mut self, now: Ns, command: &FlashCommand) {
        if command.kind == CommandKind::Program {
            for plane in command.addressed_planes() {
                if let Some(program) = self.programs.get_mut(&command.transaction[plane]) {
                    program.ended = Some(now);
                }
            }
        }
    }

    /// A command has its channel: its pages have left.
    pub fn issued(&self, view: &View<'_>, command: &FlashCommand) -> Checked {
        let first = command.transaction[command.planes.trailing_zeros() as usize];
        require!(
            command.kind != CommandKind::Program || !self.leaving.contains_key(&first),
            DramAccount,
            view.now,
            "{command:?} is sent before its pages have left DRAM"
        );
        Ok(())
    }

    // ---- the bus -----------------------------------------------------------------------------------

    fn takes(&mut self, view: &View<'_>, until: Ns, holder: u16, of_cache: bool) -> Checked {
        let (now, busy_until) = (view.now, self.until);
        require!(
            now >= busy_until && until >= now,
            DramBus,
            now,
            "the bus of DRAM is taken until {until}, an access runs on it until {busy_until}"
        );
        self.busy += (until - now).0;
        self.until = until;
        // Whoever begins later was asked for later.
        let oldest = self.asked;
        while self.stretches.front().is_some_and(|stretch| stretch.until <= oldest) {
            self.stretches.pop_front();
        }
        self.stretches.push_back(Stretch { from: now, until, holder, of_cache });
        Ok(())
    }

    /// A bank of a cache in DRAM has the bus, for a host command or, with a `mover`, for the migration of a page of that tenant.
    pub fn cache_takes(&mut self, view: &View<'_>, until: Ns, command: u32, mover: Option<u16>) -> Checked {
        if !self.config.cache {
            return Ok(());
        }
        let holder = mover.unwrap_or_else(|| self.commands[command as usize].tenant);
        self.takes(view, until, holder, true)
    }

    /// Whom somebody waited for from his asking on.
    fn waited(&self, now: Ns, access: &DramAccess, until: Ns, marks: &mut Marks) -> Spent {
        let mut spent = Spent { time: (until - access.asked).0, ..Spent::default() };
        for stretch in &self.stretches {
            let within = stretch.until.min(now).saturating_since(stretch.from.max(access.asked)).0;
            if within > 0 {
                *spent.behind.entry(stretch.holder).or_default() += within;
                marks.hit(if stretch.of_cache { Mark::DramBehindCache } else { Mark::DramWait });
            }
        }
        spent
    }

    /// The bus is given to an access; where it is of a page of the map that comes in, for that reader of it. Returns the program whose
    /// pages leave, where it is one.
    pub fn taken(
        &mut self,
        view: &View<'_>,
        (access, until): (&DramAccess, Ns),
        map_reader: u16,
        marks: &mut Marks,
    ) -> Result<Option<FlashCommand>, ninescope_engine::SimulationError> {
        let (now, asked) = (view.now, access.asked);
        let begins = asked.max(self.until);
        require!(
            now == begins && (self.config.in_turn || asked >= self.asked),
            DramBus,
            now,
            "{access:?} begins, where it was to begin at {begins} behind what was asked for at {}",
            self.asked
        );
        let time = self.config.access.0 * u64::from(access.rows) + self.transfer(access.bytes);
        require!(
            (until - now).0 == time,
            DramBus,
            now,
            "{access:?} takes {} ns of the bus, its rows and bytes take {time} ns",
            (until - now).0
        );
        let spent = self.waited(now, access, until, marks);
        if !self.config.in_turn {
            self.asked = asked;
        }
        self.count(access, asked < now);
        let mut program = None;
        let holder = match access.usage {
            DramUse::WriteIn | DramUse::LookUp => self.front_goes_through(view, access, (until, spent))?,
            DramUse::ReadIn | DramUse::ReadOut => self.data_goes_through(view, access, (until, spent))?,
            DramUse::PageOut | DramUse::MapOut => {
                let leaves = self.pages_leave(view, access, &spent)?;
                program = Some(leaves.command);
                leaves.holder
            }
            DramUse::MapIn => {
                self.map_pages_in += 1;
                map_reader
            }
        };
        if self.config.in_turn && self.knows_holders {
            self.had_its_turn(now, asked, holder)?;
        }
        self.takes(view, until, holder, false)?;
        Ok(program)
    }

    /// Holders have the bus in turn: while one waits, after what it had before, any other one has it once.
    fn had_its_turn(&mut self, now: Ns, asked: Ns, holder: u16) -> Checked {
        let before = self.asked_by.insert(holder, asked).unwrap_or(Ns::ZERO);
        let own = self.stretches.iter().rev().find(|stretch| stretch.holder == holder && !stretch.of_cache);
        let waits_since = asked.max(own.map_or(Ns::ZERO, |stretch| stretch.from));
        let mut others = BTreeSet::new();
        let mut begun = self.stretches.iter().filter(|stretch| stretch.from > waits_since && !stretch.of_cache);
        require!(
            asked >= before && begun.all(|stretch| stretch.holder != holder && others.insert(stretch.holder)),
            DramBus,
            now,
            "holder {holder} has waited for the bus since {waits_since}, and others had it twice meanwhile"
        );
        Ok(())
    }

    /// How long so many bytes take of the bus [ns]: by its rate, or along the line between the two sizes told that they lie between.
    fn transfer(&self, bytes: u64) -> u64 {
        let told = self.config.times.told();
        let Some(&(largest, of_largest)) = told.last() else {
            let rate = u128::from(self.config.rate.0);
            return if rate == 0 { 0 } else { (u128::from(bytes) * 1_000_000_000).div_ceil(rate) as u64 };
        };
        if bytes > largest {
            return (u128::from(of_largest.0) * u128::from(bytes)).div_ceil(u128::from(largest)) as u64;
        }
        let mut below = (0, 0);
        for &(size, time) in told {
            if size >= bytes {
                let (rise, width) = (i128::from(time.0) - i128::from(below.1), i128::from(size - below.0));
                let along = rise * i128::from(bytes - below.0);
                return (i128::from(below.1) + along.div_euclid(width) + i128::from(along.rem_euclid(width) > 0))
                    as u64;
            }
            below = (size, time.0);
        }
        of_largest.0
    }

    fn count(&mut self, access: &DramAccess, waits: bool) {
        let counted = &mut self.counted;
        let of_program = matches!(access.usage, DramUse::PageOut | DramUse::MapOut);
        *match access.usage {
            DramUse::WriteIn => &mut counted.writes_in,
            DramUse::PageOut => &mut counted.pages_out,
            DramUse::ReadIn => &mut counted.reads_in,
            DramUse::ReadOut => &mut counted.reads_out,
            DramUse::LookUp => &mut counted.map_look_ups,
            DramUse::MapIn => &mut counted.map_pages_in,
            DramUse::MapOut => &mut counted.map_pages_out,
        } += if of_program { u64::from(access.rows) } else { 1 };
        counted.bytes += access.bytes;
        counted.waits += u64::from(waits);
    }

    /// Data of a write come in, or a command looks up where its units lie.
    fn front_goes_through(
        &mut self,
        view: &View<'_>,
        access: &DramAccess,
        (until, spent): (Ns, Spent),
    ) -> Result<u16, ninescope_engine::SimulationError> {
        let unit = u64::from(view.ftl.geometry().sectors_per_unit());
        let of_page = u64::from(view.ftl.geometry().unit_bytes) / ENTRY_BYTES;
        if access.usage == DramUse::WriteIn && self.comes_in_parts(access.command) {
            return self.part_comes_in(view, access, (until, spent));
        }
        let command = &mut self.commands[access.command as usize];
        let request = command.request;
        let units: BTreeSet<u64> =
            (request.lba.0..request.lba.0 + u64::from(request.sectors)).map(|sector| sector / unit).collect();
        let pages: BTreeSet<u64> = units.iter().map(|unit| unit / of_page).collect();
        let (done, rows, bytes) = match access.usage {
            DramUse::WriteIn => (&mut command.came_in, 1, u64::from(request.sectors) * SECTOR_BYTES),
            _ => (&mut command.looked_up, pages.len() as u32, units.len() as u64 * ENTRY_BYTES),
        };
        let is_first = !std::mem::replace(done, true);
        let fits = access.usage != DramUse::WriteIn || request.op == Op::Write;
        // Of two media, what is above when the command comes need not be looked up.
        let is_whole = (access.rows, access.bytes) == (rows, bytes);
        let is_part = view.tier.is_some() && (1..=rows).contains(&access.rows) && access.bytes <= bytes;
        require!(
            is_first && fits && (is_whole || is_part),
            DramAccount,
            view.now,
            "{access:?} is for {request:?}, which is to open {rows} rows and move {bytes} B once"
        );
        if access.usage == DramUse::WriteIn && self.config.cut_through {
            command.beside = Some((until, spent));
        } else {
            command.set_out = until;
            command.front.add(&spent);
        }
        Ok(command.tenant)
    }

    /// What is cut through of a command comes in as it is let in: the command waits in the end for no program.
    fn comes_in_parts(&self, slot: u32) -> bool {
        let request = &self.commands[slot as usize].request;
        self.config.cut_through && request.op == Op::Write && !self.completes_at_program && !request.fua
    }

    /// What got its place at one instant comes in.
    fn part_comes_in(
        &mut self,
        view: &View<'_>,
        access: &DramAccess,
        (until, spent): (Ns, Spent),
    ) -> Result<u16, ninescope_engine::SimulationError> {
        let command = &mut self.commands[access.command as usize];
        let part = command.let_in.iter_mut().find(|(since, bytes)| *since == access.asked && *bytes >= access.bytes);
        let fits = part.map(|(_, bytes)| *bytes -= access.bytes).is_some();
        command.let_in.retain(|(_, bytes)| *bytes > 0);
        require!(
            fits && access.bytes > 0 && access.rows == 1,
            DramAccount,
            view.now,
            "{access:?} comes in, and so much was not let in at that time: {command:?}"
        );
        command.beside = Some((until, spent));
        Ok(command.tenant)
    }

    /// Data of a read come in or leave.
    fn data_goes_through(
        &mut self,
        view: &View<'_>,
        access: &DramAccess,
        (until, spent): (Ns, Spent),
    ) -> Result<u16, ninescope_engine::SimulationError> {
        let command = &mut self.commands[access.command as usize];
        let fits = match (access.usage, access.transaction) {
            (DramUse::ReadIn, transaction) => {
                let read = Read { bytes: access.bytes, until, leaves: false, spent };
                command.through += access.bytes;
                command.reads.insert(transaction, read).is_none_or(|before| before.leaves)
            }
            (_, NONE) => {
                command.answered += access.bytes / SECTOR_BYTES;
                command.answer.add(&spent);
                command.answered == command.held
            }
            (_, transaction) => command.reads.get_mut(&transaction).is_some_and(|read| {
                let fits = read.until == access.asked && read.bytes == access.bytes && !read.leaves;
                read.leaves = true;
                read.spent.add(&spent);
                fits
            }),
        };
        require!(
            fits && access.rows == 1 && command.request.op == Op::Read,
            DramAccount,
            view.now,
            "{access:?} goes through for {command:?}"
        );
        Ok(command.tenant)
    }

    fn pages_leave(
        &mut self,
        view: &View<'_>,
        access: &DramAccess,
        spent: &Spent,
    ) -> Result<Leaving, ninescope_engine::SimulationError> {
        let bytes_of = |rows: u32| u64::from(rows) * u64::from(view.ftl.geometry().page_bytes);
        let expected = self.leaving.remove(&access.transaction).filter(|of| {
            (of.usage, of.rows, of.asked) == (access.usage, access.rows, access.asked)
                && access.bytes == bytes_of(access.rows)
        });
        let Some(leaving) = expected else {
            let what = format!("{access:?} leaves, and no program asked for that");
            return Err(crate::Rule::DramAccount.violated(view.now, what));
        };
        for plane in leaving.command.addressed_planes() {
            let program = Program { spent: spent.clone(), ended: None };
            self.programs.insert(leaving.command.transaction[plane], program);
        }
        Ok(leaving)
    }

    // ---- commands ----------------------------------------------------------------------------------

    /// What is written is in DRAM before it goes on.
    fn goes_in_first(&self) -> bool {
        self.config.write_buffer && !self.config.cut_through
    }

    /// A unit of a write has a place in flash.
    pub fn placed(&mut self, view: &View<'_>, slot: u32, lpa: Lpa) -> Checked {
        let unit = u64::from(view.ftl.geometry().sectors_per_unit());
        let in_parts = self.comes_in_parts(slot);
        let command = &mut self.commands[slot as usize];
        let (first, sectors) = (command.request.lba.0, u64::from(command.request.sectors));
        if in_parts {
            let begin = u64::from(lpa.0) * unit;
            let bytes = ((first + sectors).min(begin + unit) - first.max(begin)) * SECTOR_BYTES;
            match command.let_in.back_mut() {
                Some((since, before)) if *since == view.now => *before += bytes,
                _ => command.let_in.push_back((view.now, bytes)),
            }
        }
        // Above flash one page of a write may make another one cold, which was to go above when the write came.
        command.placed = view.tier.is_none() || first / unit == (first + sectors - 1) / unit;
        if command.placed { self.sets_out(view, slot) } else { Ok(()) }
    }

    /// A command reads or writes a unit: it has set out.
    pub fn sets_out(&self, view: &View<'_>, slot: u32) -> Checked {
        let command = &self.commands[slot as usize];
        let of_flash = view.tier.is_none();
        let lacks = of_flash && self.config.map && !command.looked_up
            || self.goes_in_first() && command.request.op == Op::Write && !command.came_in;
        require!(
            !lacks && view.now >= command.set_out,
            DramAccount,
            view.now,
            "the command of slot {slot} works on units before it is through DRAM: {command:?}"
        );
        Ok(())
    }

    /// A command completes: what it was in DRAM for is told, and whom it waited for there.
    pub fn completed(
        &mut self,
        view: &View<'_>,
        slot: u32,
        (parts, behind, transaction): (&Parts, &[Waits], u32),
    ) -> Checked {
        let now = view.now;
        let command = std::mem::take(&mut self.commands[slot as usize]);
        let read = command.request.op == Op::Read;
        if read && !command.reported {
            let wanted = if self.config.read_data { command.of_media * SECTOR_BYTES } else { 0 };
            let held = if self.config.write_buffer { command.held } else { 0 };
            require!(
                command.through == wanted && command.answered == held && command.reads.values().all(|read| read.leaves),
                DramAccount,
                now,
                "{command:?} completes, of {wanted} B from the media and {held} sectors of the write buffer"
            );
        }
        let is_in = command.beside.as_ref().is_some_and(|(until, _)| *until <= now);
        require!(
            read || command.let_in.is_empty() && (!command.placed || !self.config.cut_through || is_in),
            DramAccount,
            now,
            "the write of slot {slot} completes, and its data are not in DRAM: {command:?}"
        );
        let mut spent = command.front;
        if let Some((until, beside)) = &command.beside
            && (*until, transaction) == (now, NONE)
            && parts.of(Cause::Dram) > spent.time
        {
            // It ends with that, and not with what was done at the same time.
            spent.add(beside);
        }
        match command.reads.get(&transaction) {
            Some(of_page) if read => spent.add(&of_page.spent),
            // What ends with a migration ends with no data.
            _ if transaction == NONE && parts.of(Cause::MigrationWait) > 0 => {}
            _ if transaction == NONE => spent.add(&command.answer),
            // With an access of a cache it was in DRAM for that, too.
            _ if read && self.config.cache => return Ok(()),
            _ if read => {}
            _ => match self.programs.get(&transaction) {
                Some(program) if program.ended == Some(now) => spent.add(&program.spent),
                _ if self.config.cache => return Ok(()),
                _ => {}
            },
        }
        let said = parts.of(Cause::Dram);
        require!(
            said == spent.time,
            DramAccount,
            now,
            "the command of slot {slot} was in DRAM for {} ns, {said} ns are told",
            spent.time
        );
        let lane = SPLIT.iter().position(|cause| *cause == Cause::Dram).unwrap_or_default();
        for (holder, waits) in (0..).zip(behind).filter(|_| self.knows_holders) {
            let seen = spent.behind.get(&holder).copied().unwrap_or(0);
            require!(
                waits[lane] == seen,
                Tenants,
                now,
                "the command of slot {slot} waited {} ns in DRAM behind holder {holder}, the bus was taken for it for {seen} ns",
                waits[lane]
            );
        }
        Ok(())
    }

    // ---- the whole ---------------------------------------------------------------------------------

    pub fn measuring_began(&mut self, now: Ns) {
        self.counted = DramCounters::default();
        self.busy = self.until.saturating_since(now).0;
    }

    pub fn finished(&self, view: &View<'_>, used: &Utilization) -> Checked {
        let now = view.now;
        let left = self.leaving.len();
        require!(left == 0, Leftover, now, "the pages of {left} programs never left DRAM");
        require!(self.until <= now, Leftover, now, "an access of DRAM runs until {}", self.until);
        if self.config.map {
            let (read, came) = (self.map_reads, self.map_pages_in);
            require!(read == came, DramAccount, now, "{read} pages of the map were read, {came} came into DRAM");
        }
        let said = view.dram.map(|dram| *dram.counters()).unwrap_or_default();
        require!(said == self.counted, Ledger, now, "DRAM counted {said:?}, seen was {:?}", self.counted);
        compare(now, "the bus of DRAM", self.busy, used.dram.first().copied().unwrap_or(Ns::ZERO), used.elapsed)
    }
}

impl Spent {
    fn add(&mut self, other: &Self) {
        self.time += other.time;
        for (&holder, time) in &other.behind {
            *self.behind.entry(holder).or_default() += time;
        }
    }
}
