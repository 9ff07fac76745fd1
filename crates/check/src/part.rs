//! What a flash part takes and allows, from its constants alone: the time of a page by its type, and the planes that one
//! command may address.

use ninescope_engine::View;
use ninescope_kernel::Ns;
use ninescope_media::nand::{
    CommandKind, FlashCommand, NandTiming, PageTypes, PlaneGroups, SLC_PAGE_TYPE, TimeFactors, WearFactors,
};

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
    let NandTiming { read, program, slc, times, .. } = view.nand.timing();
    let (page, pages) = (command.page[plane], view.ftl.geometry().pages_per_block);
    let senses = u64::from(command.more_senses) + 1;
    let cycles = view.nand.cycles(command.die, plane as u32, command.block[plane]);
    let worn = || between_rows(times, cycles, |row| row.program);
    if let (Some(SLC_PAGE_TYPE), Some(of_slc)) = (command.page_type, slc) {
        let layer = |layers| layer_factor(layers, page, times.slc_pages);
        return match command.kind {
            CommandKind::Read => Ns(by_factors(of_slc.read, layer(&times.read_layers), UNIT).0 * senses),
            _ => by_factors(of_slc.program, layer(&times.program_layers), worn()),
        };
    }
    let page_type = match command.page_type {
        Some(page_type) => usize::from(page_type),
        None => page_type(view, page as usize, marks),
    };
    let read =
        |page: u32, page_type: usize| by_factors(read[page_type], layer_factor(&times.read_layers, page, pages), UNIT);
    let program = || by_factors(program[page_type], layer_factor(&times.program_layers, page, pages), worn());
    match command.kind {
        CommandKind::Read => Ns(read(page, page_type).0 * senses),
        // What a copyback copies is sensed first.
        _ if command.copies => {
            let from = view.nand.copied_from(command.die).page;
            read(from, self::page_type(view, from as usize, marks)) + program()
        }
        _ => program(),
    }
}

/// Between the least and the most that an erase of so many loops may take: exactly one time where it is of one block, or its blocks are
/// as worn as each other.
pub fn erase_time(view: &View<'_>, command: &FlashCommand, loops: u32) -> (Ns, Ns) {
    let NandTiming { erase_loop, times, .. } = view.nand.timing();
    let of_plane = |plane: usize| {
        let cycles = view.nand.cycles(command.die, plane as u32, command.block[plane]);
        by_factors(Ns(erase_loop.0 * u64::from(loops)), between_rows(times, cycles, |row| row.erase), UNIT)
    };
    let each = || command.addressed_planes().map(of_plane);
    (each().min().unwrap_or_default(), each().max().unwrap_or_default())
}

/// A factor of 1 [millionth].
const UNIT: u128 = 1_000_000;

/// A time that takes longer by two factors.
fn by_factors(time: Ns, a: u128, b: u128) -> Ns {
    let longer = u128::from(time.0) * a * b / UNIT / UNIT;
    if time == Ns::ZERO { time } else { Ns(longer.max(1) as u64) }
}

/// The factor of a page's layer: a block has as many as there are factors, and they are as large as each other.
fn layer_factor(layers: &[u32], page: u32, pages: u32) -> u128 {
    let (count, page, pages) = (layers.len() as u64, u64::from(page), u64::from(pages));
    let below = (1..count).filter(|layer| layer * pages <= page * count).count();
    layers.get(below).map_or(UNIT, |&factor| u128::from(factor))
}

/// A factor of wear: that of a row, or on the line between two, towards the first where it is no whole number.
fn between_rows(times: &TimeFactors, cycles: u32, of: impl Fn(&WearFactors) -> u32) -> u128 {
    let rows = &times.wear;
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return UNIT };
    let factor = |row: &WearFactors| i128::from(of(row));
    let found = match rows.windows(2).find(|pair| (pair[0].cycles..pair[1].cycles).contains(&cycles)) {
        Some(pair) => {
            let (into, span) = (cycles - pair[0].cycles, pair[1].cycles - pair[0].cycles);
            let more = factor(&pair[1]) - factor(&pair[0]);
            factor(&pair[0]) + more * i128::from(into) / i128::from(span)
        }
        None if cycles < first.cycles => factor(first),
        None => factor(last),
    };
    found as u128
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
