//! Blocks of the media: how far each is programmed and how often it was erased, kept from the commands alone.

use ninescope_engine::View;
use ninescope_media::nand::{CommandKind, FlashCommand};
use ninescope_model::{BlockGroup, DieId, Geometry, Ppa};

use crate::die_sets::set_of;
use crate::rule::{Checked, require};
use crate::wordlines::pages_of;

#[derive(Clone, Copy, Debug, Default)]
struct Block {
    programmed_pages: u32,
    /// Those that the die holds: fewer where it stands for one that failed.
    on_die: u32,
    erases: u32,
}

/// All blocks of the drive.
#[derive(Debug, Default)]
pub struct Blocks {
    records: Vec<Block>,
    /// Planes of a die, and blocks of a plane.
    planes: usize,
    per_plane: usize,
}

/// The group a block belongs to.
pub fn group_of_block(geometry: &Geometry, die: DieId, plane: usize, block: u32) -> BlockGroup {
    let pool = set_of(geometry, die) * geometry.pools_per_die() + plane as u32 / geometry.frontier_planes;
    BlockGroup(pool * geometry.blocks_per_plane + block)
}

impl Blocks {
    /// Takes over what preparing left on the media.
    pub fn started(&mut self, view: &View<'_>) {
        let geometry = view.ftl.geometry();
        (self.planes, self.per_plane) = (geometry.planes_per_die as usize, geometry.blocks_per_plane as usize);
        self.records.clear();
        for die in (0..geometry.dies()).map(DieId) {
            for plane in 0..geometry.planes_per_die {
                self.records.extend((0..geometry.blocks_per_plane).map(|block| Block {
                    programmed_pages: view.nand.programmed_pages(die, plane, block),
                    on_die: view.nand.programmed_pages(die, plane, block),
                    erases: view.nand.erase_count(die, plane, block),
                }));
            }
        }
    }

    #[inline]
    fn index(&self, die: DieId, plane: usize, block: u32) -> usize {
        (die.index() * self.planes + plane) * self.per_plane + block as usize
    }

    /// Pages of a block programmed since its last erase.
    #[inline]
    pub fn programmed_pages(&self, die: DieId, plane: usize, block: u32) -> u32 {
        self.records[self.index(die, plane, block)].programmed_pages
    }

    /// Those of them that the die holds.
    pub fn pages_on_die(&self, die: DieId, plane: usize, block: u32) -> u32 {
        self.records[self.index(die, plane, block)].on_die
    }

    /// A die stands for one that failed, which had a block full: it has nothing of that.
    pub fn is_emptied(&mut self, die: DieId, plane: usize, block: u32) {
        let index = self.index(die, plane, block);
        self.records[index].on_die = 0;
    }

    /// Whether what was put at a place of flash is on the media, or its group was erased since: it was superseded then.
    /// `erases` are those of its group when it was put there.
    pub fn is_programmed(&self, view: &View<'_>, at: Ppa, erases: u32) -> bool {
        let geometry = view.ftl.geometry();
        let place = geometry.locate(at);
        let (pool, block) = geometry.pool_and_block(place.group);
        let plane = (geometry.first_plane_of_pool(pool) + place.plane_in_group) as usize;
        let die = geometry.die_of(at);
        self.erases(die, plane, block) != erases || self.programmed_pages(die, plane, block) > place.page
    }

    /// Erases of a block.
    pub fn erases(&self, die: DieId, plane: usize, block: u32) -> u32 {
        self.records[self.index(die, plane, block)].erases
    }

    /// A command was issued: a program takes the next page, a read a page that is programmed.
    #[inline]
    pub fn issued(&self, view: &View<'_>, command: &FlashCommand) -> Checked {
        let (now, die) = (view.now, command.die);
        for plane in command.addressed_planes() {
            let (block, page) = (command.block[plane], command.page[plane]);
            let pages = self.pages_on_die(die, plane, block);
            match command.kind {
                CommandKind::Program => require!(
                    page == pages,
                    ProgramOrder,
                    now,
                    "die {die}, plane {plane}, block {block}: program of page {page}, {pages} pages are programmed"
                ),
                CommandKind::Read => require!(
                    page < pages || view.nand.senses_unwritten(),
                    ReadUnprogrammed,
                    now,
                    "die {die}, plane {plane}, block {block}: read of page {page}, {pages} pages are programmed"
                ),
                CommandKind::Erase => {}
            }
        }
        Ok(())
    }

    /// A command ended: its effect shows.
    #[inline]
    pub fn ended(&mut self, view: &View<'_>, command: &FlashCommand) {
        let pages = pages_of(view, command);
        for plane in command.addressed_planes() {
            let index = self.index(command.die, plane, command.block[plane]);
            let block = &mut self.records[index];
            match command.kind {
                CommandKind::Read => {}
                CommandKind::Program => {
                    block.on_die += pages;
                    block.programmed_pages = block.programmed_pages.max(block.on_die);
                }
                CommandKind::Erase => *block = Block { erases: block.erases + 1, ..Block::default() },
            }
        }
    }

    /// The media's own tables say the same.
    pub fn sweep(&self, view: &View<'_>) -> Checked {
        let geometry = view.ftl.geometry();
        for die in (0..geometry.dies()).map(DieId) {
            for plane in 0..geometry.planes_per_die {
                for block in 0..geometry.blocks_per_plane {
                    let own = self.records[self.index(die, plane as usize, block)];
                    let pages = view.nand.programmed_pages(die, plane, block);
                    let erases = view.nand.erase_count(die, plane, block);
                    require!(
                        pages == own.on_die,
                        ProgramOrder,
                        view.now,
                        "die {die}, plane {plane}, block {block}: the media says {pages} programmed pages, {} were seen",
                        own.on_die
                    );
                    require!(
                        erases == own.erases,
                        Wear,
                        view.now,
                        "die {die}, plane {plane}, block {block}: the media says {erases} erases, {} were seen",
                        own.erases
                    );
                }
            }
        }
        Ok(())
    }
}
