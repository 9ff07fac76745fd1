//! The checker's own map, one entry per logical unit, and per page of a map that lies in flash: what the FTL's must equal.

use ninescope_engine::View;
use ninescope_model::{Lpa, Ppa};

use crate::rule::{Checked, require};

/// Where every logical unit lies, by the events.
#[derive(Debug, Default)]
pub struct Units {
    map: Vec<Ppa>,
}

impl Units {
    /// Takes over what preparing left.
    pub fn started(&mut self, view: &View<'_>) {
        let all = view.ftl.logical_units() + view.ftl.translation_units();
        self.map = (0..all).map(|lpa| view.ftl.translate(Lpa(lpa))).collect();
    }

    /// Where a unit lies.
    pub fn get(&self, lpa: Lpa) -> Ppa {
        self.map[lpa.index()]
    }

    /// The place of a unit changed.
    pub fn changed(&mut self, view: &View<'_>, lpa: Lpa, old: Ppa, new: Ppa) -> Checked {
        let before = std::mem::replace(&mut self.map[lpa.index()], new);
        require!(before == old, Mapping, view.now, "unit {lpa} leaves {old} for {new}, it was at {before}");
        Ok(())
    }
}

/// The FTL's tables agree about a unit that was just placed or forgotten.
#[inline]
pub fn agrees(view: &View<'_>, lpa: Lpa, place: Ppa) -> Checked {
    let mapped = view.ftl.translate(lpa);
    require!(mapped == place, Mapping, view.now, "unit {lpa} was put at {place}, the map says {mapped}");
    if place != Ppa::UNMAPPED {
        let (content, valid) = (view.ftl.content(place), view.ftl.is_valid(place));
        require!(
            content == lpa && valid,
            Mapping,
            view.now,
            "unit {lpa} was put at {place}, which holds {content} and is {}valid",
            if valid { "" } else { "not " }
        );
    }
    Ok(())
}
