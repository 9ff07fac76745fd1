//! How long one medium bears a measured window, whatever it is made of.

use serde::Serialize;

use super::distribution::Distribution;

/// A year has 365 days, as warranties count.
pub const DAYS_PER_YEAR: f64 = 365.0;
/// [ns].
pub const DAY_NS: f64 = 86_400e9;

/// The measured part of a run: one pass of the workload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// How long it took [ns].
    pub ns: u64,
    /// What the host wrote to the drive in it [B].
    pub host_bytes: u64,
}

/// What wears out as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum WearUnit {
    /// A block of flash, by its erases.
    Block,
    /// A sector of storage-class memory, by its writes.
    Sector,
}

/// When a medium counts as worn out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LifeBy {
    /// When its units have reached the rating on average: something levels their wear in the long run.
    Mean,
    /// When its first unit has reached the rating.
    MostWorn,
    /// When so many of its units have had what each of them bears that the drive takes no more writes.
    ReadOnly,
}

/// What a window did to a medium.
#[derive(Clone, Debug, PartialEq)]
pub struct Worn {
    /// What wears out as one.
    pub unit: WearUnit,
    /// When it counts as worn out.
    pub life_by: LifeBy,
    /// How many of them there are, spare ones included [count].
    pub units: u64,
    /// Bytes there are, spare ones included [B].
    pub raw_bytes: u64,
    /// Rated P/E cycles of a block or writes of a sector [count].
    pub rated: Option<u32>,
    /// The key that would rate it.
    pub rated_key: &'static str,
    /// What can be written to it from new until the drive takes no more writes, where each unit bears a number of its own [B].
    pub bytes_borne: Option<f64>,
    /// What was written to it in the window, for whatever reason [B].
    pub bytes_written: u64,
    /// Erases per block, or writes per sector, in the window.
    pub wear: Distribution,
    /// The same of the most worn unit since it was new [count].
    pub worn_max: u64,
}

/// How long a medium bears its window, repeated from new.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MediumEndurance {
    /// What wears out as one.
    pub unit: WearUnit,
    /// How many of them there are, spare ones included [count].
    pub units: u64,
    /// Bytes there are, spare ones included [B].
    pub raw_bytes: u64,
    /// Rated P/E cycles of a block or writes of a sector [count].
    pub rated: Option<u32>,
    /// What was written to it in the window, for whatever reason [B].
    pub bytes_written: u64,
    /// The same per byte that the host wrote to the drive.
    pub write_amplification: Option<f64>,
    /// Mean P/E cycles of a block or writes of a sector in a day at the measured rate [count].
    pub per_unit_day: Option<f64>,
    /// Erases per block, or writes per sector, in the window.
    pub wear: Distribution,
    /// What the most worn unit has used up of its rating since it was new.
    pub used: Option<f64>,
    /// When it counts as worn out.
    pub life_by: LifeBy,
    /// How often the window can be repeated until then.
    pub passes: Option<f64>,
    /// How often until its units have reached the rating on average: `rated x raw_bytes / bytes_written`.
    pub passes_of_mean: Option<f64>,
    /// How often until the unit that the window wore most has reached it: `rated / wear.max`.
    pub passes_of_most_worn: Option<f64>,
    /// How long `passes` take at the measured rate [years].
    pub years: Option<f64>,
    /// Why there are no `passes`.
    pub reason: Option<String>,
    /// What a reader of these numbers must know.
    pub notes: Vec<&'static str>,
}

/// How long something lasts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Life {
    /// So many windows.
    Passes(f64),
    /// Windows like this one do not wear it.
    Unlimited,
    /// Its rating is not known.
    Unknown,
}

const NO_ERASE: &str =
    "no block was erased in the window: its write amplification is that of a drive with free blocks left";

impl MediumEndurance {
    /// What follows from the wear of a window. It is a function of its arguments alone.
    pub fn of(worn: &Worn, window: Window) -> Self {
        let written = worn.bytes_written as f64;
        let rated = worn.rated.map(f64::from);
        let mean = written / worn.raw_bytes.max(1) as f64;
        let passes_of = |wear: f64| rated.filter(|_| wear > 0.0).map(|rated| rated / wear);
        let (passes_of_mean, passes_of_most_worn) = (passes_of(mean), passes_of(f64::from(worn.wear.max)));
        let passes = match worn.life_by {
            LifeBy::Mean => passes_of_mean,
            LifeBy::MostWorn => passes_of_most_worn,
            LifeBy::ReadOnly => worn.bytes_borne.filter(|_| written > 0.0).map(|borne| borne / written),
        };
        let wears = worn.bytes_written > 0;
        let reason = match (passes, wears) {
            (Some(_), _) => None,
            (None, false) => Some("unlimited: nothing was written to it in the window".to_owned()),
            (None, true) => Some(format!("unknown: the drive does not say {}", worn.rated_key)),
        };
        let no_erase = worn.unit == WearUnit::Block && wears && worn.wear.max == 0;
        Self {
            unit: worn.unit,
            units: worn.units,
            raw_bytes: worn.raw_bytes,
            rated: worn.rated,
            bytes_written: worn.bytes_written,
            write_amplification: ratio(written, window.host_bytes as f64),
            per_unit_day: ratio(mean * DAY_NS, window.ns as f64),
            wear: worn.wear,
            used: rated.map(|rated| worn.worn_max as f64 / rated),
            life_by: worn.life_by,
            passes,
            passes_of_mean,
            passes_of_most_worn,
            years: passes.map(|passes| years(passes, window)),
            reason,
            notes: if no_erase { vec![NO_ERASE] } else { Vec::new() },
        }
    }

