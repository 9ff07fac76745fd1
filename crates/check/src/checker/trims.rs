//! TRIMs that are put off: units that are noted, and forgotten later.

use ninescope_engine::{Forgotten, View};
use ninescope_model::{Lpa, Op, Ppa};

use super::Checker;
use crate::marks::Mark;
use crate::oracle::content::Pending;
use crate::rule::Checked;

impl Checker {
    pub(super) fn trim_noted(&mut self, view: &View<'_>, slot: u32, lpa: Lpa) -> Checked {
        self.requests.unit_done(view, slot, lpa, Op::Trim)?;
        self.decided_about(view, slot)?;
        let inside = *self.requests.get(view, slot)?;
        let Some(book) = &mut self.trims else {
            return Err(
                crate::Rule::Trims.violated(view.now, format!("unit {lpa} is noted, and TRIMs are not put off"))
            );
        };
        if book.is_noted(lpa) {
            self.marks.hit(Mark::TrimOfTrimmed);
        }
        let version = self.oracle.as_mut().map(|oracle| oracle.version_of_command(slot));
        let pending = Pending { version: version.unwrap_or_default(), invocation: inside.invocation };
        book.noted(view, lpa, pending)?;
        match &mut self.oracle {
            // It takes effect when it is forgotten.
            Some(oracle) if !book.returns_old_data() => oracle.is_zeros(lpa, pending),
            _ => {}
        }
        Ok(())
    }

    pub(super) fn unit_forgotten(&mut self, view: &View<'_>, (lpa, old): (Lpa, Ppa), why: Forgotten) -> Checked {
        self.ledger.trimmed_units += u64::from(old != Ppa::UNMAPPED);
        if let Some(book) = &mut self.sectors {
            book.forgotten(lpa);
        }
        let pending = match &mut self.trims {
            Some(book) => book.forgotten(view, (lpa, old), why)?,
            None => return Err(crate::Rule::Trims.violated(view.now, format!("unit {lpa} is forgotten late"))),
        };
        self.lies_nowhere(view, lpa, old)?;
        if let Some(oracle) = &mut self.oracle {
            let span = (self.requests.order(), self.requests.oldest_invocation());
            oracle.forgotten(view, (lpa, old), pending, span, &mut self.marks);
        }
        Ok(())
    }
}
