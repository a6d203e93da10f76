//! Training as a whole: feasibility, determinism, learning, degenerate graphs.

use orthopt_embed::{
    Distance, Ended, Error, Form, Graph, Loss, NoNegatives, Optimiser, Options, PerRelation, Rule, Schedule,
    Trainer, Triple, read_graph,
};

use crate::common::{NEVER, family, shared, small, trained};

#[test]
fn every_form_and_rule_learns_and_stays_on_the_group() {
    let kinds = [
        (Form::Full, Rule::Adaptive, 7, Loss::CrossEntropy),
        (Form::Full, Rule::Adaptive, 4, Loss::Softplus),
        (Form::Cs, Rule::Adaptive, 4, Loss::CrossEntropy),
        (Form::Givens, Rule::Adaptive, 5, Loss::CrossEntropy),
        (Form::Full, Rule::JJobcd, 4, Loss::CrossEntropy),
        (Form::Full, Rule::VrJJobcd, 4, Loss::Softplus),
        (Form::Full, Rule::Adaptive, 8, Loss::CrossEntropy),
        (Form::Full, Rule::Adaptive, 0, Loss::CrossEntropy),
    ];
    for (form, rule, p, loss) in kinds {
        let mut options = small();
        (options.relations, options.rule, options.signature, options.loss) = (form, rule, p, loss);
        (options.epochs, options.reciprocal) = (30, form != Form::Cs);
        let trainer = trained(family(40), &options);
        let history = trainer.history();
        let (first, last) = (history[0].loss, history[29].loss);
        assert!(last < 0.8 * first, "{form:?} {rule:?} {p}: {first} to {last}");
        assert!(history.iter().all(|r| r.residual < 1e-10), "{form:?} {rule:?} {p}");
        assert!(trainer.model.residual() < 1e-10);
    }
}

/// Numbers of relations are learned, only those that are asked for.
#[test]
fn numbers_of_relations_are_learned() {
    use PerRelation::{Curvature, Scale};
    let kinds: [(&[PerRelation], Form); 3] =
        [(&[Scale], Form::Full), (&[Curvature], Form::Givens), (&[Scale, Curvature], Form::Cs)];
    for (own, form) in kinds {
        let mut options = small();
        (options.per_relation, options.relations) = (own.to_vec(), form);
        (options.signature, options.epochs) = (5, 30);
        let trainer = trained(family(40), &options);
        let history = trainer.history();
        assert!(history[29].loss < 0.8 * history[0].loss, "{own:?}");
        assert!(history.iter().all(|r| r.residual < 1e-10), "{own:?}");
        for (k, what) in [Scale, Curvature].into_iter().enumerate() {
            let moved = trainer.model.own.iter().all(|own| own.numbers()[k] != 0.0);
            assert_eq!(moved, own.contains(&what), "{own:?} {what:?}");
        }
    }
}

#[test]
fn the_distance_of_the_public_code_learns_as_well() {
    let mut options = small();
    (options.distance, options.signature, options.epochs) = (Distance::Split, 5, 30);
    let history = trained(family(40), &options).history().to_vec();
    assert!(history[29].loss < 0.8 * history[0].loss);
}

#[test]
fn a_penalty_keeps_entities_close() {
    let spread = |decay: f64| {
        let mut options = small();
        (options.decay, options.epochs) = (decay, 30);
        let points = trained(family(40), &options).model.parameters;
        (0..40).flat_map(|i| &points.row(i)[..7]).map(|s| s * s).sum::<f64>()
    };
    assert!(spread(0.1) < 0.7 * spread(0.0), "{} {}", spread(0.1), spread(0.0));
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    for rule in [Rule::Adaptive, Rule::VrJJobcd] {
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut options = small();
                options.rule = rule;
                let trainer = trained(family(60), &options);
                let valid = trainer.history().iter().filter_map(|r| r.valid).collect::<Vec<_>>();
                (
                    trainer.model.parameters.clone(),
                    trainer.model.bias.clone(),
                    trainer.model.matrices().to_vec(),
                    valid,
                )
            })
        };
        let (one, two, three) = (run(1), run(2), run(3));
        assert!(one == two && one == three);
    }
}

