//! The command a die receives: physical places, bytes to move, and numbers it hands back unread.

use ninescope_model::DieId;

/// What a command does to the array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum CommandKind {
    /// Senses one page per addressed plane.
    #[default]
    Read,
    /// Programs the next page of one block per addressed plane.
    Program,
    /// Erases one block per addressed plane.
    Erase,
}

/// A command to one die, multi-plane where `planes` has more than one bit.
///
/// The arrays are indexed by plane number within the die; entries of planes that are not addressed are
/// ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlashCommand {
    /// What to do.
    pub kind: CommandKind,
    /// Addressed planes: bit `p` is plane `p` of the die.
    pub planes: u8,
    /// The die.
    pub die: DieId,
    /// How often a read senses its pages beyond once [count].
    pub more_senses: u8,
    /// A program takes pages of the same planes, which it senses first, instead of data from the channel: a copyback. The die was
    /// told which ([`super::Nand::copies_from`]), so that other commands need not carry it.
    pub copies: bool,
    /// The type of its pages, where that does not follow from where they lie.
    pub page_type: Option<u8>,
    /// Per plane: page offset within the block; an erase ignores it.
    pub page: [u32; 4],
    /// Per plane: block index within the plane.
    pub block: [u32; 4],
    /// Per plane: bytes that move over the channel [B].
    pub bytes: [u32; 4],
    /// Per plane: an index of the issuer's, carried and returned, never read here.
    pub transaction: [u32; 4],
}

/// The pages that a copyback copies, by plane of its die.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopiedFrom {
    /// Page offset within each block.
    pub page: u32,
    /// Per plane: the block.
    pub block: [u32; 4],
}

impl FlashCommand {
    /// The numbers of the addressed planes, ascending.
    #[inline]
    pub fn addressed_planes(&self) -> impl Iterator<Item = usize> + use<> {
        let mut planes = self.planes;
        std::iter::from_fn(move || {
            let plane = planes.trailing_zeros() as usize;
            let is_any = planes != 0;
            planes &= planes.wrapping_sub(1);
            is_any.then_some(plane)
        })
    }

    /// The first plane that is addressed.
    #[inline]
    pub fn first_plane(&self) -> usize {
        self.planes.trailing_zeros() as usize & 3
    }

    /// The page in the first plane that is addressed.
    #[inline]
    pub fn first_page(&self) -> u32 {
        self.page[self.first_plane()]
    }

    /// How many planes are addressed.
    #[inline]
    pub fn plane_count(&self) -> u32 {
        self.planes.count_ones()
    }
}
