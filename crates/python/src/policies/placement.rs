//! Which medium takes what is written, and what a read brings up.

use ninescope::model::string_or_table;
use ninescope::model::units::{Bytes, Duration};
use ninescope::tier::policies::{Classes, DataPlacement, MigrationMode, PlacementParameters};
use ninescope::tier::{EvictionConfig, OnRead, Rules, WriteBack, WriteTo};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Deserialize;

use super::{Maker, Policy};

/// An access of the host to one page.
#[pyclass(module = "ninescope._native", frozen, get_all)]
pub struct Access {
    page: u32,
    sectors: u32,
    request_sectors: u32,
    uses: u32,
    resident: bool,
}

impl Access {
    fn of(access: &ninescope::tier::Access) -> Self {
        let ninescope::tier::Access { page, sectors, request_sectors, uses, resident } = *access;
        Self { page, sectors: sectors.count_ones(), request_sectors, uses, resident }
    }
}

/// What a policy says of slots, uses and migrations, in the words of a drive's file.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Told {
    evict_free: f64,
    evict_stop: Option<f64>,
    #[serde(deserialize_with = "string_or_table")]
    victim: EvictionConfig,
    migration: MigrationMode,
    hot_entries: f64,
    fetch_on_write: bool,
    write_around: bool,
    write_back: WriteBack,
    read_ahead: u32,
    flush_at_rest: Option<Duration>,
}

impl Default for Told {
    fn default() -> Self {
        Self {
            evict_free: 0.0,
            evict_stop: None,
            victim: EvictionConfig::default(),
            migration: MigrationMode::default(),
            hot_entries: Classes::default().hot_entries,
            fetch_on_write: false,
            write_around: false,
            write_back: WriteBack::default(),
            read_ahead: 0,
            flush_at_rest: None,
        }
    }
}

impl Told {
    fn rules(self) -> Rules {
        Rules {
            evict_free: self.evict_free,
            evict_stop: self.evict_stop.unwrap_or(self.evict_free),
            victim: self.victim,
            migration: self.migration,
            // The policy itself says what is hot and random; the table of uses is as long as it wants.
            classes: Classes { hot_entries: self.hot_entries, random_up_to: Bytes(0), ..Classes::default() },
            fetch_on_write: self.fetch_on_write,
            write_around: self.write_around,
            write_back: self.write_back,
            read_ahead: self.read_ahead,
            flush_at_rest: self.flush_at_rest,
        }
    }
}

impl Maker {
    fn rules(&self) -> Rules {
        let policy = self.policy(|python| Ok(PyDict::new(python)));
        let text: String = policy.ask("rules_as_json", |policy| policy.call_method0("rules_as_json")?.extract());
        match serde_json::from_str::<Told>(&text) {
            Ok(told) => told.rules(),
            Err(problem) => policy.refuse(&format!("rules: {problem}")),
        }
    }
}

impl PlacementParameters for Maker {
    fn is_cache(&self) -> bool {
        self.says("is_cache")
    }

    fn build(&self) -> Option<(Box<dyn DataPlacement>, Rules)> {
        let policy = self.policy(|python| Ok(PyDict::new(python)));
        Some((Box::new(Placement(policy)), self.rules()))
    }
}

#[derive(Debug)]
struct Placement(Policy);

impl Placement {
    /// One of what a method may return.
    fn ask<T: Copy>(&self, method: &str, access: &ninescope::tier::Access, known: &[(&str, T)]) -> T {
        self.0.ask(method, |policy| {
            let answer = policy.call_method1(method, (Access::of(access),))?;
            let named = answer.extract::<String>().ok();
            let found = named.and_then(|name| known.iter().find(|(known, _)| *known == name));
            found.map(|(_, value)| *value).ok_or_else(|| {
                let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
                PyTypeError::new_err(format!("{method} returned {answer}; there is {}", names.join(", ")))
            })
        })
    }
}

impl DataPlacement for Placement {
    fn write(&mut self, access: &ninescope::tier::Access) -> WriteTo {
        self.ask("write", access, &[("upper", WriteTo::Upper), ("lower", WriteTo::Lower)])
    }

    fn read(&mut self, access: &ninescope::tier::Access) -> OnRead {
        self.ask("read", access, &[("stay", OnRead::Stay), ("copy", OnRead::Copy), ("move", OnRead::Move)])
    }
}
