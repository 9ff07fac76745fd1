//! Which pages are programmed with which: those of a wordline in all planes of a frontier, where they are programmed in one go, and
//! otherwise each by itself.

use ninescope_engine::View;
use ninescope_media::nand::{CommandKind, FlashCommand, SLC_PAGE_TYPE};
use ninescope_model::{BlockGroup, Ppa};

/// Pages of each plane that the program of a unit is of.
pub fn pages_at(view: &View<'_>, group: BlockGroup) -> u32 {
    let pages = view.ftl.geometry().pages_per_program;
    if pages > 1 && view.ftl.is_slc(group) { 1 } else { pages }
}

/// Pages of each plane that a command is of.
pub fn pages_of(view: &View<'_>, command: &FlashCommand) -> u32 {
    match command.kind {
        CommandKind::Program if command.page_type != Some(SLC_PAGE_TYPE) => view.ftl.geometry().pages_per_program,
        _ => 1,
    }
}

/// Units that are programmed together, with which padding ends.
pub fn units_together(view: &View<'_>, group: BlockGroup) -> u32 {
    let geometry = view.ftl.geometry();
    match pages_at(view, group) {
        1 => geometry.units_per_page(),
        pages => pages * geometry.frontier_planes * geometry.units_per_page(),
    }
}

/// The first unit of what the plane of a unit programs with it: of its page, or of the first page of its wordline.
pub fn program_of(view: &View<'_>, place: Ppa) -> u32 {
    let geometry = view.ftl.geometry();
    let (group, offset) = geometry.group_and_offset(place);
    let number = offset / geometry.units_per_page();
    let (row, plane) = (number / geometry.frontier_planes, number % geometry.frontier_planes);
    let first = row - row % pages_at(view, group);
    geometry.first_unit(group).0 + (first * geometry.frontier_planes + plane) * geometry.units_per_page()
}
