//! How large a coefficient can be at any b that is as good as the one at hand.
//!
//! ```text
//! objective(b) <= level   implies   ||X b|| <= R = ||y|| + sqrt(2 level) ,   ||D b||_1 <= G = level / lambda
//! ```
//!
//! and from these, for every c, a number that `|b_c|` does not exceed:
//!
//! - **an l1 term**: `level / mu`.
//! - **observed, chain of order q**: Lagrange's formula by the q nearest observed coefficients `t_j`. The remainder is a divided
//!   difference of order q, an average of `(D b)_r / q!`, times `prod |c - t_j|`.
//! - **observed, graph**: a path leads to an observed coefficient, along which b changes by `G / least weight` at most.
//! - **a matrix, kernel of D known**: `b = N a + rest` with N a basis of the kernel, `|rest_c| <= rho_c` as above. Then
//!   `||X N a|| <= R + sum_c ||X_c|| rho_c`, and the least singular value of `X N` is proven from below.
//! - **a matrix of full rank**: `||X b|| <= R` alone, with columns brought to one length by powers of two; where lambda is small
//!   G says nothing. The smaller of this and what D says counts, coefficient by coefficient.
//! - **a matrix, any D**: `||b||^2 <= (R^2 + s^2 G^2) / least eigenvalue of X'X + s^2 D'D`, proven from below.
//!
//! The least eigenvalue of a Gram matrix M is at least `t - rounding` where Cholesky's factorisation of `M - t I` runs to its
//! end (Rump 2006). Every figure is inflated for its own few roundings.
//!
//! Must not know: how b was found.

use equipoise::{Control, Matrix, Pass};
use faer::{Mat, Side};

use super::design::{Design, for_each_in_column, gamma};
use super::proof::Task;

/// What a figure of a few dozen roundings is multiplied by.
const INFLATED: f64 = 1.0 + 1e-12;
/// The largest kernel of D, and the largest order of `X'X + D'D`, that are looked at.
const MOST_OF_KERNEL: usize = 400;
const MOST_COEFFICIENTS: usize = 3000;
/// The most coefficients of a matrix that is looked at alone, which is done for every proof.
const MOST_ALONE: usize = 400;

/// Bounds of every `|b_c|`; none where nothing is known.
pub(super) fn largest(task: &Task<'_>, level: f64, control: &Control) -> Pass<Option<Vec<f64>>> {
    let n = task.coefficients();
    let length = task.y.iter().map(|y| y * y).sum::<f64>().sqrt() * (1.0 + 2.0 * gamma(task.y.len() + 4));
    let off = (2.0 * level).sqrt() * INFLATED;
    let image = (length + off) * INFLATED;
    let variation = level / task.lambda * INFLATED;
    if !(image.is_finite() && variation.is_finite() && off.is_finite()) {
        return Ok(None);
    }
    if task.sparse > 0.0 {
        return Ok(Some(vec![level / task.sparse * INFLATED; n]));
    }
    let by_differences = match (task.design, task.order) {
        (Design::Identity, _) => Ok(Some(task.y.iter().map(|y| (y.abs() + off) * INFLATED).collect())),
        (Design::Observed { indices, .. }, Some(order)) => {
            Ok(interpolated(task.y, indices, n, order, off, variation))
        }
        (Design::Observed { indices, .. }, None) if task.is_graph => {
            along_paths(task, indices, off, variation, control)
        }
        (Design::Matrix(x), Some(order)) => {
            let (basis, rest) = polynomials(n, order, variation);
            by_kernel(task, x, &basis, &rest, image, control)
        }
        (Design::Matrix(x), None) if task.is_graph => {
            let (number, count) = task.d.all_components(control)?;
            if count > MOST_OF_KERNEL {
                return Ok(None);
            }
            let mut basis = vec![vec![0.0; n]; count];
            number.iter().enumerate().for_each(|(c, k)| basis[*k][c] = 1.0);
            let rest = vec![variation / least_weight(task) * INFLATED; n];
            by_kernel(task, x, &basis, &rest, image, control)
        }
        _ => together(task, image, variation, control),
    }?;
    let Design::Matrix(x) = task.design else { return Ok(by_differences) };
    // The differences tell nothing where what they allow is more than what X does.
    let lengths = task.design.column_lengths(task.y.len());
    let longest = lengths.iter().fold(0.0_f64, |most, length| most.max(*length));
    if by_differences.is_some() && variation * longest < image {
        return Ok(by_differences);
    }
    let by_matrix = alone(x, &lengths, image, control)?;
    Ok(match (by_differences, by_matrix) {
        (Some(one), Some(other)) => {
            Some(one.iter().zip(&other).map(|(one, other)| one.min(*other)).collect())
        }
        (one, other) => one.or(other),
    })
}

