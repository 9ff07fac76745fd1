//! Dynamic data clustering: each unit has a temperature, which a write raises and a move lowers by one; data of one temperature
//! lies together (Chiang, Lee and Chang, "Using data clustering to improve cleaning performance for flash memory", Software:
//! Practice and Experience 1999). The temperature is that of the group where the unit lies, so that no table of it is kept.
//!
//! As in the paper a write may raise it only where the data was young, and a move lower it only where it is old: with a threshold
//! the time of each unit's last write is kept, counted in units written.

use ninescope_kernel::{SectionReader, SectionWriter, Snapshot, SnapshotError, zeroed};
use ninescope_model::{Lpa, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{StreamChoice, StreamChoiceParameters, Written, problem_of_kinds};

/// The longest threshold, in writes of the whole drive: more are not told apart from later ones.
const DRIVE_WRITES_MAX: f64 = 1000.0;

/// Parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dac {
    /// Regions, from cold to hot, that are told apart [count].
    #[schemars(range(min = 2, max = 8))]
    pub regions: u32,
    /// A write raises what was written within so long before; absent: whatever is written [writes of the whole drive].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub hotter_within: Option<f64>,
    /// A move lowers what was not written for so long; absent: whatever is moved [writes of the whole drive].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub colder_after: Option<f64>,
}

impl Default for Dac {
    fn default() -> Self {
        Self { regions: 4, hotter_within: None, colder_after: None }
    }
}

impl Dac {
    /// Both thresholds on a drive of so many units [units written].
    pub fn thresholds(&self, units: u32) -> (Option<u64>, Option<u64>) {
        let of_drive = |writes: f64| (writes * f64::from(units)) as u64;
        (self.hotter_within.map(of_drive), self.colder_after.map(of_drive))
    }
}

impl StreamChoiceParameters for Dac {
    fn problem(&self) -> Option<(&'static str, String)> {
        let of_time = |key, time: Option<f64>| {
            let wrong = time.filter(|time| !(0.0..=DRIVE_WRITES_MAX).contains(time))?;
            Some((key, format!("is {wrong}, and takes 0 to {DRIVE_WRITES_MAX} writes of the whole drive")))
        };
        problem_of_kinds("regions", self.regions)
            .or_else(|| of_time("hotter_within", self.hotter_within))
            .or_else(|| of_time("colder_after", self.colder_after))
    }

    fn build(&self, units: u32, _groups: u32) -> Box<dyn StreamChoice> {
        let (hotter_within, colder_after) = self.thresholds(units);
        let knows_ages = hotter_within.is_some() || colder_after.is_some();
        let written_at = zeroed(if knows_ages { units as usize } else { 0 });
        Box::new(Temperatures { regions: self.regions, hotter_within, colder_after, knows_ages, now: 0, written_at })
    }
}

/// What is known of temperatures.
#[derive(Debug)]
struct Temperatures {
    regions: u32,
    hotter_within: Option<u64>,
    colder_after: Option<u64>,
    knows_ages: bool,
    /// Units written so far, modulo 2^32.
    now: u32,
    /// By unit: when it was written last; empty where no threshold asks for it.
    written_at: Vec<u32>,
}

impl Temperatures {
    fn age(&self, lpa: Lpa) -> u64 {
        u64::from(self.now.wrapping_sub(self.written_at[lpa.index()]))
    }
}

impl StreamChoice for Temperatures {
    fn kinds_of_writes(&self) -> u32 {
        self.regions
    }

    fn kinds_of_moves(&self) -> u32 {
        self.regions
    }

    fn remembers(&self) -> bool {
        self.knows_ages
    }

    fn of_write(&self, unit: &Written) -> u32 {
        let Some(before) = unit.before else { return 0 };
        let heats = self.hotter_within.is_none_or(|within| self.age(unit.lpa) < within);
        (before.kind() + u32::from(heats)).min(self.regions - 1)
    }

    fn of_move(&self, lpa: Lpa, _clean: bool, from: Stream) -> u32 {
        let cools = self.colder_after.is_none_or(|after| self.age(lpa) >= after);
        from.kind().saturating_sub(u32::from(cools))
    }

    fn written(&mut self, lpa: Lpa, _kind: u32) {
        if self.knows_ages {
            self.written_at[lpa.index()] = self.now;
            self.now = self.now.wrapping_add(1);
        }
    }
}

impl Snapshot for Temperatures {
    fn save(&self, to: &mut dyn SectionWriter) -> Result<(), SnapshotError> {
        if self.knows_ages {
            to.u32(self.now)?;
            to.column(self.written_at.iter().copied())?;
        }
        Ok(())
    }

    fn load(&mut self, from: &mut dyn SectionReader) -> Result<(), SnapshotError> {
        if self.knows_ages {
            self.now = from.u32()?;
            from.column(&mut self.written_at, |at| at)?;
        }
        Ok(())
    }
}
