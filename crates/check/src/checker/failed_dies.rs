//! Dies that fail: what their events mean to the books.

use ninescope_engine::{Access, Event, QueueClass, View};
use ninescope_model::{Ppa, Source};

use super::Checker;
use crate::marks::Mark;
use crate::rule::{Checked, Rule};

impl Checker {
    #[inline(never)]
    pub(super) fn failed_die_event(&mut self, view: &View<'_>, event: &Event<'_>) -> Checked {
        let Some(book) = &mut self.failed_dies else {
            return Err(Rule::FailedDie.violated(view.now, format!("{event:?} of a drive whose dies do not fail")));
        };
        match *event {
            Event::DieFailed { die } => {
                self.marks.hit(Mark::DieFailed);
                book.failed(view, die, &mut self.blocks)
            }
            Event::PageMissing { access, class, units } => self.page_missing(view, access, (class, units)),
            Event::PageRebuilt { ppa, lost } => self.page_rebuilt(view, ppa, lost),
            Event::DieRebuilt { die } => {
                self.marks.hit(Mark::DieRebuilt);
                book.ended(view, die)
            }
            _ => Ok(()),
        }
    }

    /// An access goes to no die, or leaves the queue of one.
    fn page_missing(&mut self, view: &View<'_>, access: &Access, (class, units): (QueueClass, u8)) -> Checked {
        let (Some(book), Some(codes)) = (&mut self.failed_dies, &mut self.codes) else { return Ok(()) };
        let since = book.read(view, access)?;
        if access.queued < view.now {
            self.marks.hit(Mark::MissingInQueue);
        }
        if access.source == Source::Host {
            self.marks.hit(Mark::MissingRead);
        }
        if let (QueueClass::HostRead, Some(map)) = (class, &mut self.map) {
            map.read_missing(view, access);
        }
        if let Some(blame) = &mut self.blame {
            blame.missing(view, access, class);
        }
        if let Some(oracle) = &mut self.oracle {
            oracle.is_missing(Some(access.ppa));
        }
        if !codes.missing(view, (access, units), since)? {
            self.groups.reader_leaves(view, access.ppa);
        }
        Ok(())
    }

    /// A page is on the die that stands for the one that failed: its group may be erased.
    fn page_rebuilt(&mut self, view: &View<'_>, ppa: Ppa, lost: bool) -> Checked {
        let Some(book) = &mut self.failed_dies else { return Ok(()) };
        book.rebuilt(view, ppa, lost, &self.blocks)?;
        self.marks.hit(if lost { Mark::RebuildLost } else { Mark::PageRebuilt });
        self.groups.reader_leaves(view, ppa);
        Ok(())
    }
}
