//! Which turn of its plane each page is: the how manieth that was written there, counted round the pages of a block.
//!
//! Drives that give a page its place when it is touched, in flash that takes pages in any order, merge by that. Knows pages
//! by their logical number, and nothing of queues.

use ninescope_ftl::Ftl;
use ninescope_kernel::NONE;
use ninescope_model::{Geometry, Lpa};

use super::place::place_of;
use crate::config::MergeBy;
use crate::transaction::{QueueClass, Transaction};

/// What takes turns by itself: writes of the host, of the map, moves.
const LINES: usize = 3;

/// The turns of one drive.
#[derive(Debug)]
pub struct Turns {
    /// By logical page, those of the map behind: the turn it was written at, `NONE` before.
    of_page: Vec<u32>,
    /// By plane of the drive and line: the next turn.
    next: Vec<[u32; LINES]>,
    /// What was not written yet has a turn from when it is read first.
    touched_by_reads: bool,
    logical_pages: u32,
}

impl Turns {
    /// Turns of a drive whose pages hold one unit each; nothing where they are not asked for.
    pub fn new(rule: MergeBy, ftl: &Ftl) -> Option<Box<Self>> {
        let touched_by_reads = match rule {
            MergeBy::Page => return None,
            MergeBy::Write => false,
            MergeBy::Touch => true,
        };
        let (logical_pages, of_map) = (ftl.logical_units(), ftl.translation_units());
        let planes = ftl.geometry().dies() * ftl.geometry().planes_per_die;
        // Pages of the map have had their turns, by number.
        let map_turns = of_map.div_ceil(planes);
        let mut of_page = vec![NONE; logical_pages as usize];
        of_page.extend((0..of_map).map(|page| page / planes % ftl.geometry().pages_per_block));
        let next = vec![[0, map_turns % ftl.geometry().pages_per_block, 0]; planes as usize];
        Some(Box::new(Self { of_page, next, touched_by_reads, logical_pages }))
    }

    /// The turn of an access that is queued, of a page with that content.
    pub fn of_access(&mut self, access: &Transaction, content: Lpa, geometry: &Geometry) -> u32 {
        let Some(&known) = self.of_page.get(content.index()) else { return access.page };
        let is_program = matches!(access.class, QueueClass::HostProgram | QueueClass::MoveProgram);
        if !is_program && (known != NONE || !self.touched_by_reads) {
            return if known == NONE { access.page } else { known };
        }
        let line = match access.class {
            QueueClass::MoveProgram => 2,
            _ => usize::from(content.0 >= self.logical_pages),
        };
        let next = &mut self.next[plane_of(access, geometry)][line];
        let turn = *next;
        *next = (turn + 1) % geometry.pages_per_block;
        self.of_page[content.index()] = turn;
        turn
    }
}

/// The plane of an access, of all of the drive.
fn plane_of(access: &Transaction, geometry: &Geometry) -> usize {
    let die = geometry.die_of(access.ppa()).index();
    die * geometry.planes_per_die as usize + place_of(access, geometry).plane as usize
}
