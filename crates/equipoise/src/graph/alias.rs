//! The alias method: number k with probability proportional to `w_k`, in O(1) per draw.
//!
//! - Given: weights, at least 0, finite, not all 0, the largest about 1 (so that their sum is finite).
//! - Returns: a table; one u64 makes one draw. A number of weight 0 is never drawn.
//! - Must not know: what the numbers stand for.
//!
//! Reference: Walker 1977; Vose 1991.

use rand::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::uniform::split;

/// The table: column k is drawn uniformly, then k itself or its alias.
#[derive(Debug, Clone)]
pub(crate) struct AliasTable {
    columns: Vec<Column>,
}

#[derive(Debug, Clone, Copy)]
struct Column {
    /// k itself is taken if the bits left are below this.
    threshold: u64,
    alias: u32,
}

impl AliasTable {
    pub(crate) fn new(weights: &[f64]) -> Self {
        let count = weights.len() as f64;
        let total: f64 = weights.iter().sum();
        let mut height: Vec<f64> = weights.iter().map(|w| w / total * count).collect();
        let largest = (0..weights.len()).max_by(|&i, &j| weights[i].total_cmp(&weights[j])).unwrap_or(0);
        let mut columns: Vec<Column> =
            (0..weights.len()).map(|k| Column { threshold: u64::MAX, alias: k as u32 }).collect();

        let (mut low, mut high): (Vec<usize>, Vec<usize>) =
            (0..weights.len()).partition(|&k| height[k] < 1.0);
        while let (Some(&short), Some(&tall)) = (low.last(), high.last()) {
            low.pop();
            columns[short] = Column { threshold: fraction(height[short]), alias: tall as u32 };
            height[tall] -= 1.0 - height[short];
            if height[tall] < 1.0 {
                high.pop();
                low.push(tall);
            }
        }
        // Rounding may leave columns over. Their height is 1 up to rounding, or their weight is 0.
        for short in low {
            if weights[short] == 0.0 {
                columns[short] = Column { threshold: 0, alias: largest as u32 };
            }
        }
        Self { columns }
    }

    /// Draws a number.
    #[inline]
    pub(crate) fn draw(&self, rng: &mut Xoshiro256PlusPlus) -> usize {
        let (k, rest) = split(rng.next_u64(), self.columns.len());
        let Column { threshold, alias } = self.columns[k];
        if rest < threshold { k } else { alias as usize }
    }
}

/// A number in 0..1 as a fraction of 2^64.
fn fraction(part: f64) -> u64 {
    (part * 18_446_744_073_709_551_616.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    /// The exact law of a table.
    fn law(table: &AliasTable) -> Vec<f64> {
        let count = table.columns.len() as f64;
        let mut law = vec![0.0; table.columns.len()];
        for (k, column) in table.columns.iter().enumerate() {
            let own = column.threshold as f64 / 18_446_744_073_709_551_616.0;
            law[k] += own / count;
            law[column.alias as usize] += (1.0 - own) / count;
        }
        law
    }

    #[test]
    fn the_law_is_exact() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        for count in [1, 2, 3, 10, 1000] {
            let mut weights: Vec<f64> = (0..count)
                .map(|k| if k % 3 == 1 { 0.0 } else { super::super::uniform::unit(&mut rng) })
                .collect();
            weights[0] = 1.0;
            let total: f64 = weights.iter().sum();
            for (found, weight) in law(&AliasTable::new(&weights)).iter().zip(&weights) {
                assert!((found - weight / total).abs() < 1e-14);
                assert!(*weight > 0.0 || *found == 0.0);
            }
        }
    }

    #[test]
    fn zero_weights_are_never_drawn() {
        let mut weights = vec![0.1; 1000];
        weights.extend([0.0; 37]);
        let table = AliasTable::new(&weights);
        assert!(law(&table)[1000..].iter().all(|&p| p == 0.0));
        let table = AliasTable::new(&[0.0, 1.0, 0.0]);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
        assert!((0..1000).all(|_| table.draw(&mut rng) == 1));
    }
}
