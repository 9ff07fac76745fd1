//! Which page of the upper medium makes way: pages lie in classes, of each in an order, and the first of the first class goes.
//!
//! A policy says what a page's class is and whether a use puts it behind the others; the lists are the tier's, so that a choice
//! takes a few steps however many pages there are.

use std::fmt::Debug;

use ninescope_model::policy_registry;

/// What is known of a page that has a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CachedPage {
    /// How often it was used since it came, up to [`USES_MAX`].
    pub uses: u8,
    /// It was last written as part of a sequential request.
    pub sequential: bool,
}

/// Uses of a page that are told apart [count].
pub const USES_MAX: u8 = 15;

/// The order in which pages make way.
pub trait EvictionOrder: Debug {
    /// Classes that are told apart; pages of the first make way first.
    fn classes(&self) -> usize {
        1
    }

    /// The class of a page, from 0. Asked where there are several, when a page comes and when it is used.
    fn class_of(&self, _page: &CachedPage) -> usize {
        0
    }

    /// Whether a use makes a page the one of its class that makes way last. It is so when it comes and when it changes its class,
    /// too.
    fn use_renews(&self) -> bool {
        true
    }

    /// Among how many, of those that would make way first, one that is clean goes before them.
    fn clean_among(&self) -> usize {
        0
    }

    /// What is wrong with the parameters: the key behind that of the placement (`victim.name`) and the rest of a sentence that
    /// begins with it.
    fn problem(&self) -> Option<(&'static str, String)> {
        None
    }
}

policy_registry! {
    /// Which page of the upper medium makes way.
    EvictionConfig as dyn EvictionOrder;
    "lru" => lru::Lru, "the page used longest ago";
    "fifo" => fifo::Fifo, "the page that has had its slot for longest";
    "sequential-first" => sequential_first::SequentialFirst, "of those last written sequentially the one used longest ago; without any, of all others";
    "lfu" => lfu::Lfu, "the page used least often since it came, of 15 uses and more all alike; of those the one used longest ago";
    "clean-first" => clean_first::CleanFirst, "of some used longest ago the first that is clean, and so need not be copied; without any, the one used longest ago (CFLRU)";
}
