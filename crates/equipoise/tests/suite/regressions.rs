//! What once went wrong, one test each.

use crate::adaptor::{builder, composite, matrix_of};
use crate::numbers::Numbers;
use equipoise::graph::Topology;
use equipoise::matrix::DenseMatrix;
use equipoise::separable::{Bounds, ElasticNet, L1, NonNegative};
use equipoise::smooth::loss::{LogisticLoss, Squared};
use equipoise::smooth::{Distance, LeastSquares, Linear, Logistic, Quadratic};
use equipoise::{
    BlockChoice, Coupling, Error, Matrix, Method, ProbabilityChoice, Settings, SparseMatrix, Status, solve,
};

fn distance(n: usize) -> Distance {
    Distance::new(vec![1.0; n], 0.5).expect("finite")
}

fn pairs() -> Settings {
    Settings { method: Method::Pairs, time_limit: Some(20.0), ..Settings::default() }
}

#[test]
fn a_witness_over_unbounded_coordinates_is_finite() {
    let rows = matrix_of(&[
        &[-0.9162646671020385, -0.13279158292185045, 0.5259178408426557, -0.9554129741283126],
        &[-0.7043927566254558, -0.6211495085170806, -0.5026624297430193, 0.8408460763323578],
        &[0.20812799541493798, -0.5323967512806402, -0.8971374557887222, 0.5093446148567646],
    ]);
    let rhs = vec![-0.06836911374941601, 0.9770969443382977, -0.5730027323362494];
    let coupling = Coupling::rows_of(rows, rhs).expect("valid");
    let refused = composite(distance(4), NonNegative).coupling(coupling).build();
    let Err(Error::EmptyDomain { reachable, needed, .. }) = refused else { panic!("{refused:?}") };
    assert!(reachable < needed, "reachable {reachable}, needed {needed}");
}

#[test]
fn the_nearest_point_is_nearest_from_far_away() {
    let rows = matrix_of(&[&[1.0, 1.0, 0.3, 2.0], &[0.7, 1.0, 1.0, 1.0]]);
    let coupling = Coupling::rows_of(rows, vec![1.0, 2.0]).expect("valid");
    let problem = builder(distance(4)).coupling(coupling).build().expect("valid");
    for s in [1e3, 1e5, 1e8] {
        let far = [s, -0.3 * s, 1.0, 7.0];
        let near = problem.nearest_feasible(&far).expect("feasible");
        // What is taken off is a combination of the rows: orthogonal to the kernel of A.
        for z in [[7.0, -7.9, 3.0, 0.0], [-10.0, 4.0, 0.0, 3.0]] {
            let along: f64 = z.iter().zip(far.iter().zip(&near)).map(|(z, (a, b))| z * (a - b)).sum();
            assert!(along.abs() <= 1e-10 * s, "s = {s}: {along}");
        }
        assert!(problem.coupling().infeasibility(&near) <= 1e-15 * s.max(1e4));
    }
}

#[test]
fn pairs_alone_see_that_an_objective_falls_for_ever() {
    let lone = builder(Linear::new(vec![1.0, 0.0, 0.0]).expect("finite")).build().expect("valid");
    assert!(matches!(solve(&lone, &pairs()), Err(Error::Unbounded { .. })));
    let f = Linear::new(vec![1.0, -1.0, 0.0, 3.0]).expect("finite");
    let blocks = builder(f).blocks(BlockChoice::Size(2)).coupling(Coupling::sum(0.0).expect("finite"));
    assert!(matches!(solve(&blocks.build().expect("valid"), &pairs()), Err(Error::Unbounded { .. })));
}

#[test]
fn a_loss_that_only_approaches_its_infimum_is_not_unbounded() {
    let f = Logistic::new(matrix_of(&[&[1.0]]), vec![1.0], LogisticLoss).expect("valid");
    let problem = builder(f).build().expect("valid");
    assert_eq!(solve(&problem, &Settings::default()).expect("bounded").status, Status::Converged);
}

#[test]
fn a_right_hand_side_of_rounding_size_is_consistent() {
    let rows = matrix_of(&[&[1.0, 1.0, 1.0], &[3.0, 3.0, 3.0]]);
    let rhs = vec![0.1 + 0.2 - 0.3, 3. * 0.1 + 3. * 0.2 - 3. * 0.3];
    let coupling = Coupling::rows_of(rows, rhs).expect("valid");
    let problem = builder(distance(3)).coupling(coupling).build().expect("consistent to rounding");
    assert_eq!(problem.dropped_rows().len(), 1);
}

