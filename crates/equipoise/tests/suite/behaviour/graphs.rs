//! Every topology, every law of draws and every step size leads to one optimum.

use super::{converged, same_optimum, settings};
use crate::samples::{N, Sample, kernels, l1, rows, sample, term};
use equipoise::graph::Topology;
use equipoise::separable::Zero;
use equipoise::{BlockChoice, Coupling, Method, ProbabilityChoice, Settings};

/// Every named topology on b nodes.
fn topologies(b: usize) -> Vec<Topology> {
    let name = |name: &&str| Topology::parse(name, b, 4).expect("a known name");
    Topology::NAMES.iter().map(name).collect()
}

/// A smooth problem with three rows and a lasso with one row, on six and on twenty-four blocks.
fn on(graph: &Topology, probabilities: &ProbabilityChoice) -> [Sample; 2] {
    let smooth = sample("three smooth rows", term(Zero), rows(3, N), BlockChoice::Size(4));
    let lasso =
        sample("one row, l1", term(l1()), Coupling::sum(3.0).expect("finite"), BlockChoice::Automatic);
    [smooth, lasso].map(|sample| Sample {
        graph: graph.clone(),
        probabilities: probabilities.clone(),
        ..sample
    })
}

#[test]
fn every_topology_leads_to_the_same_optimum() {
    let reference = on(&Topology::Clique, &ProbabilityChoice::Uniform)
        .map(|sample| converged(sample.name, &sample.problem(), &settings()).certificate.objective);
    for (k, b) in [(0, 6), (1, N)] {
        for topology in topologies(b) {
            for method in [Method::Auto, Method::Pairs] {
                let [smooth, lasso] = on(&topology, &ProbabilityChoice::Uniform);
                let problem = if k == 0 { smooth.problem() } else { lasso.problem() };
                assert_eq!(problem.graph().nodes(), b);
                let name = format!("{topology} by {method:?}");
                let solution = converged(&name, &problem, &Settings { method, ..settings() });
                same_optimum(&name, reference[k], solution.certificate.objective);
            }
        }
    }
}

#[test]
fn every_law_of_draws_leads_to_the_same_optimum() {
    let reference = on(&Topology::Ring, &ProbabilityChoice::Uniform)
        .map(|sample| converged(sample.name, &sample.problem(), &settings()).certificate.objective);
    let weights =
        |edges: usize| ProbabilityChoice::Weighted((0..edges).map(|e| 1.0 + (e % 5) as f64).collect());
    for (k, b) in [(0, 6), (1, N)] {
        for law in [ProbabilityChoice::Lipschitz, weights(b)] {
            let [smooth, lasso] = on(&Topology::Ring, &law);
            let problem = if k == 0 { smooth.problem() } else { lasso.problem() };
            let solution = converged("ring", &problem, &Settings { method: Method::Pairs, ..settings() });
            same_optimum("ring", reference[k], solution.certificate.objective);
        }
    }
}

#[test]
fn every_step_size_leads_to_the_same_optimum() {
    for pair in kernels() {
        let name = pair.name;
        let problem = pair.problem();
        let reference = converged(name, &problem, &settings());
        for step_size in [0.5, 1.5] {
            let solution = converged(name, &problem, &Settings { step_size, ..settings() });
            same_optimum(name, reference.certificate.objective, solution.certificate.objective);
        }
    }
}

#[test]
fn pairs_alone_reach_the_optimum_of_every_kernel() {
    for sample in kernels() {
        let name = sample.name;
        let problem = sample.problem();
        let reference = converged(name, &problem, &settings());
        let solution = converged(name, &problem, &Settings { method: Method::Pairs, ..settings() });
        same_optimum(name, reference.certificate.objective, solution.certificate.objective);
    }
}
