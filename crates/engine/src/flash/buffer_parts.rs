//! Parts of the write buffer that tenants have for themselves: pages of theirs that are filled and not yet programmed. A page is
//! of the part of whoever wrote into it first; what the drive writes by itself, and tenants without a part, share the first one.
//!
//! Who has a part waits in a line of its own, for pages of his own alone.

use super::Flash;
use crate::config::BufferPartsConfig;

/// What each part may hold and holds.
#[derive(Debug)]
pub(super) struct BufferParts {
    limits: Vec<u32>,
    used: Vec<u32>,
    of_tenant: Vec<u32>,
    /// By program: the part of its page.
    of_program: Vec<u16>,
}

impl BufferParts {
    /// Empty ones; nothing where all share the buffer.
    pub fn new(config: &BufferPartsConfig) -> Option<Box<Self>> {
        (config.pages.len() > 1).then(|| {
            Box::new(Self {
                limits: config.pages.clone(),
                used: vec![0; config.pages.len()],
                of_tenant: config.of_tenant.clone(),
                of_program: Vec::new(),
            })
        })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.limits.len()
    }

    /// The part of a tenant: the first one of who has none, the drive and nobody among them.
    fn of(&self, holder: u16) -> usize {
        self.of_tenant.get(usize::from(holder)).map_or(0, |&part| part as usize)
    }
}

impl Flash {
    /// Whether there are parts.
    #[inline]
    pub fn has_buffer_parts(&self) -> bool {
        self.parts.is_some()
    }

    /// How the buffer is divided, where it is.
    pub fn buffer_parts(&self) -> Option<BufferPartsConfig> {
        let described =
            |parts: &BufferParts| BufferPartsConfig { pages: parts.limits.clone(), of_tenant: parts.of_tenant.clone() };
        self.parts.as_deref().map(described)
    }

    /// The part of a tenant.
    #[inline]
    pub fn buffer_part_of(&self, tenant: u16) -> u32 {
        self.parts.as_ref().map_or(0, |parts| parts.of(tenant) as u32)
    }

    /// Whether another page of a part may be filled.
    #[inline]
    pub fn part_has_room(&self, part: u32) -> bool {
        self.parts.as_ref().is_none_or(|parts| parts.used[part as usize] < parts.limits[part as usize])
    }

    /// A page of a part is filled.
    pub(super) fn page_enters_part(&mut self, part: u16) {
        if let Some(parts) = &mut self.parts {
            parts.used[part as usize] += 1;
        }
    }

    /// It is queued to be programmed.
    pub(super) fn program_is_of_part(&mut self, program: u32, part: u16) {
        let Some(parts) = &mut self.parts else { return };
        if parts.of_program.len() <= program as usize {
            parts.of_program.resize(program as usize + 1, 0);
        }
        parts.of_program[program as usize] = part;
    }

    /// The part of the page of a program.
    pub(super) fn part_of_program(&self, program: u32) -> u16 {
        let parts = self.parts.as_ref();
        parts.and_then(|parts| parts.of_program.get(program as usize)).copied().unwrap_or(0)
    }

    /// It is programmed, or forgotten.
    pub(super) fn page_leaves_part(&mut self, part: u16) {
        let (Some(parts), part) = (&mut self.parts, part as usize) else { return };
        let was_full = parts.used[part] >= parts.limits[part];
        parts.used[part] -= 1;
        if was_full {
            self.line.may_go_on();
        }
    }
}
