//! Every policy of every registry on a small drive that has a choice of it, and what no default covers.

use serde_json::{Value, json};

use crate::support::{data, tiny_request};

/// The drive and the workload that a case runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// Flash alone.
    Flash,
    /// Flash whose bits fail, under a code, behind a cache that says what is clean.
    Coded,
    /// Storage-class memory.
    Scm,
    /// Two media.
    Tier,
}

impl Setting {
    /// That of a case; a registry that joins where another already is needs no line here.
    fn of(case: &str) -> Self {
        match case.split(['.', '=']).next() {
            Some("scm") => Self::Scm,
            Some("tier") => Self::Tier,
            Some("nand" | "scrub" | "refresh") => Self::Coded,
            // What is clean is told there.
            _ if ["ftl.streams=single", "ftl.streams=clean-apart"].contains(&case) => Self::Coded,
            _ => Self::Flash,
        }
    }

    /// Whether its drive has flash, which snapshots hold and what is prepared lies on.
    pub fn has_flash(self, case: &str) -> bool {
        self != Self::Scm && !case.ends_with("nv-wb")
    }

    /// The request of a case; what the drive holds before is not said.
    pub fn request(self, case: &str) -> Value {
        // Soft sensing is of LDPC codes.
        let ldpc = "nand.ecc={policy=\"ldpc\",user_data=1024,parity=128,correctable=8}";
        let sets = match case.split_once('=') {
            Some(("nand.retry", "soft-sensing")) => vec![ldpc, case],
            // A channel is shared by both dies.
            // Each frontier takes blocks.
            Some(("ftl.wear_leveling", _)) => vec!["geometry.blocks_per_plane=30", "geometry.pages_per_block=4", case],
            Some(("ftl.streams", _)) if self == Self::Flash => {
                vec!["geometry.blocks_per_plane=30", "geometry.pages_per_block=4", case]
            }
            // These map pages, each in a block of one plane.
            Some(("ftl.map", "block" | "bast" | "fast")) => {
                vec!["geometry.blocks_per_plane=18", "ftl.mapping_unit=16KiB", "ftl.frontier_planes=1", case]
            }
            Some(("ftl.map", _)) => vec!["geometry.blocks_per_plane=18", case],
            Some(("scheduler.channel", _)) => vec!["geometry.channels=1", "geometry.dies_per_package=2", case],
            _ => vec![case],
        };
        let mut request = tiny_request(&sets);
        if case.starts_with("scheduler.arbitration=") {
            // Nobody has to be chosen among the requests of one trace.
            request["workload"] = json!({ "job": [
                { "name": "large", "rw": "randwrite", "bs": "16k", "iodepth": 64, "requests": 300, "weight": 5 },
                { "name": "small", "rw": "randrw", "bs": "1k", "iodepth": 64, "requests": 100, "priority": "low" },
            ] });
        }
        if case == "ftl.streams=hinted" || case.contains("fdp") {
            request["workload"] = json!({ "job": [
                { "name": "hot", "rw": "randwrite", "bs": "2k", "size": "1MiB", "requests": 150, "stream": 1 },
                { "name": "cold", "rw": "randwrite", "bs": "16k", "iodepth": 4, "offset": "1MiB", "requests": 250, "stream": 2 },
            ] });
        }
        let drive = match self {
            Self::Flash => return request,
            Self::Coded => "tiny-coded.toml",
            Self::Scm => "tiny-scm.toml",
            Self::Tier if !self.has_flash(case) => "tiny-two-scm.toml",
            Self::Tier => "tiny-tier.toml",
        };
        request["drive"] = json!({ "file": data(drive) });
        if self == Self::Coded {
            request["workload"]["host_cache"] = json!(data("tiny-cache.toml"));
        }
        request
    }
}

