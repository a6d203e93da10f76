//! Ranks and scores against their definitions.

use orthopt_embed::relation::Form;
use orthopt_embed::{Answers, Distance, Model, Options, Own, PerRelation, Ranks, Triple, Unknown};
use rand::SeedableRng;
use rand_pcg::Pcg64;

use crate::common::{NEVER, family};

fn model(distance: Distance, p: usize, reciprocal: bool, form: Form) -> Model {
    let mut options = Options::of(orthopt_embed::Scorer::Ultrae);
    options.per_relation = Vec::new();
    (options.dim, options.signature, options.distance, options.relations) = (6, p, distance, form);
    (options.reciprocal, options.init, options.relation_init) = (reciprocal, 0.7, 0.5);
    Model::random(&options, 60, 3, &mut Pcg64::seed_from_u64(1)).unwrap()
}

/// The distance of the definition, one pair at a time, with the standard library.
fn naive(model: &Model, x: &[f64], y: &[f64]) -> f64 {
    let (p, q, alpha) = (model.metric().space.p, model.metric().space.q, model.metric().space.alpha);
    let inner = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    if q == 0 {
        return x.iter().zip(y).map(|(a, b)| (a - b).powi(2)).sum();
    }
    if model.metric().distance == Distance::Geodesic {
        let k = ((inner(&x[..p], &y[..p]) - inner(&x[p..], &y[p..])) / alpha.powi(2)).abs();
        return (alpha * if k >= 1.0 { k.acosh() } else { k.acos() }).powi(2);
    }
    let one_way = |x: &[f64], y: &[f64]| {
        let (tx, ty) = (inner(&x[p..], &x[p..]).sqrt(), inner(&y[p..], &y[p..]).sqrt());
        let arc = tx * (inner(&x[p..], &y[p..]) / (tx * ty)).clamp(-1.0, 1.0).acos();
        let line: f64 = x[..p].iter().zip(&y[..p]).map(|(a, b)| (a - b * tx / ty).powi(2)).sum();
        arc + line.sqrt()
    };
    one_way(x, y).min(one_way(y, x))
}

#[test]
fn scores_are_those_of_the_definition() {
    for (distance, p) in
        [(Distance::Geodesic, 5), (Distance::Geodesic, 3), (Distance::Split, 4), (Distance::Geodesic, 6)]
    {
        for (reciprocal, form) in [(false, Form::Full), (true, Form::Cs), (false, Form::Givens)] {
            let reciprocal = reciprocal || distance == Distance::Split;
            let model = model(distance, p, reciprocal, form);
            for fact in [Triple { head: 3, relation: 1, tail: 40 }, Triple { head: 7, relation: 2, tail: 7 }]
            {
                for (question, answer) in fact.questions() {
                    let scores = model.scores(&[question]);
                    let r = &model.matrices()
                        [if question.head && reciprocal { 3 } else { 0 } + fact.relation as usize];
                    let times = |x: &[f64]| -> Vec<f64> {
                        (0..6).map(|i| r.row(i).iter().zip(x).map(|(a, b)| a * b).sum()).collect()
                    };
                    for other in 0..60 {
                        let (known, other_point) =
                            (model.points().row(question.known as usize), model.points().row(other));
                        // for the head without reciprocal relations: R y against the known tail
                        let d = match question.head && !reciprocal {
                            true => naive(&model, &times(other_point), known),
                            false => naive(&model, &times(known), other_point),
                        };
                        let z = scores.get(0, other) - model.options.margin;
                        assert!((z + d).abs() < 1e-7 * (1.0 + d), "{distance:?} {p} {form:?}: {z} {d}");
                    }
                    if !question.head {
                        let score = model.score(&[fact])[0];
                        assert!((score - scores.get(0, answer as usize)).abs() < 1e-9);
                    }
                }
            }
        }
    }
}

/// What relations have of their own, in the score of the definition: the points of each relation lie on U of its radius,
/// and a scale is a copy of everything that is √c times as large.
#[test]
fn numbers_of_relations_are_those_of_the_definition() {
    for (p, per_relation) in [
        (5, vec![PerRelation::Scale, PerRelation::Curvature]),
        (3, vec![PerRelation::Curvature]),
        (6, vec![PerRelation::Scale]),
    ] {
        let mut options = model(Distance::Geodesic, p, true, Form::Full).options;
        (options.per_relation, options.alpha) = (per_relation, 1.2);
        let mut model = Model::random(&options, 20, 3, &mut Pcg64::seed_from_u64(1)).unwrap();
        for (k, own) in model.own.iter_mut().enumerate() {
            let curved = options.has(PerRelation::Curvature);
            *own = Own::of([0.1, if curved { 0.2 } else { 0.0 }].map(|x| x * (k as f64 - 2.0)));
        }
        for (question, _) in (Triple { head: 3, relation: 1, tail: 4 }).questions() {
            let k = if question.head { 4 } else { 1 };
            let own = model.own[k];
            let grown = own.scale.exp().sqrt();
            let radius = 1.2 * own.curvature.exp();
            let norm2 = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
            // s as it is, t with the length that U asks for; then all of it √c times as large
            let on = |x: &[f64], factor: f64| -> Vec<f64> {
                let ratio = (radius.powi(2) + norm2(&x[..p])).sqrt() / norm2(&x[p..]).sqrt();
                let scaled = |(i, x): (usize, &f64)| factor * x * if i < p { 1.0 } else { ratio };
                x.iter().enumerate().map(scaled).collect()
            };
            let times = |r: usize, x: &[f64]| -> Vec<f64> {
                let r = &model.matrices()[r];
                (0..6).map(|i| r.row(i).iter().zip(x).map(|(a, b)| a * b).sum()).collect()
            };
            let x = on(model.points().row(question.known as usize), 1.0);
            let image = on(&times(k, &x), grown);
            let mut options = model.options.clone();
            options.alpha = radius * grown;
            let copy = Model::random(&options, 1, 1, &mut Pcg64::seed_from_u64(1)).unwrap();
            let scores = model.scores(&[question]);
            for other in 0..20 {
                let d = naive(&copy, &image, &on(model.points().row(other), grown));
                let z = scores.get(0, other) - model.options.margin;
                assert!((z + d).abs() < 1e-7 * (1.0 + d), "{p} {k} {other}: {z} {d}");
            }
        }
        assert!(model.residual() < 1e-12);
    }
}

