//! The scorers that are inner products beside their formulas, written with matrices and loops.

use orthopt::RowMat;
use orthopt_embed::chunk::Asked;
use orthopt_embed::{Answers, Ended, Model, Options, Own, Saved, Scorer, Trainer, Triple};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::common::{NEVER, family};

const ENTITIES: usize = 9;
const LAMBDA: f64 = 0.3;

fn models() -> Vec<Model> {
    let bilinear = [(8, 4), (7, 3), (7, 4), (5, 5), (5, 0), (6, 1), (2, 1), (1, 0)]
        .map(|(n, p)| (Scorer::Bilinear, n, p));
    let complex = [(6, 6), (2, 2)].map(|(n, p)| (Scorer::Complex, n, p));
    let model = |(scorer, n, p)| {
        let mut options = Options::of(scorer);
        (options.dim, options.signature, options.init, options.relation_init) = (n, p, 0.7, 0.8);
        options.check().unwrap();
        let mut rng = Pcg64::seed_from_u64(3);
        let mut model = Model::random(&options, ENTITIES, 2, &mut rng).unwrap();
        if scorer == Scorer::Bilinear {
            // boosts begin near 0
            let group = model.group().clone();
            for relation in &mut model.relations {
                let mut step: Vec<f64> =
                    (0..group.coordinates()).map(|_| rng.random::<f64>() - 0.5).collect();
                group.advance(relation, &mut step);
            }
            model.own.iter_mut().for_each(|own| own.scale = rng.random::<f64>() - 0.5);
        }
        model
    };
    bilinear.into_iter().chain(complex).map(model).collect()
}

/// A question with several answers, one whose known entity is its answer, one with a single answer.
fn facts() -> Vec<Triple> {
    let facts = [(0, 0, 1), (0, 0, 4), (0, 0, 7), (2, 0, 7), (4, 1, 4), (2, 1, 5), (8, 1, 5)];
    facts.map(|(head, relation, tail)| Triple { head, relation, tail }).to_vec()
}

fn asked(model: &Model) -> Vec<Asked> {
    let mut all: Vec<Asked> =
        facts().iter().flat_map(Triple::questions).map(|(q, _)| model.asked(q, 0)).collect();
    all.sort();
    all.dedup();
    all
}

/// c·⟨R x, y⟩_J by the matrix of R.
fn score(model: &Model, r: &RowMat, scale: f64, x: u32, y: u32) -> f64 {
    let (n, p) = (model.options.dim, model.options.signature);
    let (x, y) = (model.parameters.row(x as usize), model.parameters.row(y as usize));
    let image = |i: usize| (0..n).map(|k| r.get(i, k) * x[k]).sum::<f64>();
    (0..n).map(|i| if i < p { 1.0 } else { -1.0 } * image(i) * y[i]).sum::<f64>() * scale.exp()
}

/// Σ |x_k|³ over pairs of coordinates of the same sign.
fn cubes(x: &[f64], p: usize) -> f64 {
    let planes = x[..p].chunks(2).chain(x[p..].chunks(2));
    planes.map(|plane| plane.iter().map(|v| v * v).sum::<f64>().powf(1.5)).sum()
}

/// The mean loss of the questions and its penalty.
fn value(model: &Model) -> (f64, f64) {
    let (answers, matrices, p) = (Answers::of(&facts()), model.matrices(), model.options.signature);
    let (mut loss, mut penalty, mut all) = (0.0, 0.0, 0.0);
    for asked in asked(model) {
        let (r, own) = (&matrices[asked.matrix as usize], model.own[asked.matrix as usize].scale);
        let known = asked.question.known;
        let z: Vec<f64> = (0..ENTITIES as u32).map(|y| score(model, r, own, known, y)).collect();
        let found = answers.to(&asked.question);
        let (m, weight) = (found.len() as f64, (found.len() as f64).sqrt());
        let total = z.iter().map(|z| z.exp()).sum::<f64>().ln();
        loss += weight * found.iter().map(|a| total - z[*a as usize]).sum::<f64>() / m;
        let singular = r.as_mat().singular_values().unwrap();
        let twice = if model.options.scorer == Scorer::Complex { 0.5 } else { 1.0 }; // |w| is there twice
        let of_relation = singular.iter().map(|s| (s * own.exp()).powi(3)).sum::<f64>() * twice;
        let row = |id: u32| cubes(model.parameters.row(id as usize), p);
        penalty +=
            weight * LAMBDA * (row(known) + of_relation + found.iter().map(|a| row(*a)).sum::<f64>() / m);
        all += weight;
    }
    (loss / all, penalty / all)
}

