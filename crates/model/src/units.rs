//! Values with units as people write them in configurations: "16KiB", "45us", "1200MB/s".
//!
//! Each kind of value is an integer newtype that reads itself from text and prints itself back exactly.
//! Fractions are computed in integers, so that "3.5ms" is 3 500 000 ns and nothing near it. This module
//! must not know which setting a value belongs to.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::{Serialize, Serializer};
use serde_json::json;

/// A value with a unit that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// It is none of its kind.
    #[error("`{value}` is not a {kind}: {problem}; write {accepted}")]
    Unreadable {
        /// As it was written.
        value: String,
        /// What it should be.
        kind: &'static str,
        /// What is wrong with it.
        problem: &'static str,
        /// What can be written.
        accepted: &'static str,
    },
    /// It is a number alone, which could be of any unit.
    #[error("`{value}` has no unit: write {}", with_units(value, units))]
    NoUnit {
        /// As it was written.
        value: String,
        /// Units that it could have.
        units: &'static [&'static str],
    },
}

/// A number with each of the units, in words.
fn with_units(number: &str, units: &[&str]) -> String {
    let ways: Vec<String> = units.iter().map(|unit| format!("{number}{unit}")).collect();
    match ways.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => ways.concat(),
    }
}

/// What one kind of value accepts and how it prints.
struct Scale {
    kind: &'static str,
    accepted: &'static str,
    /// Units in lower case and how many base units each holds.
    units: &'static [(&'static str, u64)],
    /// Units used for printing, those with equal claim in order of preference.
    printed: &'static [(&'static str, u64)],
    /// Whether a value between two whole base units is rounded to the nearest instead of refused.
    rounds: bool,
    /// Units that a number alone, other than 0, is asked to have; none: it counts base units. A number of bytes is one
    /// for whoever sees it, and fio's way to write a size; a time of 45 is microseconds to one and nanoseconds to the
    /// other.
    wanted: &'static [&'static str],
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
const TIB: u64 = 1 << 40;
const KB: u64 = 1_000;
const MB: u64 = 1_000_000;
const GB: u64 = 1_000_000_000;
const TB: u64 = 1_000_000_000_000;
/// Of times [ns].
const HOUR: u64 = 3600 * GB;
const DAY: u64 = 24 * HOUR;

const SIZE: Scale = Scale {
    kind: "size",
    accepted: "a whole number of bytes, or a number with B, k, M, G, T, KiB, MiB, GiB, TiB (powers of 1024), \
               KB, MB, GB or TB (powers of 1000)",
    units: &[
        ("b", 1),
        ("k", KIB),
        ("m", MIB),
        ("g", GIB),
        ("t", TIB),
        ("kib", KIB),
        ("mib", MIB),
        ("gib", GIB),
        ("tib", TIB),
        ("kb", KB),
        ("mb", MB),
        ("gb", GB),
        ("tb", TB),
    ],
    printed: &[
        ("TiB", TIB),
        ("GiB", GIB),
        ("MiB", MIB),
        ("KiB", KIB),
        ("TB", TB),
        ("GB", GB),
        ("MB", MB),
        ("KB", KB),
        ("B", 1),
    ],
    rounds: false,
    wanted: &[],
};

const TIME: Scale = Scale {
    kind: "duration",
    accepted: "a number with ns, us, ms, s, min, h or d, or 0",
    units: &[
        ("ns", 1),
        ("us", KB),
        ("\u{b5}s", KB),
        ("\u{3bc}s", KB),
        ("ms", MB),
        ("s", GB),
        ("min", 60 * GB),
        ("h", HOUR),
        ("d", DAY),
    ],
    printed: &[("d", DAY), ("h", HOUR), ("s", GB), ("ms", MB), ("us", KB), ("ns", 1)],
    rounds: false,
    wanted: &["ns", "us", "ms", "s"],
};

const RATE: Scale = Scale {
    kind: "transfer rate",
    accepted: "a number with B/s, KB/s, MB/s, GB/s, TB/s (powers of 1000), KiB/s, MiB/s, GiB/s or TiB/s (powers of \
               1024), or 0",
    units: &[
        ("b/s", 1),
        ("kb/s", KB),
        ("mb/s", MB),
        ("gb/s", GB),
        ("tb/s", TB),
        ("kib/s", KIB),
        ("mib/s", MIB),
        ("gib/s", GIB),
        ("tib/s", TIB),
    ],
    printed: &[
        ("TB/s", TB),
        ("GB/s", GB),
        ("MB/s", MB),
        ("KB/s", KB),
        ("TiB/s", TIB),
        ("GiB/s", GIB),
        ("MiB/s", MIB),
        ("KiB/s", KIB),
        ("B/s", 1),
    ],
    rounds: true,
    wanted: &["B/s", "MB/s", "MiB/s", "GB/s"],
};

