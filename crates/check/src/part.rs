//! What a flash part takes and allows, from its constants alone: the time of a page by its type, and the planes that one
//! command may address.

use ninescope_engine::View;
use ninescope_kernel::Ns;
use ninescope_media::nand::{CommandKind, FlashCommand, NandTiming, PageTypes, PlaneGroups, SLC_PAGE_TYPE};

use crate::marks::{Mark, Marks};
use crate::rule::{Checked, require};

/// What a read or program takes in the array by the type of its page.
#[inline]
pub fn page_time(view: &View<'_>, command: &FlashCommand, marks: &mut Marks) -> Ns {
    let times = command.addressed_planes().map(|plane| time_of_page(view, command, plane, marks));
    times.max().unwrap_or_default()
}

/// What it takes for the page in one of its planes.
fn time_of_page(view: &View<'_>, command: &FlashCommand, plane: usize, marks: &mut Marks) -> Ns {
    let NandTiming { read, program, slc, .. } = view.nand.timing();
    if let (Some(SLC_PAGE_TYPE), Some(times)) = (command.page_type, slc) {
        let senses = u64::from(command.more_senses) + 1;
        return if command.kind == CommandKind::Read { Ns(times.read.0 * senses) } else { times.program };
    }
    let page_type = match command.page_type {
        Some(page_type) => usize::from(page_type),
        None => page_type(view, command.page[plane] as usize, marks),
    };
    match command.kind {
        CommandKind::Read => Ns(read[page_type].0 * (u64::from(command.more_senses) + 1)),
        // What a copyback copies is sensed first.
        _ if command.copies => {
            let from = view.nand.copied_from(command.die).page;
            read[self::page_type(view, from as usize, marks)] + program[page_type]
        }
        _ => program[page_type],
    }
}

#[inline]
fn page_type(view: &View<'_>, page: usize, marks: &mut Marks) -> usize {
    let NandTiming { read, page_types, .. } = view.nand.timing();
    let in_turn = page % read.len();
    let page_type = match page_types {
        PageTypes::InTurn => in_turn,
        PageTypes::Staggered(stagger) => {
            let pages = view.ftl.geometry().pages_per_block as usize;
            let from_the_end = pages - page;
            let turn = || page.saturating_sub(stagger.first.len()) % stagger.then.len();
            usize::from(if from_the_end <= stagger.last.len() {
                stagger.last[stagger.last.len() - from_the_end]
            } else {
                stagger.first.get(page).copied().unwrap_or_else(|| stagger.then[turn()])
            })
        }
    };
    if page_type != in_turn {
        marks.hit(Mark::StaggeredPage);
    }
    page_type
}

/// All planes that a command addresses are of one group, and of one block and page unless the part takes others.
#[inline]
pub fn planes_fit(view: &View<'_>, command: &FlashCommand, marks: &mut Marks) -> Checked {
    let first = command.planes.trailing_zeros() as usize;
    if command.planes == 1 << first {
        return Ok(());
    }
    let NandTiming { planes_per_command, plane_groups, read_any_block, any_page, .. } = *view.nand.timing();
    let (planes, together) = (view.ftl.geometry().planes_per_die as usize, planes_per_command as usize);
    let group = |plane: usize| match plane_groups {
        PlaneGroups::Neighbours => plane / together,
        PlaneGroups::Interleaved => plane % planes.div_ceil(together),
    };
    let (any_block, any_page) = match command.kind {
        CommandKind::Read => (read_any_block || any_page, any_page),
        CommandKind::Program => (any_page, any_page),
        CommandKind::Erase => (false, true),
    };
    for plane in command.addressed_planes() {
        require!(
            group(plane) == group(first)
                && (any_block || command.block[plane] == command.block[first])
                && (any_page || command.page[plane] == command.page[first]),
            PlanesTogether,
            view.now,
            "die {}: a {:?} addresses plane {plane}, block {}, page {}, beside plane {first}, block {}, page {}",
            command.die,
            command.kind,
            command.block[plane],
            command.page[plane],
            command.block[first],
            command.page[first]
        );
        let is_at_first = command.page[plane] == command.page[first] && command.block[plane] == command.block[first];
        if command.kind == CommandKind::Program && !is_at_first {
            marks.hit(Mark::PagesOfTheirOwn);
        }
    }
    Ok(())
}
