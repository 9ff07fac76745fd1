//! What tenants have of the upper medium, and what they find there.

use serde::Serialize;

use super::{TierConfig, TierPart};

/// Pages that the requests of a tenant touched, since measuring began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TenantPages {
    /// How many [count].
    pub page_accesses: u64,
    /// Those that had a slot, of reads with all sectors that were asked for in it.
    pub page_hits: u64,
}

/// A tenant.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TierTenant {
    part: u32,
    pages: TenantPages,
}

impl TierPart {
    /// There are so many tenants. Before anything runs.
    pub fn set_tenants(&mut self, config: &TierConfig, count: usize) {
        let part = |tenant: usize| config.part_of_tenant.get(tenant).copied().unwrap_or_default();
        self.tenants = (0..count).map(|tenant| TierTenant { part: part(tenant), ..TierTenant::default() }).collect();
    }

    /// How many there are.
    pub fn tenants(&self) -> usize {
        self.tenants.len()
    }

    /// The part of a tenant.
    #[inline]
    pub fn part_of(&self, tenant: u16) -> usize {
        self.tenants[usize::from(tenant)].part as usize
    }

    /// Of a tenant: what he found.
    pub fn pages_of(&self, tenant: usize) -> TenantPages {
        self.tenants[tenant].pages
    }

    /// A request of a tenant touched a page.
    #[inline]
    pub(super) fn count_access(&mut self, tenant: u16, hit: bool) {
        let pages = &mut self.tenants[usize::from(tenant)].pages;
        pages.page_accesses += 1;
        pages.page_hits += u64::from(hit);
    }

    /// Counts from now on.
    pub(super) fn forget_tenants(&mut self) {
        self.tenants.iter_mut().for_each(|tenant| tenant.pages = TenantPages::default());
    }
}
