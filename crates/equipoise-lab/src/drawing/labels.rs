//! Names beside the ends of lines, moved up or down until none covers another.

/// Pixels between the end of a line and its name.
const DISTANCE: i32 = 9;

/// The box of one name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Label {
    pub(crate) left: i32,
    pub(crate) middle: i32,
    pub(crate) width: i32,
    pub(crate) height: i32,
}

impl Label {
    /// Beside a point; the width is an estimate, a little generous.
    pub(crate) fn new(point: (i32, i32), name: &str, size: i32) -> Self {
        let letters = i32::try_from(name.chars().count()).unwrap_or(i32::MAX / 10_000);
        let width = letters * size * 62 / 100;
        Self { left: point.0 + DISTANCE, middle: point.1, width, height: size + 3 }
    }

    /// How much lower `self` must be to clear `other`, which is above it; 0 if they are not above each other.
    fn overlap(&self, other: &Self) -> i32 {
        let beside = self.left >= other.left + other.width || other.left >= self.left + self.width;
        let apart = i32::midpoint(self.height, other.height);
        if beside { 0 } else { (apart - (self.middle - other.middle)).max(0) }
    }
}

/// Moves neighbours apart, half the overlap each, until all are clear or nothing is gained any more.
pub(crate) fn spread(labels: &mut [Label], top: i32, bottom: i32) {
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.sort_by_key(|&place| labels[place].middle);
    for _ in 0..200 {
        let mut moved = false;
        for (rank, &lower) in order.iter().enumerate() {
            for &upper in &order[..rank] {
                let overlap = labels[lower].overlap(&labels[upper]);
                if overlap > 0 {
                    labels[upper].middle -= overlap / 2;
                    labels[lower].middle += overlap - overlap / 2;
                    moved = true;
                }
            }
        }
        labels.iter_mut().for_each(|label| label.middle = label.middle.clamp(top, bottom));
        if !moved {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_at_one_place_are_moved_apart_in_order() {
        let mut labels: Vec<Label> =
            [100, 101, 102, 200].iter().map(|&height| Label::new((50, height), "name", 13)).collect();
        spread(&mut labels, 0, 300);
        let middles: Vec<i32> = labels.iter().map(|label| label.middle).collect();
        assert!(middles.windows(2).all(|pair| pair[1] - pair[0] >= 16), "{middles:?}");
        assert_eq!(middles[3], 200);
    }

    #[test]
    fn names_side_by_side_stay() {
        let mut labels = vec![Label::new((0, 50), "ab", 13), Label::new((100, 50), "ab", 13)];
        let before = labels.clone();
        spread(&mut labels, 0, 300);
        assert_eq!(labels, before);
    }
}
