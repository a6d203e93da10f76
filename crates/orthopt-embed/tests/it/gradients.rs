//! Gradients against differences, on a log-log scale, for every distance, space, loss and form of question.

use orthopt::RowMat;
use orthopt_embed::chunk::Asked;
use orthopt_embed::relation::{Form, Relation};
use orthopt_embed::{Answers, Distance, Loss, Model, Options, Own, PerRelation, Triple};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

fn model(n: usize, p: usize, distance: Distance, loss: Loss, reciprocal: bool) -> Model {
    let mut options = Options::of(orthopt_embed::Scorer::Ultrae);
    options.per_relation = Vec::new();
    (options.dim, options.signature, options.distance, options.loss) = (n, p, distance, loss);
    (options.reciprocal, options.relations, options.alpha) = (reciprocal, Form::Full, 1.3);
    (options.init, options.relation_init, options.margin) = (0.8, 0.6, 1.0);
    let mut rng = Pcg64::seed_from_u64(11);
    let mut model = Model::random(&options, 9, 2, &mut rng).unwrap();
    model.bias.iter_mut().for_each(|b| *b = rng.random::<f64>() - 0.5);
    model
}

/// The same with numbers of their own for its relations; radii where the space has one.
fn with_own(mut model: Model) -> Model {
    let options = &mut model.options;
    options.per_relation = vec![PerRelation::Scale];
    if options.signature < options.dim && options.distance == Distance::Geodesic {
        options.per_relation.push(PerRelation::Curvature);
    }
    options.check().unwrap();
    let curved = model.options.has(PerRelation::Curvature);
    let own = |k: usize| Own {
        scale: (k as f64).sin(),
        curvature: if curved { 0.7 * ((2 * k + 1) as f64).cos() } else { 0.0 },
    };
    model.own = (0..model.own.len()).map(own).collect();
    model
}

const NEGATIVES: [u32; 5] = [0, 3, 5, 8, 3];

fn asked(model: &Model) -> Vec<Asked> {
    let facts = [(0, 0, 1), (2, 0, 7), (4, 1, 6), (2, 1, 5)];
    let questions = facts.map(|(head, relation, tail)| Triple { head, relation, tail }.questions());
    let mut asked: Vec<Asked> = questions.iter().flatten().map(|(q, a)| model.asked(*q, *a)).collect();
    asked.sort();
    asked
}

fn value(model: &Model) -> f64 {
    let facts = [Triple { head: 2, relation: 0, tail: 3 }];
    model.view(&Answers::of(&facts)).loss(&asked(model), &NEGATIVES)
}

/// The model moved by h along a direction of all its numbers, and the slope of the loss there.
struct Direction {
    parameters: RowMat,
    bias: Vec<f64>,
    matrices: Vec<RowMat>,
    own: Vec<[f64; Own::LEN]>,
}

impl Direction {
    fn moved(&self, model: &Model, h: f64) -> Model {
        let add = |x: &RowMat, d: &RowMat| {
            RowMat::from_fn(x.nrows(), x.ncols(), |i, k| x.get(i, k) + h * d.get(i, k))
        };
        let bias = model.bias.iter().zip(&self.bias).map(|(b, d)| b + h * d).collect();
        let relations =
            model.matrices().iter().zip(&self.matrices).map(|(r, d)| Relation::Full(add(r, d))).collect();
        let parts = (add(&model.parameters, &self.parameters), bias, relations);
        let mut moved = Model::from_parts(&model.options, parts).unwrap();
        for ((own, at), d) in moved.own.iter_mut().zip(&model.own).zip(&self.own) {
            let mut numbers = at.numbers();
            numbers.iter_mut().zip(d).for_each(|(x, d)| *x += h * d);
            *own = Own::of(numbers);
        }
        moved
    }