const FREQUENCY: Scale = Scale {
    kind: "frequency",
    accepted: "a number with Hz, kHz, MHz or GHz",
    units: &[("hz", 1), ("khz", KB), ("mhz", MB), ("ghz", GB)],
    printed: &[("GHz", GB), ("MHz", MB), ("kHz", KB), ("Hz", 1)],
    rounds: false,
    wanted: &["MHz", "GHz"],
};

/// In microwatts: with a time in nanoseconds it makes femtojoules.
const POWER: Scale = Scale {
    kind: "power",
    accepted: "a number with uW, mW, W or kW, or 0",
    units: &[("uw", 1), ("\u{b5}w", 1), ("\u{3bc}w", 1), ("mw", KB), ("w", MB), ("kw", GB)],
    printed: &[("kW", GB), ("W", MB), ("mW", KB), ("uW", 1)],
    rounds: false,
    wanted: &["uW", "mW", "W"],
};

/// In femtojoules.
const ENERGY: Scale = Scale {
    kind: "number of joules",
    accepted: "a number with fJ, pJ, nJ, uJ, mJ or J, or 0",
    units: &[
        ("fj", 1),
        ("pj", KB),
        ("nj", MB),
        ("uj", GB),
        ("\u{b5}j", GB),
        ("\u{3bc}j", GB),
        ("mj", TB),
        ("j", 1_000 * TB),
    ],
    printed: &[("J", 1_000 * TB), ("mJ", TB), ("uJ", GB), ("nJ", MB), ("pJ", KB), ("fJ", 1)],
    rounds: false,
    wanted: &["pJ", "nJ", "uJ"],
};

impl Scale {
    fn parse(&self, text: &str) -> Result<u64, UnitError> {
        let is_alone = || text.bytes().all(|byte| byte.is_ascii_digit() || b". ".contains(&byte));
        let is_positive = || text.trim().parse::<f64>().is_ok_and(|number| number > 0.0);
        if !self.wanted.is_empty() && is_alone() && is_positive() {
            return Err(self.no_unit(text.trim()));
        }
        self.value_of(text.trim()).map_err(|problem| self.unreadable(text, problem))
    }

    fn unreadable(&self, text: &str, problem: &'static str) -> UnitError {
        UnitError::Unreadable { value: text.to_owned(), kind: self.kind, problem, accepted: self.accepted }
    }

    fn no_unit(&self, number: &str) -> UnitError {
        UnitError::NoUnit { value: number.to_owned(), units: self.wanted }
    }

