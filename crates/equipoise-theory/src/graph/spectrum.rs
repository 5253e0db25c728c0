//! The ends of the spectrum of a connected Laplacian L: its smallest eigenvalue but 0, and its largest.
//!
//! - Given: L, ready to be solved with.
//! - Returns: a [`Spectrum`]. No random input: the starting vectors are fixed.
//! - Must not know: graphs, cliques.
//!
//! Smallest: Lanczos on the inverse of L off the constants, every vector orthogonalised against all before; the value
//! is the Rayleigh quotient of the vector found, as a sum of squares of differences, which is accurate even where
//! the eigenvalue is far below the rounding of L. Largest: plain Lanczos on L; lost orthogonality repeats the values at
//! the ends but does not spoil them. Where many eigenvalues crowd just above the smallest (star+ring, wheel) the inverse
//! helps little, and plain Lanczos, whose steps are cheap, takes over.
//!
//! Reference: Golub and Van Loan, Matrix Computations, chapter 10; Parlett, The Symmetric Eigenvalue Problem.

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::elimination::{Elimination, center};
use super::tridiagonal::{largest_eigenvalue, leading_vector};
use equipoise::matrix::{axpy, dot};
use equipoise::{Control, Pass};

/// The ends of the spectrum of a connected graph Laplacian.
///
/// Accuracy: `smallest_nonzero` to 1e-8 (relative), usually to 1e-12, up to 10^4 nodes whatever the graph, and for
/// rings, paths, trees, grids and random graphs of 10^5; star+ring and wheel of 10^5 nodes to 1e-5, which
/// `relative_error` says. `largest` to about 1e-9 up to a few thousand nodes and to 1e-5 beyond.
///
/// Cost: seconds up to 10^4 nodes; at 10^5 a second (ring, tree) to a minute (long grids, tree+ring).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spectrum {
    /// The smallest eigenvalue but 0: the algebraic connectivity. Both methods come from above.
    pub smallest_nonzero: f64,
    /// The largest eigenvalue.
    pub largest: f64,
    /// Estimated relative error of `smallest_nonzero`, usually cautious; 0 for a closed form. Above 1e-8 the work was
    /// cut short.
    pub relative_error: f64,
}

/// Relative residual or change at which an iteration is content.
const TOLERANCE: f64 = 1e-9;
/// Numbers that the Lanczos vectors of the inverse may take (32 MiB), the most such vectors, and how often that
/// iteration may start again.
const BASIS_BUDGET: usize = 1 << 22;
const MOST_VECTORS: usize = 200;
const RESTARTS: usize = 1;
/// Work (entries touched) and steps of plain Lanczos.
const PLAIN_WORK: usize = 1_000_000_000;
const PLAIN_STEPS: usize = 20_000;

/// Both ends.
pub(super) fn of(system: &Elimination, control: &Control) -> Pass<Spectrum> {
    let inverse = smallest(system, control)?;
    let plain = plain_lanczos(system, inverse.1 > TOLERANCE, control)?;
    let (smallest_nonzero, relative_error) =
        if inverse.1 <= plain.error { inverse } else { (plain.low, plain.error) };
    // The one comes from above, the other from below: where they are equal, rounding may cross them.
    Ok(Spectrum { smallest_nonzero, largest: plain.high.max(smallest_nonzero), relative_error })
}

/// The smallest non-zero eigenvalue and its estimated relative error, by the inverse.
fn smallest(system: &Elimination, control: &Control) -> Pass<(f64, f64)> {
    let nodes = system.nodes();
    let most = MOST_VECTORS.min(BASIS_BUDGET / nodes).max(20).min(nodes - 1);
    let mut vector = start(nodes);
    let mut error = f64::INFINITY;
    for _ in 0..=RESTARTS {
        error = inverse_lanczos(system, &mut vector, most, control)?;
        if error <= TOLERANCE {
            break;
        }
    }
    Ok((system.quadratic(&vector) / dot(&vector, &vector), error))
}

