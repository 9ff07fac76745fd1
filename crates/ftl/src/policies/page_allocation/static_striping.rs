//! Static striping: the logical address alone decides, page by page over channels, ways, dies and planes, in the order that
//! its four letters say: the first counts fastest. The 24 orders are those of Jung and Kandemir ("An evaluation of
//! different page allocation strategies on high-speed SSDs", `HotStorage` 2012) and of MQSim (Tavakkol et al., FAST 2018).
//!
//! Planes that share a frontier are filled as that comes to them: the address decides the frontier. Among several frontiers of a
//! die `P` goes from one to the next.

use ninescope_kernel::{BitTable, FastDiv, Snapshot};
use ninescope_model::{Geometry, Lpa};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{PageAllocation, PageAllocationParameters};

/// One of the four numbers that make up the place of a plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Channel,
    Way,
    Die,
    Plane,
}

macro_rules! orders {
    ($default:ident $($name:ident)+) => {
        /// In which order pages go over the planes of a drive.
        #[allow(clippy::upper_case_acronyms, missing_docs)] // the names that they have everywhere
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub enum Order {
            #[default]
            $default,
            $($name,)+
        }

        impl Order {
            /// All of them.
            pub const ALL: [Self; 24] = [Self::$default, $(Self::$name),+];

            /// Its four letters: C for channel, W for way, D for die, P for plane.
            pub fn letters(self) -> &'static str {
                match self {
                    Self::$default => stringify!($default),
                    $(Self::$name => stringify!($name),)+
                }
            }
        }
    };
}

orders! {
    CWDP CWPD CDWP CDPW CPWD CPDW
    WCDP WCPD WDCP WDPC WPCD WPDC
    DCWP DCPW DWCP DWPC DPCW DPWC
    PCWD PCDW PWCD PWDC PDCW PDWC
}

impl Order {
    fn levels(self) -> impl Iterator<Item = Level> {
        self.letters().chars().map(|letter| match letter {
            'C' => Level::Channel,
            'W' => Level::Way,
            'D' => Level::Die,
            _ => Level::Plane,
        })
    }

    /// The pool of each plane of the drive, in the order in which pages go there.
    fn pools_of_planes(self, geometry: &Geometry, planes_as_die: u32) -> Vec<u32> {
        // Planes that D goes over as well lie side by side.
        let as_dies = geometry.planes_per_die / planes_as_die;
        let count = |level: Level| match level {
            Level::Channel => geometry.channels,
            Level::Way => geometry.packages_per_channel,
            Level::Die => geometry.dies_per_package * as_dies,
            Level::Plane => planes_as_die,
        };
        let planes = geometry.dies() * geometry.planes_per_die;
        let pool = |page: u32| {
            let mut at = [0; 4];
            let mut rest = page;
            for level in self.levels() {
                at[level as usize] = rest % count(level);
                rest /= count(level);
            }
            let [channel, way, die, plane] = at;
            let (die, plane) = (die / as_dies, die % as_dies * planes_as_die + plane);
            let die = channel * geometry.dies_per_channel() + way * geometry.dies_per_package + die;
            die * geometry.pools_per_die() + plane % geometry.pools_per_die()
        };
        (0..planes).map(pool).collect()
    }
}

/// Parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StaticStriping {
    /// What goes first: channels (C), ways (W: packages of a channel), dies of a package (D), planes (P).
    pub order: Order,
    /// Planes of a die that P goes over, with D going over the groups of so many, of which each counts as a die; absent: all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub planes_as_die: Option<u32>,
}

impl StaticStriping {
    fn pools_of_planes(&self, geometry: &Geometry) -> Vec<u32> {
        self.order.pools_of_planes(geometry, self.planes_as_die.unwrap_or(geometry.planes_per_die))
    }
}

impl PageAllocationParameters for StaticStriping {
    fn planes_as_die(&self) -> Option<u32> {
        self.planes_as_die
    }

    fn goes_anywhere(&self) -> bool {
        false
    }

    fn pools_in_order(&self, geometry: &Geometry) -> Vec<u32> {
        let mut seen = vec![false; geometry.pools() as usize];
        let mut pools = self.pools_of_planes(geometry);
        pools.retain(|&pool| !std::mem::replace(&mut seen[pool as usize], true));
        pools
    }

    fn build(&self, geometry: &Geometry, positions: &[u32]) -> Box<dyn PageAllocation> {
        let mut position_of = vec![0; geometry.pools() as usize];
        for (pool, position) in self.pools_in_order(geometry).into_iter().zip(0..) {
            position_of[pool as usize] = position;
        }
        let all = self.pools_of_planes(geometry).into_iter().map(|pool| position_of[pool as usize]);
        let table = all.filter(|position| positions.binary_search(position).is_ok()).collect();
        Box::new(StaticAllocation::new(geometry, table))
    }
}

/// The policy with its table.
#[derive(Debug)]
pub struct StaticAllocation {
    units_per_page: FastDiv,
    /// The stripe position of each plane, in the order of pages.
    table: Vec<u32>,
    planes: FastDiv,
    /// Pages that each position takes in turn, where that is the order.
    turn: Option<u32>,
    pools: u32,
}

impl StaticAllocation {
    fn new(geometry: &Geometry, table: Vec<u32>) -> Self {
        let pools = geometry.pools();
        let takes_turns = |turn: &u32| (0..).zip(&table).all(|(page, &position)| page / turn % pools == position);
        let turn = [1, geometry.frontier_planes].into_iter().find(takes_turns);
        let planes = FastDiv::new(table.len().max(1) as u32);
        Self { units_per_page: FastDiv::new(geometry.units_per_page()), table, planes, turn, pools }
    }

    /// Units that each position takes in turn.
    fn units_in_turn(&self) -> Option<u32> {
        self.turn.map(|pages| pages * self.units_per_page.divisor())
    }
}

impl PageAllocation for StaticAllocation {
    fn choose(&mut self, lpa: Lpa, accepting: &BitTable) -> Option<u32> {
        let page = self.planes.div_rem(self.units_per_page.quotient(lpa.0)).1;
        let position = self.table[page as usize];
        accepting.get(position as usize).then_some(position)
    }

    fn in_turn(&self, first: Lpa) -> Option<u32> {
        self.units_in_turn().filter(|turn| first.0.is_multiple_of(turn * self.pools))
    }

    fn turn_by_address(&self) -> Option<u32> {
        self.units_in_turn()
    }
}

impl Snapshot for StaticAllocation {}