#[test]
fn scores_are_inner_products() {
    for model in models() {
        let matrices = model.matrices();
        for asked in asked(&model) {
            let found = model.scores(&[asked.question]);
            for y in 0..ENTITIES as u32 {
                let (r, own) = (&matrices[asked.matrix as usize], model.own[asked.matrix as usize].scale);
                let expected = score(&model, r, own, asked.question.known, y);
                let error = (found.get(0, y as usize) - expected).abs();
                assert!(error < 1e-13 * (1.0 + expected.abs()), "{:?} {error}", model.options);
            }
        }
        let triple = facts()[0];
        let direct = model.scores(&[triple.questions()[0].0]).get(0, triple.tail as usize);
        assert!((model.score(&[triple])[0] - direct).abs() < 1e-13);
    }
}

/// The gradient of every number, by central differences of the slow value.
#[test]
fn gradients_are_those_of_differences() {
    for model in models() {
        let what = format!("{:?} {} {}", model.options.scorer, model.options.dim, model.options.signature);
        let answers = Answers::of(&facts());
        let mean = model.view(&answers).mean(&asked(&model), &answers, LAMBDA);
        assert!((mean.loss - value(&model).0).abs() < 1e-13 * mean.loss.abs(), "{what}");
        let at = |change: &dyn Fn(&mut Model, f64), h: f64| {
            let mut moved = model.clone();
            change(&mut moved, h);
            let moved_value = value(&moved);
            moved_value.0 + moved_value.1
        };
        let check = |change: &dyn Fn(&mut Model, f64), slope: f64, which: &str| {
            let difference = (at(change, 1e-5) - at(change, -1e-5)) / 2e-5;
            assert!((difference - slope).abs() < 1e-8, "{what} {which}: {difference} {slope}");
        };
        for id in 0..ENTITIES {
            for k in 0..model.options.dim {
                let change = |m: &mut Model, h: f64| m.parameters.set(id, k, m.parameters.get(id, k) + h);
                check(&change, mean.entities.get(id, k), "entity");
            }
        }
        for (i, slopes, to_factor) in &mean.relations {
            let i = *i as usize;
            for c in 0..slopes.len() {
                let change = |m: &mut Model, h: f64| {
                    let mut step = vec![0.0; slopes.len()];
                    step[c] = h;
                    m.group().clone().advance(&mut m.relations[i], &mut step);
                };
                check(&change, slopes[c], "relation");
            }
            if model.options.scorer == Scorer::Bilinear {
                check(&|m: &mut Model, h: f64| m.own[i].scale += h, *to_factor, "scale");
            }
        }
    }
}

/// The residual in O(n) is that of the matrix; relations stay on the group, whatever their steps are.
#[test]
fn relations_stay_on_the_group() {
    for mut model in models().into_iter().filter(|m| m.options.scorer == Scorer::Bilinear) {
        let group = model.group().clone();
        let mut rng = Pcg64::seed_from_u64(8);
        for relation in &mut model.relations {
            for _ in 0..300 {
                let mut step: Vec<f64> =
                    (0..group.coordinates()).map(|_| 4.0 * (rng.random::<f64>() - 0.5)).collect();
                group.advance(relation, &mut step);
            }
        }
        let slow = model.matrices().iter().map(|r| group.residual(r)).fold(0.0, f64::max);
        let size = model.matrices().iter().map(|r| r.norm().powi(2)).fold(1.0, f64::max);
        assert!((model.residual() - slow).abs() <= 1e-15 * size && slow <= 1e-14 * size, "{slow}");
    }
}

/// Scores of 2^±500 have a loss and a gradient that are numbers.
#[test]
fn scores_of_any_size() {
    for mut model in models() {
        for factor in [2f64.powi(250), 2f64.powi(-250), 0.0] {
            model.parameters.data_mut().iter_mut().for_each(|x| *x *= factor);
            let answers = Answers::of(&facts());
            let mean = model.view(&answers).mean(&asked(&model), &answers, 0.0);
            assert!(mean.loss.is_finite() && mean.entities.data().iter().all(|g| g.is_finite()));
            if factor == 0.0 {
                assert!((mean.loss - (ENTITIES as f64).ln()).abs() < 1e-12, "uniform");
            }
        }
    }
}