    pub(super) fn life(&self) -> Life {
        match (self.passes, self.rated) {
            (Some(passes), _) => Life::Passes(passes),
            (None, None) if self.bytes_written > 0 => Life::Unknown,
            _ => Life::Unlimited,
        }
    }
}

/// How long so many windows take, one after another [years].
pub(super) fn years(passes: f64, window: Window) -> f64 {
    passes * window.ns as f64 / (DAY_NS * DAYS_PER_YEAR)
}

/// A quotient, where there is something to divide by.
pub(super) fn ratio(dividend: f64, divisor: f64) -> Option<f64> {
    (divisor > 0.0).then(|| dividend / divisor)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1,024 sectors of which one takes every write.
    fn hammered(writes: u32, rated: Option<u32>) -> Worn {
        let wear = Distribution::of(&(0..1_024).map(|sector| if sector == 77 { writes } else { 0 }));
        Worn {
            unit: WearUnit::Sector,
            life_by: LifeBy::MostWorn,
            units: 1_024,
            raw_bytes: 1_024 * 512,
            rated,
            rated_key: "scm.endurance_writes",
            bytes_borne: None,
            bytes_written: u64::from(writes) * 512,
            wear,
            worn_max: u64::from(writes),
        }
    }

    const WINDOW: Window = Window { ns: 2_000_000_000, host_bytes: 400 * 512 };

    #[test]
    fn a_hammered_sector_bears_its_rating_over_its_writes() {
        let told = MediumEndurance::of(&hammered(400, Some(100_000)), WINDOW);
        assert_eq!((told.passes, told.passes_of_most_worn), (Some(250.0), Some(250.0)));
        // Spread over all sectors it would be 1,024 times as many.
        assert_eq!(told.passes_of_mean, Some(250.0 * 1_024.0));
        assert_eq!(told.years, Some(250.0 * 2.0 / (365.0 * 86_400.0)));
        assert_eq!((told.write_amplification, told.used), (Some(1.0), Some(0.004)));
        assert_eq!(told.per_unit_day, Some(400.0 / 1_024.0 * 43_200.0));
        assert!(told.reason.is_none() && told.notes.is_empty());
    }

    #[test]
    fn what_is_not_written_lasts_without_limit() {
        let told = MediumEndurance::of(&hammered(0, Some(100_000)), Window { ns: 1, host_bytes: 0 });
        let none = (told.passes, told.passes_of_mean, told.passes_of_most_worn, told.years, told.write_amplification);
        assert_eq!(none, (None, None, None, None, None));
        assert!(told.reason.as_deref().is_some_and(|reason| reason.starts_with("unlimited")), "{:?}", told.reason);
        assert_eq!(told.life(), Life::Unlimited);
    }

    #[test]
    fn what_is_not_rated_lasts_unknown() {
        let told = MediumEndurance::of(&hammered(400, None), WINDOW);
        assert_eq!((told.passes, told.years, told.used), (None, None, None));
        assert_eq!(told.reason.as_deref(), Some("unknown: the drive does not say scm.endurance_writes"));
        assert_eq!(told.life(), Life::Unknown);
    }

    #[test]
    fn flash_lives_by_what_is_programmed_and_says_when_nothing_was_erased() {
        let flash = Worn {
            unit: WearUnit::Block,
            life_by: LifeBy::Mean,
            units: 8,
            raw_bytes: 8 << 20,
            rated: Some(3_000),
            rated_key: "nand.endurance_cycles",
            bytes_borne: None,
            bytes_written: 2 << 20,
            wear: Distribution::of(&[0; 8].into_iter()),
            worn_max: 0,
        };
        let told = MediumEndurance::of(&flash, Window { ns: 1, host_bytes: 1 << 20 });
        assert_eq!((told.passes, told.passes_of_most_worn), (Some(12_000.0), None));
        assert_eq!((told.write_amplification, told.notes.len()), (Some(2.0), 1));
        let erased = Worn { wear: Distribution::of(&[0, 0, 0, 0, 1, 1, 1, 1].into_iter()), worn_max: 5, ..flash };
        let told = MediumEndurance::of(&erased, Window { ns: 1, host_bytes: 1 << 20 });
        assert_eq!((told.passes, told.passes_of_most_worn), (Some(12_000.0), Some(3_000.0)));
        assert_eq!((told.used, told.notes.len()), (Some(5.0 / 3_000.0), 0));
    }

    #[test]
    fn a_window_of_no_time_divides_by_nothing() {
        let told = MediumEndurance::of(&hammered(400, Some(100_000)), Window { ns: 0, host_bytes: 0 });
        assert_eq!((told.per_unit_day, told.write_amplification, told.years), (None, None, Some(0.0)));
    }
}
