//! Whom each access waits for, where several tenants share the drive: told beside the tracks, by the same verbs. A drive with
//! one tenant has none of it.

use ninescope_kernel::{NONE, Ns, ResourceId};

use super::store::TransactionStore;
use super::waits::{begins, ends};
use crate::meter::{DieLedger, MediaWaits};

impl TransactionStore {
    fn own_share(&self, index: u32) -> Option<u32> {
        Some(self.tracks[index as usize].share).filter(|&share| share != NONE)
    }

    /// The wait of an access for a die begins.
    #[inline(never)]
    pub(super) fn begin_wait_by_tenant(&mut self, index: u32, die: ResourceId, now: Ns, ledger: &DieLedger) {
        let share = self.own_share(index);
        if let Some(tenants) = &mut self.tenants {
            tenants.media_of(index).fill(MediaWaits::default());
            tenants.die_wait(index, die, (&self.shares, share), (now, ledger), begins);
        }
    }

    /// It ends, or there was none.
    #[inline(never)]
    pub(super) fn end_wait_by_tenant(&mut self, index: u32, die: ResourceId, now: Ns, ledger: &DieLedger) {
        let (share, waited) = (self.own_share(index), self.tracks[index as usize].snapshot_taken);
        match &mut self.tenants {
            Some(tenants) if waited => tenants.die_wait(index, die, (&self.shares, share), (now, ledger), ends),
            Some(tenants) => tenants.media_of(index).fill(MediaWaits::default()),
            None => {}
        }
    }

    /// The wait of an access for a channel begins.
    pub fn begin_channel_wait_by_tenant(&mut self, index: u32, channel: ResourceId, now: Ns) {
        let share = self.own_share(index);
        if let Some(tenants) = &mut self.tenants {
            tenants.channel_wait(index, channel, (&self.shares, share), now, begins);
        }
    }

    /// It ends. Before the channel is taken for the access.
    pub fn end_channel_wait_by_tenant(&mut self, index: u32, channel: ResourceId, now: Ns) {
        let share = self.own_share(index);
        if let Some(tenants) = &mut self.tenants {
            tenants.channel_wait(index, channel, (&self.shares, share), now, ends);
        }
    }

    /// A die begins to work for a share, or goes on with it.
    pub(super) fn own_opened(&mut self, share: u32) {
        if let Some(tenants) = &mut self.tenants {
            let holder = tenants.ledgers.holder(self.shares.resource_of(share));
            tenants.ledgers.own_opened(share, self.shares.serial_of(share), holder);
        }
    }

    /// The channel of a die's share is about to move something for its command.
    pub(super) fn own_channel_taken(&mut self, share: u32, by: ResourceId) {
        if let Some(tenants) = &mut self.tenants {
            let (holder, channel) = (tenants.ledgers.holder(by), self.shares.channel_of(share));
            tenants.ledgers.own_opened(channel, self.shares.serial_of(channel), holder);
        }
    }
}
