//! What processor and link have and had to do for each tenant, as it is kept where several share the drive.

use std::collections::VecDeque;

use ninescope_kernel::Ns;

/// Which stage commands pass one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Processor,
    LinkIn,
}

/// What is in a stage, by tenant.
#[derive(Debug, Default)]
pub(super) struct InStage {
    /// By tenant: time of the commands in the stage, the first one's from its beginning [ns].
    pub inside: Vec<Ns>,
}

/// A transfer towards the host.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transfer {
    pub from: Ns,
    pub until: Ns,
    pub tenant: u16,
}

/// What the link towards the host moved last, in its order.
#[derive(Debug, Default)]
pub(super) struct Moved(pub VecDeque<Transfer>);
