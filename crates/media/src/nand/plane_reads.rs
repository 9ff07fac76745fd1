//! Planes that read each by itself: which of them does, and what.
//!
//! The machine of a die knows its programs and erases, which take all of it; a read of a plane runs while that is idle, or beside
//! what is suspended, and beside reads of other planes. Knows no time but the stamps that it is given.

use ninescope_kernel::Ns;
use ninescope_model::{DieId, Geometry};

use super::die::Ended;
use super::{CommandKind, FlashCommand, IllegalCommand, Operation, PlaneReads};

/// The reads of all planes of a drive.
#[derive(Clone, Debug)]
pub(super) struct ReadsByPlane {
    planes: u32,
    /// By die: the planes that read, a bit each.
    reading: Vec<u8>,
    /// By plane of the drive: its read, or the last one.
    reads: Vec<Operation>,
}

impl ReadsByPlane {
    /// None reads; nothing where they read together.
    pub fn new(rule: PlaneReads, geometry: &Geometry) -> Option<Box<Self>> {
        let (dies, planes) = (geometry.dies() as usize, geometry.planes_per_die);
        let reads = || vec![Operation::default(); dies * planes as usize];
        (rule == PlaneReads::Independently).then(|| Box::new(Self { planes, reading: vec![0; dies], reads: reads() }))
    }

    fn place(&self, die: DieId, plane: u32) -> usize {
        die.index() * self.planes as usize + plane as usize
    }

    /// Whether a command goes with what planes of its die read.
    pub fn check(&self, command: &FlashCommand) -> Result<(), IllegalCommand> {
        let FlashCommand { die, planes, kind, .. } = *command;
        let reading = self.reading[die.index()];
        if kind != CommandKind::Read {
            return if reading == 0 { Ok(()) } else { Err(IllegalCommand::PlanesRead { die, planes: reading, kind }) };
        }
        if command.plane_count() > 1 {
            return Err(IllegalCommand::PlanesReadAlone { die, planes });
        }
        let busy = reading & planes;
        if busy == 0 { Ok(()) } else { Err(IllegalCommand::PlaneReads { die, plane: busy.trailing_zeros() }) }
    }

    /// A plane senses a page from `at` on. Returns when it is sensed.
    pub fn begin(&mut self, command: &FlashCommand, at: Ns, total: Ns) -> Ns {
        self.reading[command.die.index()] |= command.planes;
        let place = self.place(command.die, command.first_plane() as u32);
        let read = Operation { command: *command, started: at, began: at, total, segments: 1, ..Operation::default() };
        self.reads[place] = read;
        at + total
    }

    /// What a plane reads.
    pub fn running(&self, die: DieId, plane: u32) -> Option<&Operation> {
        let reads = self.reading.get(die.index()).is_some_and(|reading| reading >> plane & 1 == 1);
        reads.then(|| &self.reads[self.place(die, plane)])
    }

    /// Whether any plane of a die reads.
    pub fn any(&self, die: DieId) -> bool {
        self.reading[die.index()] != 0
    }

    /// Its page is sensed.
    pub fn end(&mut self, die: DieId, plane: u32) -> Ended {
        self.reading[die.index()] &= !(1 << plane);
        let Operation { command, segments, began, .. } = self.reads[self.place(die, plane)];
        Ended { command, suspensions: 0, segments, began, excess_suspensions: 0 }
    }
}
