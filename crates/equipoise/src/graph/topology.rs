//! The names of graphs: from text to a [`Topology`], and back.
//!
//! - Given: a text such as `"star+ring"` or `"grid:3x8"`; the number of nodes (for defaults) and a seed, then or later.
//! - Returns: a [`TopologyChoice`] and, once the number of nodes is known, a [`Topology`]; or [`UnknownName`].
//! - Must not know: edges. [`Graph::new`](super::Graph::new) makes them.

use std::fmt;
use std::str::FromStr;

use crate::names::UnknownName;

/// The shape of a communication graph on the nodes `0..nodes`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Topology {
    /// `"ring"`: 0-1-...-(b-1)-0; b edges (two nodes: one edge).
    Ring,
    /// `"clique"`: every pair; b(b-1)/2 edges, never stored.
    Clique,
    /// `"star"`: the hub 0 joined to every other node; b-1 edges.
    Star,
    /// `"star+ring"`: star with hub 0 and ring through all nodes, the hub included.
    StarRing,
    /// `"tree+ring"`: binary tree and ring over all nodes.
    TreeRing,
    /// `"tree"`: binary tree; the parent of i is (i-1)/2.
    Tree,
    /// `"wheel"`: the hub 0 and a ring round the nodes 1..b that leaves the hub out; 2(b-1) edges.
    Wheel,
    /// `"grid"` or `"grid:ROWSxCOLUMNS"`: node `r * columns + c` joined to its neighbours right and below.
    Grid {
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        columns: usize,
    },
    /// `"erdos-renyi"` or `"erdos-renyi:PROBABILITY"`: each pair is an edge with this probability, independently.
    /// It may come out disconnected: check, and take another seed.
    ErdosRenyi {
        /// The probability of each edge, 0 to 1.
        probability: f64,
        /// Seed of the draw.
        seed: u64,
    },
    /// `"random-regular"` or `"random-regular:DEGREE"`: every node has `degree` neighbours, drawn at random. Degree 3
    /// or more is connected with high probability (not with certainty); degree 2 seldom is.
    RandomRegular {
        /// Neighbours of each node; `degree * nodes` must be even and `degree` below `nodes`.
        degree: usize,
        /// Seed of the draw.
        seed: u64,
    },
    /// A list of edges, each pair once, in any order of ends. [`Graph::edges`](super::Graph::edges) keeps the order
    /// of the list.
    Edges(Vec<(usize, usize)>),
}

/// A topology as it is asked for: what it leaves open follows from the number of nodes, which need not be known yet.
///
/// `grid` is as square as the number of nodes allows (a path if it is prime), `erdos-renyi` has probability
/// `min(1, 2 ln(b)/b)`, `random-regular` degree 3 (4 if b is odd; less if b is small).
///
/// ```
/// use equipoise::graph::{Topology, TopologyChoice};
/// let choice: TopologyChoice = "grid".parse()?;
/// assert_eq!(choice.resolve(24), Topology::Grid { rows: 4, columns: 6 });
/// # Ok::<(), equipoise::UnknownName>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TopologyChoice(Choice);

#[derive(Debug, Clone, PartialEq)]
enum Choice {
    Whole(Topology),
    NearSquareGrid,
    ErdosRenyi { seed: u64 },
    RandomRegular { seed: u64 },
}

impl TopologyChoice {
    /// The same, random topologies drawn with this seed.
    #[must_use]
    pub fn seeded(self, with: u64) -> Self {
        let mut choice = self.0;
        match &mut choice {
            Choice::ErdosRenyi { seed }
            | Choice::RandomRegular { seed }
            | Choice::Whole(Topology::ErdosRenyi { seed, .. } | Topology::RandomRegular { seed, .. }) => {
                *seed = with;
            }
            _ => {}
        }
        Self(choice)
    }

