//! The fields of a line: between blanks, or in the columns of a punched card.

/// How fields are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// By blanks.
    Free,
    /// By place: columns 2-3, 5-12, 15-22, 25-36, 40-47, 50-61, counted from 1.
    Fixed,
}

/// Where the fields of a card begin and end, counted from 0.
const CARD: [(usize, usize); 6] = [(1, 3), (4, 12), (14, 22), (24, 36), (39, 47), (49, 61)];

impl Layout {
    /// The fields of a line that are not empty.
    pub(super) fn fields(self, line: &str) -> Vec<&str> {
        match self {
            Self::Free => line.split_whitespace().collect(),
            Self::Fixed => {
                let field =
                    |&(from, to): &(usize, usize)| line.get(from..to.min(line.len())).map_or("", str::trim);
                CARD.iter().map(field).filter(|field| !field.is_empty()).collect()
            }
        }
    }
}

/// A number; Fortran's exponents are understood.
pub(super) fn number(field: &str) -> Option<f64> {
    let plain = field.parse().ok().or_else(|| field.replace(['d', 'D'], "e").parse().ok());
    plain.filter(|number: &f64| !number.is_nan())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_keep_blanks_in_names() {
        let card = "    MY COL 1  MY ROW 2           1.5   COST                -2";
        assert_eq!(Layout::Fixed.fields(card), ["MY COL 1", "MY ROW 2", "1.5", "COST", "-2"]);
        assert_eq!(Layout::Free.fields(" UP  bnd x 4"), ["UP", "bnd", "x", "4"]);
        assert_eq!(
            Layout::Fixed.fields("  é"),
            Vec::<&str>::new(),
            "a letter that a place cuts in two is no field"
        );
    }

    #[test]
    fn numbers_of_old_programs_are_read() {
        assert_eq!(
            (number("1.5D+02"), number("-3d-1"), number("x"), number("nan")),
            (Some(150.0), Some(-0.3), None, None)
        );
    }
}
