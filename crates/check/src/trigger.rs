//! When a group may be emptied for its space: the need of each trigger, from the states of all groups of the pool, and what it wants to
//! know of time, from the commands of dies.
//!
//! How the device measures either is not known here. What `watermarks` began is not followed: it is held to its upper mark alone.

use std::num::NonZeroU32;

use ninescope_engine::{Event, QueueClass, View};
use ninescope_ftl::GroupState;
use ninescope_ftl::policies::GcTriggerConfig;
use ninescope_kernel::Ns;
use ninescope_media::nand::{CommandKind, FlashCommand};
use ninescope_model::{BlockGroup, DieId, Pool};

use crate::die_sets::dies_of_set;
use crate::rule::{Checked, require};

/// What is known of dies and pools.
#[derive(Debug, Default)]
pub struct Trigger {
    /// By die: when the last of its commands has ended, and the planes of those that have not, a bit each.
    ended: Vec<(Ns, u8)>,
    /// By die: it rests, and nothing of the host has been begun since.
    rests: Vec<bool>,
    /// By pool: since when collection has been wanted and could be put off.
    wanted: Vec<Option<Ns>>,
    /// Blocks of one bit in a cell are folded after so much rest.
    fold_after: Option<Ns>,
}

impl Trigger {
    /// Nothing has happened.
    pub fn started(&mut self, view: &View<'_>, fold_after: Option<Ns>) {
        self.fold_after = fold_after;
        let geometry = view.ftl.geometry();
        self.ended = vec![(Ns::ZERO, 0); geometry.dies() as usize];
        self.rests = vec![false; geometry.dies() as usize];
        self.wanted = vec![None; geometry.pools() as usize];
    }

    /// Something has happened.
    pub fn sees(&mut self, view: &View<'_>, event: &Event<'_>) -> Checked {
        // A page that a die copies has its place in the step in which the last of its group may be handed out: between these nobody
        // looks.
        let decides = !matches!(event, Event::CopybackBegan { .. });
        if let (true, GcTriggerConfig::Deadline(parameters)) = (decides, &view.ftl.rules().gc_trigger) {
            let low = view.ftl.reserve_groups().saturating_add(parameters.beyond_reserve);
            self.wanted_from(view, low, event);
        }
        match event {
            Event::Dispatched { command, class, .. } => {
                self.ended[command.die.index()].1 |= command.planes;
                let of_host = matches!(class, QueueClass::HostRead | QueueClass::HostProgram);
                self.rests[command.die.index()] &= !of_host;
            }
            Event::CommandEnded { command } if command.kind != CommandKind::Read => self.ends(command, view.now),
            Event::DataOut { command, until, held } => self.ends(command, (*until).max(*held)),
            Event::DieRests { die } => return self.die_rests(view, *die),
            Event::VictimChosen { group, fills: false } => return self.chosen(view, *group),
            _ => {}
        }
        Ok(())
    }

    /// A command ends then.
    fn ends(&mut self, command: &FlashCommand, at: Ns) {
        let (ended, works) = &mut self.ended[command.die.index()];
        (*ended, *works) = ((*ended).max(at), *works & !command.planes);
    }

    /// Notes since when each pool has no more than so many groups free.
    fn wanted_from(&mut self, view: &View<'_>, low: u32, event: &Event<'_>) {
        for pool in (0..view.ftl.geometry().pools()).map(Pool) {
            let victim = match event {
                Event::VictimChosen { group, .. } => Some(*group),
                _ => None,
            };
            let wanted = &mut self.wanted[pool.index()];
            *wanted = if in_prospect(view, pool, victim) > low { None } else { Some(wanted.unwrap_or(view.now)) };
        }
    }

    fn die_rests(&mut self, view: &View<'_>, die: DieId) -> Checked {
        let timing = view.ftl.trigger_timing();
        let of_fold = self.fold_after.unwrap_or(Ns::NEVER);
        let (rest, (ended, works)) = (timing.map_or(of_fold, |timing| Ns(timing.rest.0)), self.ended[die.index()]);
        require!(
            works == 0 && rest != Ns::NEVER && ended + rest <= view.now,
            Trigger,
            view.now,
            "die {die} rests, whose last command ended at {ended} but for planes {works:#b}, and {rest} without one are rest"
        );
        self.rests[die.index()] = true;
        Ok(())
    }

    /// A victim was chosen, and not to fill an open page that somebody waits for.
    fn chosen(&self, view: &View<'_>, group: BlockGroup) -> Checked {
        let geometry = view.ftl.geometry();
        let pool = geometry.pool_and_block(group).0;
        let (free, reserve) = (in_prospect(view, pool, Some(group)), view.ftl.reserve_groups());
        let dies = dies_of_set(geometry, pool.0 / geometry.pools_per_die());
        let rests = dies.iter().all(|die| self.rests[die.index()]);
        let low = |beyond: u32| reserve.saturating_add(beyond);
        let high = |beyond: u32, gain: NonZeroU32| low(beyond).saturating_add(gain.get());
        let is_needed = match &view.ftl.rules().gc_trigger {
            GcTriggerConfig::FreeGroups(told) => free <= low(told.beyond_reserve),
            GcTriggerConfig::Foreground(told) => free < high(told.beyond_reserve, told.gain),
            GcTriggerConfig::Watermarks(told) => free < high(told.beyond_reserve, told.gain),
            GcTriggerConfig::Idle(told) => {
                free <= low(told.beyond_reserve) || rests && free < high(told.beyond_reserve, told.gain)
            }
            GcTriggerConfig::Deadline(told) => {
                let wanted = self.wanted[pool.index()];
                let overdue = wanted.is_some_and(|since| since + Ns(told.postponed.0) <= view.now);
                free <= reserve || free <= low(told.beyond_reserve) && (rests || overdue)
            }
            GcTriggerConfig::Added(_) => true,
        };
        require!(
            is_needed,
            Trigger,
            view.now,
            "group {group} is emptied where {free} groups of pool {pool} are free or will be, {reserve} are the reserve, its die {}, \
             and collection was wanted since {:?}: {:?}",
            if rests { "rests" } else { "does not rest" },
            self.wanted[pool.index()],
            view.ftl.rules().gc_trigger
        );
        Ok(())
    }
}

/// Groups of a pool that are free or will be, without one that was just chosen.
fn in_prospect(view: &View<'_>, pool: Pool, chosen: Option<BlockGroup>) -> u32 {
    let blocks = view.ftl.geometry().blocks_per_plane;
    let groups = (pool.0 * blocks..(pool.0 + 1) * blocks).map(BlockGroup).filter(|&group| Some(group) != chosen);
    // One of which a program failed is not free when it is empty.
    let comes = |group: &BlockGroup| {
        let record = view.ftl.group(*group);
        matches!(record.state, GroupState::Free | GroupState::Erasing)
            || record.state == GroupState::Draining && !record.failed
    };
    // Those that are kept for blocks of one bit in a cell are nobody else's.
    let fixed = view.ftl.slc_rules().map_or(0, |rules| rules.fixed);
    let set_apart = fixed.saturating_sub(view.ftl.slc_groups(pool));
    (groups.filter(comes).count() as u32).saturating_sub(set_apart)
}