    fn value_of(&self, text: &str) -> Result<u64, &'static str> {
        if text.is_empty() {
            return Err("it is empty");
        }
        if text.starts_with('-') {
            return Err("it is negative");
        }
        let unit_start = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(unit_start);
        if number.is_empty() {
            return Err("it does not begin with a number");
        }
        let unit = unit.trim_start();
        if matches!(unit, "Kb/s" | "Mb/s" | "Gb/s" | "Tb/s") {
            return Err("a small b after a capital stands for bits: bytes are B");
        }
        if unit == "%" {
            return Err("a share has a key of its own where one is taken, as `size_percent` for `size`");
        }
        let unit = unit.to_lowercase();
        if is_exponent(&unit) {
            return Err("exponents are unknown here, all digits are written");
        }
        let factor = if unit.is_empty() {
            1
        } else {
            self.units.iter().find(|(name, _)| *name == unit).ok_or("the unit is unknown")?.1
        };
        self.scaled(number, factor)
    }

    /// `number * factor` in integers.
    fn scaled(&self, number: &str, factor: u64) -> Result<u64, &'static str> {
        const TOO_LARGE: &str = "it is too large";
        let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
        if whole.is_empty() || fraction.is_empty() || fraction.contains('.') {
            return Err("the number is malformed");
        }
        let whole: u64 = whole.parse().map_err(|_| TOO_LARGE)?;
        let fraction = fraction.trim_end_matches('0');
        if fraction.len() > 18 {
            return Err("the fraction has more than 18 digits");
        }
        let numerator = u128::from(fraction.parse::<u64>().unwrap_or(0)) * u128::from(factor);
        let denominator = 10_u128.pow(fraction.len() as u32);
        if !self.rounds && !numerator.is_multiple_of(denominator) {
            return Err("it is not a whole number of the smallest unit");
        }
        let parts = (numerator + denominator / 2) / denominator;
        u64::try_from(u128::from(whole) * u128::from(factor) + parts).map_err(|_| TOO_LARGE)
    }

    /// What is written for such a value: a number, or a number with one of the units in a string.
    fn schema(&self) -> Schema {
        let units: Vec<String> = self.units.iter().map(|(name, _)| in_any_case(name)).collect();
        let units = units.join("|");
        let alone = self.wanted.is_empty();
        let pattern = if alone {
            format!(r"^\s*[0-9]+(\.[0-9]+)?\s*({units})?\s*$")
        } else {
            format!(r"^\s*([0-9]+(\.[0-9]+)?\s*({units})|0+(\.0+)?)\s*$")
        };
        let number = if alone { json!({ "type": "integer", "minimum": 0 }) } else { json!({ "const": 0 }) };
        json_schema!({
            "description": format!("A {}: {}.", self.kind, self.accepted),
            "oneOf": [number, { "type": "string", "pattern": pattern }],
        })
    }

    /// The exact form with the smallest numeral.
    fn print(&self, value: u64, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dividing = self.printed.iter().filter(|(_, factor)| value.is_multiple_of(*factor) && value >= *factor);
        match dividing.min_by_key(|(_, factor)| value / factor) {
            Some((name, factor)) => write!(formatter, "{}{name}", value / factor),
            None => write!(formatter, "0{}", self.printed.last().map_or("", |(name, _)| name)),
        }
    }
}

/// Whether what follows a number begins as an exponent does ("e30s"); no unit has a digit or a sign there.
fn is_exponent(unit: &str) -> bool {
    unit.strip_prefix('e').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || c == '+' || c == '-'))
}

/// A pattern of a unit in capitals, small letters or both: JSON Schema knows no patterns without regard to case.
fn in_any_case(unit: &str) -> String {
    let both = |letter: char| {
        let capital = letter.to_uppercase();
        // \u{b5} and \u{3bc} share a capital, which means the second.
        if letter.is_alphabetic() && letter != '\u{b5}' { format!("[{letter}{capital}]") } else { letter.to_string() }
    };
    unit.chars().map(both).collect()
}

