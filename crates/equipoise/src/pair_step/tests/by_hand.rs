//! One small step of each kind, by hand.

use super::{Columns, DenseColumns, factor};

#[test]
fn pulls_in_balance_move_both_blocks_by_the_same() {
    use crate::pair_step::smooth_rows;
    use smooth_rows::{Block, Metric, Workspace};
    // f pulls x_1 down and x_2 up by the same force; x_1 + x_2 stays.
    let block = |gradient| Block { columns: &[1.0], x: &[0.0], gradient, metric: Metric::Isotropic(1.0) };
    let factored = factor(&DenseColumns::new(1, &[1.0, 1.0]), &[1.0, 1.0]);
    let (mut lambda, mut first, mut second) = ([0.0], [0.0], [0.0]);
    let z = [&mut first[..], &mut second[..]];
    smooth_rows::step([block(&[3.0]), block(&[1.0])], &factored, &mut lambda, &mut Workspace::default(), z);
    assert_eq!((first, second, lambda), ([-1.0], [1.0], [-2.0]));
}

#[test]
fn a_pair_of_scalars_stops_at_the_bound() {
    use crate::pair_step::scalar::{PairCurvature, two_scalars};
    use crate::separable::Piece;
    let curvature = PairCurvature { d: [1.0, 1.0], cross: 0.0 };
    let bounds = Piece { lower: 0.0, upper: 1.0, ..Piece::FREE };
    let z = two_scalars([0.5, 0.25], [1.0, -1.0], [1.0, 1.0], curvature, [bounds, bounds]);
    assert_eq!(z, Ok([0.0, 0.75])); // the free step of 1 would pass the bound at 0
}

#[test]
fn the_projection_onto_the_simplex() {
    use crate::pair_step::{Model, one_row};
    use crate::separable::NonNegative;
    // The projection of (1, -1, 3) onto the simplex: sum z = 1, z >= 0.
    let model =
        Model { coordinates: &[0, 1, 2], x: &[1.0, -1.0, 3.0], gradient: &[0.0; 3], metric: &[1.0; 3] };
    let row = one_row::Row { coefficients: &[1.0; 3], shift: -2.0 };
    let mut z = [0.0; 3];
    let outcome = one_row::solve(&model, row, &NonNegative, 0.0, &mut one_row::Workspace::default(), &mut z);
    assert_eq!((z, outcome.multiplier, outcome.found), ([0.0, 0.0, 1.0], 2.0, true));
}

#[test]
fn two_rows_within_bounds() {
    use crate::pair_step::{DualWorkspace, Model, Rows, newton};
    use crate::separable::NonNegative;
    let model =
        Model { coordinates: &[0, 1, 2], x: &[1.0; 3], gradient: &[0.0, 9.0, 0.0], metric: &[1.0; 3] };
    // Two rows: z_1 + z_2 + z_3 and z_1 - z_3 stay as they are.
    let columns = DenseColumns::new(2, &[1.0, 1.0, 1.0, 0.0, 1.0, -1.0]);
    let rows = Rows { columns: &columns, shift: &[0.0, 0.0] };
    let (mut lambda, mut z) = ([0.0; 2], [0.0; 3]);
    let outcome = newton::solve(
        &model,
        rows,
        &NonNegative,
        &mut lambda,
        &mut DualWorkspace::default(),
        &mut z,
        &|| false,
    );
    assert!(outcome.converged);
    assert_eq!(z, [1.5, 0.0, 1.5]);
}

#[test]
fn two_groups_on_one_row() {
    use crate::pair_step::{DualWorkspace, Model, Rows, group};
    use crate::separable::GroupL2;
    use group::{Group, Groups};
    let model = Model { coordinates: &[0, 1], x: &[0.0; 2], gradient: &[-3.0, 1.0], metric: &[1.0; 2] };
    let columns = DenseColumns::new(1, &[1.0, 1.0]); // z_1 + z_2 = 0
    let term = GroupL2::new(1.0).expect("valid");
    let list = [Group { block: 0, range: 0..1 }, Group { block: 1, range: 1..2 }];
    let (mut lambda, mut z) = ([0.0], [0.0; 2]);
    let rows = Rows { columns: &columns, shift: &[0.0] };
    let groups = Groups { term: &term, list: &list };
    let outcome =
        group::solve(&model, rows, groups, &mut lambda, &mut DualWorkspace::default(), &mut z, &|| false);
    assert!(outcome.converged && (z[0] - 1.0).abs() < 1e-12 && (lambda[0] - 1.0).abs() < 1e-12);
}

#[test]
fn without_rows_every_coordinate_goes_its_own_way() {
    use crate::pair_step::{Model, free};
    use crate::separable::NonNegative;
    let model = Model { coordinates: &[0, 1], x: &[1.0, 1.0], gradient: &[4.0, -1.0], metric: &[2.0, 2.0] };
    let mut z = [0.0; 2];
    free::solve(&model, &NonNegative, &mut z);
    assert_eq!(z, [0.0, 1.5]);
}

#[test]
fn columns_are_those_of_the_matrix() {
    let a = DenseColumns::new(2, &[1.0, 2.0, 0.0, 3.0]); // columns (1, 2) and (0, 3)
    assert_eq!((a.rows(), a.len()), (2, 2));
    assert_eq!(a.dot(1, &[5.0, 1.0]), 3.0);
}

#[test]
fn a_factor_of_rows_that_repeat_has_their_rank() {
    // Two rows, the second twice the first: rank 1.
    let columns = DenseColumns::new(2, &[1.0, 2.0, 3.0, 6.0]);
    let factored = factor(&columns, &[1.0, 1.0]);
    let mut y = [10.0, 20.0];
    factored.solve(&mut y);
    assert_eq!((factored.rank(), y[0] + 2.0 * y[1]), (1, 1.0));
}
