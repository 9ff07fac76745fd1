//! Prints every decision the translation layer makes under the instant driver, for comparison with a model that
//! was written apart from it (`tests/python/naive_ftl.py`).
//!
//! Each line of the standard input is a case: a configuration and a list of operations as JSON. Places are printed
//! as `die/plane/block/page/unit`, so that the physical numbering is part of what is compared. The driver here
//! does what [`InstantDriver`] does and prints it; that one runs beside it, and the two must end alike.

use std::io::{BufRead, Write};

use ninescope_ftl::policies::{FreeBlockChoiceConfig, GcTriggerConfig, PageAllocationConfig, VictimSelectionConfig};
use ninescope_ftl::{Ftl, FtlConfig, FtlError, GcStep, InstantDriver, Placed};
use ninescope_model::{BlockGroup, Geometry, Lpa, Pool, Ppa, Stream};
use serde::Deserialize;

type Failure = Box<dyn std::error::Error>;

/// One drive and what is done to it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// The nine numbers of a [`Geometry`], in its order.
    geometry: [u32; 9],
    logical_units: u32,
    reserve_groups: u32,
    page_allocation: PageAllocationConfig,
    free_block_choice: FreeBlockChoiceConfig,
    gc_trigger: GcTriggerConfig,
    victim: VictimSelectionConfig,
    seed: u64,
    operations: Vec<Operation>,
}

/// What the host does.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Operation {
    Write(u32),
    Trim(u32),
    Settle,
}

impl Case {
    fn config(&self) -> Result<FtlConfig, Failure> {
        let [channels, packages, dies, planes, blocks, pages, page_bytes, unit_bytes, frontier_planes] = self.geometry;
        let geometry =
            Geometry::checked(channels, packages, dies, planes, blocks, pages, page_bytes, unit_bytes, frontier_planes)
                .map_err(|error| format!("{} {}", error.key, error.message))?;
        Ok(FtlConfig {
            logical_units: self.logical_units,
            reserve_groups: self.reserve_groups,
            page_allocation: self.page_allocation.clone(),
            free_block_choice: self.free_block_choice.clone(),
            gc_trigger: self.gc_trigger.clone(),
            victim_selection: self.victim.clone(),
            seed: self.seed,
            ..FtlConfig::bare(geometry)
        })
    }
}

/// The instant driver, talking.
struct Teller<'a, W> {
    ftl: Ftl,
    out: &'a mut W,
    /// Number of the operation under way.
    number: usize,
}

