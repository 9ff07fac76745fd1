//! Whether a profile can be drawn from.

use ninescope_model::{Op, PAGE_BYTES, REQUEST_SECTORS_MAX, SECTOR_BYTES, TIME_MAX};

use super::extents::{PAGE_SECTORS, SIZE_CLASSES};
use super::{Birth, ObjectLaw, PROFILE_VERSION, Part, Profile, ProfileError};

/// The longest lag [requests].
const LAG_MAX: u64 = 1 << 40;

/// The largest span: beyond it a byte address does not fit 64 bits with room to spare.
const SPAN_MAX: u64 = 1 << 60;

fn refuse<T>(key: impl Into<String>, problem: impl Into<String>) -> Result<T, ProfileError> {
    Err(ProfileError::new(key, problem))
}

impl Profile {
    /// Checks that the numbers go together.
    ///
    /// # Errors
    /// The first key that does not, and by how much.
    pub fn validate(&self) -> Result<(), ProfileError> {
        if self.profile != PROFILE_VERSION {
            return refuse("profile", format!("version {} is not {PROFILE_VERSION}", self.profile));
        }
        self.validate_original()?;
        self.validate_addresses()?;
        self.validate_arrivals()?;
        self.validate_jumps()?;
        self.validate_runs()?;
        let stretches = self.objects.first().map_or(0, |law| law.births.len());
        for (index, law) in self.objects.iter().enumerate() {
            let at = |key: &str| format!("objects[{index}].{key}");
            if law.births.is_empty() || law.births.len() != stretches {
                let problem = format!("{} stretches where the first class has {stretches}", law.births.len());
                return refuse(at("births"), problem);
            }
            validate_next(&at("next"), &law.next, self.objects.len())?;
            law.validate(&at, self.addresses.span.0)?;
        }
        let uses = self.objects.iter().map(|law| law.total).fold(0, u64::saturating_add);
        let joined = self.objects.iter().flat_map(|law| &law.lie).filter(|entry| entry.0 == Birth::Joined);
        let joins = joined.map(|entry| entry.1).fold(self.original.joins, u64::saturating_add);
        let drawn = uses.saturating_sub(joins).saturating_add(self.original.flushes);
        if drawn != self.original.requests {
            let requests = self.original.requests;
            let (by, how) = (requests.abs_diff(drawn), if requests > drawn { "more" } else { "fewer" });
            let problem = format!("{requests} are {by} {how} than all uses less joins and all flushes are, {drawn}");
            return refuse("original.requests", problem);
        }
        Ok(())
    }

    fn validate_original(&self) -> Result<(), ProfileError> {
        let original = &self.original;
        if original.requests == 0 {
            return refuse("original.requests", "a trace of no request has no profile");
        }
        let most = self.objects.iter().map(|law| law.total).fold(0, u64::saturating_add);
        for (key, count) in [("joins", original.joins), ("chains", original.chains)] {
            if count > most {
                let problem = format!("{count} are {} more than all uses of objects", count - most);
                return refuse(format!("original.{key}"), problem);
            }
        }
        let lasted = self.arrivals.stretches.iter().copied().fold(0, u64::saturating_add);
        if !self.arrivals.stretches.is_empty() && lasted.abs_diff(original.duration.0) > original.duration.0 / 100 {
            let off = lasted.abs_diff(original.duration.0);
            let problem = format!("{} is {off} ns off the sum of arrivals.stretches", original.duration);
            return refuse("original.duration", problem);
        }
        if original.flushes > original.requests {
            let over = original.flushes - original.requests;
            return refuse("original.flushes", format!("{over} more than there are requests"));
        }
        if original.duration.0 > TIME_MAX.0 {
            return refuse("original.duration", "it is longer than 73 years");
        }
        if original.footprint.0 > self.addresses.span.0 {
            let over = original.footprint.0 - self.addresses.span.0;
            let problem = format!(
                "{} do not fit into addresses.span = {}: {over} bytes too many",
                original.footprint, self.addresses.span
            );
            return refuse("original.footprint", problem);
        }
        Ok(())
    }

    fn validate_addresses(&self) -> Result<(), ProfileError> {
        let span = self.addresses.span.0;
        if !self.objects.is_empty() && span < PAGE_BYTES || span > SPAN_MAX {
            return refuse("addresses.span", format!("{span} bytes lie outside {PAGE_BYTES} to {SPAN_MAX}"));
        }
        match self.addresses.phases.iter().find(|&&(phase, _)| u64::from(phase) >= PAGE_SECTORS) {
            Some((phase, _)) => refuse("addresses.phases", format!("{phase} is not below {PAGE_SECTORS} sectors")),
            None => Ok(()),
        }
    }

    fn validate_jumps(&self) -> Result<(), ProfileError> {
        for (index, law) in self.addresses.jumps.iter().enumerate() {
            let at = |key: &str| format!("addresses.jumps[{index}].{key}");
            validate_share(&at("behind"), law.behind)?;
            validate_quantiles(&at("distances"), &law.distances, SPAN_MAX)?;
            validate_quantiles(&at("ages"), &law.ages, LAG_MAX)?;
        }
        Ok(())
    }

    fn validate_runs(&self) -> Result<(), ProfileError> {
        match self.runs.iter().position(|law| law.op == Op::Flush) {
            Some(index) => refuse(format!("runs[{index}].op"), "a flush has no place"),
            None => Ok(()),
        }
    }

