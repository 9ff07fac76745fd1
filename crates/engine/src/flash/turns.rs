//! Which turn of its plane each page is: the how manieth that was written there, counted round the pages of a block.
//!
//! Drives that give a page its place when it is touched, in flash that takes pages in any order, merge by that. Knows pages
//! by their logical number, and nothing of queues.

use ninescope_ftl::Ftl;
use ninescope_kernel::NONE;
use ninescope_model::{Geometry, Lpa, Ppa};

use super::place::place_of;
use crate::config::MergeBy;
use crate::transaction::{QueueClass, Transaction};

/// What takes turns by itself: writes of the host, of the map, moves.
const LINES: usize = 3;

/// The turns of one drive.
#[derive(Debug)]
pub struct Turns {
    /// By physical page: the turn it was written at, or read first; `NONE` before.
    of_page: Vec<u32>,
    /// By plane of the drive and line: the next turn.
    next: Vec<[u32; LINES]>,
    /// What was not written yet has a turn from when it is read first.
    touched_by_reads: bool,
    logical_pages: u32,
    /// Pages of the map, all written in turn over the planes before anything else.
    map_pages: u32,
}

impl Turns {
    /// Turns of a drive whose pages hold one unit each; nothing where they are not asked for.
    pub fn new(rule: MergeBy, ftl: &Ftl) -> Option<Box<Self>> {
        let touched_by_reads = match rule {
            MergeBy::Page => return None,
            MergeBy::Write => false,
            MergeBy::Touch => true,
        };
        let (logical_pages, map_pages) = (ftl.logical_units(), ftl.translation_units());
        let planes = ftl.geometry().dies() * ftl.geometry().planes_per_die;
        let of_page = vec![NONE; ftl.geometry().units() as usize];
        let first = [0, map_pages.div_ceil(planes) % ftl.geometry().pages_per_block, 0];
        let next = vec![first; planes as usize];
        Some(Box::new(Self { of_page, next, touched_by_reads, logical_pages, map_pages }))
    }

    /// Whether the turn is the place of a page in its block, for what it takes to read and to program it.
    pub fn is_place(&self) -> bool {
        self.touched_by_reads
    }

    /// The turn of an access that is queued, of a page with that content.
    pub fn of_access(&mut self, access: &Transaction, content: Lpa, geometry: &Geometry) -> u32 {
        let Some(known) = self.of_page.get_mut(access.ppa().index()) else { return access.page };
        let page_of_map = content.0.checked_sub(self.logical_pages).filter(|&page| page < self.map_pages);
        let is_program = matches!(access.class, QueueClass::HostProgram | QueueClass::MoveProgram);
        if !is_program {
            if *known != NONE {
                return *known;
            }
            if let Some(page) = page_of_map {
                return page / self.next.len() as u32 % geometry.pages_per_block;
            }
            if !self.touched_by_reads {
                return access.page;
            }
        }
        let line = match access.class {
            QueueClass::MoveProgram => 2,
            _ => usize::from(page_of_map.is_some()),
        };
        let next = &mut self.next[plane_of(access, geometry)][line];
        let turn = *next;
        *next = (turn + 1) % geometry.pages_per_block;
        *known = turn;
        turn
    }

    /// A program that waits has the turn of another one of its plane: one of a later turn is programmed before it, and a
    /// plane programs its pages in order.
    pub fn is_programmed_at(&mut self, ppa: Ppa, turn: u32) {
        if let Some(known) = self.of_page.get_mut(ppa.index()) {
            *known = turn;
        }
    }
}

/// The plane of an access, of all of the drive.
fn plane_of(access: &Transaction, geometry: &Geometry) -> usize {
    let die = geometry.die_of(access.ppa()).index();
    die * geometry.planes_per_die as usize + place_of(access, geometry).plane as usize
}