    /// The topology for so many nodes. Whether it fits them is checked by [`Graph::new`](super::Graph::new).
    pub fn resolve(&self, nodes: usize) -> Topology {
        match &self.0 {
            Choice::Whole(topology) => topology.clone(),
            Choice::NearSquareGrid => Topology::near_square_grid(nodes),
            Choice::ErdosRenyi { seed } => {
                let b = nodes.max(1) as f64;
                Topology::ErdosRenyi { probability: (2.0 * b.ln() / b).min(1.0), seed: *seed }
            }
            Choice::RandomRegular { seed } => {
                let usual = if nodes.is_multiple_of(2) { 3 } else { 4 };
                Topology::RandomRegular { degree: usual.min(nodes.saturating_sub(1)), seed: *seed }
            }
        }
    }

    /// The edges, where they are a list.
    pub fn edges(&self) -> Option<&[(usize, usize)]> {
        match &self.0 {
            Choice::Whole(Topology::Edges(list)) => Some(list),
            _ => None,
        }
    }
}

impl Default for TopologyChoice {
    /// The clique: every pair.
    fn default() -> Self {
        Topology::Clique.into()
    }
}

impl From<Topology> for TopologyChoice {
    fn from(topology: Topology) -> Self {
        Self(Choice::Whole(topology))
    }
}

impl FromStr for TopologyChoice {
    type Err = UnknownName;

    /// Reads a name, perhaps with a parameter after a colon; the seed is 0.
    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let (name, parameter) = match text.split_once(':') {
            Some((name, parameter)) => (name, Some(parameter)),
            None => (text, None),
        };
        let (whole, seed) = (|topology| Some(Choice::Whole(topology)), 0);
        let found = match (name, parameter) {
            ("ring", None) => whole(Topology::Ring),
            ("clique", None) => whole(Topology::Clique),
            ("star", None) => whole(Topology::Star),
            ("star+ring", None) => whole(Topology::StarRing),
            ("tree+ring", None) => whole(Topology::TreeRing),
            ("tree", None) => whole(Topology::Tree),
            ("wheel", None) => whole(Topology::Wheel),
            ("grid", None) => Some(Choice::NearSquareGrid),
            ("grid", Some(shape)) => parse_grid(shape).and_then(whole),
            ("erdos-renyi", None) => Some(Choice::ErdosRenyi { seed }),
            ("erdos-renyi", Some(p)) => {
                p.parse().ok().and_then(|probability| whole(Topology::ErdosRenyi { probability, seed }))
            }
            ("random-regular", None) => Some(Choice::RandomRegular { seed }),
            ("random-regular", Some(d)) => {
                d.parse().ok().and_then(|degree| whole(Topology::RandomRegular { degree, seed }))
            }
            _ => None,
        };
        found.map(Self).ok_or_else(|| UnknownName {
            what: "topology",
            text: text.to_owned(),
            known: Topology::NAMES.to_vec(),
            more: "; with a parameter: grid:ROWSxCOLUMNS, erdos-renyi:PROBABILITY, random-regular:DEGREE",
        })
    }
}

impl fmt::Display for TopologyChoice {
    /// The name, with its parameter where one was given; it reads back (an edge list excepted).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Choice::Whole(topology) => topology.fmt(f),
            Choice::NearSquareGrid => f.write_str("grid"),
            Choice::ErdosRenyi { .. } => f.write_str("erdos-renyi"),
            Choice::RandomRegular { .. } => f.write_str("random-regular"),
        }
    }
}

