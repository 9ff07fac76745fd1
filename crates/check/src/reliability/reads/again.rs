//! Pages that are read again because they did not decode.

use ninescope_engine::View;
use ninescope_media::nand::{CommandKind, FlashCommand};

use crate::reliability::reliability;
use crate::rule::{Checked, require};

/// A page that is read again is sensed as often as the policy says.
pub(super) fn senses_as_the_retry_wants(view: &View<'_>, command: &FlashCommand, attempt: u32) -> Checked {
    let wanted = reliability(view).retry().map_or(1, |retry| retry.senses(attempt - 1));
    require!(
        command.kind == CommandKind::Read && u32::from(command.more_senses) + 1 == wanted && command.plane_count() == 1,
        PageDecoded,
        view.now,
        "attempt {attempt} senses {} times in {} planes, it is to sense {wanted} times in one",
        u32::from(command.more_senses) + 1,
        command.plane_count()
    );
    Ok(())
}
