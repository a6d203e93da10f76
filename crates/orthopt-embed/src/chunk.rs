//! The loss of some questions and its gradient: one transform for each question, then all its candidates at once.
//!
//! A question (h, r, ?) is the point a = R_r e_h, (?, r, t) the point a = J R_rᵀ J e_t = R_r⁻¹ e_t (⟨R x, y⟩_J = ⟨x,
//! R⁻¹ y⟩_J, JOBCD paper, Section 2), or R′_r e_t with relations R′ of their own for that direction. The score of a
//! candidate y is z = −d(a, y) + b_known + b_y + δ.

use orthopt::RowMat;
use orthopt::internal::linalg::products::product;

use crate::distance::{Block, Metric, Points};
use crate::graph::{Answers, Question};
use crate::loss::{Loss, OUT};

/// A question with its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Asked {
    /// Which matrix turns the known entity.
    pub matrix: u32,
    /// True if its inverse does.
    pub inverse: bool,
    /// Question.
    pub question: Question,
    /// The answer.
    pub answer: u32,
}

/// Inputs of the loss.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Space and distance.
    pub metric: Metric,
    /// The points of all entities.
    pub points: &'a RowMat,
    /// Their biases.
    pub bias: &'a [f64],
    /// All matrices R.
    pub matrices: &'a [RowMat],
    /// The margin δ.
    pub delta: f64,
    /// The loss.
    pub loss: Loss,
    /// Candidates that are answers as well are no negatives.
    pub answers: &'a Answers,
}

/// The gradient of a chunk.
#[derive(Clone, Debug)]
pub struct Gradient {
    /// The sum of the losses.
    pub loss: f64,
    /// With respect to the points of the known entities, b × n.
    pub known: RowMat,
    /// With respect to the bias of each of them.
    pub known_bias: Vec<f64>,
    /// With respect to the points of the candidates: the negatives, then the answers, m × n.
    pub candidates: RowMat,
    /// With respect to the bias of each of them.
    pub candidate_bias: Vec<f64>,
    /// With respect to the matrices that occur, in the order in which they do.
    pub matrices: Vec<(u32, RowMat)>,
}

