//! The drives that come with ninescope, as data.

/// A drive description that is part of the library.
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

macro_rules! presets {
    ($($name:literal),+ $(,)?) => {
        /// All presets, the default one first.
        pub fn presets() -> &'static [Preset] {
            &[$(Preset {
                name: $name,
                toml: include_str!(concat!("../../../presets/drives/", $name, ".toml")),
            }),+]
        }
    };
}

presets!(
    "tlc",
    "slc",
    "mlc",
    "qlc",
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
);

/// The preset of a name.
pub fn preset(name: &str) -> Option<&'static Preset> {
    presets().iter().find(|preset| preset.name == name)
}