#[test]
fn they_learn_with_the_same_bits_for_any_number_of_threads() {
    for scorer in [Scorer::Bilinear, Scorer::Complex] {
        let mut options = Options::of(scorer);
        (options.dim, options.epochs, options.batch, options.n3) = (32, 30, 50, 1e-3);
        options.signature = scorer.signature(32);
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut trainer = Trainer::new(family(300), &options).unwrap();
                trainer.run(None, &NEVER, |_, _| ());
                trainer
            })
        };
        let (one, three) = (run(1), run(3));
        assert_eq!(one.model.parameters, three.model.parameters);
        assert_eq!(one.model.own, three.model.own);
        assert_eq!(one.model.matrices(), three.model.matrices());
        let losses = |t: &Trainer| t.history().iter().map(|r| (r.loss, r.valid)).collect::<Vec<_>>();
        assert_eq!(losses(&one), losses(&three));
        let mrr = one.rank(&one.best().unwrap(), &one.graph().test, &NEVER).unwrap().metrics().mrr;
        assert!(mrr > 0.3, "{scorer:?} {mrr}");
        if scorer == Scorer::Bilinear {
            assert!(one.model.residual() < 1e-12);
            assert!(one.model.own.iter().any(|own: &Own| own.scale != 0.0));
        }
    }
}

/// Cut off after a batch or two, saved, read, and gone on: the same bits as without; and so is the best model of a file.
#[test]
fn checkpoints_and_models_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c");
    for scorer in [Scorer::Bilinear, Scorer::Complex] {
        let mut options = Options::of(scorer);
        (options.dim, options.epochs, options.batch) = (8, 6, 10);
        options.signature = scorer.signature(8);
        let mut whole = Trainer::new(family(40), &options).unwrap();
        whole.run(None, &NEVER, |_, _| ());
        let mut trainer = Trainer::new(family(40), &options).unwrap();
        let mut calls = 0;
        while trainer.run(Some(1e-3), &NEVER, |_, _| ()) == Ended::TimeLimit {
            trainer.save(&path).unwrap();
            trainer = Trainer::resume(family(40), &path, None, |_| ()).unwrap();
            calls += 1;
            assert!(calls < 10_000);
        }
        assert!(calls > 1, "nothing was interrupted");
        let best = whole.best().unwrap();
        Saved::new(best.clone(), whole.graph()).write(&path).unwrap();
        let read = Saved::read(&path, None).unwrap().model;
        assert_eq!(read.options, options);
        for (a, b) in [(&whole.model, &trainer.model), (&best, &trainer.best().unwrap()), (&best, &read)] {
            assert_eq!((&a.parameters, &a.own, a.matrices()), (&b.parameters, &b.own, b.matrices()));
        }
    }
}

#[test]
fn options_of_other_scorers_are_refused() {
    let refused = |scorer: Scorer, change: &dyn Fn(&mut Options), words: &str| {
        let mut options = Options::of(scorer);
        options.check().unwrap();
        change(&mut options);
        let error = options.check().unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    refused(Scorer::Bilinear, &|o| o.margin = 1.0, "it is for --scorer ultrae");
    refused(Scorer::Bilinear, &|o| o.relations = orthopt_embed::Form::Full, "it is for --scorer ultrae");
    refused(Scorer::Complex, &|o| o.reciprocal = false, "no-reciprocal");
    refused(Scorer::Complex, &|o| o.signature = 3, "complex numbers have no other J");
    refused(Scorer::Complex, &|o| (o.dim, o.signature) = (5, 5), "which is even");
    refused(Scorer::Complex, &|o| o.per_relation = vec![orthopt_embed::PerRelation::Scale], "scale");
    refused(Scorer::Bilinear, &|o| o.n3 = f64::NAN, "finite number");
    refused(Scorer::Ultrae, &|o| o.n3 = 0.1, "--scorer bilinear and complex");
    refused(Scorer::Ultrae, &|o| o.relations = orthopt_embed::Form::Complex, "--scorer bilinear and complex");
}
