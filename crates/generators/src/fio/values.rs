//! The values of fio's options: sizes are in units of 1024, a bare time is seconds.

use ninescope_model::units::{Bytes, Duration};
use ninescope_model::{LANES_MAX, SECTOR_BYTES};

use crate::{AccessPattern, AddressDistribution, JobError, SizeRange, SizeSplit};

pub fn pattern(value: &str) -> Result<AccessPattern, String> {
    Ok(match value {
        "read" => AccessPattern::Read,
        "write" => AccessPattern::Write,
        "trim" => AccessPattern::Trim,
        "randread" => AccessPattern::RandRead,
        "randwrite" => AccessPattern::RandWrite,
        "randtrim" => AccessPattern::RandTrim,
        "rw" | "readwrite" => AccessPattern::Rw,
        "randrw" => AccessPattern::RandRw,
        _ => {
            return Err(format!(
                "`{value}` is not supported, only read, write, trim, randread, randwrite, randtrim, rw or randrw"
            ));
        }
    })
}

/// A `bsrange` with fio's units.
pub fn ranges(value: &str) -> Result<SizeRange, String> {
    let range = |range: &str| -> Result<String, String> {
        let (least, most) = range.split_once('-').ok_or_else(|| format!("`{range}` is not a range such as 4k-16k"))?;
        Ok(format!("{}-{}", size(least)?, size(most)?))
    };
    let text = value.split(',').map(range).collect::<Result<Vec<_>, _>>()?.join(",");
    text.parse().map_err(|error: JobError| error.problem)
}

/// Rates of reads, writes and trims: 0, or nothing between commas, is no rate. A direction that is left out is like the
/// one before it.
pub fn rates(value: &str) -> Result<[u64; 3], String> {
    by_direction(value, |rate| if rate.is_empty() { Ok(0) } else { number(rate) })
}

/// Shares of reads, writes and trims [percent]: all of them where nothing stands between commas.
pub fn shares(value: &str) -> Result<[u8; 3], String> {
    by_direction(value, |share| if share.is_empty() { Ok(100) } else { percent(share) })
}

