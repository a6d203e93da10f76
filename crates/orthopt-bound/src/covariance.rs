//! C = −M as the relaxation sees it: scaled, and without the variables that cannot matter.

use super::types::Room;
use orthopt_core::smooth::Quadratic;
use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::order::descending_to;
use orthopt_linalg::unit::unit_of;

/// Pairs of variables that screening examines, at most.
const MOST_PAIRS: u64 = 400_000_000;

/// Part of C (n × n) that remains after screening: the bound of C is that of `c` with
/// diagonal entries up to `floor` added.
#[derive(Clone, Debug)]
pub(super) struct Covariance {
    pub c: RowMat,        // C over `rows`, divided by `scale`
    pub rows: Vec<usize>, // the variables kept, ascending
    pub floor: f64,       // ½Cᵢᵢ − threshold of the variables dropped is at most this
    pub scale: f64,       // a power of two, so that dividing by it is exact
    pub largest: f64,     // |entry| of `c`, and of the diagonal of all of C divided by `scale`
}

/// Which entries of C can matter, and what the dual subtracts on the diagonal.
#[derive(Clone, Copy, Debug)]
pub(super) enum Screen {
    /// ½|Cᵢⱼ| above the threshold (docs/mathematics.md, section 14); it is subtracted on the diagonal.
    Above(f64),
    /// Cᵢⱼ > 0; nothing is subtracted.
    Positive,
    /// All variables are kept.
    All,
}

impl Screen {
    fn matters(self, c: f64) -> bool {
        match self {
            Self::Above(threshold) => 0.5 * c.abs() > threshold,
            Self::Positive => c > 0.0,
            Self::All => true,
        }
    }

    /// ½C with what the dual may subtract from it, rounded up, for an isolated variable.
    fn alone(self, c: f64) -> f64 {
        match self {
            Self::Above(threshold) => (0.5 * c - threshold).next_up(),
            _ => 0.5 * c,
        }
    }
}

impl Covariance {
    /// C = −M of the model over the variables that are connected to any other by an entry that matters
    /// and the r largest of the others, as many as there is `room` for.
    ///
    /// # Errors
    /// More variables left than that; entries that are not finite.
    pub fn of(f: &impl Quadratic, r: usize, screen: Screen, room: Room) -> Result<Self> {
        let diagonal: Vec<f64> = f.diagonal().iter().map(|v| -v).collect();
        if let Some(i) = diagonal.iter().position(|v| !v.is_finite()) {
            return Err(Error::Overflow { column: i + 1 });
        }
        let (rows, floor) = kept(f, &diagonal, r, screen, room)?;
        let mut c = f.curvature_block(&rows);
        c.data_mut().iter_mut().for_each(|v| *v = -*v);
        if let Some((i, j)) = c.find_non_finite() {
            return Err(Error::NotFinite { what: "C".into(), row: rows[i] + 1, col: rows[j] + 1 });
        }
        let scale = unit_of(c.data());
        c.data_mut().iter_mut().for_each(|v| *v /= scale);
        let kept = c.data().iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let largest = diagonal.iter().fold(kept, |m, v| m.max(v.abs() / scale));
        Ok(Self { c, rows, floor: floor / scale, scale, largest })
    }

    /// The principal submatrix of some of the kept rows.
    pub fn block(&self, rows: &[usize]) -> RowMat {
        RowMat::from_fn(rows.len(), rows.len(), |i, j| self.c.get(rows[i], rows[j]))
    }
}

/// The variables kept and the largest diagonal entry, less the threshold, of the others.
fn kept(
    f: &impl Quadratic,
    diagonal: &[f64],
    r: usize,
    screen: Screen,
    room: Room,
) -> Result<(Vec<usize>, f64)> {
    let n = diagonal.len();
    let order = descending_to(n, &|i| diagonal[i]);
    if matches!(screen, Screen::All) {
        room.check(n, n)?;
        return Ok(((0..n).collect(), f64::NEG_INFINITY));
    }
    let mut connected = connections(f, diagonal, &order, screen, room)?;
    let mut missing = r;
    for i in &order {
        if !connected[*i] && missing > 0 {
            (connected[*i], missing) = (true, missing - 1);
        }
    }
    let rows: Vec<usize> = (0..n).filter(|i| connected[*i]).collect();
    room.check(n, rows.len())?;
    let others = (0..n).filter(|i| !connected[*i]).map(|i| screen.alone(diagonal[i]));
    Ok((rows, others.fold(f64::NEG_INFINITY, f64::max)))
}