/// Policies that have no defaults to run with, or none with which they come to act within so few requests.
const WITH_PARAMETERS: [(&str, &str); 12] = [
    ("ftl.wear_leveling=threshold", "ftl.wear_leveling={policy=\"threshold\",cycles=1}"),
    ("ftl.wear_leveling=dual-pool", "ftl.wear_leveling={policy=\"dual-pool\",cycles=1}"),
    ("nand.wear_out=fixed", "nand.wear_out={policy=\"fixed\",cycles=1001.0}"),
    ("nand.wear_out=normal", "nand.wear_out={policy=\"normal\",mean=1005.0,deviation=3.0}"),
    ("nand.wear_out=lognormal", "nand.wear_out={policy=\"lognormal\",median=1012.0,sigma=0.01}"),
    ("nand.wear_out=weibull", "nand.wear_out={policy=\"weibull\",scale=1014.0,shape=100.0}"),
    ("ftl.map=entries", "ftl.map={policy=\"entries\",size=\"256B\"}"),
    ("ftl.map=pages", "ftl.map={policy=\"pages\",size=\"4KiB\"}"),
    ("ftl.map=runs", "ftl.map={policy=\"runs\",size=\"8KiB\"}"),
    ("refresh=limits", "refresh={policy=\"limits\",reads=20}"),
    ("refresh=expected-errors", "refresh={policy=\"expected-errors\",rber=1e-6,period=\"20ms\"}"),
    ("scrub=periodic", "scrub={policy=\"periodic\",period=\"2ms\"}"),
];

/// What no default covers.
const VARIANTS: [&str; 26] = [
    "nand.program_failures=0.004",
    "nand.erase_failures=0.2",
    "ftl.streams={policy=\"fdp\",handles=[\"persistently-isolated\",\"initially-isolated\",\"persistently-isolated\"]}",
    "ftl.page_allocation={policy=\"static\",order=\"PDWC\"}",
    "ftl.map={policy=\"entries\",size=\"64B\",host_memory=\"256B\"}",
    "controller.write_completion=program",
    "ftl.frontier_planes=1",
    "ftl.mapping_unit=512B",
    "ftl.mapping_unit=16KiB",
    "scheduler.multi_plane=false",
    "ftl.gc_pages_in_flight=1",
    "ftl.gc_copybacks=3",
    "scm.wear_leveling_copies=in-memory",
    "scm.pulse_order=in-turn",
    "scm.verify={policy=\"to-the-cap\",cycles_set=2,cycles_reset=5}",
    "scm.verify={policy=\"until-pass\",accept_bits=3,verify_read=\"40ns\"}",
    "tier.placement={policy=\"wo-dm\",victim=\"sequential-first\",evict_free=0.2,evict_stop=0.3}",
    "tier.placement={policy=\"wo-dm\",victim=\"fifo\",migration=\"foreground\"}",
    "tier.placement={policy=\"wo-dm\",migration=\"foreground-reads\",evict_free=0.2,evict_stop=0.2}",
    "tier.placement={policy=\"rwb-dm\",moves=\"hot-or-random\",keep_copy=false}",
    "tier.placement={policy=\"wb\",fetch_on_write=true,migration=\"background\",evict_free=0.1,evict_stop=0.1}",
    "nand.ecc={policy=\"bch\",user_data=4096,correctable=20,shared=true,decoders=2}",
    "nand.ecc={policy=\"bch\",user_data=1024,correctable=9,holds_die=true,moves_parity=false}",
    "nand.corruption={initial_rber=1e-5,at=\"0s\",hourly_rber=0.5}",
    "nand.corruption={initial_rber=1e-4,at=\"100us\",until=\"3ms\"}",
    "refresh={policy=\"limits\",retention=\"30d\",period=\"1ms\"}",
];

/// A setting of the configuration, as `--set` takes it, and what it runs on.
pub type Case = (String, Setting);

/// A policy as it is told, where its defaults are not what it is tried with.
pub fn with_parameters(case: String) -> String {
    let told = WITH_PARAMETERS.iter().find(|(plain, _)| *plain == case);
    told.map_or(case, |(_, with)| (*with).to_owned())
}

/// Every policy of every registry, and what no default of one covers.
pub fn cases() -> Vec<Case> {
    let registries = ninescope::policies();
    let of_all = registries.iter().flat_map(|(key, list)| list.iter().map(move |(name, _)| (*key, *name)));
    // A drive of one medium has its own cases.
    let named = of_all.filter(|(key, name)| !is_of_one_medium(key, name)).map(|(key, name)| format!("{key}={name}"));
    let setting = |case: String| {
        let of = Setting::of(&case);
        (case, of)
    };
    named.map(with_parameters).chain(VARIANTS.map(str::to_owned)).map(setting).collect()
}

/// Whether it is a placement of a drive of one medium.
pub fn is_of_one_medium(key: &str, name: &str) -> bool {
    key == "tier.placement" && name.ends_with("-only")
}
