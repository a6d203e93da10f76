//! State of a run of the splitting: enough to continue with fewer rows, here or in a child of the node.

use super::dual::{Part, union_of};
use orthopt_linalg::RowMat;

/// Of one part.
#[derive(Clone, Debug)]
pub struct PartState {
    pub rows: Vec<usize>,
    pub pull: RowMat,     // Σ (T − L) over the copies of Y
    pub l1: RowMat,       // multiplier of the cone of absolute values
    pub l2: RowMat,       // of the rows, one in each row
    pub l: Vec<f64>,      // of their copy of Yᵢᵢ
    pub shares: Vec<f64>, // Σ (z − m) over the copies of z
    pub m1: Vec<f64>,
    pub m2: Vec<f64>,
    pub a: Vec<f64>, // weights of the cone of absolute values
}

/// Of what couples the parts, over the rows of all.
#[derive(Clone, Debug)]
pub struct JointState {
    pub rows: Vec<usize>,
    pub pull: Vec<f64>, // t − m of the copy of t
    pub m: Vec<f64>,
    pub pi: Vec<f64>,
    pub g: RowMat, // what Σ V_p is above Diag(t)
}

/// Of a run.
#[derive(Clone, Debug)]
pub struct State {
    pub parts: Vec<PartState>,
    pub joint: Option<JointState>,
}

impl State {
    /// On the rows of `parts`, which it has.
    pub fn restricted(&self, parts: &[Part]) -> Self {
        let mut all = union_of(parts);
        let joint = self.joint.as_ref().map(|joint| {
            let at = places(&all, &joint.rows);
            JointState {
                pull: pick(&joint.pull, &at),
                m: pick(&joint.m, &at),
                pi: pick(&joint.pi, &at),
                g: block(&joint.g, &at),
                rows: std::mem::take(&mut all),
            }
        });
        let one = |(part, state): (&Part, &PartState)| {
            let at = places(&part.rows, &state.rows);
            PartState {
                rows: part.rows.clone(),
                pull: block(&state.pull, &at),
                l1: block(&state.l1, &at),
                l2: block(&state.l2, &at),
                l: pick(&state.l, &at),
                shares: pick(&state.shares, &at),
                m1: pick(&state.m1, &at),
                m2: pick(&state.m2, &at),
                a: pick(&state.a, &at),
            }
        };
        Self { parts: parts.iter().zip(&self.parts).map(one).collect(), joint }
    }

    /// In single precision: there are many of them.
    pub fn pack(mut self) -> Packed {
        let mut numbers = Vec::new();
        self.visit(&mut |list| {
            numbers.extend(list.iter().map(|v| *v as f32));
            *list = Vec::new();
        });
        let rows = self.parts.into_iter().map(|part| part.rows).collect();
        Packed { rows, joint: self.joint.map(|joint| joint.rows), numbers }
    }

    /// All lists of numbers, in one order; matrices become lists.
    fn visit(&mut self, f: &mut dyn FnMut(&mut Vec<f64>)) {
        let mut matrix = |m: &mut RowMat| {
            let (rows, columns) = (m.nrows(), m.ncols());
            let mut list = std::mem::replace(m, RowMat::zeros(0, 0)).data().to_vec();
            f(&mut list);
            if let Some(full) = RowMat::from_vec(rows, columns, list) {
                *m = full;
            }
        };
        for part in &mut self.parts {
            [&mut part.pull, &mut part.l1, &mut part.l2].into_iter().for_each(&mut matrix);
        }
        if let Some(joint) = &mut self.joint {
            matrix(&mut joint.g);
        }
        for part in &mut self.parts {
            let PartState { l, shares, m1, m2, a, .. } = part;
            [l, shares, m1, m2, a].into_iter().for_each(&mut *f);
        }
        if let Some(joint) = &mut self.joint {
            let JointState { pull, m, pi, .. } = joint;
            [pull, m, pi].into_iter().for_each(f);
        }
    }
}

/// A state in single precision.
#[derive(Debug)]
pub struct Packed {
    rows: Vec<Vec<usize>>,
    joint: Option<Vec<usize>>,
    numbers: Vec<f32>,
}

impl Packed {
    /// On the rows of `parts`, which it has.
    pub fn unpack(&self, parts: &[Part]) -> State {
        let square = |n: usize| RowMat::zeros(n, n);
        let empty = |rows: &Vec<usize>| {
            let (n, list) = (rows.len(), vec![0.0; rows.len()]);
            PartState {
                rows: rows.clone(),
                pull: square(n),
                l1: square(n),
                l2: square(n),
                l: list.clone(),
                shares: list.clone(),
                m1: list.clone(),
                m2: list.clone(),
                a: list,
            }
        };
        let joint = self.joint.as_ref().map(|rows| {
            let list = vec![0.0; rows.len()];
            JointState {
                rows: rows.clone(),
                pull: list.clone(),
                m: list.clone(),
                pi: list,
                g: square(rows.len()),
            }
        });
        let mut state = State { parts: self.rows.iter().map(empty).collect(), joint };
        let mut numbers = self.numbers.iter();
        state.visit(&mut |list| list.iter_mut().zip(&mut numbers).for_each(|(v, x)| *v = f64::from(*x)));
        state.restricted(parts)
    }
}

/// The places of `rows` in `among`, both ascending.
fn places(rows: &[usize], among: &[usize]) -> Vec<usize> {
    rows.iter().map(|i| among.binary_search(i).unwrap_or(0)).collect()
}

fn pick(list: &[f64], at: &[usize]) -> Vec<f64> {
    at.iter().map(|i| list[*i]).collect()
}

fn block(m: &RowMat, at: &[usize]) -> RowMat {
    super::super::covariance::principal(m, at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packs_and_unpacks_to_fewer_rows() {
        let rows = vec![1, 4, 5, 9];
        let list = |k: usize| (0..4).map(|i| (10 * k + i) as f64).collect::<Vec<_>>();
        let matrix = |k: usize| RowMat::from_fn(4, 4, |i, j| (100 * k + 10 * i + j) as f64);
        let part = PartState {
            rows: rows.clone(),
            pull: matrix(1),
            l1: matrix(2),
            l2: matrix(3),
            l: list(1),
            shares: list(2),
            m1: list(3),
            m2: list(4),
            a: list(5),
        };
        let joint = JointState { rows: rows.clone(), pull: list(6), m: list(7), pi: list(8), g: matrix(4) };
        let state = State { parts: vec![part], joint: Some(joint) };
        let few = [Part { k: 1, rows: vec![4, 9], forced: vec![false; 2] }];
        let slow = state.restricted(&few);
        let fast = state.pack().unpack(&few);
        assert_eq!(format!("{slow:?}"), format!("{fast:?}"));
        assert_eq!(fast.parts[0].l2.data(), [311.0, 313.0, 331.0, 333.0]);
        assert_eq!(fast.joint.unwrap().pi, [81.0, 83.0]);
    }
}
