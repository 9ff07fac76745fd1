//! Which stream takes a unit: what each choice of streams says, written out anew.
//!
//! Where a choice goes by times that only it knows (`SepBIT`'s threshold), it is held to there being one: of what is written or
//! moved between two erases, nothing that is longer-lived than other data is in a class of shorter-lived data.

use ninescope_engine::View;
use ninescope_ftl::policies::StreamChoiceConfig;
use ninescope_model::{Lpa, Ppa, Request, SECTOR_BYTES, Stream};

use crate::marks::{Mark, Marks};
use crate::rule::{Checked, require};

/// Classes by age.
const CLASSES: usize = 4;

/// The youngest and the oldest in each class.
#[derive(Clone, Copy, Debug, Default)]
struct Ages([Option<(u64, u64)>; CLASSES]);

impl Ages {
    /// Takes one in; returns whether it is no older than the next class, and no younger than the one before.
    fn take(&mut self, class: usize, age: u64) -> bool {
        let seen = self.0[class].get_or_insert((age, age));
        *seen = (seen.0.min(age), seen.1.max(age));
        let classes: Vec<(u64, u64)> = self.0.into_iter().flatten().collect();
        classes.windows(2).all(|pair| pair[0].1 < pair[1].0)
    }
}

/// What is known of streams that are chosen.
#[derive(Debug)]
pub struct StreamBook {
    choice: StreamChoiceConfig,
    /// Units written so far.
    now: u64,
    /// By unit: when it was written, in the run.
    written_at: Vec<Option<u64>>,
    /// Since the last erase: how old what is written was that is replaced, and what is moved.
    replaced: Ages,
    moved: Ages,
}

/// The stream that a place was filled by: what was moved for wear to be level is of the first kind.
fn of_data(view: &View<'_>, place: Ppa) -> Stream {
    let stream = view.ftl.stream_of(place);
    if view.ftl.levels_wear() && stream == view.ftl.leveling_stream() { Stream::GC } else { stream }
}

/// Whether data of an age goes from its temperature to the next, past a threshold that there may be. Of what was not written in the
/// run the age is not known: there it is what the drive says.
fn is_on_its_side(
    age: Option<u64>,
    threshold: Option<u64>,
    before: Stream,
    stream: Stream,
    is_past: impl Fn(u64, u64) -> bool,
) -> bool {
    match (age, threshold) {
        (_, None) => true,
        (Some(age), Some(threshold)) => is_past(age, threshold),
        (None, Some(_)) => before.kind() != stream.kind(),
    }
}

impl StreamBook {
    /// Takes over what a drive was told; none where it has one kind of data, or clean data is what is kept apart.
    pub fn started(view: &View<'_>) -> Option<Self> {
        let choice = view.ftl.rules().stream_choice.clone();
        // Of handles there is a book that knows nothing of streams.
        let chooses = choice.kinds() != (1, 1) && !choice.knows_clean() && choice.chosen().placement().is_none();
        let written_at = vec![None; view.ftl.logical_units() as usize];
        chooses.then(|| Self { choice, now: 0, written_at, replaced: Ages::default(), moved: Ages::default() })
    }

