//! Zero-sum lasso, as used on compositional data: `1/2 ||X beta - y||^2 + gamma ||beta||_1`, `sum(beta) = 0`.

use equipoise::separable::L1;
use equipoise::smooth::{LeastSquares, loss::Squared};
use equipoise::{Coupling, Error, Matrix, Problem, Settings, Status, solve};

fn main() -> Result<(), Error> {
    let x = Matrix::from_rows(&[
        [1.0, 0.0, 2.0, -1.0],
        [0.0, 1.0, 1.0, 1.0],
        [1.0, 1.0, 0.0, 2.0],
        [2.0, -1.0, 1.0, 0.0],
        [0.0, 1.0, -1.0, 1.0],
    ])?;
    let y = vec![3.0, -1.0, -2.0, 4.0, 1.0];
    let settings = Settings { tolerance: 1e-10, ..Settings::default() };
    for gamma in [10.0, 3.0, 1.0, 0.1] {
        let f = LeastSquares::new(x.clone(), y.clone(), Squared)?;
        let problem = Problem::builder(f).separable(L1::new(gamma)?).coupling(Coupling::sum(0.0)?).build()?;
        let solution = solve(&problem, &settings)?;
        let certificate = &solution.certificate;
        println!("gamma {gamma:4}: beta {:8.4?}, objective {:.6}", solution.x, certificate.objective);

        assert_eq!(solution.status, Status::Converged);
        assert!(certificate.infeasibility < 1e-12);
        if gamma == 3.0 {
            // Known exactly: beta = (10, 0, 0, -10) / 11, objective 241 / 22, multiplier 16 / 11.
            assert!((certificate.objective - 241.0 / 22.0).abs() < 1e-8);
            assert!((certificate.multipliers[0] - 16.0 / 11.0).abs() < 1e-4);
            assert_eq!((solution.x[1], solution.x[2]), (0.0, 0.0), "zeros are exact");
        }
    }
    Ok(())
}
