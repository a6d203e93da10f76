//! The loss of some questions and its gradient: one transform for each question, then all its candidates at once.
//!
//! A question (h, r, ?) is the point a = R_r e_h, (?, r, t) the point a = J R_rᵀ J e_t = R_r⁻¹ e_t (⟨R x, y⟩_J = ⟨x,
//! R⁻¹ y⟩_J, JOBCD paper, Section 2), or R′_r e_t with relations R′ of their own for that direction. The score of a
//! candidate y is z = −c_r·d(a, y) + b_known + b_y + δ; c_r and the radius are described in [`Own`].

use orthopt::RowMat;
use orthopt_linalg::products::{multiply, product};

use crate::distance::{Block, Metric, Points};
use crate::graph::{Answers, Question};
use crate::loss::{Loss, OUT};
use crate::options::Scorer;
use crate::own::Own;
use crate::relation::{Group, Relation};

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
    /// Parameters of the relations beside their matrices.
    pub own: &'a [Own],
    /// True if relations have radii of their own.
    pub(crate) curved: bool,
    /// The margin δ.
    pub delta: f64,
    /// The loss.
    pub loss: Loss,
    /// Candidates that are answers as well are no negatives.
    pub answers: &'a Answers,
    pub(crate) scorer: Scorer,
    pub(crate) group: &'a Group,
    pub(crate) relations: &'a [Relation],
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
    /// With respect to what the relations of these matrices have of their own.
    pub own: Vec<Own>,
}

/// The distances of some questions, one after another, to candidates.
struct Part {
    from: usize,
    block: Block,
    turned: Points,
    candidates: Points,
}

/// Scores and what they are made of.
struct Slopes {
    parts: Vec<Part>,
    points: RowMat, // of the candidates
    z: RowMat,      // ∂loss/∂z
    loss: f64,
}

