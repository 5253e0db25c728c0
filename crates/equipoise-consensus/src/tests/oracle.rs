//! The optimum by Clarabel, from the problem statement: shares no code with what it judges.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, SolverStatus, SupportedConeT};

use crate::{Loss, Problem};

/// Rows of `b - A v` in cones, column by column of v.
#[derive(Default)]
struct Program {
    quadratic: Vec<(usize, f64)>,
    linear: Vec<f64>,
    rows: Vec<(Vec<(usize, f64)>, f64)>,
}

/// x and F(x) at the optimum.
pub(super) fn optimum(problem: &Problem) -> (Vec<f64>, f64) {
    let (d, model) = (problem.columns(), problem.model());
    let data: Vec<(Vec<f64>, f64)> = problem
        .shards
        .iter()
        .flat_map(|shard| {
            (0..shard.rows.len()).map(|k| {
                let mut row = vec![0.0; d];
                shard.rows.for_each(k, |column, value| row[column] = value);
                (row, shard.targets[k])
            })
        })
        .collect();
    let n = data.len();
    // v = (x, one or three numbers a row, |x|).
    let each = if model.loss == Loss::Logistic { 3 } else { 1 };
    let total = d + each * n + if model.loss == Loss::Lasso { d } else { 0 };
    let mut program = Program { linear: vec![0.0; total], ..Program::default() };
    for j in 0..d {
        let weight = match model.loss {
            Loss::Hinge => f64::from(!(model.bias && j + 1 == d)),
            _ => model.ridge,
        };
        program.quadratic.push((j, weight));
    }
    let (mut equal, mut above, mut exponential) = (Vec::new(), Vec::new(), Vec::new());
    for (k, (row, y)) in data.iter().enumerate() {
        let own = d + each * k;
        let terms =
            |by: f64| -> Vec<(usize, f64)> { row.iter().enumerate().map(|(j, a)| (j, by * a)).collect() };
        match model.loss {
            Loss::Ridge | Loss::Lasso => {
                // r = a.x - y.
                program.quadratic.push((own, 1.0));
                let mut line = terms(1.0);
                line.push((own, -1.0));
                equal.push((line, *y));
            }
            Loss::Hinge => {
                program.linear[own] = model.cost;
                let mut line = terms(-y);
                line.push((own, -1.0));
                above.push((line, -1.0));
                above.push((vec![(own, -1.0)], 0.0));
            }
            Loss::Logistic => {
                // t >= ln(1 + exp(-m)):  p + q <= 1, exp(-t) <= p, exp(-m - t) <= q.
                program.linear[own] = 1.0;
                above.push((vec![(own + 1, 1.0), (own + 2, 1.0)], 1.0));
                exponential.push((vec![(own, 1.0)], 0.0));
                exponential.push((Vec::new(), 1.0));
                exponential.push((vec![(own + 1, -1.0)], 0.0));
                let mut line = terms(*y);
                line.push((own, 1.0));
                exponential.push((line, 0.0));
                exponential.push((Vec::new(), 1.0));
                exponential.push((vec![(own + 2, -1.0)], 0.0));
            }
        }
    }
    if model.loss == Loss::Lasso {
        for j in 0..d {
            let size = d + each * n + j;
            program.linear[size] = model.l1;
            above.push((vec![(j, 1.0), (size, -1.0)], 0.0));
            above.push((vec![(j, -1.0), (size, -1.0)], 0.0));
        }
    }
    let cones = [
        (!equal.is_empty()).then_some(SupportedConeT::ZeroConeT(equal.len())),
        (!above.is_empty()).then_some(SupportedConeT::NonnegativeConeT(above.len())),
    ];
    let mut cones: Vec<SupportedConeT<f64>> = cones.into_iter().flatten().collect();
    cones.extend((0..exponential.len() / 3).map(|_| SupportedConeT::ExponentialConeT()));
    program.rows = equal.into_iter().chain(above).chain(exponential).collect();
    let v = program.solve(&cones);
    let x = v[..d].to_vec();
    let value = value(problem, &data, &x);
    (x, value)
}

/// F(x), from the problem statement.
fn value(problem: &Problem, data: &[(Vec<f64>, f64)], x: &[f64]) -> f64 {
    let model = problem.model();
    let losses: f64 = data
        .iter()
        .map(|(row, y)| {
            let z: f64 = row.iter().zip(x).map(|(a, b)| a * b).sum();
            match model.loss {
                Loss::Ridge | Loss::Lasso => 0.5 * (z - y) * (z - y),
                Loss::Logistic => (1.0 + (-y * z).exp()).ln(),
                Loss::Hinge => model.cost * (1.0 - y * z).max(0.0),
            }
        })
        .sum();
    let free = usize::from(model.loss == Loss::Hinge && model.bias);
    let squares: f64 = x[..x.len() - free].iter().map(|x| x * x).sum();
    let sizes: f64 = x.iter().map(|x| x.abs()).sum();
    losses
        + match model.loss {
            Loss::Hinge => 0.5 * squares,
            Loss::Lasso => 0.5 * model.ridge * squares + model.l1 * sizes,
            _ => 0.5 * model.ridge * squares,
        }
}

impl Program {
    fn solve(&self, cones: &[SupportedConeT<f64>]) -> Vec<f64> {
        let n = self.linear.len();
        let (rows, columns): (Vec<usize>, Vec<usize>) = self.quadratic.iter().map(|(j, _)| (*j, *j)).unzip();
        let weights = self.quadratic.iter().map(|(_, weight)| *weight).collect();
        let p = CscMatrix::new_from_triplets(n, n, rows, columns, weights);
        let (mut rows, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (row, (terms, _)) in self.rows.iter().enumerate() {
            for &(column, value) in terms {
                rows.push(row);
                columns.push(column);
                values.push(value);
            }
        }
        let a = CscMatrix::new_from_triplets(self.rows.len(), n, rows, columns, values);
        let b: Vec<f64> = self.rows.iter().map(|(_, constant)| *constant).collect();
        let settings = DefaultSettings {
            verbose: false,
            tol_gap_abs: 1e-12,
            tol_gap_rel: 1e-12,
            tol_feas: 1e-12,
            max_iter: 200,
            ..DefaultSettings::default()
        };
        let mut solver =
            DefaultSolver::new(&p, &self.linear, &a, &b, cones, settings).expect("a valid program");
        solver.solve();
        let status = solver.solution.status;
        assert!(
            matches!(
                status,
                SolverStatus::Solved | SolverStatus::AlmostSolved | SolverStatus::InsufficientProgress
            ),
            "{status:?}"
        );
        solver.solution.x.clone()
    }
}