#[test]
fn seeds_matter_and_rates_fall() {
    let other = |change: &dyn Fn(&mut Options)| {
        let mut options = small();
        change(&mut options);
        trained(family(40), &options).model.parameters
    };
    let same = other(&|_| ());
    assert_eq!(same, other(&|_| ()));
    let changes: [&dyn Fn(&mut Options); 9] = [
        &|o| o.per_relation = vec![PerRelation::Scale],
        &|o| o.per_relation = vec![PerRelation::Curvature],
        &|o| o.seed = 1,
        &|o| o.schedule = Schedule::Linear,
        &|o| o.schedule = Schedule::Cosine,
        &|o| o.no_negatives = NoNegatives::All,
        &|o| o.type_constrained = true,
        &|o| o.optimiser = Optimiser::Adam,
        &|o| o.decay = 1e-4,
    ];
    for (k, change) in changes.into_iter().enumerate() {
        assert_ne!(same, other(change), "{k}");
    }
}

#[test]
fn training_ends_when_valid_gets_no_better() {
    let mut options = small();
    (options.epochs, options.patience, options.evaluate_every, options.lr) = (400, Some(2), 1, 0.3);
    let mut trainer = Trainer::new(family(40), &options).unwrap();
    assert_eq!(trainer.run(None, &NEVER, |_, _| ()), Ended::Patience);
    let best = trainer.best().unwrap();
    let mrr = trainer.rank(&best, &trainer.graph().valid, &NEVER).unwrap().metrics().mrr;
    let highest = trainer.history().iter().filter_map(|r| r.valid).map(|m| m.mrr).fold(0.0, f64::max);
    assert_eq!(mrr, highest);
}

/// With a time limit alone training ends where valid has stood still for a quarter of it by the clock of its own records, or
/// at the limit where it has not.
#[test]
fn patience_is_measured_by_the_records() {
    let limit = 1.0;
    let run = |patience: Option<usize>| {
        let mut options = small();
        (options.epochs, options.patience, options.evaluate_every) = (Options::NO_END, patience, 1);
        options.lr = 0.3;
        let mut trainer = Trainer::new(family(15), &options).unwrap();
        (trainer.run(Some(limit), &NEVER, |_, _| ()), trainer)
    };
    let (ended, trainer) = run(None);
    let mut best = (f64::MIN, 0.0);
    let waited = trainer.history().iter().map(|record| {
        let mrr = record.valid.unwrap().mrr;
        best = if mrr > best.0 { (mrr, record.seconds) } else { best };
        record.seconds - best.1 >= 0.25 * limit
    });
    let waited: Vec<bool> = waited.collect();
    let (last, before) = waited.split_last().unwrap_or((&false, &[]));
    assert!(!before.contains(&true));
    assert_eq!(ended, if *last { Ended::Patience } else { Ended::TimeLimit });
    assert!(*last || trainer.seconds() >= limit);
    assert_eq!(run(Some(0)).0, Ended::TimeLimit);
}

/// Rates without any sense break the numbers; what is handed out are those from before.
#[test]
fn numbers_that_break_end_training_with_a_sound_model() {
    for optimiser in [Optimiser::Adagrad, Optimiser::Adam] {
        let mut options = small();
        (options.lr, options.optimiser, options.evaluate_every) = (1e300, optimiser, 1);
        let mut trainer = Trainer::new(family(40), &options).unwrap();
        assert_eq!(trainer.run(None, &NEVER, |_, _| ()), Ended::NumericalError);
        assert!(!trainer.model.is_finite());
        let best = trainer.best().unwrap();
        assert!(best.is_finite() && best.residual() < 1e-10);
    }
}

#[test]
fn degenerate_graphs() {
    // one fact about one entity
    let graph = Graph {
        entities: vec!["a".into()],
        relations: vec!["r".into()],
        train: vec![Triple { head: 0, relation: 0, tail: 0 }],
        ..Graph::default()
    };
    let trainer = trained(graph.clone(), &small());
    assert_eq!(trainer.rank(&trainer.model, &graph.train, &NEVER).unwrap().metrics().mrr, 1.0);
    let empty = Graph { train: Vec::new(), ..graph };
    assert!(matches!(Trainer::new(empty, &small()), Err(Error::Graph(_))));
}