/// What is said of reads, writes and trims.
fn by_direction<T: Copy>(value: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<[T; 3], String> {
    let mut found = value.split(',').map(|each| read(each.trim())).collect::<Result<Vec<T>, _>>()?;
    if found.len() > 3 {
        return Err(format!("`{value}`: there are three directions: reads, writes, trims"));
    }
    while found.len() < 3 {
        found.extend(found.last().copied());
    }
    found.try_into().map_err(|_| "no value".to_owned())
}

/// fio divides a job's size among its files; here it has one.
pub fn one_file(value: &str) -> Result<(), String> {
    if value == "1" { Ok(()) } else { Err(format!("`{value}` is not supported: a job works on one file")) }
}

/// How many jobs a section stands for.
pub fn copies(value: &str) -> Result<u32, String> {
    let jobs: u32 = number(value)?;
    if jobs == 0 || jobs as usize > LANES_MAX {
        return Err(format!("{jobs} jobs cannot run at the same time, only 1 to {LANES_MAX}"));
    }
    Ok(jobs)
}

/// How many bytes, or what share of the drive [percent].
pub fn region(value: &str) -> Result<(Option<Bytes>, Option<f64>), String> {
    let Some(percent) = value.strip_suffix('%') else { return Ok((Some(Bytes(size(value)?)), None)) };
    match number::<u8>(percent.trim())? {
        percent @ 1..=100 => Ok((None, Some(f64::from(percent)))),
        _ => Err(format!("`{value}` is not a share of the drive (1% to 100%)")),
    }
}

/// Where a region begins: at so many bytes, or at what share of the drive [percent].
pub fn begin(value: &str) -> Result<(Bytes, Option<f64>), String> {
    let Some(percent) = value.strip_suffix('%') else { return Ok((Bytes(size(value)?), None)) };
    match number::<u8>(percent.trim())? {
        percent @ 0..=99 => Ok((Bytes(0), Some(f64::from(percent)).filter(|&percent| percent > 0.0))),
        _ => Err(format!("`{value}` is not a share of the drive (0% to 99%)")),
    }
}

/// Sizes of one or more directions, "4k" or "4k,8k", as ranges of one size each.
pub fn sizes(value: &str) -> Result<SizeRange, String> {
    let alike = |text: &str| match size(text)? {
        0 => Err(format!("`{text}` is not a positive size")),
        bytes if bytes.is_multiple_of(SECTOR_BYTES) => Ok(format!("{bytes}-{bytes}")),
        bytes => Err(format!("{} is not a multiple of 512 bytes", Bytes(bytes))),
    };
    ranges(&value.split(',').map(alike).collect::<Result<Vec<_>, _>>()?.join(","))
}

/// The share of the writes that are synchronous.
pub fn synchronous_writes(value: &str) -> Result<f64, String> {
    match value {
        "1" | "sync" | "dsync" => Ok(1.0),
        _ => Err(format!("`{value}` is not none, sync or dsync")),
    }
}

/// Whether an engine of fio completes a request before it takes the next one, so that its depth is 1.
pub fn is_synchronous(engine: &str) -> Result<bool, String> {
    match engine {
        "sync" | "psync" | "pvsync" | "pvsync2" | "mmap" | "splice" | "sg" | "pmemblk" | "dev-dax" | "libpmem" => {
            Ok(true)
        }
        "libaio" | "io_uring" | "io_uring_cmd" | "posixaio" | "solarisaio" | "windowsaio" | "null" | "nbd" | "rbd"
        | "rados" => Ok(false),
        "vsync" => Err("`vsync` joins requests that follow each other; give pvsync".to_owned()),
        _ => Err(format!("`{engine}` is not supported: it is no engine known here that reads and writes blocks")),
    }
}

/// A `bssplit` with fio's units.
pub fn split(value: &str) -> Result<SizeSplit, String> {
    let entry = |entry: &str| -> Result<String, String> {
        let (bytes, share) = entry.split_once('/').unwrap_or((entry, ""));
        Ok(format!("{}/{share}", size(bytes)?))
    };
    let list = |list: &str| list.split(':').map(entry).collect::<Result<Vec<_>, _>>().map(|list| list.join(":"));
    let text = value.split(',').map(list).collect::<Result<Vec<_>, _>>()?.join(",");
    text.parse().map_err(|error: JobError| error.problem)
}

pub fn distribution(value: &str) -> Result<AddressDistribution, String> {
    if let Some(zones) = value.strip_prefix("zoned_abs:") {
        return extents(zones);
    }
    let text = match value {
        "zipf" => "zipf:1.1",
        "pareto" => "pareto:0.2",
        other if other.starts_with("hotcold") => {
            return Err(format!("`{other}`: fio has no such distribution; give zoned, such as zoned:90/10:10/90"));
        }
        other if other.strip_prefix("zipf:").and_then(|theta| theta.parse().ok()) == Some(1.0) => {
            return Err(format!("`{other}`: fio refuses a theta of 1; give one beside it, such as zipf:0.99"));
        }
        other => other,
    };
    text.parse().map_err(|error: JobError| error.problem)
}

/// Zones of sizes with fio's units.
fn extents(zones: &str) -> Result<AddressDistribution, String> {
    if zones.contains(',') {
        return Err(format!("`{zones}` gives each direction zones of its own; only one list for all is supported"));
    }
    let zone = |zone: &str| -> Result<String, String> {
        let (share, bytes) = zone.split_once('/').ok_or_else(|| format!("`{zone}` is not a zone such as 60/20g"))?;
        Ok(format!("{share}/{}", size(bytes)?))
    };
    let zones = zones.split(':').map(zone).collect::<Result<Vec<_>, _>>()?.join(":");
    format!("zoned_abs:{zones}").parse().map_err(|error: JobError| error.problem)
}

/// A count, which takes the suffixes of a size.
pub fn number<T: TryFrom<u64>>(value: &str) -> Result<T, String> {
    let wrong = || format!("`{value}` is not a whole number in range");
    size(value).ok().and_then(|count| T::try_from(count).ok()).ok_or_else(wrong)
}

fn whole(digits: &str) -> Result<u64, String> {
    digits.parse().map_err(|_| format!("`{digits}` is not a whole number in range"))
}

pub fn percent(value: &str) -> Result<u8, String> {
    number(value)
        .ok()
        .filter(|&percent| percent <= 100)
        .ok_or_else(|| format!("`{value}` is not a percentage (0 to 100)"))
}

pub fn flag(value: &str) -> Result<bool, String> {
    match value {
        "" | "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        _ => Err(format!("`{value}` is not 0 or 1")),
    }
}

/// A size with fio's suffixes: k, m, g, t, with or without b, in units of 1024; or a hexadecimal one without, `0x1000`.
pub fn size(value: &str) -> Result<u64, String> {
    let value = value.trim().to_ascii_lowercase();
    if let Some(digits) = value.strip_prefix("0x") {
        let wrong = |_| format!("`{value}` is not a hexadecimal number, which has no suffix");
        return u64::from_str_radix(digits, 16).map_err(wrong);
    }
    let digits = value.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(value.len());
    let power = match &value[digits..] {
        "" | "b" => 0,
        "k" | "kb" => 1,
        "m" | "mb" => 2,
        "g" | "gb" => 3,
        "t" | "tb" => 4,
        "%" => {
            return Err(format!("`{value}`: a share of the drive is read for size and offset alone; write the bytes"));
        }
        suffix if suffix.contains('i') => {
            return Err(format!("`{value}`: fio takes {suffix} for a power of 1000; write k, m or g"));
        }
        _ => return Err(format!("`{value}` is not a size such as 4k")),
    };
    let number = whole(&value[..digits])?;
    number.checked_mul(1 << (10 * power)).ok_or_else(|| format!("`{value}` is too large"))
}

/// A time with fio's suffixes; bare it is seconds.
pub fn time(value: &str) -> Result<Duration, String> {
    time_in(value, 1_000_000_000)
}

/// A time with fio's suffixes; bare it is microseconds.
pub fn thinking(value: &str) -> Result<Duration, String> {
    time_in(value, 1_000)
}

fn time_in(value: &str, bare_ns: u64) -> Result<Duration, String> {
    let digits = value.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(value.len());
    let unit: u64 = match &value[digits..] {
        "" => bare_ns,
        "us" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return Err(format!("`{value}` is not a time such as 60, 60s or 5m")),
    };
    let number = whole(&value[..digits])?;
    number.checked_mul(unit).map(Duration).ok_or_else(|| format!("`{value}` is too long"))
}