/// `X b` determines b: with `b = S a`, columns of `X S` of about one length, `|b_c| <= S_c R / least singular value of X S`.
fn alone(x: &Matrix, lengths: &[f64], image: f64, control: &Control) -> Pass<Option<Vec<f64>>> {
    let (rows, n) = (x.rows(), x.columns());
    if n > MOST_ALONE || n > rows || lengths.iter().any(|length| !(*length > 1e-140 && *length < 1e140)) {
        return Ok(None);
    }
    let scale: Vec<f64> = lengths.iter().map(|length| (-length.log2().round()).exp2()).collect();
    let mut gram = Mat::<f64>::zeros(n, n);
    let mut column = vec![0.0; rows];
    for c in 0..n {
        column.fill(0.0);
        for_each_in_column(x, c, |r, value| column[r] = scale[c] * value);
        (0..=c).for_each(|k| {
            gram[(c, k)] = scale[k] * x.column_dot(k, &column);
            gram[(k, c)] = gram[(c, k)];
        });
        control.check()?;
    }
    // Powers of two round nothing, up to what underflows.
    let Some(least) = least_eigenvalue(&gram, rows) else { return Ok(None) };
    let size = image / (least.sqrt() / INFLATED) * INFLATED;
    Ok(Some(scale.iter().map(|scale| scale * size * INFLATED).collect()))
}

/// Observed coefficients of a chain.
fn interpolated(
    y: &[f64],
    indices: &[usize],
    n: usize,
    order: usize,
    off: f64,
    variation: f64,
) -> Option<Vec<f64>> {
    if indices.len() < order {
        return None;
    }
    let bound = |c: usize| {
        let after = indices.partition_point(|index| *index < c);
        let start = after.saturating_sub(order / 2).min(indices.len() - order);
        let nodes = start..start + order;
        let away = |k: usize| (indices[k] as f64 - c as f64).abs();
        let mut sum = remainder(nodes.clone().map(away).product::<f64>(), order) * variation;
        for j in nodes.clone() {
            let others = nodes.clone().filter(|k| *k != j);
            let weight: f64 =
                others.map(|k| away(k) / (indices[k] as f64 - indices[j] as f64).abs()).product();
            sum += weight * (y[j].abs() + off);
        }
        sum * INFLATED
    };
    Some((0..n).map(bound).collect())
}

/// Observed coefficients of a graph.
fn along_paths(
    task: &Task<'_>,
    indices: &[usize],
    off: f64,
    variation: f64,
    control: &Control,
) -> Pass<Option<Vec<f64>>> {
    let (number, count) = task.d.all_components(control)?;
    let mut largest = vec![None::<f64>; count];
    for (index, y) in indices.iter().zip(task.y) {
        let seen = &mut largest[number[*index]];
        *seen = Some(seen.unwrap_or(0.0).max(y.abs()));
    }
    let change = variation / least_weight(task);
    Ok(number.iter().map(|k| largest[*k].map(|y| (y + off + change) * INFLATED)).collect())
}

