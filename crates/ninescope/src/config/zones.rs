//! The zones of a drive description.

use ninescope_model::schema::above_zero;
use ninescope_model::units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The host's addresses are zones, which are written in order and reset as a whole (NVMe ZNS). There is no map of units, nothing is spare,
/// and no garbage is collected.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ZnsConfig {
    /// Plane groups that a zone lies on, a block of each plane: dies, where `ftl.frontier_planes` are all planes of one; divides those
    /// that there are; absent: all [count].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub zone_width: Option<u32>,
    /// From the beginning of a zone to that of the next, at least what a zone takes; absent: as much [B].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub zone_size: Option<Bytes>,
    /// Zones that may be open at a time (maximum open resources); absent: as many as may be active [count].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub open_zones: Option<u32>,
    /// Zones that may be open or closed at a time (maximum active resources); absent: 14, or all where there are fewer [count].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub active_zones: Option<u32>,
    /// Zones that can be read and not written [numbers from 0].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read_only_zones: Vec<u32>,
    /// Zones that can be neither read nor written [numbers from 0].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub offline_zones: Vec<u32>,
    /// What the random write area of a zone spans behind its write pointer, in which it takes writes in any order and again (ZRWASZ);
    /// absent: no zone can have one [B].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub zrwa_size: Option<Bytes>,
    /// The write pointer of a zone with such an area moves by multiples of this (ZRWAFG), which divides the area and what a zone takes;
    /// absent: `ftl.mapping_unit` [B].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(transform = above_zero)]
    pub zrwa_granularity: Option<Bytes>,
    /// Zones that may have such an area at a time (NUMZRWA), at most those that may be active; absent: all of these [count].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub zrwa_zones: Option<u32>,
}