    fn slope(&self, model: &Model) -> f64 {
        let facts = [Triple { head: 2, relation: 0, tail: 3 }];
        let asked = asked(model);
        let g = model.view(&Answers::of(&facts)).gradient(&asked, &NEGATIVES);
        let space = model.metric().space;
        let mut slope = 0.0;
        let mut add = |id: u32, row: &[f64], bias: f64| {
            let mut row = row.to_vec();
            space.pull_back(model.parameters.row(id as usize), &mut row);
            let direction = self.parameters.row(id as usize);
            slope +=
                row.iter().zip(direction).map(|(g, d)| g * d).sum::<f64>() + bias * self.bias[id as usize];
        };
        for (i, asked) in asked.iter().enumerate() {
            add(asked.question.known, g.known.row(i), g.known_bias[i]);
        }
        let candidates = NEGATIVES.into_iter().chain(asked.iter().map(|a| a.answer));
        candidates.enumerate().for_each(|(i, id)| add(id, g.candidates.row(i), g.candidate_bias[i]));
        for ((matrix, _), own) in g.matrices.iter().zip(&g.own) {
            let direction = self.own[*matrix as usize];
            slope += own.numbers().iter().zip(direction).map(|(g, d)| g * d).sum::<f64>();
        }
        slope + g.matrices.iter().map(|(i, g)| g.inner(&self.matrices[*i as usize])).sum::<f64>()
    }
}

fn check(model: &Model, what: &str) {
    let mut rng = Pcg64::seed_from_u64(4);
    let mut draw = |r: usize, c: usize| RowMat::from_fn(r, c, |_, _| rng.random::<f64>() - 0.5);
    let n = model.options.dim;
    let learned =
        [PerRelation::Scale, PerRelation::Curvature].map(|what| f64::from(u8::from(model.options.has(what))));
    let direction = Direction {
        parameters: draw(9, n),
        bias: draw(9, 1).data().to_vec(),
        matrices: (0..model.matrices().len()).map(|_| draw(n, n)).collect(),
        own: (0..model.own.len()).map(|k| learned.map(|l| l * (0.3 + k as f64).sin())).collect(),
    };
    let (f, slope) = (value(model), direction.slope(model));
    let error = |h: f64| (value(&direction.moved(model, h)) - f - h * slope).abs();
    let steps = [1e-3, 1e-4, 1e-5];
    for rate in steps.windows(2).map(|h| (error(h[0]) / error(h[1])).log10()) {
        assert!((rate - 2.0).abs() < 0.1, "{what}: {rate}, {:e}", error(1e-5));
    }
}

/// f(x + hd) − f(x) − h⟨g, d⟩ falls like h².
#[test]
fn errors_of_the_linear_model_fall_with_the_square_of_the_step() {
    let spaces = [(5, 4), (5, 3), (5, 1), (4, 4), (4, 0)];
    // with p = 1 the line of `split` is the absolute value of a number, and steps may cross its kink
    let distances = [Distance::Geodesic, Distance::Split];
    for (n, p) in spaces {
        for distance in distances.into_iter().filter(|d| p > 1 || *d == Distance::Geodesic) {
            for loss in [Loss::Softplus, Loss::CrossEntropy] {
                for reciprocal in [false, true].into_iter().filter(|r| *r || distance != Distance::Split) {
                    let model = model(n, p, distance, loss, reciprocal);
                    for model in [with_own(model.clone()), model] {
                        let own = &model.options.per_relation;
                        check(&model, &format!("{n} {p} {distance:?} {loss:?} {reciprocal} {own:?}"));
                    }
                }
            }
        }
    }
}

/// Known answers are no negatives, whether they are looked up among the negatives or, where a question has more answers than
/// negatives, the other way round.
#[test]
fn known_answers_are_left_out_either_way() {
    let model = model(4, 2, Distance::Geodesic, Loss::Softplus, true);
    let facts: Vec<Triple> =
        [0u32, 1, 3, 5, 6, 7, 8].map(|tail| Triple { head: 2, relation: 0, tail }).to_vec();
    let answers = Answers::of(&facts);
    let (tail, answer) = facts[1].questions()[0];
    let asked = [model.asked(tail, answer)];
    let loss = |negatives: &[u32]| model.view(&answers).loss(&asked, negatives);
    let few = [4, 3, 8, 2, 4]; // three that count
    let many = [&few[..], &[5; 9]].concat();
    assert_eq!(loss(&few), loss(&many));
    assert_eq!(loss(&few), loss(&[4, 2, 4]));
    assert!(loss(&few) > loss(&[4, 2]) && loss(&[3, 8]) == loss(&[5; 9]));
}