#[test]
fn options_outside_their_range_are_refused() {
    type Change = &'static dyn Fn(&mut Options);
    let changes: [(Change, &str); 13] = [
        (&|o| (o.signature, o.per_relation) = (8, vec![PerRelation::Curvature]), "no radius"),
        (&|o| (o.distance, o.per_relation) = (Distance::Split, vec![PerRelation::Curvature]), "no radius"),
        (&|o| (o.rule, o.per_relation) = (Rule::JJobcd, vec![PerRelation::Scale]), "matrices alone"),
        (&|o| o.dim = 0, "dim is 0"),
        (&|o| o.signature = 9, "signature is 9"),
        (&|o| o.alpha = 0.0, "alpha is 0"),
        (&|o| o.batch = 0, "batch is 0"),
        (&|o| o.lr = f64::NAN, "lr is NaN"),
        (&|o| o.decay = -1.0, "decay is -1"),
        (&|o| o.margin = f64::INFINITY, "margin is inf"),
        (&|o| (o.rule, o.relations) = (Rule::JJobcd, Form::Cs), "relations full"),
        (&|o| (o.distance, o.signature) = (Distance::Split, 0), "space part"),
        (&|o| (o.distance, o.reciprocal) = (Distance::Split, false), "both directions"),
    ];
    for (change, words) in changes {
        let mut options = small();
        change(&mut options);
        let error = Trainer::new(family(10), &options).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}

fn nations() -> Graph {
    let file = |part: &str| shared(&format!("nations_{part}.tsv.gz"));
    read_graph(&file("train"), Some(&file("valid")), Some(&file("test")), None).unwrap().0
}

/// A random order has an MRR of about 0.27 here (filtered); a model that learns is far above.
#[test]
#[ignore = "needs the data sets beside the checkout: ../shared/data"]
fn nations_are_learned() {
    for form in [Form::Full, Form::Cs, Form::Givens] {
        let mut options = small();
        (options.dim, options.signature, options.relations, options.epochs) = (16, 12, form, 40);
        (options.optimiser, options.lr, options.relation_lr) = (Optimiser::Adagrad, 0.1, 0.05);
        (options.batch, options.evaluate_every, options.relation_init) = (200, 5, 1.0);
        // with ten negatives better than softplus
        (options.loss, options.init) = (Loss::CrossEntropy, 1e-2);
        let trainer = trained(nations(), &options);
        let test = trainer.rank(&trainer.best().unwrap(), &trainer.graph().test, &NEVER).unwrap().metrics();
        assert_eq!(test.triples, 203);
        assert!(test.mrr > 0.5, "{form:?}: {test:?}");
        assert!(trainer.history().iter().all(|r| r.residual < 1e-10));
    }
}

/// The valid split of FB15k as train, a part of the test split to report on.
#[test]
#[ignore = "needs the data sets beside the checkout: ../shared/data"]
fn a_part_of_fb15k_is_learned() {
    let file = |part: &str| shared(&format!("fb15k_partial_{part}.tsv.gz"));
    let (mut graph, found) = read_graph(&file("valid"), None, Some(&file("test")), None).unwrap();
    assert_eq!((graph.train.len(), graph.test.len(), found.duplicates), (50000, 59071, 0));
    graph.test.truncate(300);
    let mut options = small();
    (options.dim, options.signature, options.epochs, options.batch) = (16, 15, 4, 1000);
    (options.optimiser, options.lr, options.relation_lr, options.negatives) =
        (Optimiser::Adagrad, 0.5, 0.05, 64);
    let trainer = trained(graph, &options);
    let test = trainer.rank(&trainer.model, &trainer.graph().test, &NEVER).unwrap().metrics();
    assert!(test.mrr > 0.05, "{test:?}");
    assert!(trainer.model.residual() < 1e-10);
}