#[test]
fn blocks_that_no_pair_contains_are_refused() {
    let build = |coupling: Coupling, n: usize, edges: Vec<(usize, usize)>| {
        builder(distance(n))
            .coupling(coupling)
            .blocks(BlockChoice::Size(1))
            .graph(Topology::Edges(edges))
            .build()
            .and_then(|problem| problem.check_pairs())
    };
    let alone = build(Coupling::none(), 4, vec![(0, 1)]);
    assert!(matches!(alone, Err(Error::GraphCannotMove { ref nodes, .. }) if *nodes == [2, 3]), "{alone:?}");
    assert!(matches!(build(Coupling::none(), 2, vec![]), Err(Error::GraphCannotMove { .. })));
    let rows = matrix_of(&[&[1.0, 1.0, 0.0, 0.0, 0.0], &[0.0, 0.0, 1.0, 1.0, 0.0]]);
    let coupling = Coupling::rows_of(rows, vec![0.0, 0.0]).expect("valid");
    let fifth = build(coupling, 5, vec![(0, 1), (2, 3)]);
    assert!(matches!(fifth, Err(Error::GraphCannotMove { ref nodes, .. }) if *nodes == [4]), "{fifth:?}");
    let split = build(Coupling::row(vec![1.0; 4], 0.0).expect("finite"), 4, vec![(0, 2), (1, 3)]);
    assert!(matches!(split, Err(Error::GraphDisconnected { unreached: 2, nodes: 4, .. })), "{split:?}");
}

#[test]
fn blocks_without_curvature_are_drawn_too() {
    let problem = composite(
        Linear::new(vec![1.0, -2.0, 0.5]).expect("finite"),
        Bounds::new(0.0, 1.0).expect("ordered"),
    )
    .coupling(Coupling::sum(1.5).expect("finite"))
    .probabilities(ProbabilityChoice::Lipschitz)
    .build()
    .expect("connected");
    let pairs = Settings { method: Method::Pairs, ..Settings::default() };
    let solution = solve(&problem, &pairs).expect("bounded");
    assert_eq!((solution.status, solution.x), (Status::Converged, vec![0.0, 1.0, 0.5]));
}

#[test]
fn sparse_columns_begin_at_their_first_entry() {
    let hidden = SparseMatrix::from_columns(3, 1, vec![1, 2], vec![0, 1], vec![f64::NAN, 1.0]);
    assert!(matches!(hidden, Err(Error::ShapeMismatch { .. })));
}

#[test]
fn factors_on_the_fly_give_the_same_bits() {
    let values = (0..3 * 40).map(|k| f64::from((k * 37 + 11) % 101) / 101.0 - 0.3).collect();
    let rows: Matrix = equipoise::DenseMatrix::from_columns(3, 40, values).expect("right size").into();
    let run = |memory_budget| {
        let coupling = Coupling::rows_of(rows.clone(), vec![1.0; 3]).expect("valid");
        let problem = builder(distance(40)).coupling(coupling).blocks(BlockChoice::Size(5));
        let settings = Settings { memory_budget, max_updates: Some(500), tolerance: 1e-300, ..pairs() };
        solve(&problem.build().expect("valid"), &settings).expect("bounded").x
    };
    assert_eq!(run(0), run(1 << 30));
}

#[test]
fn a_singular_quadratic_far_from_its_optimum_has_a_wide_gap() {
    let third = 1.0 / 3.0;
    let q = matrix_of(&[
        &[third / 3.0, third / 3.0, -third],
        &[third / 3.0, third / 3.0, -third],
        &[-third, -third, 1.0],
    ]);
    let problem = composite(
        Quadratic::new(q, vec![3.0, -3.0, 0.0]).expect("convex"),
        ElasticNet::new(0.5, 0.01).expect("valid"),
    )
    .coupling(Coupling::sum(1.0).expect("finite"))
    .build()
    .expect("valid");
    let early = solve(&problem, &Settings { max_updates: Some(1), ..pairs() }).expect("bounded");
    assert_eq!(early.status, Status::IterationLimit);
    let best = solve(&problem, &Settings::default()).expect("bounded");
    assert_eq!(best.status, Status::Converged);
    let distance = early.certificate.objective - best.certificate.objective;
    assert!(early.certificate.duality_gap.is_none_or(|gap| gap >= distance), "{:?}", early.certificate);
}

