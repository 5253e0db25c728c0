//! How fast pairs solve the paper's synthetic problem, per instance.
//!
//! f is `C ||x - t||^2`, so an exact pair step projects onto the pair's share of the kernel of A, and
//!
//! ```text
//! E f(x_k) - f* <= (1 - sigma)^k (f(x_0) - f*),      sigma = lambda_min(sum_e p_e P_e) on ker A
//! P_e = I_e - A_e'(A_e A_e')^-1 A_e                  the projection of the pair e
//! ```
//!
//! In every block, what lies in the kernel of `A_i` is seen by every pair that holds block i: there the eigenvalue is the
//! chance of that block. The rest has m coordinates a block, `y_i = T_i^-1 A_i x_i` with `A_i A_i' = T_i T_i'`, and the
//! eigenvalue there is found by Lanczos' method on `{y: sum_i T_i y_i = 0}`. That is an estimate from above, and it is
//! where the number of steps is too small for a graph that is nearly disconnected.
//!
//! - Given: a problem, its graph and probabilities. Returns: sigma.
//! - Must not know: how the problem is solved.

use anyhow::{Context, Result};
use equipoise::Coupling;
use equipoise::graph::{EdgeProbabilities, Graph};

use crate::optimum::{factor, solve};

/// One edge: its ends, its probability, the factor of `T_i T_i' + T_j T_j'`.
struct Edge {
    ends: [usize; 2],
    probability: f64,
}

/// The operator on the coordinates y.
struct Operator {
    nodes: usize,
    m: usize,
    /// `T_i`, row after row.
    roots: Vec<f64>,
    /// `A_i A_i'`.
    grams: Vec<f64>,
    edges: Vec<Edge>,
    /// The factors of the edges, where they are kept.
    factors: Option<Vec<f64>>,
    /// The factor of `sum_i T_i T_i'`.
    all: Vec<f64>,
}

/// Bytes up to which the factors of all edges are kept.
const KEPT: usize = 256 << 20;

/// sigma, by so many steps of Lanczos' method.
pub(crate) fn linear_rate(
    coupling: &Coupling,
    block: usize,
    graph: &Graph,
    probabilities: &EdgeProbabilities,
    steps: usize,
) -> Result<f64> {
    let operator = Operator::new(coupling, block, graph, probabilities)?;
    let mut chances = vec![0.0; operator.nodes];
    for edge in &operator.edges {
        edge.ends.iter().for_each(|&end| chances[end] += edge.probability);
    }
    let inside = if block > operator.m {
        chances.iter().copied().fold(f64::INFINITY, f64::min)
    } else {
        f64::INFINITY
    };
    Ok(operator.smallest(steps).min(inside))
}

impl Operator {
    fn new(coupling: &Coupling, block: usize, graph: &Graph, draws: &EdgeProbabilities) -> Result<Self> {
        let (nodes, m) = (graph.nodes(), coupling.rows());
        let mut grams = vec![0.0; nodes * m * m];
        let mut column = vec![0.0; m];
        for (i, gram) in grams.chunks_exact_mut(m * m).enumerate() {
            for c in i * block..(i + 1) * block {
                column.fill(0.0);
                coupling.add_column(c, 1.0, &mut column);
                for r in 0..m {
                    for s in 0..m {
                        gram[r * m + s] += column[r] * column[s];
                    }
                }
            }
        }
        let mut roots = grams.clone();
        for root in roots.chunks_exact_mut(m * m) {
            factor(root, m).context("a block without full row rank")?;
            (0..m).for_each(|r| root[r * m + r + 1..(r + 1) * m].fill(0.0));
        }
        let list: Vec<(usize, usize)> = graph.edges().collect();
        let weights = match draws {
            EdgeProbabilities::Weighted(weights) => weights.clone(),
            EdgeProbabilities::NodeSum(nodes) => list.iter().map(|&(i, j)| nodes[i] + nodes[j]).collect(),
            // Uniform, which others may be added to.
            _ => vec![1.0; list.len()],
        };
        let total: f64 = weights.iter().sum();
        let probability = |k: usize| weights[k] / total;
        let edges: Vec<Edge> = list
            .iter()
            .enumerate()
            .map(|(k, &(i, j))| Edge { ends: [i, j], probability: probability(k) })
            .collect();
        let mut all = vec![0.0; m * m];
        for gram in grams.chunks_exact(m * m) {
            all.iter_mut().zip(gram).for_each(|(sum, value)| *sum += value);
        }
        factor(&mut all, m).context("rows that depend on each other")?;
        let mut operator = Self { nodes, m, roots, grams, edges, factors: None, all };
        if operator.edges.len() * m * m * size_of::<f64>() <= KEPT {
            let mut kept = vec![0.0; operator.edges.len() * m * m];
            for (edge, kept) in operator.edges.iter().zip(kept.chunks_exact_mut(m * m)) {
                operator.pair_factor(edge, kept);
            }
            operator.factors = Some(kept);
        }
        Ok(operator)
    }

    /// The factor of the Gram matrix of a pair.
    fn pair_factor(&self, edge: &Edge, out: &mut [f64]) {
        let square = self.m * self.m;
        let [i, j] = edge.ends.map(|end| &self.grams[end * square..(end + 1) * square]);
        out.iter_mut().zip(i.iter().zip(j)).for_each(|(out, (a, b))| *out = a + b);
        // Sums of definite matrices are definite.
        let _ = factor(out, self.m);
    }

    /// `T_i y`, added.
    fn add_root(&self, i: usize, y: &[f64], out: &mut [f64]) {
        let m = self.m;
        let root = &self.roots[i * m * m..(i + 1) * m * m];
        for r in 0..m {
            out[r] += (0..=r).map(|s| root[r * m + s] * y[s]).sum::<f64>();
        }
    }