impl View<'_> {
    /// R x for every question (b × n): a product for each run of questions with the same matrix.
    pub fn turned(&self, asked: &[Asked]) -> RowMat {
        let mut out = RowMat::zeros(asked.len(), self.metric.space.dim());
        for (from, run) in runs(asked) {
            let x = self.rows(&known(run));
            let mut part = RowMat::zeros(run.len(), out.ncols());
            product(&mut part, false, 1.0, x.as_mat(), self.operator(&run[0]).as_mat().transpose());
            (0..run.len()).for_each(|i| out.row_mut(from + i).copy_from_slice(part.row(i)));
        }
        out
    }

    /// The sum of the losses with these negatives for every question.
    pub fn loss(&self, asked: &[Asked], negatives: &[u32]) -> f64 {
        let (_, _, _, loss) = self.slopes(asked, negatives);
        loss
    }

    /// The sum and its gradient. Cost 6bmn + 6bn² flops, b questions, m candidates.
    pub fn gradient(&self, asked: &[Asked], negatives: &[u32]) -> Gradient {
        let (turned, candidates, (block, slopes), loss) = self.slopes(asked, negatives);
        let (b, n) = (asked.len(), self.metric.space.dim());
        let (mut known_bias, mut candidate_bias) = (vec![0.0; b], vec![0.0; negatives.len() + b]);
        for i in 0..b {
            for (sum, slope) in candidate_bias.iter_mut().zip(slopes.row(i)) {
                known_bias[i] += slope;
                *sum += slope;
            }
        }
        let mut to_value = slopes;
        to_value.data_mut().iter_mut().for_each(|s| *s = -*s);
        let (mut to_turned, mut to_candidates) =
            (RowMat::zeros(b, n), RowMat::zeros(candidate_bias.len(), n));
        self.metric.pull_back(&block, &to_value, &turned, &candidates, &mut to_turned, &mut to_candidates);
        let (known, matrices) = self.turn_back(asked, &to_turned);
        Gradient { loss, known, known_bias, candidates: to_candidates, candidate_bias, matrices }
    }

    /// Points of questions and candidates, distances, ∂loss/∂z for all pairs, and the loss.
    fn slopes(&self, asked: &[Asked], negatives: &[u32]) -> (Points, Points, (Block, RowMat), f64) {
        let others = negatives.len();
        let turned = self.metric.points(self.turned(asked));
        let ids: Vec<u32> = negatives.iter().copied().chain(asked.iter().map(|a| a.answer)).collect();
        let candidates = self.metric.points(self.rows(&ids));
        let bias: Vec<f64> = ids.iter().map(|id| self.bias[*id as usize] + self.delta).collect();
        let block = self.metric.block(&turned, &candidates);
        let columns = Columns::of(negatives);
        let weight = (self.points.nrows().max(2) - 1) as f64 / others.max(1) as f64;
        let (mut z, mut loss) = (RowMat::zeros(asked.len(), bias.len()), 0.0);
        for (i, asked) in asked.iter().enumerate() {
            let row = z.row_mut(i);
            let own = self.bias[asked.question.known as usize];
            for ((z, value), bias) in row.iter_mut().zip(block.value.row(i)).zip(&bias) {
                *z = own + bias - value;
            }
            let known = self.answers.to(&asked.question);
            if known.len() > others {
                // a question with thousands of answers: negatives are looked up among them
                let negatives = negatives.iter().zip(row.iter_mut());
                let found = negatives.filter(|(id, _)| known.binary_search(id).is_ok());
                found.for_each(|(_, z)| *z = OUT);
            } else {
                known.iter().for_each(|answer| columns.each(*answer, |column| row[column] = OUT));
            }
            columns.each(asked.answer, |column| row[column] = OUT);
            loss += self.loss.of(row, others, others + i, weight);
        }
        (turned, candidates, (block, z), loss)
    }

    /// From the gradient with respect to R x to that with respect to x and R.
    fn turn_back(&self, asked: &[Asked], to_turned: &RowMat) -> (RowMat, Vec<(u32, RowMat)>) {
        let n = to_turned.ncols();
        let (mut known, mut matrices) = (RowMat::zeros(asked.len(), n), Vec::new());
        for (from, run) in runs(asked) {
            let rows = from..from + run.len();
            let part = to_turned.as_mat().subrows(from, run.len());
            let mut back = RowMat::zeros(run.len(), n);
            product(&mut back, false, 1.0, part, self.operator(&run[0]).as_mat());
            rows.clone().for_each(|i| known.row_mut(i).copy_from_slice(back.row(i - from)));
            let x = self.rows(&self::known(run));
            let mut g = RowMat::zeros(n, n);
            product(&mut g, false, 1.0, part.transpose(), x.as_mat());
            if run[0].inverse {
                g = self.conjugate(&g);
            }
            matrices.push((run[0].matrix, g));
        }
        (known, matrices)
    }

    fn rows(&self, ids: &[u32]) -> RowMat {
        let mut out = RowMat::zeros(ids.len(), self.points.ncols());
        let copy = |(i, id): (usize, &u32)| out.row_mut(i).copy_from_slice(self.points.row(*id as usize));
        ids.iter().enumerate().for_each(copy);
        out
    }

    /// R or R⁻¹.
    fn operator(&self, asked: &Asked) -> RowMat {
        let r = &self.matrices[asked.matrix as usize];
        if asked.inverse { self.conjugate(r) } else { r.clone() }
    }

    /// J Aᵀ J.
    fn conjugate(&self, a: &RowMat) -> RowMat {
        let p = self.metric.space.p;
        RowMat::from_fn(
            a.ncols(),
            a.nrows(),
            |i, k| if (i < p) == (k < p) { a.get(k, i) } else { -a.get(k, i) },
        )
    }
}

/// Runs of questions with the same matrix, and where they begin.
fn runs(asked: &[Asked]) -> impl Iterator<Item = (usize, &[Asked])> {
    let mut from = 0;
    asked.chunk_by(|a, b| (a.matrix, a.inverse) == (b.matrix, b.inverse)).map(move |run| {
        from += run.len();
        (from - run.len(), run)
    })
}

fn known(asked: &[Asked]) -> Vec<u32> {
    asked.iter().map(|a| a.question.known).collect()
}

/// Where an entity stands among the negatives.
struct Columns(Vec<(u32, u32)>);

impl Columns {
    fn of(negatives: &[u32]) -> Self {
        let mut sorted: Vec<(u32, u32)> = (0..).zip(negatives).map(|(column, id)| (*id, column)).collect();
        sorted.sort_unstable();
        Self(sorted)
    }

    fn each(&self, id: u32, mut action: impl FnMut(usize)) {
        let from = self.0.partition_point(|pair| pair.0 < id);
        self.0[from..].iter().take_while(|pair| pair.0 == id).for_each(|pair| action(pair.1 as usize));
    }
}
