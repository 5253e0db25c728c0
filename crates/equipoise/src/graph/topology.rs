//! The names of graphs: from text to a [`Topology`], and back.
//!
//! - Given: a text such as `"star+ring"` or `"grid:3x8"`, the number of nodes (for defaults), a seed.
//! - Returns: a [`Topology`], or [`UnknownTopology`] with the names that are known.
//! - Must not know: edges. [`Graph::new`](super::Graph::new) makes them.

use std::fmt;

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

/// A text that names no topology.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown topology {text:?}; known: {}; with a parameter: grid:ROWSxCOLUMNS, erdos-renyi:PROBABILITY, \
     random-regular:DEGREE",
    known.join(", ")
)]
pub struct UnknownTopology {
    /// The text found.
    pub text: String,
    /// The names that are known.
    pub known: &'static [&'static str],
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

    /// Reads a name, perhaps with a parameter after a colon.
    ///
    /// `nodes` serves the defaults: `grid` is as square as the number of nodes allows (a path if it is prime),
    /// `erdos-renyi` has probability `min(1, 2 ln(b)/b)`, `random-regular` degree 3 (4 if b is odd; less if b is
    /// small). `seed` is kept for the random ones. Whether the parameter fits the graph is checked by
    /// [`Graph::new`](super::Graph::new).
    pub fn parse(text: &str, nodes: usize, seed: u64) -> Result<Self, UnknownTopology> {
        let (name, parameter) = match text.split_once(':') {
            Some((name, parameter)) => (name, Some(parameter)),
            None => (text, None),
        };
        let found = match (name, parameter) {
            ("ring", None) => Some(Self::Ring),
            ("clique", None) => Some(Self::Clique),
            ("star", None) => Some(Self::Star),
            ("star+ring", None) => Some(Self::StarRing),
            ("tree+ring", None) => Some(Self::TreeRing),
            ("tree", None) => Some(Self::Tree),
            ("wheel", None) => Some(Self::Wheel),
            ("grid", None) => Some(Self::near_square_grid(nodes)),
            ("grid", Some(shape)) => parse_grid(shape),
            ("erdos-renyi", None) => {
                let b = nodes.max(1) as f64;
                Some(Self::ErdosRenyi { probability: (2.0 * b.ln() / b).min(1.0), seed })
            }
            ("erdos-renyi", Some(p)) => {
                p.parse().ok().map(|probability| Self::ErdosRenyi { probability, seed })
            }
            ("random-regular", None) => {
                let usual = if nodes.is_multiple_of(2) { 3 } else { 4 };
                Some(Self::RandomRegular { degree: usual.min(nodes.saturating_sub(1)), seed })
            }
            ("random-regular", Some(d)) => d.parse().ok().map(|degree| Self::RandomRegular { degree, seed }),
            _ => None,
        };
        found.ok_or_else(|| UnknownTopology { text: text.to_owned(), known: Self::NAMES })
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
            assert_eq!((error.text.as_str(), error.known), (text, Topology::NAMES));
            assert!(
                error.to_string().starts_with(&format!("unknown topology {text:?}; known: ring, clique"))
            );
        }
    }
}
