//! Observation: a probe that is told what the device does. Where there is none, nothing is even made to be told.
//!
//! A probe receives and never changes anything: the run is the same with every probe. It may end the run
//! with an error.

use std::any::Any;
use std::fmt;

use ninescope_ftl::{Broken, Ftl, ZoneError};
use ninescope_kernel::{NONE, Ns};
use ninescope_media::nand::{FlashCommand, Nand};
use ninescope_media::scm::{ScmCommand, ScmCommandKind, Verified};
use ninescope_model::{
    BankId, BlockGroup, Cause, DieId, DriveErase, Lpa, Op, Pool, Ppa, Request, SlotId, Source, UrgencyClass,
    ZoneCommand,
};

use crate::config::{BufferPartsConfig, Forwarding, ProtocolConfig, SectorRules, WriteCompletion};
use crate::counters::EngineCounters;
use crate::dram::{Dram, DramAccess};
use crate::error::SimulationError;
use crate::firmware::{Firmware, Step};
use crate::flash::{BufferLimits, Dropped, MergedWith, ReadFrom};
use crate::host::{Limit, LinkMessage};
use crate::mapping::{CacheChange, Mapping};
use crate::meter::{Meter, Parts, Utilization, Waits};
use crate::policies::refresh::RefreshReason;
use crate::policies::trim::TrimConfig;
use crate::policies::write_throttle::WriteThrottleConfig;
use crate::power::Power;
use crate::reliability::{NandCode, Reliability};
use crate::scm::ScmPart;
use crate::tier::TierPart;
use crate::transaction::QueueClass;

/// What a probe may look at.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Simulated time.
    pub now: Ns,
    /// The translation layer.
    pub ftl: &'a Ftl,
    /// The media.
    pub nand: &'a Nand,
    /// The storage-class memory.
    pub scm: &'a ScmPart,
    /// What is above and below, on a drive with two media.
    pub tier: Option<&'a TierPart>,
    /// Failing bits and what is done about them.
    pub reliability: Option<&'a Reliability>,
    /// What is in memory of a map that lies in flash.
    pub mapping: Option<&'a Mapping>,
    /// The controller's DRAM.
    pub dram: Option<&'a Dram>,
    /// The cores of the firmware, where decisions take time.
    pub firmware: Option<&'a Firmware>,
    /// What the drive draws, where that is counted.
    pub power: Option<&'a Power>,
    /// What was counted since measuring began.
    pub counters: &'a EngineCounters,
    /// What was measured since then.
    pub meter: &'a Meter,
}

/// A page access (or a group erase) that leaves its die's queue with a command, told for each of its planes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Its number, which [`FlashCommand::transaction`] carries; free for another once it is done.
    pub transaction: u32,
    /// The first unit of the access.
    pub ppa: Ppa,
    /// When it was queued on its die [ns].
    pub queued: Ns,
    /// On whose behalf it runs.
    pub source: Source,
    /// The host command that a read is for, or whose write waits for a program; `NONE` for others.
    pub slot: u32,
    /// The first unit written in part whose rest a read brings, [`Lpa::NONE`] for others.
    pub lpa: Lpa,
    /// Of such a read, the units whose rests it brings, which follow each other; 0 for others.
    pub rests: u8,
    /// The migration that a read is for, the page of the map that it is of, or the access that could not be corrected for which a
    /// page of its stripe is read; `NONE` for others.
    pub number: u32,
}

impl Access {
    /// The units written in part whose rests a read brings; none for others.
    pub fn units_in_part(&self) -> impl Iterator<Item = Lpa> + use<> {
        let first = self.lpa.0;
        (0..u32::from(self.rests)).map(move |number| Lpa(first + number))
    }
}

impl Default for Access {
    fn default() -> Self {
        Self {
            transaction: NONE,
            ppa: Ppa::UNMAPPED,
            queued: Ns::ZERO,
            source: Source::Host,
            slot: NONE,
            lpa: Lpa::NONE,
            rests: 0,
            number: NONE,
        }
    }
}

