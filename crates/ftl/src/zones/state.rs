//! The zone state machine: which commands a zone takes, and what becomes of it.

use serde::Serialize;

use ninescope_model::{Lpa, ZoneCommand};

use super::Zones;

/// The states of a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ZoneState {
    /// It holds nothing, and takes no resources.
    Empty,
    /// A write opened it: the drive may close it to open another one.
    ImplicitlyOpened,
    /// The host opened it: the host closes it.
    ExplicitlyOpened,
    /// It is active, and not open.
    Closed,
    /// It takes no more until it is reset.
    Full,
    /// It can be read.
    ReadOnly,
    /// It cannot be read either.
    Offline,
}

impl ZoneState {
    /// All of them, in index order.
    pub const ALL: [Self; 7] = [
        Self::Empty,
        Self::ImplicitlyOpened,
        Self::ExplicitlyOpened,
        Self::Closed,
        Self::Full,
        Self::ReadOnly,
        Self::Offline,
    ];

    /// The key in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::ImplicitlyOpened => "implicitly_opened",
            Self::ExplicitlyOpened => "explicitly_opened",
            Self::Closed => "closed",
            Self::Full => "full",
            Self::ReadOnly => "read_only",
            Self::Offline => "offline",
        }
    }

    /// Whether it takes resources of an open zone.
    pub fn is_open(self) -> bool {
        matches!(self, Self::ImplicitlyOpened | Self::ExplicitlyOpened)
    }

    /// Whether it takes resources of an active one.
    pub fn is_active(self) -> bool {
        self.is_open() || self == Self::Closed
    }
}

/// Why a zone does not take a command: the status that it completes with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum ZoneError {
    /// It goes beyond what the zone takes (Zone Boundary Error).
    BoundaryError,
    /// The zone is full (Zone Is Full).
    ZoneIsFull,
    /// The zone is read only (Zone Is Read Only).
    ZoneIsReadOnly,
    /// The zone is offline (Zone Is Offline).
    ZoneIsOffline,
    /// It does not begin at the write pointer (Zone Invalid Write).
    InvalidWrite,
    /// As many zones are active as may be (Too Many Active Zones).
    TooManyActiveZones,
    /// As many zones are open as may be, and the host opened all of them (Too Many Open Zones).
    TooManyOpenZones,
    /// The zone does not go from its state to that (Invalid Zone State Transition).
    InvalidTransition,
    /// It is no command of a zone (Invalid Field in Command): it is not of whole units, or asks for what a zone cannot do.
    InvalidField,
    /// As many zones have a random write area as may have one (ZRWA Resources Unavailable).
    ZrwaUnavailable,
    /// It asks for a random write area of a zone that is not empty, for what needs one and has none, or for an append to one that has
    /// (Invalid Zone Operation Request).
    InvalidOperation,
}

impl ZoneError {
    /// All of them, in index order.
    pub const ALL: [Self; 11] = [
        Self::BoundaryError,
        Self::ZoneIsFull,
        Self::ZoneIsReadOnly,
        Self::ZoneIsOffline,
        Self::InvalidWrite,
        Self::TooManyActiveZones,
        Self::TooManyOpenZones,
        Self::InvalidTransition,
        Self::InvalidField,
        Self::ZrwaUnavailable,
        Self::InvalidOperation,
    ];

    /// The key in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::BoundaryError => "boundary_error",
            Self::ZoneIsFull => "zone_is_full",
            Self::ZoneIsReadOnly => "zone_is_read_only",
            Self::ZoneIsOffline => "zone_is_offline",
            Self::InvalidWrite => "invalid_write",
            Self::TooManyActiveZones => "too_many_active_zones",
            Self::TooManyOpenZones => "too_many_open_zones",
            Self::InvalidTransition => "invalid_transition",
            Self::InvalidField => "invalid_field",
            Self::ZrwaUnavailable => "zrwa_unavailable",
            Self::InvalidOperation => "invalid_operation",
        }
    }
}

impl Zones {
    /// A write of so many units, at its write pointer or, as an `append`, wherever that is. Returns the first unit.
    ///
    /// # Errors
    /// Why the zone does not take it. Nothing has changed then.
    pub fn write(&mut self, lpa: Lpa, units: u32, append: bool) -> Result<Lpa, ZoneError> {
        let (zone, offset) = self.layout.zone_and_offset(lpa);
        let (record, capacity) = (self.records[zone as usize], self.layout.capacity());
        match record.state {
            ZoneState::Offline => return Err(ZoneError::ZoneIsOffline),
            ZoneState::ReadOnly => return Err(ZoneError::ZoneIsReadOnly),
            ZoneState::Full => return Err(ZoneError::ZoneIsFull),
            _ => {}
        }
        if append && self.takes_any_order(zone) {
            return Err(ZoneError::InvalidOperation);
        }
        let begins = if append { record.written } else { offset };
        if u64::from(begins) + u64::from(units) > u64::from(capacity) {
            return Err(ZoneError::BoundaryError);
        }
        if begins != record.written {
            return Err(ZoneError::InvalidWrite);
        }
        self.opens_for_writing(zone)?;
        self.records[zone as usize].written += units;
        if begins + units == capacity {
            self.becomes(zone, ZoneState::Full);
            self.counts.filled += 1;
        }
        self.counts.commands[if append { ZoneCommand::Append } else { ZoneCommand::None } as usize] += 1;
        Ok(Lpa(self.layout.first_unit(zone).0 + begins))
    }

