//! Which data lie together.

use ninescope::ftl::policies::stream_choice::{StreamChoice, StreamChoiceParameters};
use ninescope::kernel::{SectionReader, SectionWriter, Snapshot, SnapshotError};
use ninescope::model::{BlockGroup, Lpa, Stream};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::{Maker, Policy};

/// A unit that is written, and what is known of it.
#[pyclass(module = "ninescope._native", frozen, get_all)]
pub struct Written {
    lpa: u32,
    clean: bool,
    /// The stream that the host named, 0 for none.
    named: u8,
    sectors: u32,
    before: Option<u32>,
}

impl StreamChoiceParameters for Maker {
    fn build(&self, units: u32, groups: u32) -> Box<dyn StreamChoice> {
        let policy = self.policy(|python| {
            let told = PyDict::new(python);
            told.set_item("units", units)?;
            told.set_item("groups", groups)?;
            Ok(told)
        });
        Box::new(Streams {
            writes: policy.says("kinds_of_writes"),
            moves: policy.says("kinds_of_moves"),
            knows_clean: policy.says("knows_clean"),
            listens: policy.says("listens"),
            remembers: policy.says("remembers"),
            policy,
        })
    }
}

/// The policy, and what it says of itself, which does not change.
#[derive(Debug)]
struct Streams {
    policy: Policy,
    writes: u32,
    moves: u32,
    knows_clean: bool,
    listens: bool,
    remembers: bool,
}

impl Streams {
    /// The kind that it chose, of so many.
    fn one_of(&self, kinds: u32, chosen: u32, method: &str) -> u32 {
        if chosen >= kinds {
            let problem = format!("{method} returned {chosen}, of {kinds} kinds (0 to {})", kinds.saturating_sub(1));
            self.policy.refuse(&problem);
        }
        chosen
    }
}

impl StreamChoice for Streams {
    fn kinds_of_writes(&self) -> u32 {
        self.writes
    }

    fn kinds_of_moves(&self) -> u32 {
        self.moves
    }

    fn knows_clean(&self) -> bool {
        self.knows_clean
    }

    fn listens(&self) -> bool {
        self.listens
    }

    fn remembers(&self) -> bool {
        self.remembers
    }

    fn of_write(&self, unit: &ninescope::ftl::policies::Written) -> u32 {
        let written = Written {
            lpa: unit.lpa.0,
            clean: unit.clean,
            named: unit.told.stream,
            sectors: unit.told.sectors,
            before: unit.before.map(|stream| stream.0),
        };
        let chosen = self.policy.ask("of_write", |policy| policy.call_method1("of_write", (written,))?.extract());
        self.one_of(self.writes, chosen, "of_write")
    }

    fn of_move(&self, lpa: Lpa, clean: bool, from: Stream) -> u32 {
        let told = (lpa.0, clean, from.0);
        let chosen = self.policy.ask("of_move", |policy| policy.call_method1("of_move", told)?.extract());
        self.one_of(self.moves, chosen, "of_move")
    }

    fn written(&mut self, lpa: Lpa, kind: u32) {
        self.policy.ask("written", |policy| policy.call_method1("written", (lpa.0, kind)).map(drop));
    }

    fn opened(&mut self, group: BlockGroup, by: Stream) {
        self.policy.ask("opened", |policy| policy.call_method1("opened", (group.0, by.0)).map(drop));
    }

    fn erased(&mut self, group: BlockGroup, of: Stream) {
        self.policy.ask("erased", |policy| policy.call_method1("erased", (group.0, of.0)).map(drop));
    }
}

impl Snapshot for Streams {
    fn save(&self, to: &mut dyn SectionWriter) -> Result<(), SnapshotError> {
        self.policy.save(to)
    }

    fn load(&mut self, from: &mut dyn SectionReader) -> Result<(), SnapshotError> {
        self.policy.load(from)
    }
}