#[test]
fn ranks_are_those_of_the_definition() {
    let graph = family(60);
    let facts = Answers::of(graph.facts());
    for (distance, p, reciprocal) in
        [(Distance::Geodesic, 5, true), (Distance::Split, 4, true), (Distance::Geodesic, 3, false)]
    {
        let mut model = model(distance, p, reciprocal, Form::Full);
        model.bias[7] = 1.0;
        if p == 5 {
            model.options.per_relation = vec![PerRelation::Scale, PerRelation::Curvature];
            model.own.iter_mut().zip([0.3, -0.5, 0.1]).for_each(|(own, x)| *own = Own::of([x, -x]));
        }
        let ranks = model.rank(&graph.valid, &facts, &[true; 60], &NEVER).unwrap();
        assert_eq!(ranks.metrics().triples, graph.valid.len());
        for (fact, found) in &ranks.ranks {
            for ((question, answer), found) in fact.questions().into_iter().zip(found) {
                let scores = model.scores(&[question]);
                let own = scores.get(0, answer as usize);
                let others = (0..60u32).filter(|id| *id != answer && !facts.to(&question).contains(id));
                let rank = others.fold(1.0, |rank, id| {
                    let z = scores.get(0, id as usize);
                    rank + if z > own {
                        1.0
                    } else if z == own {
                        0.5
                    } else {
                        0.0
                    }
                });
                assert_eq!(rank, *found, "{distance:?} {question:?}");
            }
        }
        let by_relation: usize = ranks.by_relation().iter().map(|(_, m)| m.triples).sum();
        assert_eq!(by_relation, graph.valid.len());
    }
}

/// The triples that are ranked are facts, whether or not they are among those that are given, and in which parts they come.
#[test]
fn what_is_ranked_is_known() {
    let graph = family(60);
    let (all, train) = (Answers::of(graph.facts()), Answers::of(&graph.train));
    let asked: Vec<Triple> =
        graph.valid.iter().chain(&graph.test).chain(&graph.valid[..2]).copied().collect();
    for unknown in [Unknown::Scored, Unknown::Last] {
        let mut model = model(Distance::Geodesic, 5, true, Form::Full);
        model.options.unknown = unknown;
        let mut learned = [true; 60];
        learned[graph.valid[0].tail as usize] = false;
        let ranks = |facts: &Answers| model.rank(&asked, facts, &learned, &NEVER).unwrap().ranks;
        assert_eq!(ranks(&train), ranks(&all), "{unknown:?}");
    }
    let shared = |t: &Triple| {
        let alike = |o: &Triple| {
            let (same, heads) = (o.relation == t.relation, o.head == t.head);
            same && heads != (o.tail == t.tail)
        };
        asked.iter().any(alike)
    };
    assert!(asked.iter().any(shared), "no question has two answers: nothing is tested");
}

#[test]
fn ties_count_half_and_no_number_is_last() {
    let mut model = model(Distance::Geodesic, 5, true, Form::Full);
    model.parameters.data_mut().fill(1.0);
    let relations = model.relations.clone();
    let model = Model::from_parts(&model.options, (model.parameters, model.bias, relations)).unwrap();
    let fact = Triple { head: 0, relation: 0, tail: 1 };
    let rank =
        |model: &Model| model.rank(&[fact], &Answers::of(&[fact]), &[true; 60], &NEVER).unwrap().ranks[0].1;
    assert_eq!(rank(&model), [30.5, 30.5]);
    let mut broken = model.clone();
    broken.bias[1] = f64::NAN;
    assert_eq!(rank(&broken)[0], 60.0);
}

#[test]
fn entities_that_train_does_not_know() {
    let graph = family(60);
    let facts = Answers::of(graph.facts());
    let mut learned = [true; 60];
    let nobody = graph.valid[0].tail;
    learned[nobody as usize] = false;
    let about = graph.valid.iter().filter(|t| t.head == nobody || t.tail == nobody).count();
    let ranks = |unknown: Unknown| {
        let mut model = model(Distance::Geodesic, 5, true, Form::Full);
        model.options.unknown = unknown;
        model.rank(&graph.valid, &facts, &learned, &NEVER).unwrap()
    };
    let (last, scored, out) = (ranks(Unknown::Last), ranks(Unknown::Scored), ranks(Unknown::LeaveOut));
    assert_eq!((last.unknown, scored.unknown, out.unknown), (about, about, about));
    assert_eq!((last.ranks.len(), out.ranks.len()), (graph.valid.len(), graph.valid.len() - about));
    let (question, _) = graph.valid[0].questions()[0];
    let behind = 60 - (facts.to(&question).len() - 1);
    assert_eq!(last.ranks[0].1[0], behind as f64);
    let others = |ranks: &Ranks| -> Vec<_> {
        let about = |t: &Triple| t.head == nobody || t.tail == nobody;
        ranks.ranks.iter().filter(|(t, _)| !about(t)).copied().collect()
    };
    assert_eq!(others(&last), others(&scored));
    assert_eq!(others(&out), out.ranks);
}