    /// A read of units from the first one to the last one.
    ///
    /// # Errors
    /// Where one of their zones is offline.
    pub fn read(&self, first: Lpa, last: Lpa) -> Result<(), ZoneError> {
        let zones = self.layout.zone_and_offset(first).0..=self.layout.zone_and_offset(last).0;
        let offline = |zone: u32| self.records[zone as usize].state == ZoneState::Offline;
        if zones.into_iter().any(offline) { Err(ZoneError::ZoneIsOffline) } else { Ok(()) }
    }

    /// A command of management.
    ///
    /// # Errors
    /// Why the zone does not take it. Nothing has changed then.
    pub fn manage(&mut self, zone: u32, command: ZoneCommand) -> Result<(), ZoneError> {
        let state = self.records[zone as usize].state;
        let goes_to = match (command, state) {
            (ZoneCommand::None | ZoneCommand::Append | ZoneCommand::Commit, _) => return Err(ZoneError::InvalidField),
            (_, ZoneState::ReadOnly | ZoneState::Offline)
            | (ZoneCommand::Open | ZoneCommand::OpenZrwa, ZoneState::Full)
            | (ZoneCommand::Close, ZoneState::Empty | ZoneState::Full) => return Err(ZoneError::InvalidTransition),
            (ZoneCommand::Reset, _) => ZoneState::Empty,
            (ZoneCommand::Finish, _) => ZoneState::Full,
            (ZoneCommand::Open, _) => ZoneState::ExplicitlyOpened,
            (ZoneCommand::OpenZrwa, ZoneState::Empty) => {
                self.areas.may_open()?;
                ZoneState::ExplicitlyOpened
            }
            (ZoneCommand::OpenZrwa, _) => return Err(ZoneError::InvalidOperation),
            (ZoneCommand::Close, _) => ZoneState::Closed,
        };
        if goes_to.is_open() && !state.is_open() {
            self.take_resources(state)?;
        }
        self.becomes(zone, goes_to);
        let record = &mut self.records[zone as usize];
        match command {
            ZoneCommand::Reset => {
                (record.written, record.placed) = (0, 0);
                self.areas.reset(zone);
            }
            ZoneCommand::Finish => {
                record.written = self.layout.capacity();
                self.areas.finish(zone);
            }
            ZoneCommand::OpenZrwa => self.areas.open(zone),
            _ => {}
        }
        self.counts.commands[command as usize] += 1;
        Ok(())
    }

    /// A command is refused.
    pub fn refuse(&mut self, error: ZoneError) -> ZoneError {
        self.counts.errors[error as usize] += 1;
        error
    }

    /// A write opens a zone that is not open.
    pub(super) fn opens_for_writing(&mut self, zone: u32) -> Result<(), ZoneError> {
        let state = self.records[zone as usize].state;
        if !state.is_open() {
            self.take_resources(state)?;
            self.becomes(zone, ZoneState::ImplicitlyOpened);
            self.counts.implicit_opens += 1;
        }
        Ok(())
    }

    /// There is room for one more open zone, which was in this state: the drive closes one that a write opened if it must.
    fn take_resources(&mut self, from: ZoneState) -> Result<(), ZoneError> {
        if !from.is_active() && self.active == self.active_max {
            return Err(ZoneError::TooManyActiveZones);
        }
        if self.open < self.open_max {
            return Ok(());
        }
        let Some(&oldest) = self.implicit.front() else { return Err(ZoneError::TooManyOpenZones) };
        self.becomes(oldest, ZoneState::Closed);
        self.counts.implicit_closes += 1;
        Ok(())
    }

    pub(super) fn becomes(&mut self, zone: u32, state: ZoneState) {
        let before = std::mem::replace(&mut self.records[zone as usize].state, state);
        if before == state {
            return;
        }
        self.open = self.open + u32::from(state.is_open()) - u32::from(before.is_open());
        self.active = self.active + u32::from(state.is_active()) - u32::from(before.is_active());
        if before == ZoneState::ImplicitlyOpened {
            self.implicit.retain(|&other| other != zone);
        }
        if state == ZoneState::ImplicitlyOpened {
            self.implicit.push_back(zone);
        }
    }
}
