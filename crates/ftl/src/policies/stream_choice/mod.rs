//! Which kind of data a unit is, when it is written and when garbage collection moves it.
//!
//! Each kind has two streams, what is written and what is moved, with a frontier of its own in each pool: a block group holds
//! units of one stream. What a kind stands for beyond that (another code, say) is its readers' business.

use std::fmt::Debug;

use ninescope_kernel::Snapshot;
use ninescope_model::{BlockGroup, Lpa, Stream, policy_registry};

/// What is known of a unit that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// The unit.
    pub lpa: Lpa,
    /// Another copy of it exists, where that is known.
    pub clean: bool,
    /// What the host said of its write.
    pub told: Told,
    /// The stream that it lies in until now, `None` where it is not mapped.
    pub before: Option<Stream>,
}

/// What the host's command says of what it writes. The drive's own writes say nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// The number of the stream that the host gave it, 0 for none.
    pub stream: u8,
    /// Sectors of its command; 0 where none wrote it.
    pub sectors: u32,
}

/// Chooses kinds of data. Asked once per unit written or moved, where there are several.
pub trait StreamChoice: Debug + Send + Snapshot {
    /// Kinds of what is written, from 0 on, at least one.
    fn kinds_of_writes(&self) -> u32 {
        1
    }

    /// Kinds of what is moved, from 0 on, at least one.
    fn kinds_of_moves(&self) -> u32 {
        1
    }

    /// Whether it is of any consequence that data is clean, which costs one bit per unit to know.
    fn knows_clean(&self) -> bool {
        false
    }

    /// Whether it is of any consequence what the host's command says.
    fn listens(&self) -> bool {
        false
    }

    /// Whether the host names the stream of what it writes.
    fn is_named_by_host(&self) -> bool {
        false
    }

    /// Whether it remembers something of each unit beyond the stream that it lies in.
    fn remembers(&self) -> bool {
        false
    }

    /// The kind of a unit that is written. The same until something is told.
    fn of_write(&self, unit: &Written) -> u32;

    /// The kind of a unit that is moved out of a stream.
    fn of_move(&self, lpa: Lpa, clean: bool, from: Stream) -> u32;

    /// Whether what is moved stays apart from other kinds whatever space there is: of such a choice, the stream alone decides the
    /// kind of a move.
    fn isolates(&self) -> bool {
        false
    }

    /// The placement handle by which a unit was written, where there are any.
    fn handle_of(&self, _lpa: Lpa) -> u32 {
        0
    }

    /// The unit was written, as one of a kind.
    fn written(&mut self, _lpa: Lpa, _kind: u32) {}

    /// A stream begins to fill a group.
    fn opened(&mut self, _group: BlockGroup, _by: Stream) {}

    /// A group that a stream filled was erased.
    fn erased(&mut self, _group: BlockGroup, _of: Stream) {}
}

/// What a choice of streams can be told.
pub trait StreamChoiceParameters {
    /// What is wrong with a parameter: its name and why.
    fn problem(&self) -> Option<(&'static str, String)> {
        None
    }

    /// The policy, for a drive of so many units and block groups.
    fn build(&self, units: u32, groups: u32) -> Box<dyn StreamChoice>;

    /// The handles of flexible data placement, where it is that.
    fn placement(&self) -> Option<&fdp::Fdp> {
        None
    }
}

/// What is wrong with a number of kinds, of which there are several and not too many.
fn problem_of_kinds(key: &'static str, kinds: u32) -> Option<(&'static str, String)> {
    let most = Stream::KINDS_MAX;
    (!(2..=most).contains(&kinds)).then(|| (key, format!("is {kinds}, and takes 2 to {most}")))
}

policy_registry! {
    /// Which write stream takes a unit.
    StreamChoiceConfig as dyn StreamChoiceParameters;
    "single" => single::Single, "one stream for what the host writes, one for what garbage collection moves";
    "clean-apart" => clean_apart::CleanApart, "clean data, which lies elsewhere too, has streams of its own";
    "by-size" => by_size::BySize, "small writes have streams of their own";
    "hinted" => hinted::Hinted, "the host says with each write which stream takes it";
    "fdp" => fdp::Fdp, "flexible data placement: the host names a placement handle with each write";
    "generations" => generations::Generations, "what is moved goes to a stream by how often it was moved";
    "dac" => dac::Dac, "hotter with each write, colder with each move (DAC)";
    "sepbit" => sepbit::Sepbit, "by how long the data lived before, and when moved by how long it has lived (SepBIT)";
}

impl StreamChoiceConfig {
    pub(crate) fn build(&self, units: u32, groups: u32) -> Box<dyn StreamChoice> {
        self.chosen().build(units, groups)
    }

    /// Whether it tells clean data from dirty data.
    pub fn knows_clean(&self) -> bool {
        self.build(0, 0).knows_clean()
    }

    /// Whether it hears what the host's command says of its write.
    pub fn listens(&self) -> bool {
        self.build(0, 0).listens()
    }

    /// Whether the host names the stream of what it writes.
    pub fn is_named_by_host(&self) -> bool {
        self.build(0, 0).is_named_by_host()
    }

    /// Whether it remembers something of each unit beyond the stream that it lies in.
    pub fn remembers(&self) -> bool {
        self.build(0, 0).remembers()
    }

    /// Whether what is moved stays apart from other kinds whatever space there is.
    pub fn isolates(&self) -> bool {
        self.chosen().placement().is_some_and(fdp::Fdp::isolates)
    }

    /// Kinds of data that it tells apart of what is written, and of what is moved: as many as may be, where that is still to be
    /// checked.
    pub fn kinds(&self) -> (u32, u32) {
        let choice = self.build(0, 0);
        let checked = |kinds: u32| kinds.clamp(1, Stream::KINDS_MAX);
        (checked(choice.kinds_of_writes()), checked(choice.kinds_of_moves()))
    }
}