impl Topology {
    /// Every name that [`Topology::parse`] knows, without parameters.
    pub const NAMES: &'static [&'static str] = &[
        "ring",
        "clique",
        "star",
        "star+ring",
        "tree+ring",
        "tree",
        "wheel",
        "grid",
        "erdos-renyi",
        "random-regular",
    ];

    /// Reads a name, perhaps with a parameter after a colon, for so many nodes: [`TopologyChoice`] with its seed,
    /// resolved.
    pub fn parse(text: &str, nodes: usize, seed: u64) -> Result<Self, UnknownName> {
        Ok(text.parse::<TopologyChoice>()?.seeded(seed).resolve(nodes))
    }

    /// The name without parameters (`"edge list"` for [`Topology::Edges`]).
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ring => "ring",
            Self::Clique => "clique",
            Self::Star => "star",
            Self::StarRing => "star+ring",
            Self::TreeRing => "tree+ring",
            Self::Tree => "tree",
            Self::Wheel => "wheel",
            Self::Grid { .. } => "grid",
            Self::ErdosRenyi { .. } => "erdos-renyi",
            Self::RandomRegular { .. } => "random-regular",
            Self::Edges(_) => "edge list",
        }
    }

    /// The factorisation rows * columns = nodes closest to a square, rows <= columns.
    fn near_square_grid(nodes: usize) -> Self {
        let rows = (1..=nodes.isqrt()).rev().find(|&rows| nodes.is_multiple_of(rows)).unwrap_or(1);
        Self::Grid { rows, columns: nodes / rows }
    }
}

impl fmt::Display for Topology {
    /// The name with its parameter; [`Topology::parse`] reads it back (an edge list excepted).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Grid { rows, columns } => write!(f, "grid:{rows}x{columns}"),
            Self::ErdosRenyi { probability, .. } => write!(f, "erdos-renyi:{probability}"),
            Self::RandomRegular { degree, .. } => write!(f, "random-regular:{degree}"),
            Self::Edges(list) => write!(f, "edge list of {}", list.len()),
            _ => f.write_str(self.name()),
        }
    }
}

/// Reads `ROWSxCOLUMNS`.
fn parse_grid(shape: &str) -> Option<Topology> {
    let (rows, columns) = shape.split_once('x')?;
    Some(Topology::Grid { rows: rows.parse().ok()?, columns: columns.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_and_written_back() {
        for &name in Topology::NAMES {
            let topology = Topology::parse(name, 24, 7).expect("a known name");
            assert_eq!(topology.name(), name);
            assert_eq!(name.parse::<TopologyChoice>().map(|choice| choice.to_string()), Ok(name.to_owned()));
            assert_eq!(Topology::parse(&topology.to_string(), 24, 7), Ok(topology));
        }
    }

    #[test]
    fn parameters_and_defaults() {
        let parse = |text, nodes| Topology::parse(text, nodes, 7).expect("a known name");
        assert_eq!(parse("grid", 24), Topology::Grid { rows: 4, columns: 6 });
        assert_eq!(parse("grid", 23), Topology::Grid { rows: 1, columns: 23 });
        assert_eq!(parse("grid", 0), Topology::Grid { rows: 1, columns: 0 });
        assert_eq!(parse("grid:2x12", 24), Topology::Grid { rows: 2, columns: 12 });
        assert_eq!(parse("erdos-renyi:0.5", 24), Topology::ErdosRenyi { probability: 0.5, seed: 7 });
        let Topology::ErdosRenyi { probability, seed: 7 } = parse("erdos-renyi", 24) else {
            panic!("another topology");
        };
        assert!((probability - 2.0 * 24f64.ln() / 24.0).abs() < 1e-15);
        for (nodes, expected) in [(0, 0), (1, 0), (2, 1), (3, 2), (4, 3), (5, 4), (24, 3), (25, 4)] {
            assert_eq!(parse("random-regular", nodes), Topology::RandomRegular { degree: expected, seed: 7 });
        }
        assert_eq!(parse("random-regular:5", 24), Topology::RandomRegular { degree: 5, seed: 7 });
    }

    #[test]
    fn unknown_names_carry_the_text_and_the_known_names() {
        for text in
            ["", "torus", "Ring", "ring:3", "grid:3", "grid:ax2", "erdos-renyi:p", "random-regular:-1"]
        {
            let error = Topology::parse(text, 24, 0).expect_err("no such name");
            assert_eq!((error.text.as_str(), &error.known[..]), (text, Topology::NAMES));
            assert!(
                error.to_string().starts_with(&format!("unknown topology {text:?}; known: ring, clique"))
            );
        }
    }
}