    fn validate_arrivals(&self) -> Result<(), ProfileError> {
        let gaps = &self.arrivals.gaps;
        for (index, class) in gaps.iter().enumerate() {
            let at = |key: &str| format!("arrivals.gaps[{index}].{key}");
            validate_quantiles(&at("lengths"), &class.lengths, TIME_MAX.0)?;
            let (least, most) = (class.lengths[0] as f64, class.lengths[class.lengths.len() - 1] as f64);
            // A mean may be written with fewer digits than it has.
            if !(class.mean >= (least * 0.999 - 1.0).max(0.0) && class.mean <= most * 1.001 + 1.0) {
                return refuse(at("mean"), format!("{} lies outside the lengths, {least} to {most}", class.mean));
            }
            validate_next(&at("next"), &class.next, gaps.len())?;
        }
        match self.arrivals.stretches.iter().find(|&&stretch| stretch > TIME_MAX.0) {
            Some(stretch) => refuse("arrivals.stretches", format!("{stretch} ns are longer than 73 years")),
            None => Ok(()),
        }
    }
}

impl ObjectLaw {
    fn validate(&self, at: &dyn Fn(&str) -> String, span: u64) -> Result<(), ProfileError> {
        if self.op == Op::Flush || self.ops.iter().any(|&(from, to, _)| from == Op::Flush || to == Op::Flush) {
            return refuse(at("op"), "a flush uses no object");
        }
        if !self.uses.is_power_of_two() {
            return refuse(at("uses"), format!("{} is no power of two", self.uses));
        }
        if !SIZE_CLASSES.contains(&self.pages) {
            return refuse(at("pages"), format!("{} is none of {SIZE_CLASSES:?}", self.pages));
        }
        self.validate_total(at)?;
        validate_share(&at("near"), self.near)?;
        validate_share(&at("follows"), self.follows)?;
        if self.lie.iter().all(|&(_, weight)| weight == 0) {
            return refuse(at("lie"), "no place has a weight");
        }
        if self.sizes.iter().all(|&(_, weight)| weight == 0) {
            return refuse(at("sizes"), "no size has a weight");
        }
        validate_sizes(&at("sizes"), &self.sizes, span)?;
        for (index, law) in self.parts.iter().enumerate() {
            let key = |name: &str| at(&format!("parts[{index}].{name}"));
            validate_quantiles(&key("lags"), &law.lags, LAG_MAX)?;
            validate_sizes(&key("sizes"), &law.sizes, span)?;
            if law.part != Part::Whole && law.sizes.iter().all(|&(_, weight)| weight == 0) {
                return refuse(key("sizes"), "no size has a weight");
            }
        }
        if self.uses > 1 && self.parts.iter().all(|law| law.after.iter().all(|&(_, weight)| weight == 0)) {
            return refuse(at("parts"), "objects are used again, but no part has a weight");
        }
        Ok(())
    }

    /// As many requests as so many objects of so many uses can have.
    fn validate_total(&self, at: &dyn Fn(&str) -> String) -> Result<(), ProfileError> {
        let objects = self.births.iter().copied().fold(0, u64::saturating_add);
        let (least, most) =
            (objects.saturating_mul(self.uses), objects.saturating_mul(self.uses.saturating_mul(2) - 1));
        if objects == 0 || self.total < least {
            let problem =
                format!("{} are {} fewer than {objects} objects need", self.total, least - self.total.min(least));
            return refuse(at("total"), problem);
        }
        if self.total > most {
            let problem = format!("{} are {} more than {objects} objects take", self.total, self.total - most);
            return refuse(at("total"), problem);
        }
        Ok(())
    }
}

fn validate_share(key: &str, share: f64) -> Result<(), ProfileError> {
    if (0.0..=1.0).contains(&share) { Ok(()) } else { refuse(key, format!("{share} is no share from 0 to 1")) }
}

fn validate_sizes(key: &str, sizes: &[(u32, u64)], span: u64) -> Result<(), ProfileError> {
    let reach = span / SECTOR_BYTES;
    for &(sectors, _) in sizes {
        if sectors == 0 || sectors > REQUEST_SECTORS_MAX {
            return refuse(key, format!("{sectors} lies outside 1 to {REQUEST_SECTORS_MAX} sectors"));
        }
        if u64::from(sectors) > reach {
            return refuse(key, format!("{sectors} sectors are {} more than the span has", u64::from(sectors) - reach));
        }
    }
    Ok(())
}

fn validate_next(key: &str, next: &[(u32, u64)], entries: usize) -> Result<(), ProfileError> {
    match next.iter().find(|&&(entry, _)| entry as usize >= entries) {
        Some((entry, _)) => refuse(key, format!("there is no entry {entry}; the last one is {}", entries - 1)),
        None => Ok(()),
    }
}

fn validate_quantiles(key: &str, quantiles: &[u64], limit: u64) -> Result<(), ProfileError> {
    if quantiles.is_empty() {
        return refuse(key, "there are none");
    }
    let descent = quantiles.iter().zip(quantiles.iter().skip(1)).find(|(one, next)| one > next);
    if let Some((one, next)) = descent {
        return refuse(key, format!("{one} is followed by {next}; they ascend"));
    }
    match quantiles.last().filter(|&&last| last > limit) {
        Some(last) => refuse(key, format!("{last} is more than {limit}")),
        None => Ok(()),
    }
}
