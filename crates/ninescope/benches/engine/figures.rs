//! What was measured, by name: shown as it comes, and kept in a file where one is asked for.

use std::collections::BTreeMap;

use serde_json::json;

/// Figures by name, each with its unit in it.
#[derive(Default)]
pub struct Figures(BTreeMap<String, f64>);

impl Figures {
    /// Keeps a figure.
    pub fn keep(&mut self, name: impl Into<String>, value: f64) {
        // Three digits are more than two runs agree in.
        let digits = 3 - libm::ceil(libm::log10(value.abs().max(f64::MIN_POSITIVE))) as i32;
        let scale = libm::exp10(f64::from(digits));
        self.0.insert(name.into(), libm::round(value * scale) / scale);
    }

    /// Writes them to the file that `BENCH_FILE` names, where it does.
    pub fn write(&self) {
        let Some(path) = std::env::var_os("BENCH_FILE").filter(|path| !path.is_empty()) else { return };
        let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = processor.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
        let kept = json!({
            "ninescope": env!("CARGO_PKG_VERSION"),
            "processor": model.map_or("unknown", |(_, name)| name.trim()),
            "figures": self.0,
        });
        let text = serde_json::to_string_pretty(&kept).expect("figures are numbers") + "\n";
        if let Err(error) = std::fs::write(&path, text) {
            eprintln!("bench: {}: {error}", path.to_string_lossy());
            std::process::exit(2);
        }
    }
}
