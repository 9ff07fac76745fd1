//! What a flash part takes and allows, from its constants alone: the time of a page by its type, and the planes that one
//! command may address.

use ninescope_engine::View;
use ninescope_kernel::Ns;
use ninescope_media::nand::{CommandKind, FlashCommand, NandTiming, PageTypes, PlaneGroups};

use crate::marks::{Mark, Marks};
use crate::rule::{Checked, require};

/// What a read or program takes in the array by the type of its page.
#[inline]
pub fn page_time(view: &View<'_>, command: &FlashCommand, marks: &mut Marks) -> Ns {
    let NandTiming { read, program, page_types, .. } = view.nand.timing();
    let page = command.page as usize;
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
    match command.kind {
        CommandKind::Read => Ns(read[page_type].0 * (u64::from(command.more_senses) + 1)),
        _ => program[page_type],
    }
}

/// All planes that a command addresses are of one group, and of one block unless the part reads any.
#[inline]
pub fn planes_fit(view: &View<'_>, command: &FlashCommand) -> Checked {
    let first = command.planes.trailing_zeros() as usize;
    if command.planes == 1 << first {
        return Ok(());
    }
    let NandTiming { planes_per_command, plane_groups, read_any_block, .. } = *view.nand.timing();
    let (planes, together) = (view.ftl.geometry().planes_per_die as usize, planes_per_command as usize);
    let group = |plane: usize| match plane_groups {
        PlaneGroups::Neighbours => plane / together,
        PlaneGroups::Interleaved => plane % planes.div_ceil(together),
    };
    let any_block = read_any_block && command.kind == CommandKind::Read;
    for plane in command.addressed_planes() {
        require!(
            group(plane) == group(first) && (any_block || command.block[plane] == command.block[first]),
            PlanesTogether,
            view.now,
            "die {}: a {:?} addresses plane {plane}, block {}, beside plane {first}, block {}",
            command.die,
            command.kind,
            command.block[plane],
            command.block[first]
        );
    }
    Ok(())
}
