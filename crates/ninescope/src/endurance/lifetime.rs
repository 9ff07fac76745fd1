//! How long a drive lasts: as long as the first of its media.

use serde::Serialize;

use super::medium::{DAYS_PER_YEAR, Life, MediumEndurance, Window, ratio, years};

/// How long a drive bears the measured window, repeated from new.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lifetime {
    /// The medium that is worn out first.
    pub limited_by: Option<&'static str>,
    /// How often the window can be repeated until then.
    pub passes: Option<f64>,
    /// How long that takes at the measured rate [years].
    pub years: Option<f64>,
    /// What the host can write until then [B].
    pub host_bytes: Option<f64>,
    /// How often the host can write the whole drive on each day of `dwpd_years`, at any rate.
    pub dwpd: Option<f64>,
    /// The years over which `dwpd` counts [years].
    pub dwpd_years: f64,
    /// Why there are no `passes`.
    pub reason: Option<String>,
}

impl Lifetime {
    /// The smallest life of the media. A medium whose rating is unknown leaves the whole unknown: it might be the first.
    pub fn of(media: &[(&'static str, MediumEndurance)], window: Window, logical_bytes: u64, dwpd_years: f64) -> Self {
        let lives = || media.iter().map(|(name, medium)| (*name, medium.life()));
        let unknown = media.iter().find(|(_, medium)| medium.life() == Life::Unknown);
        let limited = lives().filter_map(|(name, life)| match life {
            Life::Passes(passes) => Some((name, passes)),
            _ => None,
        });
        let first = limited.min_by(|one, other| one.1.total_cmp(&other.1)).filter(|_| unknown.is_none());
        let passes = first.map(|(_, passes)| passes);
        let host_bytes = passes.filter(|_| window.host_bytes > 0).map(|passes| passes * window.host_bytes as f64);
        let drive_days = logical_bytes as f64 * DAYS_PER_YEAR * dwpd_years;
        let reason = match (first, unknown) {
            (Some(_), _) => None,
            (None, Some((name, medium))) => Some(format!("{name}: {}", medium.reason.as_deref().unwrap_or("unknown"))),
            (None, None) => Some("unlimited: nothing was written in the window".to_owned()),
        };
        Self {
            limited_by: first.map(|(name, _)| name),
            passes,
            years: passes.map(|passes| years(passes, window)),
            host_bytes,
            dwpd: host_bytes.and_then(|bytes| ratio(bytes, drive_days)),
            dwpd_years,
            reason,
        }
    }
}

impl Lifetime {
    /// The same of a drive that takes no more writes: nothing of it is left.
    #[must_use]
    pub fn is_over(self) -> Self {
        let reason = Some("over: the drive takes no more writes".to_owned());
        Self { passes: None, years: None, host_bytes: None, dwpd: None, reason, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::super::distribution::Distribution;
    use super::super::medium::{LifeBy, WearUnit, Worn};
    use super::*;

    const WINDOW: Window = Window { ns: 86_400_000_000_000, host_bytes: 500_000 };

    /// A medium of ten units, each written `writes` times a day.
    fn medium(writes: u32, rated: Option<u32>, unit: WearUnit, rated_key: &'static str) -> MediumEndurance {
        let worn = Worn {
            unit,
            life_by: LifeBy::MostWorn,
            units: 10,
            raw_bytes: 5_120,
            rated,
            rated_key,
            bytes_borne: None,
            bytes_written: u64::from(writes) * 5_120,
            wear: Distribution::of(&[writes; 10].into_iter()),
            worn_max: writes.into(),
        };
        MediumEndurance::of(&worn, WINDOW)
    }

    fn nand(writes: u32, rated: Option<u32>) -> (&'static str, MediumEndurance) {
        ("nand", medium(writes, rated, WearUnit::Block, "nand.endurance_cycles"))
    }

    fn scm(writes: u32, rated: Option<u32>) -> (&'static str, MediumEndurance) {
        ("scm", medium(writes, rated, WearUnit::Sector, "scm.endurance_writes"))
    }

    fn lifetime(media: &[(&'static str, MediumEndurance)]) -> Lifetime {
        Lifetime::of(media, WINDOW, 1_000_000, 5.0)
    }

    #[test]
    fn a_hybrid_lasts_as_long_as_the_first_of_its_media() {
        let flash_first = lifetime(&[nand(2, Some(3_650)), scm(100, Some(1_000_000))]);
        assert_eq!((flash_first.limited_by, flash_first.passes), (Some("nand"), Some(1_825.0)));
        // A pass is a day: 5 years, in which half of the drive is written each day.
        assert_eq!((flash_first.years, flash_first.dwpd), (Some(5.0), Some(0.5)));
        assert_eq!(flash_first.host_bytes, Some(1_825.0 * 500_000.0));
        let memory_first = lifetime(&[nand(2, Some(3_650)), scm(100, Some(100_000))]);
        assert_eq!((memory_first.limited_by, memory_first.passes), (Some("scm"), Some(1_000.0)));
        assert_eq!(lifetime(&[scm(100, Some(100_000)), nand(2, Some(3_650))]), memory_first, "in any order");
    }

    #[test]
    fn dwpd_over_fewer_years_is_as_much_more() {
        let media = [nand(2, Some(3_650))];
        let (five, one) = (lifetime(&media), Lifetime::of(&media, WINDOW, 1_000_000, 1.0));
        assert_eq!((five.dwpd, one.dwpd, one.dwpd_years), (Some(0.5), Some(2.5), 1.0));
    }

    #[test]
    fn a_medium_that_is_not_written_limits_nothing() {
        let drive = lifetime(&[nand(0, Some(3_000)), scm(100, Some(100_000))]);
        assert_eq!((drive.limited_by, drive.passes), (Some("scm"), Some(1_000.0)));
        let idle = lifetime(&[nand(0, Some(3_000)), scm(0, None)]);
        assert_eq!((idle.limited_by, idle.passes, idle.years, idle.dwpd), (None, None, None, None));
        assert!(idle.reason.is_some_and(|reason| reason.starts_with("unlimited")));
    }

    #[test]
    fn an_unrated_medium_that_is_written_leaves_the_lifetime_unknown() {
        let drive = lifetime(&[nand(2, None), scm(100, Some(100_000))]);
        assert_eq!((drive.limited_by, drive.passes, drive.dwpd), (None, None, None));
        assert_eq!(drive.reason.as_deref(), Some("nand: unknown: the drive does not say nand.endurance_cycles"));
    }
}
