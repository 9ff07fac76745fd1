//! Which bit of its cells each page of a block is. Pages are programmed in ascending order, so this is the order in
//! which the bits of the cells are written. Must not know what a type costs.

/// The order of page types in a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PageTypes {
    /// The types take turns: the pages of a wordline follow each other.
    #[default]
    InTurn,
    /// The wordlines are filled staggered: the second bit of one comes after the first bit of others.
    Staggered(Stagger),
}

/// The types of a block's pages, in three pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stagger {
    /// Of the first pages.
    pub first: Vec<u8>,
    /// Of those behind them, over and over again.
    pub then: Vec<u8>,
    /// Of the last pages.
    pub last: Vec<u8>,
}

impl PageTypes {
    /// The type of each page of a block, where there are so many `types`.
    pub fn of_block(&self, pages: u32, types: usize) -> Box<[u8]> {
        match self {
            Self::InTurn => (0..pages).map(|page| (page % types as u32) as u8).collect(),
            Self::Staggered(stagger) => {
                let body = (pages as usize).saturating_sub(stagger.last.len());
                let ascending = stagger.first.iter().chain(stagger.then.iter().cycle());
                ascending.take(body).chain(&stagger.last).take(pages as usize).copied().collect()
            }
        }
    }

    /// What is wrong with it, the rest of a sentence that begins with its key.
    pub(super) fn problem(&self, types: usize) -> Option<String> {
        let Self::Staggered(Stagger { first, then, last }) = self else { return None };
        if then.is_empty() {
            return Some("has no pages in then, which is what a block goes on with".to_owned());
        }
        let strange = first.iter().chain(then).chain(last).find(|&&page_type| usize::from(page_type) >= types);
        strange.map(|strange| format!("has a page of type {strange}, the cells have types 0 to {}", types - 1))
    }
}