impl<W: Write> Teller<'_, W> {
    /// `die/plane/block/page/unit`, or `-` for nowhere.
    fn place(&self, ppa: Ppa) -> String {
        if ppa == Ppa::UNMAPPED {
            return "-".to_owned();
        }
        let geometry = self.ftl.geometry();
        let place = geometry.locate(ppa);
        let (pool, block) = geometry.pool_and_block(place.group);
        let plane = geometry.first_plane_of_pool(pool) + place.plane_in_group;
        format!("{}/{plane}/{block}/{}/{}", geometry.die_of_pool(pool).0, place.page, place.unit)
    }

    /// `die/first plane/block`.
    fn group(&self, group: BlockGroup) -> String {
        let geometry = self.ftl.geometry();
        let (pool, block) = geometry.pool_and_block(group);
        format!("{}/{}/{block}", geometry.die_of_pool(pool).0, geometry.first_plane_of_pool(pool))
    }

    fn write(&mut self, lpa: Lpa) -> Result<Option<Placed>, Failure> {
        let mut placed = self.ftl.write(lpa);
        if placed.is_none() {
            for pool in 0..self.ftl.geometry().pools() {
                self.collect(Pool(pool))?;
            }
            placed = self.ftl.write(lpa);
        }
        let Some(placed) = placed else {
            writeln!(self.out, "{} full {}", self.number, lpa.0)?;
            return Ok(None);
        };
        let (new, old) = (self.place(placed.new), self.place(placed.old));
        writeln!(self.out, "{} write {} at {new} old {old}", self.number, lpa.0)?;
        self.close(&placed);
        if placed.opened {
            self.collect(placed.pool)?;
        }
        Ok(Some(placed))
    }

    fn trim(&mut self, lpa: Lpa) -> Result<(), Failure> {
        let old = self.ftl.trim(lpa);
        Ok(writeln!(self.out, "{} trim {} old {}", self.number, lpa.0, self.place(old))?)
    }

    fn settle(&mut self) -> Result<(), Failure> {
        for pool in (0..self.ftl.geometry().pools()).map(Pool) {
            for (stream, name) in [(Stream::HOST, "host"), (Stream::GC, "gc")] {
                if let Some(padded) = self.ftl.pad(pool, stream) {
                    writeln!(self.out, "{} pad {name} to {}", self.number, self.place(padded.last))?;
                }
            }
        }
        for group in (0..self.ftl.geometry().groups()).map(BlockGroup) {
            self.ftl.programmed(group, self.ftl.group(group).write_pointer);
        }
        Ok(())
    }

    fn close(&mut self, placed: &Placed) {
        if placed.closed {
            let (group, offset) = self.ftl.geometry().group_and_offset(placed.new);
            self.ftl.programmed(group, offset + 1);
        }
    }

    fn collect(&mut self, pool: Pool) -> Result<(), Failure> {
        loop {
            match self.ftl.gc_next(pool, false) {
                GcStep::MovePage { first, mask } => self.move_page(pool, first, mask)?,
                GcStep::Erase(group) => {
                    writeln!(self.out, "{} erase {}", self.number, self.group(group))?;
                    self.ftl.erased(group);
                }
                GcStep::Padded(_) | GcStep::Retired(_) => {}
                GcStep::Wait | GcStep::Nothing => {
                    self.ftl.gc_rests(pool);
                    return Ok(());
                }
            }
        }
    }

    fn move_page(&mut self, pool: Pool, first: Ppa, mask: u32) -> Result<(), Failure> {
        for unit in (0..32).filter(|unit| mask >> unit & 1 == 1) {
            let from = Ppa(first.0 + unit);
            let lpa = self.ftl.content(from);
            let placed = self.ftl.place_move(pool, lpa, from).ok_or("a move found no place")?;
            let (source, target) = (self.place(from), self.place(placed.new));
            writeln!(self.out, "{} move {} from {source} to {target}", self.number, lpa.0)?;
            self.close(&placed);
            self.ftl.moved(lpa, self.ftl.residence(from), placed.new);
        }
        Ok(())
    }

    /// Where everything lies at the end, and what was counted.
    fn tell_state(&mut self) -> Result<(), Failure> {
        for lpa in 0..self.ftl.logical_units() {
            writeln!(self.out, "end map {lpa} at {}", self.place(self.ftl.translate(Lpa(lpa))))?;
        }
        for group in (0..self.ftl.geometry().groups()).map(BlockGroup) {
            let (name, valid, erases) =
                (self.group(group), self.ftl.valid_units(group), self.ftl.group(group).erase_count);
            writeln!(self.out, "end group {name} valid {valid} erases {erases}")?;
        }
        let counters = self.ftl.counters();
        Ok(writeln!(
            self.out,
            "end count host {} gc {} padding {} trimmed {} victims {} holding {} erased {}",
            counters.host_units,
            counters.gc_units,
            counters.padding_units,
            counters.trimmed_units,
            counters.gc_victims,
            counters.gc_victim_valid_units,
            counters.erased_groups
        )?)
    }

    /// The real driver must have brought its translation layer to the same state.
    fn check_against(&self, other: &Ftl) -> Result<(), Failure> {
        let places = |ftl: &Ftl| (0..ftl.logical_units()).map(|lpa| ftl.translate(Lpa(lpa))).collect::<Vec<_>>();
        if places(&self.ftl) == places(other) && self.ftl.counters() == other.counters() {
            return Ok(());
        }
        Err("the instant driver ended elsewhere than the driver of this program".into())
    }
}

fn run(case: &Case, out: &mut impl Write) -> Result<(), Failure> {
    let config = case.config()?;
    let mut silent = Ftl::new(&config)?;
    let mut driver = InstantDriver::new(&mut silent);
    let mut teller = Teller { ftl: Ftl::new(&config)?, out, number: 0 };
    for (number, &operation) in case.operations.iter().enumerate() {
        teller.number = number;
        match operation {
            Operation::Write(lpa) => {
                let placed = teller.write(Lpa(lpa))?;
                if driver.write(Lpa(lpa)).as_ref().ok() != placed.as_ref() {
                    return Err(format!("operation {number}: the instant driver places it elsewhere").into());
                }
                if placed.is_none() {
                    break;
                }
            }
            Operation::Trim(lpa) => {
                teller.trim(Lpa(lpa))?;
                driver.trim(Lpa(lpa));
            }
            Operation::Settle => {
                teller.settle()?;
                driver.settle();
            }
        }
    }
    teller.tell_state()?;
    teller.check_against(&silent)
}

fn main() -> Result<(), Failure> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let case: Case = serde_json::from_str(&line?)?;
        match run(&case, &mut out) {
            // A drive that cannot work is an answer, too.
            Err(error) if error.downcast_ref::<FtlError>().is_some() => writeln!(out, "refused")?,
            other => other?,
        }
        writeln!(out, "done")?;
    }
    Ok(out.flush()?)
}