fn least_weight(task: &Task<'_>) -> f64 {
    let mut least = f64::INFINITY;
    task.d.for_each(|_, _, values| least = values.iter().fold(least, |least, value| least.min(value.abs())));
    least
}

/// Lagrange's basis of the polynomials of degree `order - 1` at nodes spread over the chain, and how far any b with this
/// variation can be from the polynomial through its values there.
fn polynomials(n: usize, order: usize, variation: f64) -> (Vec<Vec<f64>>, Vec<f64>) {
    let node = |j: usize| if order == 1 { 0.0 } else { (j * (n - 1) / (order - 1)) as f64 };
    let basis = (0..order).map(|j| {
        let value = |c: usize| {
            let others = (0..order).filter(|k| *k != j);
            others.map(|k| (c as f64 - node(k)) / (node(j) - node(k))).product::<f64>()
        };
        (0..n).map(value).collect()
    });
    let rest = |c: usize| {
        let away: f64 = (0..order).map(|j| (c as f64 - node(j)).abs()).product();
        remainder(away, order) * variation * INFLATED
    };
    (basis.collect(), (0..n).map(rest).collect())
}

/// What the product of the distances to the nodes is divided by; on a plain chain the changes on the way add up, wherever they are.
fn remainder(away: f64, order: usize) -> f64 {
    match order {
        1 => away.min(1.0),
        _ => away / (1..=order).map(|k| k as f64).product::<f64>(),
    }
}

fn by_kernel(
    task: &Task<'_>,
    x: &Matrix,
    basis: &[Vec<f64>],
    rest: &[f64],
    image: f64,
    control: &Control,
) -> Pass<Option<Vec<f64>>> {
    let rows = task.y.len();
    let lengths = task.design.column_lengths(rows);
    let mut products = Vec::with_capacity(basis.len());
    let mut error = 0.0;
    for column in basis {
        let mut product = vec![0.0; rows];
        x.multiply(column, &mut product);
        // Entries of the basis are a few roundings off; each row of the product has as many terms as there are columns.
        let size: f64 = column.iter().zip(&lengths).map(|(value, length)| value.abs() * length).sum();
        error += 2.0 * gamma(column.len() + 24) * size;
        products.push(product);
        control.check()?;
    }
    let count = basis.len();
    let gram = Mat::from_fn(count, count, |i, j| equipoise::matrix::dot(&products[i], &products[j]));
    let Some(least) = least_eigenvalue(&gram, rows) else { return Ok(None) };
    let singular = least.sqrt() / INFLATED - error;
    let far: f64 = lengths.iter().zip(rest).map(|(length, rest)| length * rest).sum::<f64>()
        * (1.0 + 2.0 * gamma(rest.len() + 4));
    let size = (image + far) / singular * INFLATED;
    if !(singular > 0.0 && size.is_finite()) {
        return Ok(None);
    }
    let bound = |c: usize| {
        let squares: f64 = basis.iter().map(|column| column[c] * column[c]).sum();
        (squares.sqrt() * size * (1.0 + 2.0 * gamma(count + 24)) + rest[c]) * INFLATED
    };
    Ok(Some((0..task.coefficients()).map(bound).collect()))
}

