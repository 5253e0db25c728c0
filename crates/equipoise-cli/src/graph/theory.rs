//! `equipoise graph --theory`: what the theorems say about pairs drawn uniformly from a graph, with L = 1.
//!
//! Given a connected graph and the smallest non-zero eigenvalue of its Laplacian; returns the numbers, as JSON or words.
//! The formulas are those of docs/theory.md; they are computed by the library.

use std::fmt::Write;

use anyhow::Result;
use equipoise::Control;
use equipoise::graph::{EdgeProbabilities, EdgeSampler, Graph};
use equipoise_theory::{self as theory, KNorm, Resistances, Spectrum};
use serde::Serialize;

/// Delays for which steps are shown: those of 2, 3, 5, ... threads.
const DELAYS: [u32; 7] = [1, 2, 4, 8, 15, 31, 63];
/// The suboptimality to which updates are counted, relative to the first.
const ACCURACY: f64 = 1e-6;
/// Edges up to which probabilities are equalised.
const MOST_EQUALISED: usize = 20_000;

/// The JSON object `theory`.
#[derive(Debug, Serialize)]
pub(super) struct Theory {
    blocks: usize,
    edges: usize,
    lambda_min: f64,
    slower_than_clique: f64,
    nu: f64,
    /// 0 if exact; else nu was rounded up by it.
    nu_relative_error: f64,
    smallest_nu: Option<f64>,
    foster_sum: f64,
    nu_equalised: Option<f64>,
    updates_plain: f64,
    updates_accelerated: f64,
    async_steps: Vec<Steps>,
}

/// The largest steps for one delay.
#[derive(Debug, Serialize)]
struct Steps {
    tau: u32,
    paper: f64,
    repaired: f64,
    sharp: f64,
    sharp_decomposable: f64,
}

impl Theory {
    pub(super) fn new(graph: &Graph, spectrum: Spectrum, control: &Control) -> Result<Self> {
        let (blocks, edges) = (graph.nodes(), graph.edge_count());
        let uniform = EdgeProbabilities::Uniform;
        // K is the Laplacian with weight p_e / 2L on every edge.
        let lambda_min = spectrum.smallest_nonzero / (2.0 * edges as f64);
        let found = Resistances::of(&KNorm::uniform(graph, &uniform, 1.0)?, control)?;
        let nu = found.nu();
        let nu_equalised = if graph.is_clique() {
            Some(nu)
        } else if edges <= MOST_EQUALISED {
            let equalised = theory::equalised(graph, &|_, _| 2.0, control)?;
            Some(theory::pair_constant(graph, &equalised, &|_, _| 2.0, control)?)
        } else {
            None
        };
        let sampler = EdgeSampler::new(graph, &uniform)?;
        let p_max = sampler.node_probabilities().into_iter().fold(0.0, f64::max);
        let steps = |tau: u32| {
            let delay = f64::from(tau);
            Steps {
                tau,
                paper: theory::theorem_2_step(delay),
                repaired: theory::repaired_step(delay),
                sharp: theory::sharp_step(delay, None),
                sharp_decomposable: theory::sharp_step(delay, Some(p_max)),
            }
        };
        // With H = L I, sigma is lambda_min(K) itself.
        let digits = (1.0 / ACCURACY).ln();
        Ok(Self {
            blocks,
            edges,
            lambda_min,
            slower_than_clique: 1.0 / (lambda_min * (blocks - 1) as f64),
            nu,
            nu_relative_error: found.relative_error(),
            smallest_nu: found.smallest_nu(),
            foster_sum: found.foster_sum(),
            nu_equalised,
            updates_plain: digits / lambda_min,
            updates_accelerated: 0.5 * digits * 2.0 * std::f64::consts::E * (nu / lambda_min).sqrt(),
            async_steps: DELAYS.into_iter().map(steps).collect(),
        })
    }

    /// The same in words.
    pub(super) fn words(&self) -> String {
        let mut text = "\ntheory (uniform draws, L = 1)\n".to_owned();
        let mut line = |name: &str, value: String| {
            let _ = writeln!(text, "{name:<36}{value}");
        };
        let least = self.blocks - 1;
        line("  smallest eigenvalue of K", number(self.lambda_min));
        line("  slower than the clique by", number(self.slower_than_clique));
        let rounded = if self.nu_relative_error > 0.0 {
            format!(" (an estimate, rounded up by {:.0} %)", 100.0 * self.nu_relative_error)
        } else {
            String::new()
        };
        line("  nu = max r_e / 2L", format!("{}{rounded}; at least b - 1 = {least}", number(self.nu)));
        line("  smallest valid nu", self.smallest_nu.map_or_else(|| "not computed".into(), number));
        line("  nu with equalised draws", self.nu_equalised.map_or_else(|| "not computed".into(), number));
        line("  Foster's sum", format!("{}; exactly b - 1 = {least}", number(self.foster_sum)));
        line("  updates to 1e-6, pairs", format!("{:.3e}", self.updates_plain));
        line("  updates to 1e-6, accelerated", format!("{:.3e}", self.updates_accelerated));
        let _ = writeln!(
            text,
            "\n  largest step for tau late updates\n  {:>5}{:>14}{:>14}{:>14}{:>22}",
            "tau", "paper", "repaired", "sharp", "sharp, decomposable f"
        );
        for Steps { tau, paper, repaired, sharp, sharp_decomposable } in &self.async_steps {
            let _ = writeln!(
                text,
                "  {tau:>5}{paper:>14.3e}{repaired:>14.3e}{sharp:>14.4}{sharp_decomposable:>22.4}"
            );
        }
        text
    }
}

/// Six digits, in powers of ten where the number is small.
fn number(value: f64) -> String {
    if value < 1e-3 { format!("{value:.5e}") } else { format!("{value:.6}") }
}
