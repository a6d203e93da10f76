//! The system JJᵀy = b of the equations of a point, solved with an LDLᵀ whose rows begin near the diagonal.

use super::{Equation, Local};
use orthopt_core::smooth::Quadratic;
use orthopt_linalg::RowMat;
use orthopt_linalg::kernels;
use orthopt_linalg::work::count;

/// A pivot of JJᵀ below this share of the largest entry: the equation follows from others.
const DEPENDENT: f64 = 1e-13;
/// Equations whose JJᵀ is formed.
pub const EQUATIONS: usize = 1 << 14;
/// Numbers from which on vectors are filled.
const VECTORS: usize = 32;

/// ⟨a, b⟩ of vectors that are mostly short.
pub(super) fn inner(a: &[f64], b: &[f64]) -> f64 {
    if a.len() >= VECTORS { kernels::inner(a, b) } else { a.iter().zip(b).map(|(a, b)| a * b).sum() }
}

/// JJᵀ of the equations, factored.
pub(super) struct Normal {
    q: usize,
    l: Vec<f64>,       // unit lower L of LDLᵀ by rows
    d: Vec<f64>,       // 0 for equations that follow from others
    first: Vec<usize>, // before it a row of L is zero
}

impl Normal {
    /// `None` where it takes long and time is over, or more memory than 2 GB.
    pub fn new<F: Quadratic>(local: &Local<'_, '_, F>, x: &RowMat, m: &RowMat) -> Option<Self> {
        let q = local.equations.len();
        if q > EQUATIONS {
            return None;
        }
        let (mut l, first) = local.normal_matrix(x, m)?;
        let largest = (0..q).fold(0.0f64, |most, i| most.max(l[i * (q + 1)]));
        let mut d = vec![0.0; q];
        let mut flops = 0;
        for i in 0..q {
            if local.model.is_left(flops) {
                return None;
            }
            let (above, own) = l.split_at_mut(i * q);
            // w = row i of LD, then of L
            for j in first[i]..i {
                let from = first[i].max(first[j]);
                let (w, row) = (&own[from..j], &above[j * q + from..j * q + j]);
                own[j] -= inner(w, row);
                flops += j - from + 1;
            }
            let mut pivot = own[i];
            for j in first[i]..i {
                let w = own[j];
                own[j] = if d[j] > 0.0 { w / d[j] } else { 0.0 };
                pivot -= w * own[j];
            }
            d[i] = if pivot > DEPENDENT * largest { pivot } else { 0.0 };
        }
        count(flops);
        Some(Self { q, l, d, first })
    }

    /// A solution of JJᵀy = `b`, which is in its range.
    pub fn solve(&self, mut b: Vec<f64>) -> Vec<f64> {
        let row = |i: usize| &self.l[i * self.q + self.first[i]..i * self.q + i];
        for i in 0..self.q {
            b[i] -= inner(row(i), &b[self.first[i]..i]);
        }
        for (b, d) in b.iter_mut().zip(&self.d) {
            *b = if *d > 0.0 { *b / d } else { 0.0 };
        }
        for i in (0..self.q).rev() {
            let (before, after) = b.split_at_mut(i);
            row(i).iter().zip(&mut before[self.first[i]..]).for_each(|(l, b)| *b -= after[0] * l);
        }
        b
    }
}

/// The order of Cuthill and McKee of columns that meet, and equations in the order in which it completes them: a row of their LDLᵀ then
/// begins near its diagonal.
pub(super) fn near_each_other(mut equations: Vec<Equation>, r: usize) -> Vec<Equation> {
    let mut neighbours = vec![Vec::new(); r];
    for e in equations.iter().filter(|e| e.a != e.b) {
        neighbours[e.a].push(e.b);
        neighbours[e.b].push(e.a);
    }
    let degree = |k: &usize| neighbours[*k].len();
    let (mut place, mut queue) = (vec![usize::MAX; r], Vec::with_capacity(r));
    let mut seeds: Vec<usize> = (0..r).collect();
    seeds.sort_by_key(degree);
    for seed in seeds {
        let mut next = queue.len();
        if place[seed] == usize::MAX {
            place[seed] = queue.len();
            queue.push(seed);
        }
        while next < queue.len() {
            let mut found = neighbours[queue[next]].clone();
            found.sort_by_key(degree);
            for k in found {
                if place[k] == usize::MAX {
                    place[k] = queue.len();
                    queue.push(k);
                }
            }
            next += 1;
        }
    }
    equations.sort_by_key(|e| (place[e.a].max(place[e.b]), place[e.a].min(place[e.b])));
    equations
}

impl<F: Quadratic> Local<'_, '_, F> {
    /// The lower half of JJᵀ by rows, and where each row begins: equations meet in a column, by the products of their other columns on
    /// its support. `None` where that takes long and time is over.
    fn normal_matrix(&self, x: &RowMat, m: &RowMat) -> Option<(Vec<f64>, Vec<usize>)> {
        let q = self.equations.len();
        let (mut l, mut first) = (vec![0.0; q * q], (0..q).collect::<Vec<usize>>());
        let (mut parts, mut flops) = (Vec::new(), q * q);
        for (support, list) in self.supports.iter().zip(&self.in_column) {
            if self.model.is_left(flops) {
                return None;
            }
            let size = support.len();
            let own = size * list.len() * list.len();
            count(own);
            flops += own;
            parts.clear();
            for (i, other) in list {
                let z = if self.equations[*i].scores { m } else { x };
                parts.extend(support.iter().map(|a| z.get(*a, *other)));
            }
            for (at, (i, _)) in list.iter().enumerate() {
                let u = &parts[at * size..(at + 1) * size];
                for (beside, (j, _)) in list.iter().enumerate().filter(|(_, (j, _))| j <= i) {
                    let sum = inner(u, &parts[beside * size..(beside + 1) * size]);
                    l[i * q + j] += sum;
                    if sum != 0.0 {
                        first[*i] = first[*i].min(*j);
                    }
                }
            }
        }
        Some((l, first))
    }
}

/// The equations of each column, and the other column of each; one of a column with itself is there twice.
pub(super) fn in_columns(equations: &[Equation], r: usize) -> Vec<Vec<(usize, usize)>> {
    let mut out = vec![Vec::new(); r];
    for (i, e) in equations.iter().enumerate() {
        out[e.a].push((i, e.b));
        out[e.b].push((i, e.a));
    }
    out
}
