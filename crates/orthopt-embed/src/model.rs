//! The model: entities, biases, relations.

use orthopt::RowMat;
use rand::RngExt;
use rand_pcg::Pcg64;

use crate::chunk::{Asked, View};
use crate::distance::Metric;
use crate::error::Result;
use crate::graph::{Answers, Question, Triple};
use crate::manifold::Space;
use crate::options::Options;
use crate::relation::{Group, Relation};

/// Entities on the manifold, a bias for each, and J-orthogonal relations.
#[derive(Clone, Debug)]
pub struct Model {
    /// Options of the model.
    pub options: Options,
    /// Free parameters of the entities, a row each.
    pub parameters: RowMat,
    /// A bias for each entity.
    pub bias: Vec<f64>,
    /// The relations; reciprocal ones after the others.
    pub relations: Vec<Relation>,
    metric: Metric,
    group: Group,
    pub(crate) points: RowMat,
    pub(crate) matrices: Vec<RowMat>,
}

/// Parts of a model: (parameters, bias, relations).
pub(crate) type Parts = (RowMat, Vec<f64>, Vec<Relation>);

impl Model {
    /// A random model for given numbers of entities and relations. Points lie close to one
    /// another, relations close to the identity ([`Options::init`], [`Options::relation_init`]).
    ///
    /// # Errors
    /// Options outside their range.
    pub fn random(options: &Options, entities: usize, relations: usize, rng: &mut Pcg64) -> Result<Self> {
        options.check()?;
        let (n, p) = (options.dim, options.signature);
        let group = Group::new(options.relations, p, n)?;
        let count = relations * if options.reciprocal { 2 } else { 1 };
        let mut normal = || {
            let (a, b): (f64, f64) = (1.0 - rng.random::<f64>(), rng.random());
            (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
        };
        // around the point (0, alpha e_1)
        let centre = |k: usize| if k == p { options.alpha } else { 0.0 };
        let parameters = RowMat::from_fn(entities, n, |_, k| centre(k) + options.init * normal());
        let relations = (0..count).map(|_| group.random(options.relation_init, rng)).collect();
        Self::from_parts(options, (parameters, vec![0.0; entities], relations))
    }

    /// One of given parameters: those of the entities (a row each), their biases, and the relations, in the form that
    /// the options say, reciprocal ones after the others.
    ///
    /// # Errors
    /// Options outside their range.
    pub fn from_parts(options: &Options, (parameters, bias, relations): Parts) -> Result<Self> {
        let space = Space::new(options.dim, options.signature, options.alpha)?;
        let group = Group::new(options.relations, options.signature, options.dim)?;
        let mut points = RowMat::zeros(parameters.nrows(), options.dim);
        (0..points.nrows()).for_each(|i| space.point(parameters.row(i), points.row_mut(i)));
        let matrices = relations.iter().map(|relation| group.matrix(relation)).collect();
        let metric = Metric { space, distance: options.distance };
        Ok(Self { options: options.clone(), parameters, bias, relations, metric, group, points, matrices })
    }

    /// Space and distance.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// Data that the relations share.
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// The entities on the manifold, a row each.
    pub fn points(&self) -> &RowMat {
        &self.points
    }

    /// The matrices of the relations, n × n; reciprocal ones after the others.
    pub fn matrices(&self) -> &[RowMat] {
        &self.matrices
    }

    /// True if all of its numbers are finite.
    pub fn is_finite(&self) -> bool {
        let points = self.points.data().iter().chain(self.parameters.data()).chain(&self.bias);
        points.chain(self.matrices.iter().flat_map(RowMat::data)).all(|v| v.is_finite())
    }

    pub(crate) fn parts(&self) -> Parts {
        (self.parameters.clone(), self.bias.clone(), self.relations.clone())
    }

    /// max |RᵀJR − J| over all relations.
    pub fn residual(&self) -> f64 {
        self.matrices.iter().map(|r| self.group.residual(r)).fold(0.0, f64::max)
    }

    /// A question with its answer, and the matrix that it needs.
    pub fn asked(&self, question: Question, answer: u32) -> Asked {
        let own = question.head && self.options.reciprocal;
        let half = self.relations.len() as u32 / 2;
        let matrix = if own { question.relation + half } else { question.relation };
        Asked { matrix, inverse: question.head && !own, question, answer }
    }

    /// The questions of some triples.
    pub(crate) fn questions(&self, triples: &[Triple]) -> Vec<Asked> {
        triples.iter().flat_map(Triple::questions).map(|(q, answer)| self.asked(q, answer)).collect()
    }

    /// Inputs of the losses.
    pub fn view<'a>(&'a self, answers: &'a Answers) -> View<'a> {
        View {
            metric: self.metric,
            points: &self.points,
            bias: &self.bias,
            matrices: &self.matrices,
            delta: self.options.margin,
            loss: self.options.loss,
            answers,
        }
    }

    /// Scores z = −d + b + b′ + δ of all entities as answers to questions, b × entities. Cost 2b·entities·n flops.
    pub fn scores(&self, questions: &[Question]) -> RowMat {
        let asked: Vec<Asked> = questions.iter().map(|q| self.asked(*q, 0)).collect();
        let nothing = Answers::default();
        let turned = self.metric.points(self.view(&nothing).turned(&asked));
        let mut scores = self.metric.block(&turned, &self.metric.points(self.points.clone())).value;
        self.to_scores(questions, &mut scores, 0);
        scores
    }

    /// The same from distances to the entities `from`, `from` + 1, ….
    pub(crate) fn to_scores(&self, questions: &[Question], values: &mut RowMat, from: usize) {
        for (i, question) in questions.iter().enumerate() {
            let own = self.bias[question.known as usize];
            let bias = &self.bias[from..];
            values
                .row_mut(i)
                .iter_mut()
                .zip(bias)
                .for_each(|(z, b)| *z = own + (b + self.options.margin) - *z);
        }
    }

    /// The scores of triples, as answers to (h, r, ?). Cost O(n²) each.
    pub fn score(&self, triples: &[Triple]) -> Vec<f64> {
        let nothing = Answers::default();
        let view = self.view(&nothing);
        let one = |triple: &Triple| {
            let (question, answer) = triple.questions()[0];
            let a = self.metric.points(view.turned(&[self.asked(question, answer)]));
            let row = self.points.row(answer as usize);
            let c = self.metric.points(RowMat::from_fn(1, row.len(), |_, k| row[k]));
            let biases =
                self.bias[question.known as usize] + (self.bias[answer as usize] + self.options.margin);
            biases - self.metric.block(&a, &c).value.get(0, 0)
        };
        triples.iter().map(one).collect()
    }
}