/// Any D, by the Gram matrix of X and D together.
fn together(task: &Task<'_>, image: f64, variation: f64, control: &Control) -> Pass<Option<Vec<f64>>> {
    let n = task.coefficients();
    if n > MOST_COEFFICIENTS {
        return Ok(None);
    }
    let mut gram = Mat::<f64>::zeros(n, n);
    let mut terms = task.y.len();
    match task.design {
        Design::Identity => (0..n).for_each(|c| gram[(c, c)] = 1.0),
        Design::Observed { indices, .. } => indices.iter().for_each(|c| gram[(*c, *c)] = 1.0),
        Design::Matrix(x) => {
            let mut column = vec![0.0; task.y.len()];
            for c in 0..n {
                column.fill(0.0);
                for_each_in_column(x, c, |r, value| column[r] = value);
                (0..=c).for_each(|k| gram[(c, k)] = x.column_dot(k, &column));
                (0..c).for_each(|k| gram[(k, c)] = gram[(c, k)]);
                control.check()?;
            }
        }
    }
    let trace = |gram: &Mat<f64>| (0..n).map(|c| gram[(c, c)]).sum::<f64>();
    let of_x = trace(&gram);
    let mut of_d = 0.0;
    task.d.for_each(|_, _, values| of_d += values.iter().map(|value| value * value).sum::<f64>());
    if of_d > 0.0 && of_x > 0.0 {
        // A power of two near the ratio of both, so that neither drowns the other.
        let scale = (0.5 * (of_x / of_d).log2()).round().exp2();
        task.d.for_each(|_, columns, values| {
            for (c, value) in columns.iter().zip(values) {
                for (k, other) in columns.iter().zip(values) {
                    gram[(*c, *k)] += (scale * value) * (scale * other);
                }
            }
        });
        terms += task.d.most_entries().1;
        return Ok(least_eigenvalue(&gram, terms).map(|least| {
            let size = (image * image + scale * scale * variation * variation).sqrt();
            vec![size / least.sqrt() * INFLATED; n]
        }));
    }
    Ok(None)
}

/// A number that the least eigenvalue of an exact Gram matrix is not below, whose entries were computed as sums of so many
/// products; none where that is not positive.
fn least_eigenvalue(gram: &Mat<f64>, terms: usize) -> Option<f64> {
    let n = gram.nrows();
    let trace: f64 = (0..n).map(|c| gram[(c, c)]).sum();
    if !(trace > 0.0 && trace.is_finite()) {
        return None;
    }
    let rounding = (2.0 * gamma(n + 4) + 2.0 * gamma(terms + 4)) * trace * INFLATED;
    let mut shift = 0.25 * trace / n as f64;
    while shift > 2.0 * rounding {
        let moved = Mat::from_fn(n, n, |i, j| if i == j { gram[(i, j)] - shift } else { gram[(i, j)] });
        if moved.llt(Side::Lower).is_ok() {
            return Some((shift * (1.0 - 1e-12) - rounding) / INFLATED);
        }
        shift /= 16.0;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_eigenvalues_are_not_above_the_true_ones() {
        // Eigenvalues 1 and 3; 1e-6 and 2; singular.
        let of = |a: f64, b: f64, d: f64| {
            least_eigenvalue(
                &Mat::from_fn(2, 2, |i, j| {
                    if i != j {
                        b
                    } else if i == 0 {
                        a
                    } else {
                        d
                    }
                }),
                2,
            )
        };
        assert!(of(2.0, 1.0, 2.0).is_some_and(|least| least <= 1.0 && least > 0.05));
        assert!(of(1.0 + 5e-7, 1.0 - 5e-7, 1.0 + 5e-7).is_some_and(|least| least <= 1e-6 && least > 5e-8));
        assert_eq!(of(1.0, 1.0, 1.0), None);
    }

    #[test]
    fn a_cubic_is_bounded_by_its_observed_values_and_third_differences() {
        let n = 30;
        let b: Vec<f64> = (0..n).map(|i| f64::from(i * i * i) / 100.0 - f64::from(i * i) / 7.0).collect();
        let indices: Vec<usize> = [0, 1, 5, 6, 11, 17, 18, 25].into();
        let y: Vec<f64> = indices.iter().map(|i| b[*i]).collect();
        let third: f64 = b.windows(4).map(|w| (w[3] - 3.0 * w[2] + 3.0 * w[1] - w[0]).abs()).sum();
        let bounds = interpolated(&y, &indices, b.len(), 3, 0.0, third).expect("it works");
        assert!(b.iter().zip(&bounds).all(|(b, bound)| b.abs() <= *bound), "{b:?} {bounds:?}");
    }
}