/// Replaces a unit vector by the best in the Krylov space of L^{-1} from it; returns the relative residual.
fn inverse_lanczos(system: &Elimination, vector: &mut [f64], most: usize, control: &Control) -> Pass<f64> {
    let mut basis = vec![vector.to_vec()];
    let (mut diagonal, mut off) = (Vec::new(), Vec::new());
    loop {
        let last = basis.last().expect("the basis starts with one vector");
        let mut next = system.solve_within(last, control)?;
        diagonal.push(dot(&next, last));
        // Twice is enough (Kahan and Parlett).
        for _ in 0..2 {
            for v in &basis {
                control.check()?;
                let along = dot(&next, v);
                axpy(-along, v, &mut next);
            }
            center(&mut next);
        }
        let beta = dot(&next, &next).sqrt();
        let value = largest_eigenvalue(&diagonal, &off);
        let mix = leading_vector(&diagonal, &off, value);
        let residual = beta * mix[mix.len() - 1] / value;
        if residual <= TOLERANCE || basis.len() == most {
            vector.fill(0.0);
            basis.iter().zip(&mix).for_each(|(v, &part)| axpy(part, v, vector));
            center(vector);
            // A basis of the whole space leaves nothing over.
            return Ok(if basis.len() + 1 == vector.len() { residual.min(TOLERANCE) } else { residual });
        }
        off.push(beta);
        for v in &mut next {
            *v /= beta;
        }
        basis.push(next);
    }
}

/// What plain Lanczos found.
struct Ends {
    low: f64,
    high: f64,
    /// Estimated relative error of `low`; infinite if nobody asked for it.
    error: f64,
}

/// The largest eigenvalue, from below, and if asked for the smallest but 0, from above.
fn plain_lanczos(system: &Elimination, ask_low: bool, control: &Control) -> Pass<Ends> {
    let nodes = system.nodes();
    let most = (PLAIN_WORK / (system.entry_count() + 5 * nodes)).clamp(100, PLAIN_STEPS);
    let (mut before, mut now) = (vec![0.0; nodes], start(nodes));
    let mut product = vec![0.0; nodes];
    let (mut diagonal, mut off): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
    let mut ends = Ends { low: f64::INFINITY, high: 0.0, error: f64::INFINITY };
    let mut next_check = 16;
    loop {
        control.check()?;
        system.apply(&now, &mut product);
        let alpha = dot(&product, &now);
        axpy(-alpha, &now, &mut product);
        axpy(-off.last().copied().unwrap_or(0.0), &before, &mut product);
        center(&mut product);
        diagonal.push(alpha);
        let beta = dot(&product, &product).sqrt();
        let steps = diagonal.len();
        let ended = beta <= 1e-13 * alpha.abs();
        if ended || steps >= next_check.min(most) {
            let high = largest_eigenvalue(&diagonal, &off);
            let mut settled = high - ends.high <= 1e-12 * high;
            ends.high = high;
            if ask_low {
                // The change over half as many steps again is about half of the error; and L itself rounds.
                let flipped: Vec<f64> = diagonal.iter().map(|d| -d).collect();
                let low = -largest_eigenvalue(&flipped, &off);
                let rounding = 1e-14 * high / low;
                let change = if ended { 0.0 } else { 4.0 * (ends.low / low - 1.0).abs() };
                ends = Ends { low, high, error: change.max(rounding) };
                settled &= ends.error <= TOLERANCE.max(2.0 * rounding);
            }
            if ended || settled || steps >= most {
                return Ok(ends);
            }
            next_check = steps + steps / 2;
        }
        off.push(beta);
        std::mem::swap(&mut before, &mut now);
        now.iter_mut().zip(&product).for_each(|(now, p)| *now = p / beta);
    }
}

/// A number in (0, 1].
fn unit(rng: &mut Xoshiro256PlusPlus) -> f64 {
    ((rng.next_u64() >> 11) + 1) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// A fixed vector of mean 0 and norm 1 that looks random.
fn start(nodes: usize) -> Vec<f64> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(0x6571_7569_706f_6973);
    let mut vector: Vec<f64> = (0..nodes).map(|_| unit(&mut rng) - 0.5).collect();
    center(&mut vector);
    let norm = dot(&vector, &vector).sqrt();
    for v in &mut vector {
        *v /= norm;
    }
    vector
}

#[cfg(test)]
mod tests {
    use super::super::{Laplacian, edge_list};
    use super::*;
    use equipoise::graph::{Graph, Topology};
    use std::f64::consts::PI;

    fn spectrum(name: &str, nodes: usize) -> Spectrum {
        let graph = Graph::new(&Topology::parse(name, nodes, 1).expect("known"), nodes).expect("valid");
        let list = edge_list(&graph);
        let system = Elimination::new(nodes, &list, &vec![1.0; list.len()]).expect("connected");
        of(&system, &Control::unlimited()).expect("unlimited")
    }

