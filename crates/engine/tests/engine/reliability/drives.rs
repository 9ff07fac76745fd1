//! Small drives with codes, in round numbers. The default drive of `scenario` and a code of a codeword per unit: 5 us to
//! decode a clean one, 10 us one with errors, 800 ns to encode.

use ninescope_ecc::policies::ecc_scheme::bch::Bch;
use ninescope_ecc::policies::ecc_scheme::crc::Crc;
use ninescope_ecc::policies::latency::fixed::Fixed;
use ninescope_ecc::{EccSchemeConfig, LatencyConfig};
use ninescope_engine::reliability::backing_store::BackingStoreConfig;
use ninescope_engine::reliability::code::CodeCounters;
use ninescope_engine::reliability::corruption::CorruptionConfig;
use ninescope_engine::reliability::{NandCode, Reliability, ReliabilityCounters};
use ninescope_ftl::policies::StreamChoiceConfig;
use ninescope_kernel::Ns;
use ninescope_media::health::ErrorModelConfig;
use ninescope_model::units::{Bytes, Duration};
use ninescope_model::{CacheHint, Request};
use serde_json::json;

use crate::scenario::{Decode, Drive, Event, Outcome, policy, policy_with};

/// Encoding a codeword, by either code [ns].
pub const ENCODE: u64 = 800;
/// Decoding a codeword of the correcting code that holds no errors [ns].
pub const CLEAN: u64 = 5_000;
/// Decoding one that does [ns].
pub const CORRUPTED: u64 = 10_000;
/// Checking a codeword of the detecting code [ns].
pub const CHECK: u64 = 800;
/// Reading a unit from the backing store [ns].
pub const REFETCH: u64 = 8_000_000;
/// Errors that the correcting code corrects in a codeword [bit].
pub const CORRECTABLE: u32 = 48;
/// Beyond the end of everything else.
pub const LATER: u64 = 1_000_000_000;

/// The correcting code: 48 bits of 4 KiB.
pub fn bch() -> Bch {
    let latency = Fixed { encode: Duration(ENCODE), clean: Duration(CLEAN), corrupted: Duration(CORRUPTED) };
    Bch { user_data: Bytes(4096), correctable: CORRECTABLE, latency: LatencyConfig::Fixed(latency), ..Bch::default() }
}

/// The detecting code: 32 bits of 4 KiB.
pub fn crc() -> Crc {
    Crc::default()
}

pub trait Coded {
    /// The same drive with this correcting code.
    fn with_ecc(self, code: Bch) -> Self;
    /// The same drive with this detecting code for clean data, and a disk behind it.
    fn with_edc(self, code: Crc) -> Self;
    /// The same drive, whose bits fail so.
    fn with_errors(self, model: ErrorModelConfig) -> Self;
    /// The same drive, which reads again so.
    fn with_retry(self, description: &serde_json::Value) -> Self;
    /// The same drive, every valid unit of which gets a wrong bit at this time [ns].
    fn all_corrupt_at(self, at: u64) -> Self;
}

impl Coded for Drive {
    fn with_ecc(mut self, code: Bch) -> Self {
        self.reliability.nand.ecc = Some(EccSchemeConfig::Bch(code).build().expect("a code"));
        self
    }

    fn with_edc(mut self, code: Crc) -> Self {
        self.reliability.nand.edc = Some(EccSchemeConfig::Crc(code).build().expect("a code"));
        self.reliability.backing_store = Some(BackingStoreConfig { read: Ns(REFETCH), parallel: 1 });
        self.streams = policy::<StreamChoiceConfig>("clean-apart");
        self
    }

    fn with_errors(mut self, model: ErrorModelConfig) -> Self {
        self.reliability.nand.errors = Some(model);
        self
    }

    fn with_retry(mut self, description: &serde_json::Value) -> Self {
        self.reliability.nand.retry = Some(policy_with(description));
        self
    }

    fn all_corrupt_at(mut self, at: u64) -> Self {
        // A unit of which every other bit fails has a wrong one with a chance of 1 - 2^-32768.
        self.reliability.nand.corruption =
            Some(CorruptionConfig { initial_rber: 0.5, at: Ns(at), until: None, hourly_rber: 0.0 });
        self
    }
}

/// The default drive with eight units of data, two pages, under the correcting code.
pub fn coded() -> Drive {
    Drive::with(|drive| drive.prepared = (0..8).collect()).with_ecc(bch())
}

/// A drive that serves as a cache: one die, ten blocks of two pages of four units, 24 of them logical. The first eight
/// are prepared as clean data, under the detecting code.
pub fn cache() -> Drive {
    Drive::with(|drive| {
        drive.blocks = 10;
        drive.reserve = 2;
        drive.prepared = (0..8).collect();
    })
    .with_ecc(bch())
    .with_edc(crc())
}

/// One raw bit error rate.
pub fn constant(rber: f64) -> ErrorModelConfig {
    policy_with(&json!({ "policy": "constant", "rber": rber }))
}

/// Nothing is left of what was written: more than any code corrects, in every codeword, at every read.
pub fn never_corrected() -> ErrorModelConfig {
    constant(0.5)
}

/// Every codeword of 33,536 bits holds errors and no more than are corrected: 15 in the mean, none with a chance of
/// e^-15, more than 48 with one of 1e-11.
pub fn always_corrected() -> ErrorModelConfig {
    constant(15.0 / 33_536.0)
}

/// What was there at the start is unreadable, being 90 days old; what is written in the run is as it was written: the
/// tenth power of its age in days.
pub fn old_data_is_lost(drive: Drive) -> Drive {
    let mut drive = drive.with_errors(policy_with(&json!({
        "policy": "power-law", "floor": 0.0, "cycles_factor": 0.0, "reads_factor": 0.0,
        "retention_factor": 1.0, "retention_cycles_exponent": 0.0, "retention_exponent": 10.0,
    })));
    drive.reliability.nand.initial_age = Ns(90 * 86_400_000_000_000);
    drive
}

/// A request with what the cache in front of the drive says of it.
pub fn hinted(hint: CacheHint, request: Request) -> Request {
    Request { remark: hint.into(), ..request }
}

pub fn clean(request: Request) -> Request {
    hinted(CacheHint::CleanWrite, request)
}

pub fn flush_read(request: Request) -> Request {
    hinted(CacheHint::FlushRead, request)
}

impl Outcome {
    pub fn reliability(&self) -> &Reliability {
        self.device.seen().reliability.expect("a drive with codes")
    }

    pub fn reliable(&self) -> ReliabilityCounters {
        *self.reliability().counters()
    }

    pub fn code(&self, code: NandCode) -> CodeCounters {
        self.reliability().nand_code(code).expect("the code").counters
    }

    /// The decodes in the order in which they were decided.
    pub fn decodes(&self) -> Vec<Decode> {
        let decode = |&(_, event): &(u64, Event)| match event {
            Event::Decoded(decode) => Some(decode),
            _ => None,
        };
        self.events().iter().filter_map(decode).collect()
    }

    /// When something happened [ns].
    pub fn times(&self, wanted: Event) -> Vec<u64> {
        self.events().iter().filter(|(_, event)| *event == wanted).map(|(at, _)| *at).collect()
    }
}