/// Reads a value from a string, or from a number, which is what the same digits in a string are.
struct ScaleVisitor(&'static Scale);

impl Visitor<'_> for ScaleVisitor {
    type Value = u64;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a {}: {}", self.0.kind, self.0.accepted)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<u64, E> {
        self.0.parse(&value.to_string()).map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<u64, E> {
        // A negative integer is refused with the same words as a negative string.
        self.0.parse(&value.to_string()).map_err(E::custom)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<u64, E> {
        self.0.parse(&value.to_string()).map_err(E::custom)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<u64, E> {
        self.0.parse(text).map_err(E::custom)
    }
}

macro_rules! unit_value {
    ($(#[$meta:meta])* $name:ident, $scale:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(pub u64);

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $scale.schema()
            }
        }

        impl FromStr for $name {
            type Err = UnitError;
            fn from_str(text: &str) -> Result<Self, UnitError> {
                $scale.parse(text).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                $scale.print(self.0, formatter)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(ScaleVisitor(&$scale)).map(Self)
            }
        }
    };
}

unit_value! {
    /// A size [bytes]: "16KiB", "4k" (fio's 4096), "1GB" (10^9), or a plain integer.
    Bytes, SIZE
}

impl Bytes {
    /// As it prints, and about how much that is in the unit that fits it where these differ: "141116768KiB (134.6GiB)".
    pub fn told(self) -> String {
        let (name, unit) = [("TiB", TIB), ("GiB", GIB), ("MiB", MIB)]
            .into_iter()
            .find(|&(_, unit)| self.0 >= unit)
            .unwrap_or(("KiB", KIB));
        if self.0.is_multiple_of(unit) || self.0 < KIB {
            return self.to_string();
        }
        format!("{self} ({:.1}{name})", self.0 as f64 / unit as f64)
    }
}

unit_value! {
    /// A span of time [ns]: "800ns", "45us", "3.5ms", "1s", "12h", "90d", or 0.
    Duration, TIME
}

unit_value! {
    /// A transfer rate [bytes per second]: "1200MB/s", "1.2GiB/s", or 0. A fraction that is no
    /// whole number of bytes per second (as in "1.2GiB/s") is rounded to the nearest one.
    BytesPerSecond, RATE
}

unit_value! {
    /// Cycles per second: "500MHz", "1.2GHz".
    Hertz, FREQUENCY
}

unit_value! {
    /// A power [uW]: "33uW", "82.5mW", "5W", or 0.
    Microwatts, POWER
}

unit_value! {
    /// An energy [fJ]: "19.8pJ", "4.79uJ", or 0.
    Femtojoules, ENERGY
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_size_that_is_no_whole_number_of_its_unit_is_told_in_both() {
        let told = |bytes: u64| Bytes(bytes).told();
        assert_eq!(told(141_116_768 << 10), "141116768KiB (134.6GiB)");
        assert_eq!(told(5 << 30), "5GiB");
        assert_eq!(told(100), Bytes(100).to_string());
        assert_eq!(told(3 * 512), format!("{} (1.5KiB)", Bytes(3 * 512)));
    }

    #[test]
    fn sizes_are_read_exactly() {
        let cases = [
            ("4KiB", 4096),
            ("4k", 4096),
            ("16K", 16_384),
            ("1MiB", 1 << 20),
            ("2GiB", 2 << 30),
            ("1GB", 1_000_000_000),
            ("1.5 KiB", 1536),
            ("512", 512),
            ("0", 0),
            ("7b", 7),
        ];
        for (text, bytes) in cases {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
        }
    }

    #[test]
    fn durations_and_rates_are_read_exactly() {
        for (text, ns) in
            [("45us", 45_000), ("3.5ms", 3_500_000), ("1s", 1_000_000_000), ("800ns", 800), ("0", 0), ("0.0", 0)]
        {
            assert_eq!(text.parse(), Ok(Duration(ns)), "{text}");
        }
        for (text, seconds) in [("2min", 120), ("36h", 129_600), ("0.5 h", 1800), ("90d", 7_776_000), ("1.5D", 129_600)]
        {
            assert_eq!(text.parse(), Ok(Duration(seconds * GB)), "{text}");
        }
        let error = "1200Mb/s".parse::<BytesPerSecond>().expect_err("bits").to_string();
        assert!(error.contains("bits"), "{error}");
        for (text, rate) in [
            ("1200MB/s", 1_200_000_000),
            ("1200mb/s", 1_200_000_000),
            ("3.2GB/s", 3_200_000_000),
            ("1.2GiB/s", 1_288_490_189),
        ] {
            assert_eq!(text.parse(), Ok(BytesPerSecond(rate)), "{text}");
        }
    }

    #[test]
    fn powers_and_energies_are_read_exactly() {
        for (text, power) in [("82.5mW", 82_500), ("33uW", 33), ("5 W", 5_000_000), ("1kW", 1_000_000_000), ("0", 0)] {
            assert_eq!(text.parse(), Ok(Microwatts(power)), "{text}");
        }
        for (text, energy) in [("19.76pJ", 19_760), ("4.79uJ", 4_790_000_000), ("2nJ", 2_000_000), ("1J", 1_000 * TB)] {
            assert_eq!(text.parse(), Ok(Femtojoules(energy)), "{text}");
        }
        assert!("0.5uW".parse::<Microwatts>().is_err() && "5uW".parse::<Femtojoules>().is_err());
        let error = "5".parse::<Microwatts>().expect_err("of no unit").to_string();
        assert_eq!(error, "`5` has no unit: write 5uW, 5mW or 5W");
        assert_eq!(
            (Microwatts(82_500).to_string(), Femtojoules(19_760).to_string()),
            ("82500uW".into(), "19760fJ".into())
        );
    }

    #[test]
    fn what_cannot_be_read_is_named_with_the_accepted_units() {
        let refused = [
            ("", "empty"),
            ("-4k", "negative"),
            ("4X", "unknown"),
            ("4.k", "malformed"),
            ("1.2.3k", "malformed"),
            ("k", "begin with a number"),
            ("1.1KiB", "whole number"),
            ("0.1", "whole number"),
            ("1e3", "unknown"),
            ("1e3", "exponent"),
            ("1E30k", "exponent"),
            ("1.5e-3k", "exponent"),
            ("25 %", "a key of its own"),
            ("1exa", "the unit is unknown"),
            ("99999999999999999999", "too large"),
            ("16777216TiB", "too large"),
        ];
        for (text, reason) in refused {
            let error = text.parse::<Bytes>().expect_err(text).to_string();
            assert!(error.contains(&format!("`{text}`")) && error.contains(reason), "{error}");
            assert!(error.contains("KiB"), "{error}");
        }
        assert!("0.5ns".parse::<Duration>().is_err() && "5MB".parse::<BytesPerSecond>().is_err());
    }

    #[test]
    fn a_number_alone_counts_bytes_and_is_no_time_and_no_rate() {
        for (text, ways) in [("45", "45ns, 45us, 45ms or 45s"), (" 4.5 ", "4.5ns, 4.5us, 4.5ms or 4.5s")] {
            let error = text.parse::<Duration>().expect_err(text).to_string();
            assert_eq!(error, format!("`{}` has no unit: write {ways}", text.trim()));
        }
        let error = "1200".parse::<BytesPerSecond>().expect_err("of no unit").to_string();
        assert_eq!(error, "`1200` has no unit: write 1200B/s, 1200MB/s, 1200MiB/s or 1200GB/s");
        assert_eq!(("4096".parse(), "0".parse()), (Ok(Bytes(4096)), Ok(BytesPerSecond(0))));
    }

    #[test]
    fn values_print_with_the_smallest_exact_numeral() {
        for (value, text) in [(16_384, "16KiB"), (0, "0B"), (10_000_000_000, "10GB"), (1000, "1KB"), (1023, "1023B")] {
            assert_eq!(Bytes(value).to_string(), text);
        }
        assert_eq!(Duration(45_000).to_string(), "45us");
        assert_eq!(Duration(3_500_000).to_string(), "3500us");
        for (seconds, text) in [(60, "60s"), (3600, "1h"), (129_600, "36h"), (7_776_000, "90d")] {
            assert_eq!(Duration(seconds * GB).to_string(), text);
        }
        assert_eq!(BytesPerSecond(1_200_000_000).to_string(), "1200MB/s");
    }

    #[test]
    fn toml_takes_strings_and_integers_and_refuses_the_rest() {
        #[derive(Debug, serde::Deserialize, serde::Serialize, PartialEq)]
        struct Settings {
            unit: Bytes,
            read: Duration,
            rate: BytesPerSecond,
        }
        let settings: Settings = toml::from_str("unit = 16384\nread = '45us'\nrate = '1.2GB/s'").expect("good TOML");
        assert_eq!(settings.read, Duration(45_000));
        let text = toml::to_string(&settings).expect("serializes");
        assert_eq!(text, "unit = \"16KiB\"\nread = \"45us\"\nrate = \"1200MB/s\"\n");
        assert_eq!(toml::from_str::<Settings>(&text).expect("reads back"), settings);
        let refused = [
            ("unit = -1", "`-1`"),
            ("unit = 1.5", "a size"),
            ("unit = 'x'", "`x`"),
            ("unit = 1\nread = 45", "`45` has no unit"),
            ("unit = 1\nread = 4.5", "`4.5` has no unit"),
            ("unit = 1\nread = 0\nrate = 1200", "`1200` has no unit"),
            ("unit = 1\nread = -0.5", "negative"),
        ];
        for (bad, reason) in refused {
            let error = toml::from_str::<Settings>(bad).expect_err(bad).to_string();
            assert!(error.contains(reason), "{error}");
        }
    }

    proptest! {
        #[test]
        fn every_value_reads_back_from_its_print(value: u64) {
            prop_assert_eq!(Bytes(value).to_string().parse(), Ok(Bytes(value)));
            prop_assert_eq!(Duration(value).to_string().parse(), Ok(Duration(value)));
            prop_assert_eq!(BytesPerSecond(value).to_string().parse(), Ok(BytesPerSecond(value)));
            prop_assert_eq!(Microwatts(value).to_string().parse(), Ok(Microwatts(value)));
            prop_assert_eq!(Femtojoules(value).to_string().parse(), Ok(Femtojoules(value)));
        }

        #[test]
        fn no_text_panics(text in "[-+.0-9a-zA-Z/ \u{b5}]{0,40}") {
            let _ = (text.parse::<Bytes>(), text.parse::<Duration>(), text.parse::<BytesPerSecond>());
        }
    }
}