    fn close(found: Spectrum, smallest: f64, largest: f64, case: &str) {
        assert!((found.smallest_nonzero / smallest - 1.0).abs() < 1e-8, "{case}: {found:?}, not {smallest}");
        assert!((found.largest / largest - 1.0).abs() < 1e-8, "{case}: {found:?}, not {largest}");
        assert!(found.relative_error <= 1e-8, "{case}: {found:?}");
    }

    #[test]
    fn closed_forms() {
        for nodes in [2, 3, 4, 5, 24, 25, 300, 2000] {
            let b = nodes as f64;
            if nodes <= 300 {
                close(spectrum("clique", nodes), b, b, "clique");
            }
            if nodes > 2 {
                close(spectrum("star", nodes), 1.0, b, "star");
                let opposite = 2.0 - 2.0 * (2.0 * PI * (nodes / 2) as f64 / b).cos();
                close(spectrum("ring", nodes), 2.0 - 2.0 * (2.0 * PI / b).cos(), opposite, "ring");
            }
            let path = |k: f64| 2.0 - 2.0 * (PI * k / b).cos();
            close(spectrum(&format!("grid:1x{nodes}"), nodes), path(1.0), path(b - 1.0), "path");
        }
        let path = |k: f64, b: f64| 2.0 - 2.0 * (PI * k / b).cos();
        let corner = path(29.0, 30.0) + path(49.0, 50.0);
        close(spectrum("grid:30x50", 1500), path(1.0, 50.0), corner, "grid");
        close(spectrum("grid:40x40", 1600), path(1.0, 40.0), 2.0 * path(39.0, 40.0), "square grid");
        // A hub adds 1 to the ring, or to the path, of the others.
        for nodes in [100, 3000] {
            let b = nodes as f64;
            close(spectrum("wheel", nodes), 3.0 - 2.0 * (2.0 * PI / (b - 1.0)).cos(), b, "wheel");
            close(spectrum("star+ring", nodes), 3.0 - 2.0 * (PI / (b - 1.0)).cos(), b, "star+ring");
        }
    }

    #[test]
    fn hard_rings_and_paths() {
        for nodes in [10_000, 100_000] {
            let exact = 4.0 * (PI / nodes as f64).sin().powi(2);
            let found = spectrum("ring", nodes);
            assert!((found.smallest_nonzero / exact - 1.0).abs() < 1e-8, "{found:?} {exact}");
            assert!((found.largest / 4.0 - 1.0).abs() < 1e-4, "{found:?}");
            let exact = 4.0 * (PI / 2.0 / nodes as f64).sin().powi(2);
            let found = spectrum(&format!("grid:1x{nodes}"), nodes);
            assert!((found.smallest_nonzero / exact - 1.0).abs() < 1e-8, "{found:?} {exact}");
        }
    }

    #[test]
    fn graphs_without_closed_form() {
        for name in ["random-regular", "erdos-renyi", "tree", "tree+ring", "star+ring"] {
            let found = spectrum(name, 3000);
            assert!(found.relative_error <= 1e-8, "{name}: {found:?}");
            assert!(found.smallest_nonzero > 0.0 && found.smallest_nonzero < found.largest, "{name}");
        }
        // Cubic expanders sit near 3 - 2 sqrt 2 and 3 + 2 sqrt 2.
        let cubic = spectrum("random-regular", 3000);
        assert!((cubic.smallest_nonzero - 0.1716).abs() < 0.02, "{cubic:?}");
        assert!((cubic.largest - 5.8284).abs() < 0.05, "{cubic:?}");
    }

    #[test]
    fn weights_of_many_sizes() {
        // A path of three nodes with weights a, c: eigenvalues a + c -+ sqrt(a^2 - a c + c^2).
        let graph = Graph::new(&Topology::Grid { rows: 1, columns: 3 }, 3).expect("valid");
        for (a, c) in [(1.0, 1.0), (1.0, 1e-6), (1e9, 2.0), (1e-200, 3e-200)] {
            let found = Laplacian::weighted(&graph, &[a, c]).expect("valid").spectrum().expect("connected");
            let root = ((a / c) * (a / c) - a / c + 1.0f64).sqrt() * c;
            let smallest = 3.0 * a * (c / (a + c + root));
            assert!((found.smallest_nonzero / smallest - 1.0).abs() < 1e-9, "{a} {c}: {found:?} {smallest}");
            assert!((found.largest / (a + c + root) - 1.0).abs() < 1e-9, "{a} {c}: {found:?}");
        }
    }
}