#[test]
fn a_flat_direction_is_followed_to_the_bound() {
    let q = matrix_of(&[&[1.0, 1.0, 0.0], &[1.0, 1.0, 0.0], &[0.0, 0.0, 1.0]]);
    let build = |limit: f64| {
        let f = Quadratic::new(q.clone(), vec![1.0, -1.0, 0.0]).expect("convex");
        composite(f, Bounds::new(-limit, limit).expect("ordered")).build().expect("valid")
    };
    let solution =
        solve(&build(1e9), &Settings { time_limit: Some(20.0), ..Settings::default() }).expect("bounded");
    assert_eq!(solution.status, Status::Converged);
    // From above, by the last digit.
    let objective = solution.certificate.objective;
    assert!((-2e9..=-2e9 * (1.0 - 1e-15)).contains(&objective), "{objective}");
    let settings = Settings { time_limit: Some(20.0), ..Settings::default() };
    assert!(matches!(solve(&build(f64::INFINITY), &settings), Err(Error::Unbounded { .. })));
}

#[test]
fn the_kkt_residual_counts_only_where_no_gap_is_found() {
    let problem = builder(Distance::new(vec![40.0], 1e-8).expect("finite")).build().expect("valid");
    let solution = solve(&problem, &Settings::default()).expect("bounded");
    assert_eq!(solution.status, Status::Converged);
    assert!(equipoise::certificate::check(&problem, &solution.x).expect("right length").meets(1e-6));
}

#[test]
fn few_coordinates_of_many_samples_find_their_partners() {
    // No Newton steps here: the product is too long. A multiplier that was off left everyone wanting the same way.
    for seed in 0..12 {
        let mut numbers = Numbers::new(seed);
        let (samples, features) = (600, 2 + seed as usize % 5);
        let shared = numbers.vector(samples, 1.0);
        let columns = (0..features).flat_map(|c| {
            let sign = if c % 2 == 0 { 1.0 } else { -1.0 };
            let own = numbers.vector(samples, 1.0);
            shared.iter().zip(own).map(|(shared, own)| sign * shared + own).collect::<Vec<_>>()
        });
        let columns: Vec<f64> = columns.collect();
        let last = &columns[(features - 1) * samples..];
        let target = columns.iter().zip(last).map(|(first, last)| first - 2.0 * last).collect();
        let matrix = DenseMatrix::from_columns(samples, features, columns).expect("finite");
        let f = LeastSquares::new(matrix, target, Squared).expect("finite");
        let builder = composite(f, L1::new(0.004).expect("valid"));
        let problem = builder.coupling(Coupling::sum(-1.0).expect("finite")).build().expect("valid");
        for method in [Method::Violating, Method::Auto] {
            let settings =
                Settings { method, tolerance: 1e-8, time_limit: Some(20.0), ..Settings::default() };
            let solution = solve(&problem, &settings).expect("bounded");
            let certificate = equipoise::certificate::check(&problem, &solution.x).expect("right length");
            let name = format!("{} of {features} features, seed {seed}", method.name());
            assert_eq!(solution.status, Status::Converged, "{name}: {certificate:?}");
            assert!(certificate.meets(1e-8), "{name}: {certificate:?}");
        }
    }
}

#[test]
fn a_certificate_that_was_cut_short_proves_nothing() {
    // The KKT residual is within the tolerance at the start, the gap is not; there is no time to find the gap.
    let problem = builder(Distance::new(vec![40.0], 1e-8).expect("finite")).build().expect("valid");
    let settings = Settings { time_limit: Some(1e-9), max_updates: Some(1), ..Settings::default() };
    let solution = solve(&problem, &settings).expect("bounded");
    let met = equipoise::certificate::check(&problem, &solution.x).expect("right length").meets(1e-6);
    assert!(met || solution.status != Status::Converged, "{solution:?}");
}

#[test]
fn a_coordinate_that_the_row_does_not_bind_may_fall_for_ever() {
    let problem = composite(
        Linear::new(vec![-1.0, 0.0, 0.0]).expect("finite"),
        ElasticNet::new(vec![0.0; 3], vec![0.0, 1.0, 1.0]).expect("valid"),
    )
    .coupling(Coupling::row(vec![0.0, 1.0, 1.0], 1.0).expect("finite"))
    .build()
    .expect("feasible");
    let settings = Settings { time_limit: Some(5.0), ..Settings::default() };
    let refused = solve(&problem, &settings);
    assert!(matches!(refused, Err(Error::Unbounded { .. })), "{refused:?}");
}
