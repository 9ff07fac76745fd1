//! A host command inside the device.

use ninescope_ftl::ZoneError;
use ninescope_kernel::{NONE, Ns, Slab};
use ninescope_model::{Op, Remark, Request};

/// State of one command.
#[allow(clippy::struct_excessive_bools)] // independent facts of a command
#[derive(Clone, Copy, Debug)]
pub struct HostCommand {
    /// Number of the command, from 0 in the order of submission.
    pub id: u64,
    /// First sector.
    pub lba: u64,
    /// Sectors.
    pub sectors: u32,
    /// Operation.
    pub op: Op,
    /// The lane it came from.
    pub lane: u16,
    /// What a cache in front of the drive knows about it, or what it asks of a zone.
    pub remark: Remark,
    /// A write that completes when what it writes is on the media.
    pub fua: bool,
    /// Of a write: the stream that the host names, 0 for none.
    pub stream: u8,
    /// A zone does not take it: it answers with that.
    pub refused: Option<ZoneError>,
    /// It came while the drive is erased: it is aborted.
    pub aborted: bool,
    /// It answers with an error: something of what it reads is lost.
    pub reported: bool,
    /// Something of what it returns is wrong, and nobody knows.
    pub wrong: bool,
    /// Parts it waits for: page reads, forwarded data, units to place or to program.
    pub pending: u32,
    /// Link of the stage it is in.
    pub next: u32,
    /// When the host submitted it.
    pub submitted: Ns,
    /// When its present stage ends; after the link, when its parts set out.
    pub mark: Ns,
    /// Wait in the host's queue [ns].
    pub host_queue: Ns,
    /// Wait for the controller's processor and time in it [ns].
    pub processing: Ns,
    /// Wait for the link towards the device and time on it [ns].
    pub link_in: Ns,
}

impl Default for HostCommand {
    fn default() -> Self {
        Self {
            id: 0,
            lba: 0,
            sectors: 0,
            op: Op::Read,
            lane: 0,
            remark: Remark::None,
            fua: false,
            stream: 0,
            refused: None,
            aborted: false,
            reported: false,
            wrong: false,
            pending: 0,
            next: NONE,
            submitted: Ns::ZERO,
            mark: Ns::ZERO,
            host_queue: Ns::ZERO,
            processing: Ns::ZERO,
            link_in: Ns::ZERO,
        }
    }
}

impl HostCommand {
    /// The request it came from.
    pub fn request(&self) -> Request {
        Request {
            submitted: self.submitted,
            lba: ninescope_model::Lba(self.lba),
            sectors: self.sectors,
            op: self.op,
            remark: self.remark,
            fua: self.fua,
            stream: self.stream,
        }
    }
}

const _: () = assert!(size_of::<HostCommand>() <= 80, "what ARCHITECTURE.md says a command touches");

/// The link field of a command, for FIFOs.
pub(super) fn command_link(commands: &mut Slab<HostCommand>, index: u32) -> &mut u32 {
    &mut commands[index].next
}
