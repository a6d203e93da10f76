//! The model: entities, biases, relations.

use orthopt::RowMat;
use rand::RngExt;
use rand_pcg::Pcg64;

use crate::chunk::{Asked, View};
use crate::distance::Metric;
use crate::error::{Error, Result};
use crate::graph::{Answers, Question, Triple};
use crate::manifold::Space;
use crate::options::{Options, Scorer};
use crate::own::{Own, PerRelation};
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
    /// Parameters of each of them beside its matrix; zeros if the options have none.
    pub own: Vec<Own>,
    metric: Metric,
    group: Group,
    pub(crate) points: RowMat,
    pub(crate) matrices: Vec<RowMat>,
}

/// Parts of a model: those of [`Model::from_parts`] and what relations have beside their matrices.
pub(crate) type Parts = ((RowMat, Vec<f64>, Vec<Relation>), Vec<Own>);

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
        // around the point (0, alpha e_1) of U
        let on_u = options.scorer == Scorer::Ultrae;
        let centre = |k: usize| if k == p && on_u { options.alpha } else { 0.0 };
        let parameters = RowMat::from_fn(entities, n, |_, k| centre(k) + options.init * normal());
        let relations = (0..count).map(|_| group.random(options.relation_init, rng)).collect();
        Self::from_parts(options, (parameters, vec![0.0; entities], relations))
    }

    /// One of given parameters: those of the entities (a row each), their biases, and the relations, in the form that
    /// the options say, reciprocal ones after the others. Relations have zeros beside their matrices ([`Model::own`]).
    ///
    /// # Errors
    /// Options outside their range.
    pub fn from_parts(
        options: &Options,
        (parameters, bias, relations): (RowMat, Vec<f64>, Vec<Relation>),
    ) -> Result<Self> {
        let space = Space::new(options.dim, options.signature, options.alpha)?;
        let group = Group::new(options.relations, options.signature, options.dim)?;
        if relations.iter().any(|relation| !group.has(relation)) {
            return Err(Error::option("relations", "of another form", "the form that the options say"));
        }
        let ultrae = options.scorer == Scorer::Ultrae;
        let mut points = RowMat::zeros(if ultrae { parameters.nrows() } else { 0 }, options.dim);
        (0..points.nrows()).for_each(|i| space.point(parameters.row(i), points.row_mut(i)));
        let matrices = relations.iter().filter(|_| ultrae).map(|relation| group.matrix(relation)).collect();
        let metric = Metric { space, distance: options.distance };
        let (own, options) = (vec![Own::default(); relations.len()], options.clone());
        Ok(Self { options, parameters, bias, relations, own, metric, group, points, matrices })
    }

    /// Space and distance.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// Data that the relations share.
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// The entities, a row each: on the manifold, or their parameters with a scorer that has none.
    pub fn points(&self) -> &RowMat {
        if self.options.scorer == Scorer::Ultrae { &self.points } else { &self.parameters }
    }

    /// The matrices of the relations, n × n; reciprocal ones after the others.
    pub fn matrices(&self) -> Vec<RowMat> {
        self.relations.iter().map(|relation| self.group.matrix(relation)).collect()
    }

    /// True if all of its numbers are finite.
    pub fn is_finite(&self) -> bool {
        let points = self.points.data().iter().chain(self.parameters.data()).chain(&self.bias);
        let relations = self.relations.iter().map(|relation| self.group.numbers(relation));
        points.chain(self.matrices.iter().flat_map(RowMat::data)).all(|v| v.is_finite())
            && relations.flatten().all(f64::is_finite)
            && self.own.iter().flat_map(Own::numbers).all(f64::is_finite)
    }

    pub(crate) fn parts(&self) -> Parts {
        ((self.parameters.clone(), self.bias.clone(), self.relations.clone()), self.own.clone())
    }

    /// The inverse of [`parts`](Self::parts).
    pub(crate) fn of((matrices, own): Parts, options: &Options) -> Result<Self> {
        Ok(Self { own, ..Self::from_parts(options, matrices)? })
    }

    /// max |RᵀJR − J| over all relations.
    pub fn residual(&self) -> f64 {
        let ultrae = self.matrices.iter().map(|r| self.group.residual(r));
        let others = self.relations.iter().filter(|_| self.matrices.is_empty());
        ultrae.chain(others.map(|r| self.group.residual_of(r))).fold(0.0, f64::max)
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
            points: self.points(),
            bias: &self.bias,
            matrices: &self.matrices,
            own: &self.own,
            curved: self.options.has(PerRelation::Curvature),
            delta: self.options.margin,
            loss: self.options.loss,
            answers,
            scorer: self.options.scorer,
            group: &self.group,
            relations: &self.relations,
        }
    }

    /// Scores z = −d + b + b′ + δ of all entities as answers to questions, b × entities. Cost 2b·entities·n flops.
    pub fn scores(&self, questions: &[Question]) -> RowMat {
        let asked: Vec<Asked> = questions.iter().map(|q| self.asked(*q, 0)).collect();
        let nothing = Answers::default();
        self.view(&nothing).scores(&asked, self.points(), &self.bias)
    }

    /// The scores of triples, as answers to (h, r, ?). Cost O(n²) each.
    pub fn score(&self, triples: &[Triple]) -> Vec<f64> {
        let nothing = Answers::default();
        let view = self.view(&nothing);
        let one = |triple: &Triple| {
            let (question, answer) = triple.questions()[0];
            let row = self.points().row(answer as usize);
            let c = RowMat::from_fn(1, row.len(), |_, k| row[k]);
            view.scores(&[self.asked(question, answer)], &c, &[self.bias[answer as usize]]).get(0, 0)
        };
        triples.iter().map(one).collect()
    }
}