    /// `T_i' z` times a factor, added.
    fn add_transposed(&self, i: usize, z: &[f64], scale: f64, out: &mut [f64]) {
        let m = self.m;
        let root = &self.roots[i * m * m..(i + 1) * m * m];
        for r in 0..m {
            for s in 0..=r {
                out[s] += scale * root[r * m + s] * z[r];
            }
        }
    }

    /// `sum_e p_e P_e y`.
    fn apply(&self, y: &[f64], out: &mut [f64]) {
        let m = self.m;
        out.fill(0.0);
        let (mut z, mut own) = (vec![0.0; m], vec![0.0; m * m]);
        for (k, edge) in self.edges.iter().enumerate() {
            z.fill(0.0);
            for end in edge.ends {
                self.add_root(end, &y[end * m..(end + 1) * m], &mut z);
            }
            let l = if let Some(kept) = &self.factors {
                &kept[k * m * m..(k + 1) * m * m]
            } else {
                self.pair_factor(edge, &mut own);
                &own[..]
            };
            solve(l, &mut z);
            for end in edge.ends {
                let out = &mut out[end * m..(end + 1) * m];
                out.iter_mut().zip(&y[end * m..]).for_each(|(out, y)| *out += edge.probability * y);
                self.add_transposed(end, &z, -edge.probability, out);
            }
        }
    }

    /// Takes out of y what `sum_i T_i y_i = 0` does not allow.
    fn project(&self, y: &mut [f64]) {
        let m = self.m;
        let mut z = vec![0.0; m];
        (0..self.nodes).for_each(|i| self.add_root(i, &y[i * m..(i + 1) * m], &mut z));
        solve(&self.all, &mut z);
        (0..self.nodes).for_each(|i| self.add_transposed(i, &z, -1.0, &mut y[i * m..(i + 1) * m]));
    }

    /// Lanczos' method with full reorthogonalisation.
    fn smallest(&self, steps: usize) -> f64 {
        let n = self.nodes * self.m;
        // Slow modes of graphs are smooth along the nodes: a start with some of every frequency.
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 * (-53f64).exp2() - 0.5
        };
        let mut v: Vec<f64> = (0..n).map(|_| random()).collect();
        self.project(&mut v);
        let mut basis: Vec<Vec<f64>> = Vec::new();
        let (mut diagonal, mut beside): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        let mut w = vec![0.0; n];
        for _ in 0..steps.min(n) {
            let norm = dot(&v, &v).sqrt();
            if norm < 1e-12 {
                break;
            }
            if !basis.is_empty() {
                beside.push(norm);
            }
            v.iter_mut().for_each(|v| *v /= norm);
            self.apply(&v, &mut w);
            diagonal.push(dot(&v, &w));
            basis.push(std::mem::replace(&mut v, w.clone()));
            for _ in 0..2 {
                for old in &basis {
                    let share = dot(old, &v);
                    v.iter_mut().zip(old).for_each(|(v, old)| *v -= share * old);
                }
                self.project(&mut v);
            }
        }
        smallest_of_tridiagonal(&diagonal, &beside)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// By bisection on the count of negative pivots.
fn smallest_of_tridiagonal(diagonal: &[f64], beside: &[f64]) -> f64 {
    let below = |value: f64| {
        let mut pivot = 1.0;
        diagonal.iter().enumerate().any(|(k, d)| {
            let coupling = if k == 0 { 0.0 } else { beside[k - 1] * beside[k - 1] / pivot };
            pivot = d - value - coupling;
            pivot < 0.0
        })
    };
    let (mut low, mut high) = (0.0, diagonal.iter().copied().fold(f64::INFINITY, f64::min));
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if below(middle) { high = middle } else { low = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use equipoise::graph::Topology;
    use equipoise::matrix::DenseMatrix;
    use equipoise_models::Synthetic;

    use super::*;

    #[test]
    fn orthonormal_blocks_give_the_laplacian() {
        // A_i = I: sigma is 1/(b - 1) on the clique and (1 - cos(2 pi / b))/b on the ring.
        let (b, m) = (12, 2);
        let values = (0..b * m).flat_map(|c| (0..m).map(move |r| f64::from(u8::from(c % m == r)))).collect();
        let coupling =
            Coupling::rows_of(DenseMatrix::from_columns(m, b * m, values).expect("valid"), vec![0.0; m])
                .expect("valid");
        let rate = |topology: Topology| {
            let graph = Graph::new(&topology, b).expect("valid");
            linear_rate(&coupling, m, &graph, &EdgeProbabilities::Uniform, 40).expect("full rank")
        };
        assert!((rate(Topology::Clique) - 1.0 / 11.0).abs() < 1e-10);
        let ring = (1.0 - (std::f64::consts::TAU / 12.0).cos()) / 12.0;
        assert!((rate(Topology::Ring) - ring).abs() < 1e-10, "{} {ring}", rate(Topology::Ring));
    }

    #[test]
    fn coefficients_of_the_paper_are_slower_than_orthonormal_ones() {
        let synthetic = Synthetic { nodes: 20, block: 50, rows: 10, seed: 1 };
        let graph = Graph::new(&Topology::Clique, 20).expect("valid");
        let coupling = synthetic.coupling().expect("valid");
        let rate = linear_rate(&coupling, 50, &graph, &EdgeProbabilities::Uniform, 80).expect("full rank");
        let share = 19.0 * rate;
        assert!((0.45..0.85).contains(&share), "{share}");
    }
}