    /// A unit was written, by a command of the host or by none.
    pub fn written(&mut self, view: &View<'_>, lpa: Lpa, (old, new): (Ppa, Ppa), request: Option<&Request>) -> Checked {
        let before = (old != Ppa::UNMAPPED).then(|| of_data(view, old));
        let stream = view.ftl.stream_of(new);
        let kind = match &self.choice {
            StreamChoiceConfig::BySize(parameters) => {
                let is_small = |request: &Request| u64::from(request.sectors) * SECTOR_BYTES <= parameters.small.0;
                u32::from(request.is_some_and(is_small))
            }
            StreamChoiceConfig::Hinted(parameters) => {
                let own = before.map_or(0, Stream::kind);
                request.map_or(own, |request| u32::from(request.stream)).min(parameters.streams - 1)
            }
            StreamChoiceConfig::Dac(parameters) => match before {
                Some(before) if before.kind() == parameters.regions - 1 => before.kind(),
                Some(before) => {
                    let within = parameters.thresholds(view.ftl.logical_units()).0;
                    let age = self.written_at[lpa.index()].map(|at| self.now - at);
                    before.kind() + u32::from(is_on_its_side(age, within, before, stream, |age, within| age < within))
                }
                None => 0,
            },
            StreamChoiceConfig::Sepbit(_) => {
                // What was forgotten in between has no life.
                let lived = before.and(self.written_at[lpa.index()]).map(|at| self.now - at);
                let class = stream.kind();
                let in_order = lived.is_none_or(|lived| self.replaced.take(class.min(1) as usize, lived));
                require!(
                    in_order && (before.is_some() || class == 1),
                    Streams,
                    view.now,
                    "unit {lpa}, which lived for {lived:?} units written, is written to class {class}: {:?}",
                    self.replaced
                );
                class
            }
            StreamChoiceConfig::Single(_)
            | StreamChoiceConfig::CleanApart(_)
            | StreamChoiceConfig::Generations(_)
            | StreamChoiceConfig::Fdp(_) => 0,
            // What it decides is not known here.
            StreamChoiceConfig::Added(_) => stream.kind(),
        };
        self.written_at[lpa.index()] = Some(self.now);
        self.now += 1;
        require!(
            stream == Stream::of_writes(kind),
            Streams,
            view.now,
            "unit {lpa}, which lay in stream {before:?}, is written to stream {stream}, and is of kind {kind}"
        );
        Ok(())
    }

    /// A unit that is moved got its place: one of the first kind where space is short.
    pub fn moved(&mut self, view: &View<'_>, lpa: Lpa, (from, to): (Ppa, Ppa), marks: &mut Marks) -> Checked {
        let (before, stream) = (of_data(view, from), view.ftl.stream_of(to));
        if view.ftl.levels_wear() && stream == view.ftl.leveling_stream() {
            return Ok(());
        }
        let kind = match &self.choice {
            StreamChoiceConfig::Generations(_) if !before.is_of_moves() => 0,
            StreamChoiceConfig::Generations(parameters) => (before.kind() + 1).min(parameters.generations - 1),
            StreamChoiceConfig::Dac(parameters) => {
                let after = parameters.thresholds(view.ftl.logical_units()).1;
                let age = self.written_at[lpa.index()].map(|at| self.now - at);
                let cools = is_on_its_side(age, after, before, stream, |age, after| age >= after);
                before.kind().saturating_sub(u32::from(cools))
            }
            StreamChoiceConfig::Hinted(parameters) if !parameters.moves_apart => 0,
            StreamChoiceConfig::Hinted(_) | StreamChoiceConfig::BySize(_) => before.kind(),
            StreamChoiceConfig::Sepbit(_) if before == Stream::HOST => 0,
            StreamChoiceConfig::Sepbit(_) => self.class_by_age(view, lpa, stream)?,
            StreamChoiceConfig::Single(_) | StreamChoiceConfig::CleanApart(_) | StreamChoiceConfig::Fdp(_) => 0,
            StreamChoiceConfig::Added(_) => stream.kind(),
        };
        if stream == Stream::of_moves(kind) {
            return Ok(());
        }
        let geometry = view.ftl.geometry();
        let pool = geometry.pool_and_block(geometry.group_and_offset(to).0).0;
        let (free, reserve) = (view.ftl.free_groups(pool), view.ftl.reserve_groups());
        marks.hit(Mark::MoveNotApart);
        require!(
            stream == Stream::GC && free <= reserve + 1,
            Streams,
            view.now,
            "unit {lpa} is moved from stream {before} to stream {stream}, and is of kind {kind}; {free} groups of pool {pool} are \
             free"
        );
        Ok(())
    }

    /// Of what is moved by its age: that of its place, where it is in order.
    fn class_by_age(
        &mut self,
        view: &View<'_>,
        lpa: Lpa,
        stream: Stream,
    ) -> Result<u32, ninescope_engine::SimulationError> {
        let class = stream.kind();
        if class > 0
            && let Some(at) = self.written_at[lpa.index()]
            && !self.moved.take(class as usize, self.now - at)
        {
            let what = format!("unit {lpa} is moved to class {class}, {} units after it was written", self.now - at);
            return Err(crate::Rule::Streams.violated(view.now, format!("{what}: {:?}", self.moved)));
        }
        // The first one is where it goes for want of space.
        Ok(class.max(1))
    }

    /// A group was erased: a threshold may be another one.
    pub fn erased(&mut self) {
        (self.replaced, self.moved) = (Ages::default(), Ages::default());
    }
}