impl View<'_> {
    /// R x for every question (b × n): a product for each run of questions with the same matrix. Where relations have
    /// radii of their own, x is first moved to U of that radius.
    pub fn turned(&self, asked: &[Asked]) -> RowMat {
        let mut out = RowMat::zeros(asked.len(), self.metric.space.dim());
        for (from, run) in runs(asked) {
            let x = self.bent(&run[0], self.rows(&known(run)));
            let part = times(&x, &self.operator(&run[0]));
            (0..run.len()).for_each(|i| out.row_mut(from + i).copy_from_slice(part.row(i)));
        }
        out
    }

    /// The scores of candidates, whose points on U and biases are given, as answers (b × m). Questions with the same
    /// matrix should stand together.
    pub(crate) fn scores(&self, asked: &[Asked], points: &RowMat, bias: &[f64]) -> RowMat {
        if self.scorer != Scorer::Ultrae {
            return self.products(asked, points);
        }
        let mut scores = RowMat::zeros(asked.len(), bias.len());
        for part in self.parts(asked, points) {
            for i in 0..part.block.value.nrows() {
                let asked = &asked[part.from + i];
                let (own, factor) = (self.bias[asked.question.known as usize], self.own_of(asked).factor());
                let row = scores.row_mut(part.from + i).iter_mut().zip(part.block.value.row(i));
                row.zip(bias).for_each(|((z, value), b)| *z = own + (b + self.delta) - factor * value);
            }
        }
        scores
    }

    /// The sum of the losses with these negatives for every question.
    pub fn loss(&self, asked: &[Asked], negatives: &[u32]) -> f64 {
        self.slopes(asked, negatives).loss
    }

    /// The sum and its gradient. Cost 6bmn + 6bn² flops, b questions, m candidates.
    pub fn gradient(&self, asked: &[Asked], negatives: &[u32]) -> Gradient {
        let Slopes { parts, points, mut z, loss } = self.slopes(asked, negatives);
        let (b, n) = (asked.len(), self.metric.space.dim());
        let (mut known_bias, mut candidate_bias) = (vec![0.0; b], vec![0.0; negatives.len() + b]);
        for i in 0..b {
            for (sum, slope) in candidate_bias.iter_mut().zip(z.row(i)) {
                known_bias[i] += slope;
                *sum += slope;
            }
        }
        let mut own = vec![Own::default(); b]; // of each question
        for (i, asked) in asked.iter().enumerate() {
            let factor = self.own_of(asked).factor();
            z.row_mut(i).iter_mut().for_each(|s| *s *= -factor);
        }
        let (mut to_turned, mut to_candidates) =
            (RowMat::zeros(b, n), RowMat::zeros(candidate_bias.len(), n));
        for part in &parts {
            self.part_back(
                part,
                &z,
                &points,
                (&asked[part.from], &mut own),
                &mut to_turned,
                &mut to_candidates,
            );
        }
        let mut gradient = Gradient {
            loss,
            known: RowMat::zeros(b, n),
            known_bias,
            candidates: to_candidates,
            candidate_bias,
            matrices: Vec::new(),
            own: Vec::new(),
        };
        self.turn_back(asked, &to_turned, &own, &mut gradient);
        gradient
    }

    /// Points of questions and candidates, distances, ∂loss/∂z for all pairs, and the loss.
    fn slopes(&self, asked: &[Asked], negatives: &[u32]) -> Slopes {
        let others = negatives.len();
        let ids: Vec<u32> = negatives.iter().copied().chain(asked.iter().map(|a| a.answer)).collect();
        let points = self.rows(&ids);
        let parts = self.parts(asked, &points);
        let bias: Vec<f64> = ids.iter().map(|id| self.bias[*id as usize] + self.delta).collect();
        let columns = Columns::of(negatives);
        let weight = (self.points.nrows().max(2) - 1) as f64 / others.max(1) as f64;
        let (mut z, mut loss) = (RowMat::zeros(asked.len(), bias.len()), 0.0);
        for part in &parts {
            for k in 0..part.block.value.nrows() {
                let i = part.from + k;
                let (asked, row) = (&asked[i], z.row_mut(i));
                let (own, factor) = (self.bias[asked.question.known as usize], self.own_of(asked).factor());
                for ((z, value), bias) in row.iter_mut().zip(part.block.value.row(k)).zip(&bias) {
                    *z = own + bias - factor * value;
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
        }
        Slopes { parts, points, z, loss }
    }

    /// The distances between questions and the points of candidates: all at once, or for each run of questions whose
    /// relation has a radius of its own.
    fn parts(&self, asked: &[Asked], points: &RowMat) -> Vec<Part> {
        let runs: Vec<_> = if self.curved { runs(asked).collect() } else { vec![(0, asked)] };
        let part = |(from, run): (usize, &[Asked])| {
            let metric = self.metric_of(&run[0]);
            let turned = metric.points(self.turned(run));
            let candidates = metric.points(self.bent(&run[0], points.clone()));
            Part { from, block: metric.block(&turned, &candidates), turned, candidates }
        };
        runs.into_iter().filter(|(_, run)| !run.is_empty()).map(part).collect()
    }

    /// Adds the gradient with respect to the points of questions and candidates, and to what the relations of the
    /// questions have of their own, from that with respect to the distances. `first` is the first question.
    fn part_back(
        &self,
        part: &Part,
        weights: &RowMat,
        points: &RowMat,
        (first, own): (&Asked, &mut [Own]),
        to_turned: &mut RowMat,
        to_candidates: &mut RowMat,
    ) {
        let (b, m, n) = (part.block.value.nrows(), weights.ncols(), to_turned.ncols());
        let rows = RowMat::from_fn(b, m, |i, k| weights.row(part.from + i)[k]);
        let (mut da, mut dc) = (RowMat::zeros(b, n), RowMat::zeros(m, n));
        let metric = self.metric_of(first);
        metric.pull_back(&part.block, &rows, &part.turned, &part.candidates, &mut da, &mut dc);
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        for i in 0..b {
            own[part.from + i].scale = dot(rows.row(i), part.block.value.row(i));
            to_turned.row_mut(part.from + i).copy_from_slice(da.row(i));
        }
        if self.curved {
            // d² is homogeneous: α ∂/∂α = 2 − ⟨a, ∂/∂a⟩ − ⟨c, ∂/∂c⟩
            let (a, c) = (part.turned.coordinates(), part.candidates.coordinates());
            let value = dot(rows.data(), part.block.value.data());
            let mut slope = 2.0 * value - dot(a.data(), da.data()) - dot(c.data(), dc.data());
            let radius = metric.space.alpha;
            for k in 0..m {
                slope += radius * self.metric.space.bend_back(radius, points.row(k), dc.row_mut(k));
            }
            own[part.from].curvature += slope;
        }
        to_candidates.data_mut().iter_mut().zip(dc.data()).for_each(|(s, g)| *s += g);
    }

    /// From the gradient with respect to R x to that with respect to x and R; what relations have of their own is
    /// summed over their questions.
    fn turn_back(&self, asked: &[Asked], to_turned: &RowMat, own: &[Own], out: &mut Gradient) {
        let n = to_turned.ncols();
        for (from, run) in runs(asked) {
            let part = to_turned.as_mat().subrows(from, run.len());
            let points = self.rows(&known(run));
            let x = self.bent(&run[0], points.clone());
            let mut back = RowMat::zeros(run.len(), n);
            let mut sum = Own::default().numbers();
            let space = self.metric_of(&run[0]).space;
            product(&mut back, false, 1.0, part, self.operator(&run[0]).as_mat());
            for (i, of_question) in own[from..from + run.len()].iter().enumerate() {
                sum.iter_mut().zip(of_question.numbers()).for_each(|(s, g)| *s += g);
                if self.curved {
                    let bent = self.metric.space.bend_back(space.alpha, points.row(i), back.row_mut(i));
                    sum[1] += space.alpha * bent;
                }
                out.known.row_mut(from + i).copy_from_slice(back.row(i));
            }
            let mut g = multiply(part.transpose(), x.as_mat());
            if run[0].inverse {
                g = self.conjugate(&g);
            }
            out.matrices.push((run[0].matrix, g));
            out.own.push(Own::of(sum));
        }
    }

    fn own_of(&self, asked: &Asked) -> &Own {
        &self.own[asked.matrix as usize]
    }

    /// The distance of a question.
    fn metric_of(&self, asked: &Asked) -> Metric {
        let mut metric = self.metric;
        if self.curved {
            metric.space.alpha *= self.own_of(asked).curvature.exp();
        }
        metric
    }

    /// Points of U on U of the radius that a question has.
    fn bent(&self, asked: &Asked, mut x: RowMat) -> RowMat {
        if self.curved {
            let radius = self.metric_of(asked).space.alpha;
            (0..x.nrows()).for_each(|i| self.metric.space.bend(radius, x.row_mut(i)));
        }
        x
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
pub(crate) fn runs(asked: &[Asked]) -> impl Iterator<Item = (usize, &[Asked])> {
    let mut from = 0;
    asked.chunk_by(|a, b| (a.matrix, a.inverse) == (b.matrix, b.inverse)).map(move |run| {
        from += run.len();
        (from - run.len(), run)
    })
}

/// X Rᵀ.
fn times(x: &RowMat, r: &RowMat) -> RowMat {
    multiply(x.as_mat(), r.as_mat().transpose())
}

fn known(asked: &[Asked]) -> Vec<u32> {
    asked.iter().map(|a| a.question.known).collect()
}

/// Positions of each entity among the negatives.
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