/// Why a unit that was trimmed is forgotten now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forgotten {
    /// The host writes it, or a part of it.
    Written,
    /// The host has had nothing inside the drive for so long.
    AtRest,
    /// Garbage collection is about to go on.
    BeforeCollection,
}

/// One thing the device does, told right after it was decided or done. `slot` is the place of a host
/// command inside the device: it names one command from its [`Event::Fetched`] to its [`Event::Completed`].
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // each variant's sentence says what its fields are
pub enum Event<'a> {
    /// The run begins: what the FTL and the media hold is what preparing left.
    /// `write_completion` is when writes complete, `forwards` what is answered of units that wait for their program, `sectors` what goes by sector, `protocol` what lies between requests and commands, `lane_depths` the most
    /// requests that each lane has inside, `queue_commands` how many commands of each of its queues the drive has where the lane says so, `limits` how much of each is taken in at most, `buffer` how much the write buffer takes, `buffer_parts` how it is divided,
    /// `throttle` what holds host writes back, `trim` what TRIMs come to, `classes` those of the lanes, where dies go by them,
    /// `copybacks` how often in a row a die may copy a page by itself.
    Started {
        write_completion: WriteCompletion,
        forwards: Forwarding,
        sectors: &'a SectorRules,
        protocol: ProtocolConfig,
        lane_depths: &'a [u32],
        queue_commands: &'a [Option<u32>],
        limits: &'a [Option<Limit>],
        buffer: BufferLimits,
        buffer_parts: Option<&'a BufferPartsConfig>,
        throttle: Option<&'a WriteThrottleConfig>,
        trim: &'a TrimConfig,
        classes: Option<&'a [UrgencyClass]>,
        copybacks: u16,
        /// Blocks of one bit in a cell are folded when their die has had nothing to do for so long.
        slc_fold_after: Option<Ns>,
        /// What is partly filled is padded when it is so old.
        page_timeout: Option<Ns>,
    },
    /// A host command of a lane entered the device out of one of the host's queues; `request.submitted` is when the host submitted it. `whole` is what the host
    /// asked for, of which the command is a part, the first one where both begin at the same sector.
    Fetched { slot: u32, id: u64, lane: u16, queue: u32, request: Request, whole: Request },
    /// Commands of a queue are in the controller, which has read them since `from` [ns]: the last so many that entered.
    EntriesFetched { queue: u32, from: Ns, commands: u32 },
    /// The data of a host write crosses the link from `from` to `until` [ns].
    LinkIn { slot: u32, from: Ns, until: Ns },
    /// What is no data crosses the link for a command from `from` to `until` [ns]: towards the host until now.
    MessageCrosses { slot: u32, message: LinkMessage, from: Ns, until: Ns },
    /// Read data crossed the link towards the host from `from` until now [ns].
    LinkOut { slot: u32, from: Ns },
    /// A host read found out where a unit's content is.
    UnitRead { slot: u32, lpa: Lpa, from: ReadFrom },
    /// A unit that the host writes got a place and is mapped there.
    UnitWritten { slot: u32, lpa: Lpa, old: Ppa, new: Ppa, merged_with: MergedWith },
    /// A unit was forgotten; `old` may be unmapped.
    UnitTrimmed { slot: u32, lpa: Lpa, old: Ppa },
    /// A unit was trimmed, and is in the map until an [`Event::UnitForgotten`].
    TrimNoted { slot: u32, lpa: Lpa },
    /// A unit that had been trimmed is not in the map any more.
    UnitForgotten { lpa: Lpa, old: Ppa, why: Forgotten },
    /// The drive is erased as a whole for a command, which forgets all units.
    WholeEraseBegan { slot: u32, what: DriveErase },
    /// That is over.
    WholeEraseEnded,
    /// A command came while the drive is erased, or is about to be, and is aborted.
    CommandAborted { slot: u32 },
    /// A zone answers a command of the host, from the unit `lpa` on: with the first unit that a write goes to, or why it does not take
    /// it. Of a `command` that is none, `units` are written or, where there are none, read; of a commit they are those of the zone up to where it goes.
    ZoneAnswered { slot: u32, lpa: Lpa, units: u32, command: ZoneCommand, answer: Result<Lpa, ZoneError> },
    /// A unit of a zone was committed, and got a place: what its random write area held or, where nobody had written there, padding.
    UnitCommitted { slot: u32, lpa: Lpa, new: Ppa, is_written: bool },
    /// Of a group of a zone that was reset, what was in the controller is forgotten.
    ZoneDropped { dropped: Dropped },
    /// The open page of a frontier was filled up with padding, up to and with the unit `last`.
    Padded { last: Ppa },
    /// A unit that the host writes finds no place, and so do those of its command behind it: no page is free, or the
    /// write buffer is full, as `cause` says. They are placed in order, each told by a [`Event::UnitWritten`].
    WriteStalled { slot: u32, lpa: Lpa, cause: Cause },
    /// A page read was queued: its group must not be erased before the read ends.
    ReadQueued { ppa: Ppa, source: Source, class: QueueClass },
    /// A page of a host read is in its die's register: `units` units from `ppa` on. The migration `brings_up` takes it up as
    /// well, `NONE` for none.
    HostUnitsSensed { slot: u32, ppa: Ppa, units: u8, brings_up: u32 },
    /// The old content of a unit written in part is in its die's register.
    MergeSensed { slot: u32, lpa: Lpa, ppa: Ppa },
    /// A unit is written in part, and its rest is not read, because the host has used nothing of it.
    RestIsEmpty { slot: u32, lpa: Lpa },
    /// A unit that garbage collection moves is in its die's register. `record` names the move until it
    /// was placed or dropped.
    MoveSensed { record: u32, lpa: Lpa, from: Ppa },
    /// A move got a place.
    MovePlaced { record: u32, lpa: Lpa, from: Ppa, to: Ppa },
    /// The die of a page is to copy it within its plane: its group must not be erased before the copy is there. The moves of its
    /// units follow.
    CopybackBegan { from: Ppa },
    /// A unit of such a page got a place.
    MoveCopied { lpa: Lpa, from: Ppa, to: Ppa },
    /// A move was dropped after its read, because the unit's content lies elsewhere by now.
    MoveDropped { record: u32, lpa: Lpa, from: Ppa },
    /// The program of a move ended. `current`: the map pointed at `from` and points at `to` now.
    MoveEnded { lpa: Lpa, from: Ppa, to: Ppa, current: bool },
    /// A free die takes up a command and asks for its channel: `accesses`, one per addressed plane in ascending
    /// order, have left their queue, in which they waited for the die.
    Dispatched { command: &'a FlashCommand, class: QueueClass, accesses: &'a [Access] },
    /// A free die has something to do, for which there is no power left, or others wait for some: it waits in line.
    PowerAwaited { die: DieId },
    /// A die that waited in line for power has it and `goes_on`, or has nothing to do any more.
    PowerComes { die: DieId, goes_on: bool },
    /// The drive is in so many steps of its throttle, as warm as it was at `since` [ns]. Told when a die asks for power, at the end of
    /// each window while one waits, and when all is over.
    Throttled { step: usize, since: Ns },
    /// The drive has nothing to do from now on, and goes into states of less power until something comes.
    RestBegan,
    /// What was taken in last came while it was in one, or on its way: nothing is taken up before it is out.
    Wakes { until: Ns },
    /// The channel was granted to a flash command: its channel is taken until `sent`, and the array works from `begins`
    /// on, later by what encoding takes [ns].
    CommandIssued { command: &'a FlashCommand, sent: Ns, begins: Ns },
    /// The array phase of a command ended.
    CommandEnded { command: &'a FlashCommand },
    /// What a read has sensed moves to the second register of its planes, from which it leaves, because the next read of its die is
    /// sent; until then [ns].
    PageMoves { command: &'a FlashCommand, until: Ns },
    /// The data of a read leave their die, whose channel is taken until `until`; the die is held until `held`, which is
    /// later where it keeps the data for the decoder [ns].
    DataOut { command: &'a FlashCommand, until: Ns, held: Ns },
    /// The operation of a die was stopped; its voltages recover. It has to repeat `lost` of its pulse time [ns].
    Suspended { die: DieId, lost: Ns },
    /// The voltages have recovered: the die takes reads.
    Recovered { die: DieId },
    /// The parked operation of a die begins to be taken up again.
    ResumeBegan { die: DieId },
    /// Its pulses go on.
    Resumed { die: DieId },
    /// A group is erased and free.
    Erased { group: BlockGroup },
    /// Wear levelling chose a group to make way, after an erase.
    LevelingChosen { group: BlockGroup },
    /// The program of a page failed: its group is filled no more.
    ProgramFailed { ppa: Ppa },
    /// A page of such a group has another place, where it waits for its program. It was programmed at the old one, in vain, or never
    /// will be; it carries so many moves.
    PageRewritten { from: Ppa, to: Ppa, programmed: bool, moves: u32 },
    /// A page of such a group has no other place: what is written of it stays in the controller, its moves are given up.
    PageKept { ppa: Ppa, programmed: bool, moves: u32 },
    /// What was to be programmed in such a group has its place elsewhere: it is to be emptied.
    GroupFailed { group: BlockGroup },
    /// An erase ended with which a group broke: it is retired.
    EraseBroke { group: BlockGroup, broken: Broken },
    /// A group of which a program failed is empty and retired.
    GroupRetired { group: BlockGroup },
    /// The drive takes no more writes: a pool lacks groups.
    ReadOnlyBegan { pool: Pool },
    /// A move found no place, and is given up.
    MoveGivenUp { record: u32, lpa: Lpa, from: Ppa },
    /// A host command answers with an error: what it is to write, or has written, does not come to the media.
    CommandRefused { slot: u32 },
    /// A unit that the host writes, and those behind it in its part of the command, will have no place.
    UnitRefused { slot: u32, lpa: Lpa },
    /// A die has had nothing to do for so long that it rests, as the trigger of collection wants to know.
    DieRests { die: DieId },
    /// The policy chose a group to be emptied, of which nothing has moved yet; `fills`: so that an open page of moves gets full.
    VictimChosen { group: BlockGroup, fills: bool },
    /// Host writes that waited for a pool's garbage collection, because its trigger has them wait, go on without what it was to
    /// free: it finds nothing to do.
    HostReleased { pool: Pool },
    /// An access of a slot of SCM, number `transaction`, left its bank's queue, for the host command `command` or, as `source` says, the
    /// migration of that number, where it was since `queued` [ns]: bit `i` of `sectors` is sector `i` of the slot.
    SlotDispatched {
        transaction: u32,
        kind: ScmCommandKind,
        source: Source,
        command: u32,
        slot: SlotId,
        sectors: u32,
        queued: Ns,
    },
    /// Wear levelling copies the content of a sector of a bank to another one.
    SectorCopied { bank: BankId, from: u32, to: u32 },
    /// A logical sector of a bank is written at `place`.
    SectorPlaced { bank: BankId, sector: u32, place: u32 },
    /// How one of these sectors that are copied or written will be verified.
    SectorVerified { bank: BankId, kind: ScmCommandKind, verified: Verified },
    /// A bank takes up a command. Its channel is taken until `sent`, and the array works from `begins` on, later by what
    /// encoding takes [ns]. Copies within the memory need no channel, and neither does reading what is copied through the
    /// controller; the command that writes it back has taken the channel both ways.
    BankCommandIssued { command: &'a ScmCommand, sent: Ns, begins: Ns },
    /// The array phase of a bank's command ended.
    BankCommandEnded { command: &'a ScmCommand },
    /// The data that a bank read for a host command or a migration leave it, whose channel is taken until `until` [ns].
    /// The bank is held until `held`.
    BankDataOut { bank: BankId, source: Source, command: u32, until: Ns, held: Ns },
    /// A page got a slot of the upper medium, in which nothing is valid yet, for a tenant.
    SlotTaken { page: u32, slot: SlotId, tenant: u16 },
    /// A page is not looked for in its slot any more; the slot goes to another page when its last readers are through.
    PageLeft { page: u32, slot: SlotId },
    /// What the slot of a page holds, or was to hold, is of no use any more: the page is about to be written around it.
    PageForgotten { page: u32 },
    /// A host read found out where the sectors of a page are: these in its slot, those below.
    PageRead { slot: u32, page: u32, above: u32, below: u32 },
    /// A host write of sectors of a page is about to go to its slot, which it may have to be given first.
    PageWritten { slot: u32, page: u32, sectors: u32 },
    /// A host write of a page that is to go above is held back before that.
    WriteHeld { slot: u32, page: u32 },
    /// A migration begins. The tier of the view knows it until it ended.
    MigrationBegan { migration: u32 },
    /// The unit of flash that a migration asked for is in its die's register.
    MigrationUnitSensed { migration: u32, ppa: Ppa },
    /// A page that goes down got a place in flash and is mapped there.
    EvictionPlaced { migration: u32, lpa: Lpa, old: Ppa, new: Ppa, merged_with: MergedWith },
    /// A unit of flash is forgotten, because all of its sectors are dirty above.
    UnitSuperseded { lpa: Lpa, old: Ppa },
    /// A migration is over, whatever came of it. It is not in the tier any more.
    MigrationEnded { migration: u32 },
    /// A page access of flash went through a decoder, in which its data was from `begins` until `until`, having arrived
    /// earlier where it had to wait. Bit `i` of `failed` says that the `i`-th unit did not decode, of `undetected` that it
    /// is wrong and passed as good. `attempt` counts how often it was read again.
    PageDecoded {
        /// Its number, as in [`Access`].
        transaction: u32,
        source: Source,
        code: NandCode,
        attempt: u32,
        arrived: Ns,
        begins: Ns,
        until: Ns,
        /// Codewords that were decoded, and those of them with errors.
        codewords: u32,
        corrupted: u32,
        failed: u32,
        undetected: u32,
    },
    /// Sectors of a slot went through a decoder; bits of `failed` and `undetected` count the sectors accessed.
    SectorsDecoded {
        slot: SlotId,
        source: Source,
        command: u32,
        arrived: Ns,
        begins: Ns,
        until: Ns,
        /// Codewords that were decoded, and those of them with errors.
        codewords: u32,
        corrupted: u32,
        failed: u32,
        undetected: u32,
    },
    /// A page access that is in its die's register will not decode, and will be read again: its group must stay.
    ReadWillRepeat { transaction: u32 },
    /// A page access that is in its die's register will not decode, and will be found again by the rest of its parity stripe: its
    /// group must stay.
    ReadWillBeRebuilt { transaction: u32 },
    /// A page access did not decode: so many other pages of its stripe are read next, of which the controller holds the rest.
    ReadDegraded { transaction: u32, source: Source, pages: u32 },
    /// Units of a page of a stripe are in the register, for an access that did not decode.
    StripeSensed { transaction: u32, ppa: Ppa, units: u8 },
    /// The rest of the stripe of an access is there: of its units these are lost for good, or pass as good and are wrong (a bit
    /// each), and all others are good.
    ReadRebuilt { transaction: u32, source: Source, lost: u32, wrong: u32 },
    /// A die fails, which has nothing under way: what lay on it is missing, and a spare die has its place.
    DieFailed { die: DieId },
    /// A page access of so many units that lay on a die which failed goes to no die, or leaves its queue: all of it is lost unless
    /// it is found elsewhere.
    PageMissing { access: &'a Access, class: QueueClass, units: u8 },
    /// A page is on the die that stands for the one on which it lay, but for what was lost of it.
    PageRebuilt { ppa: Ppa, lost: bool },
    /// Nothing is left of a die that failed to be written again.
    DieRebuilt { die: DieId },
    /// A page access that did not decode is given up.
    ReadGivenUp { transaction: u32, source: Source },
    /// It was drawn which units become corrupt over time, and when: the view knows all that are still to come.
    CorruptionDrawn,
    /// A unit of flash becomes corrupt, and stays so until it is erased.
    UnitCorrupted { ppa: Ppa },
    /// A unit is read from the backing store, for the host or a move that needs it (`wanted`), or because the scrubber
    /// found its copy corrupt.
    UnitFetched { lpa: Lpa, from: Ppa, wanted: bool },
    /// What was fetched of a unit got a new place and is mapped there.
    UnitHealed { lpa: Lpa, old: Ppa, new: Ppa },
    /// What was fetched of a unit is not wanted any more: its content lies elsewhere by now.
    HealDropped { lpa: Lpa, from: Ppa },
    /// A unit is lost: a read of the drive's own was given up. Reads of it report an error until it is written anew.
    UnitLost { lpa: Lpa },
    /// A unit went wrong unnoticed in a read of the drive's own.
    UnitMadeWrong { lpa: Lpa },
    /// A lost or wrong unit was written anew, or forgotten.
    UnitRepaired { lpa: Lpa },
    /// A host read reports an error for a unit (or page, on a drive with two media) instead of its data.
    ReadReported { slot: u32, lpa: Lpa },
    /// A host read returns wrong data of a unit as if it were good.
    ReadWrong { slot: u32, lpa: Lpa },
    /// A flush read that is about to complete brought a unit, good, which has not changed since: it is clean from now on,
    /// another copy exists.
    UnitFlushed { slot: u32, lpa: Lpa },
    /// A page is read by the scrubber; it is in its die's register.
    ScrubSensed { ppa: Ppa },
    /// What the decoder of a page will find was drawn, by a raw bit error rate that is not the same for all.
    ErrorsDrawn { ppa: Ppa, rber: f64 },
    /// A pass of the scrubber begins.
    ScrubPassBegan,
    /// A pass of the scrubber has read everything that it is there for.
    ScrubPassEnded,
    /// Garbage collection is to empty a group, so that its data is written anew.
    RefreshAsked { group: BlockGroup, reason: RefreshReason },
    /// A command looked the entry of a unit up in a map that lies in flash; `hit`: it was in memory. Of several that were not
    /// it waits for the pages of the map that tell of them, unless it `goes_on`: then the entry is in memory at once, and its
    /// page is read beside.
    EntryLookedUp { slot: u32, lpa: Lpa, hit: bool, goes_on: bool },
    /// A page of the map is in its die's register.
    MapPageSensed { page: u32, ppa: Ppa, for_commands: bool },
    /// What was read of a page of the map, for commands or not, cannot be corrected: its entries are found again from now on.
    MapPageLost { page: u32, for_commands: bool },
    /// A page of the map that commands wait for is about to be read.
    MapPageFetched { page: u32 },
    /// The entries of a page of the map that was read for commands have been found again.
    MapPageRebuilt { page: u32 },
    /// What commands want of a page of the map is asked for in the host's memory.
    MapPageAsked { page: u32 },
    /// What was asked for is on the link, which it takes from then until then.
    MapPageCrosses { page: u32, bytes: u32, from: Ns, until: Ns },
    /// A page of the map that commands wait for is in the controller: what they asked for of it is in memory.
    MapPageArrived { page: u32 },
    /// What is in memory of the map has changed.
    MapCacheChanged { change: CacheChange },
    /// A page of the map got a place, and is written there as the map is now.
    MapPageWritten { page: u32, old: Ppa, new: Ppa },
    /// The bus of DRAM is given to an access, which was asked for before or now, until then. What a cache in DRAM does is told of
    /// its banks.
    DramTaken { access: &'a DramAccess, until: Ns },
    /// A core of the firmware takes up a step, which was asked for before or now, until then.
    StepTaken { step: &'a Step, core: u32, until: Ns },
    /// A host command of a queue is done, and waits until the host is told; `parts` say where its time went up to now. The other
    /// fields are those of [`Event::Completed`], which comes with the interrupt.
    Gathered { slot: u32, id: u64, queue: u32, op: Op, parts: &'a Parts, behind: &'a [Waits], transaction: u32 },
    /// The host is told that so many commands of a queue have completed, each by a [`Event::Completed`].
    Interrupted { queue: u32, completions: u32 },
    /// A host command completed; `parts` say where its time went. They are those of `transaction`, the last page
    /// access it waited for; `NONE` where it did not wait for the media. `behind` says by holder whom it waited for: each lane,
    /// and then the drive; it is empty where there is one lane alone. `last`: with it all of the host's request has completed.
    Completed {
        slot: u32,
        id: u64,
        request: Request,
        parts: &'a Parts,
        behind: &'a [Waits],
        transaction: u32,
        last: bool,
    },
    /// Everything is counted and measured anew from now on.
    MeasuringBegan,
    /// Nothing is left to do.
    Finished { utilization: &'a Utilization },
}

/// Told each step of a run. Probes that only want some events ignore the others.
pub trait Probe: Any + Send {
    /// Something happened.
    ///
    /// # Errors
    /// What the probe found wrong. The run is over then.
    fn observe(&mut self, view: &View<'_>, event: Event<'_>) -> Result<(), SimulationError>;

    /// Whether it wants to know what is in the page registers ([`Event::HostUnitsSensed`] and its like), which
    /// takes a walk over the units of each page.
    fn follows_data(&self) -> bool {
        true
    }

    /// Sentences for the result on what it did.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}

/// No observation, no cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProbe;

impl Probe for NoProbe {
    fn observe(&mut self, _view: &View<'_>, _event: Event<'_>) -> Result<(), SimulationError> {
        Ok(())
    }
}

/// Two probes that are told the same, the first one first.
#[derive(Clone, Debug, Default)]
pub struct Pair<A, B>(pub A, pub B);

impl<A: Probe, B: Probe> Probe for Pair<A, B> {
    fn observe(&mut self, view: &View<'_>, event: Event<'_>) -> Result<(), SimulationError> {
        self.0.observe(view, event)?;
        self.1.observe(view, event)
    }

    fn follows_data(&self) -> bool {
        self.0.follows_data() || self.1.follows_data()
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = self.0.notes();
        notes.extend(self.1.notes());
        notes
    }
}

/// A probe that may be left out when the run begins.
impl<P: Probe> Probe for Option<P> {
    fn observe(&mut self, view: &View<'_>, event: Event<'_>) -> Result<(), SimulationError> {
        self.as_mut().map_or(Ok(()), |probe| probe.observe(view, event))
    }

    fn follows_data(&self) -> bool {
        self.as_ref().is_some_and(Probe::follows_data)
    }

    fn notes(&self) -> Vec<String> {
        self.as_ref().map(Probe::notes).unwrap_or_default()
    }
}

/// Any probe.
impl Probe for Box<dyn Probe> {
    fn observe(&mut self, view: &View<'_>, event: Event<'_>) -> Result<(), SimulationError> {
        (**self).observe(view, event)
    }

    fn follows_data(&self) -> bool {
        (**self).follows_data()
    }

    fn notes(&self) -> Vec<String> {
        (**self).notes()
    }
}

impl fmt::Debug for dyn Probe {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Probe")
    }
}

/// Tells a device's probe an event and passes its error on. The owners are borrowed one by one, so that the
/// event may refer to others; without a probe the event is not even made.
macro_rules! observe {
    ($device:expr, $event:expr) => {
        if K::ACTIVE {
            let view = $crate::probe::View {
                now: $device.run.now,
                ftl: $device.flash.ftl(),
                nand: $device.flash.nand(),
                scm: &$device.scm,
                tier: $device.tier.as_ref(),
                reliability: $device.reliability.as_deref(),
                mapping: $device.mapping.as_deref(),
                dram: $device.dram.as_deref(),
                power: $device.run.power.as_deref(),
                firmware: $device.run.firmware.as_deref(),
                counters: &$device.run.counters,
                meter: &$device.run.meter,
            };
            $crate::probe::Probe::observe(&mut $device.probe, &view, $event)?;
        }
    };
}
pub(crate) use observe;