/// For each variable, true if it has an entry that matters with another. For C ⪰ 0, |Cᵢⱼ| ≤
/// √(CᵢᵢCⱼⱼ) excludes entries without computing them; entries between variables already connected are not computed.
fn connections(
    f: &impl Quadratic,
    diagonal: &[f64],
    order: &[usize],
    screen: Screen,
    room: Room,
) -> Result<Vec<bool>> {
    let n = diagonal.len();
    let (mut connected, mut looked, mut count) = (vec![false; n], 0u64, 0usize);
    for (p, i) in order.iter().enumerate() {
        for j in &order[p + 1..] {
            // rounded up: a product of roots may fall short of the entry
            let most = (diagonal[*i].max(0.0) * diagonal[*j].max(0.0)).sqrt() * (1.0 + 1e-9);
            if f.is_concave() && !screen.matters(most) {
                break; // the diagonal only falls from here on
            }
            if connected[*i] && connected[*j] {
                continue;
            }
            looked += 1;
            if screen.matters(-f.curvature(*i, *j)) {
                for k in [*i, *j] {
                    count += usize::from(!connected[k]);
                    connected[k] = true;
                }
            }
            room.check(n, count)?;
            if looked > MOST_PAIRS {
                return Err(Error::Incompatible(format!(
                    "no bound: {looked} of the {} pairs of the {n} variables were checked \
                     without deciding which variables can have nonzero rows; choose a larger lambda or fewer variables",
                    n as u64 * (n as u64 - 1) / 2
                ).into()));
            }
        }
    }
    Ok(connected)
}

/// The rows and columns of C in a set.
pub(super) fn principal(c: &RowMat, set: &[usize]) -> RowMat {
    RowMat::from_fn(set.len(), set.len(), |i, j| c.get(set[i], set[j]))
}

#[cfg(test)]
mod tests {
    use super::super::BYTES_PER_ENTRY;
    use super::super::types::Options;
    use super::*;
    use orthopt_core::smooth::DenseQuadratic;

    fn room(variables: usize) -> Room {
        Room::new(variables, &Options::default(), BYTES_PER_ENTRY)
    }

    fn model(c: &[[f64; 4]; 4]) -> DenseQuadratic {
        DenseQuadratic::negative(faer::Mat::from_fn(4, 4, |i, j| c[i][j]).as_ref()).unwrap()
    }

    const C: [[f64; 4]; 4] =
        [[4.0, 2.0, 0.1, 0.0], [2.0, 3.0, 0.0, -0.2], [0.1, 0.0, 2.0, 0.0], [0.0, -0.2, 0.0, 1.0]];

    #[test]
    fn keeps_what_is_connected_and_the_largest_of_the_rest() {
        let kept = Covariance::of(&model(&C), 1, Screen::Above(0.5), room(10)).unwrap();
        assert_eq!((kept.rows.clone(), kept.floor * kept.scale), (vec![0, 1, 2], 0.0));
        assert_eq!(kept.c.get(0, 1) * kept.scale, 2.0);
        let positive = Covariance::of(&model(&C), 1, Screen::Positive, room(10)).unwrap();
        assert_eq!((positive.rows, positive.floor), (vec![0, 1, 2, 3], f64::NEG_INFINITY));
        assert_eq!(Covariance::of(&model(&C), 1, Screen::All, room(10)).unwrap().rows.len(), 4);
    }

    #[test]
    fn says_how_many_are_too_many() {
        let error = Covariance::of(&model(&C), 1, Screen::Above(0.01), room(3)).unwrap_err().to_string();
        assert!(error.contains("4 of the 4 variables") && error.contains("limit is 3"), "{error}");
        let options = Options { memory: Some(1500), ..Options::default() };
        let (few, more) = (Room::new(10, &options, 90.0), Room::new(10, &options, 100.0));
        assert!(Covariance::of(&model(&C), 1, Screen::Above(0.01), few).is_ok());
        let error = Covariance::of(&model(&C), 1, Screen::All, more).unwrap_err().to_string();
        assert!(error.contains("4 of 4 variables") && error.contains("are allowed"), "{error}");
    }
}
