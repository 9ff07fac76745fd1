//! The drives, jobs and profiles that come with ninescope, as data.

use ninescope_model::suggestion;

use crate::error::Error;

/// A description that is part of the library.
#[derive(Clone, Copy, Debug)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// Its description in TOML.
    pub toml: &'static str,
}

/// The drive of runs that name none.
pub const DEFAULT_PRESET: &str = "tlc";

impl Preset {
    /// Its one-line summary.
    pub fn summary(&self) -> String {
        let table: Option<toml::Table> = toml::from_str(self.toml).ok();
        let summary =
            table.and_then(|table| table.get("summary").and_then(|summary| summary.as_str().map(str::to_owned)));
        summary.unwrap_or_default()
    }
}

/// What a preset describes. Each kind is a folder of `presets/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PresetKind {
    /// A drive.
    Drives,
    /// A job: what the drive is asked.
    Jobs,
    /// A profile: what a trace is like.
    Profiles,
}

impl PresetKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Drives, Self::Jobs, Self::Profiles];

    /// The folder's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Drives => "drives",
            Self::Jobs => "jobs",
            Self::Profiles => "profiles",
        }
    }
}

/// All presets of a kind.
pub fn presets_of(kind: PresetKind) -> &'static [Preset] {
    match kind {
        PresetKind::Drives => presets(),
        PresetKind::Jobs => jobs(),
        PresetKind::Profiles => profiles(),
    }
}

/// The preset of a kind and a name.
///
/// # Errors
/// [`Error::Input`] with the names there are.
pub(crate) fn shipped(kind: PresetKind, name: &str) -> Result<&'static Preset, Error> {
    let presets = presets_of(kind);
    presets.iter().find(|preset| preset.name == name).ok_or_else(|| {
        let names: Vec<&str> = presets.iter().map(|preset| preset.name).collect();
        let meant = suggestion(name, names.iter().copied()).map(|meant| format!(" Did you mean `{meant}`?"));
        let (kind, meant) = (kind.name(), meant.unwrap_or_default());
        Error::Input(format!("preset `{name}`: the {kind} that are shipped are {}.{meant}", names.join(", ")))
    })
}

/// A function that gives the files of a folder, which are part of the library.
macro_rules! presets {
    ($(#[$meta:meta])* $visibility:vis fn $function:ident in $folder:literal: $($name:literal),+ $(,)?) => {
        $(#[$meta])*
        $visibility fn $function() -> &'static [Preset] {
            &[$(Preset {
                name: $name,
                toml: include_str!(concat!("../../../presets/", $folder, "/", $name, ".toml")),
            }),+]
        }
    };
}

presets!(fn jobs in "jobs": "fileserver", "webserver", "varmail", "oltp", "r75", "r90");

presets!(
    fn profiles in "profiles":
    "tpcc",
    "prxy_0",
    "prxy_1",
    "hm_0",
    "proj_0",
    "proj_1",
    "proj_3",
    "mds_0",
    "rsrch_0",
    "src1_1",
    "src1_2",
    "src2_0",
    "src2_2",
    "stg_0",
    "ts_0",
    "usr_0",
    "wdev_0",
);

presets!(
    /// All drives, the default one first.
    pub fn presets in "drives":
    "tlc",
    "slc",
    "mlc",
    "qlc",
    "client-tlc",
    "client-qlc",
    "mqsim-default",
    "aero",
    "ssr-baseline",
    "ssr-ies",
    "ssr-des",
    "ssr-static",
    "ssr-dynamic",
    "m-scm",
    "s-scm",
    "scm-10us",
    "hybrid-cde",
    "hybrid-wo",
    "hybrid-wb",
    "hybrid-rwb",
    "multi-scm",
    "hybrid-ecc",
    "flexecc",
    "bch-ssd",
    "samsung-980-pro",
    "micron-7450-max",
    "intel-p3700",
    "intel-660p",
    "samsung-983-zet",
    "wd-zn540",
    "intel-optane-p4800x",
);

/// The preset of a name.
pub fn preset(name: &str) -> Option<&'static Preset> {
    presets().iter().find(|preset| preset.name == name)
}
