//! The signature by a race.

use orthopt::cancel::Cancel;
use orthopt_embed::{
    Distance, Ended, Graph, Metrics, Model, Options, PerRelation, RaceEnded, Saved, Trainer, Triple,
};

use crate::common::{NEVER, family, small, trained};

/// A graph of numbers, every few facts of it held out.
fn graph(
    entities: u32,
    relations: usize,
    facts: impl Iterator<Item = (u32, u32, u32)>,
    every: usize,
) -> Graph {
    let names = |n: usize| (0..n).map(|i| i.to_string()).collect();
    let facts = facts.map(|(head, relation, tail)| Triple { head, relation, tail });
    let (valid, train): (Vec<_>, Vec<_>) = facts.enumerate().partition(|(i, _)| i % every == every - 1);
    let [valid, train] = [valid, train].map(|part| part.into_iter().map(|(_, fact)| fact).collect());
    Graph { entities: names(entities as usize), relations: names(relations), train, valid, test: Vec::new() }
}

/// Steps of 1, 2 and 3 on a line, which points of a plane have and a circle has no room for.
fn line() -> Graph {
    let steps = (0..50).flat_map(|i| (1..=3).map(move |step| (i, step - 1, i + step)));
    graph(50, 3, steps.filter(|fact| fact.2 < 50), 9)
}

/// All ancestors in a tree with four children each. The few that are asked for are near everybody on a circle, where no
/// distance is large.
fn ancestors() -> Graph {
    let above = |i: u32| std::iter::successors(Some(i), |i| i.checked_sub(1).map(|i| i / 4)).skip(1);
    graph(85, 1, (1..85).flat_map(|i| above(i).map(move |ancestor| (i, 0, ancestor))), 6)
}

fn options(dim: usize) -> Options {
    let mut options = small();
    (options.dim, options.signature, options.epochs, options.evaluate_every) = (dim, dim - 1, 20, 5);
    (options.lr, options.relation_lr) = (0.3, 0.03);
    options
}

fn raced(graph: Graph, options: &Options, signatures: &[usize]) -> Trainer {
    let mut trainer = Trainer::racing(graph, options, signatures).unwrap();
    assert_eq!(trainer.run(None, &NEVER, |_, _| ()), Ended::Epochs);
    trainer
}

fn alone(graph: Graph, options: &Options, signature: usize) -> Trainer {
    let mut options = options.clone();
    options.signature = signature;
    trained(graph, &options)
}

fn same(a: &Model, b: &Model) {
    assert_eq!(a.options, b.options);
    assert_eq!(a.parameters, b.parameters);
    assert_eq!(a.bias, b.bias);
    assert_eq!(a.matrices(), b.matrices());
}

/// Loss and ranking of every epoch.
fn epochs(trainer: &Trainer) -> Vec<(f64, Option<Metrics>)> {
    trainer.history().iter().map(|r| (r.loss, r.valid)).collect()
}

/// The better geometry wins wherever it stands in the list: a plane for a line, a circle for a tree.
#[test]
fn the_right_signature_wins() {
    for (graph, right, wrong) in [(line(), 2, 0), (ancestors(), 0, 2)] {
        let mut options = options(2);
        (options.lr, options.relation_lr, options.batch) = (1.0, 0.1, 10);
        for signatures in [[wrong, right], [right, wrong]] {
            let trainer = raced(graph.clone(), &options, &signatures);
            let race = trainer.race().unwrap();
            assert_eq!((race.chosen, race.rounds, race.ended), (right, 1, RaceEnded::OneLeft));
            assert_eq!(trainer.model.options.signature, right);
        }
        let mrr = |signature: usize| {
            let trainer = alone(graph.clone(), &options, signature);
            let best = trainer.best().unwrap();
            trainer.rank(&best, &trainer.graph().valid, &NEVER).unwrap().metrics().mrr
        };
        assert!(mrr(right) > mrr(wrong) + 0.2, "{} {}", mrr(right), mrr(wrong));
    }
}

/// The winner continues with all that it has learned: its bits are those of a run with its signature.
#[test]
fn the_winner_is_the_model_of_its_signature() {
    let options = options(4);
    let trainer = raced(family(40), &options, &options.signatures());
    let race = trainer.race().unwrap();
    let whole = alone(family(40), &options, race.chosen);
    same(&whole.model, &trainer.model);
    same(&whole.best().unwrap(), &trainer.best().unwrap());
    assert_eq!(epochs(&whole), epochs(&trainer));
    // four models for a round, two for another, and what they had is what they have alone
    assert_eq!((race.rounds, trainer.history().len()), (2, 20));
    let mut trained: Vec<usize> = race.tried.iter().map(|tried| tried.epochs).collect();
    trained.sort_unstable();
    assert_eq!(trained, [5, 5, 10, 10]);
    for tried in &race.tried {
        let alone = alone(family(40), &options, tried.signature);
        let so_far = alone.history()[..tried.epochs].iter().filter_map(|r| r.valid);
        assert_eq!(tried.mrr, Some(so_far.map(|m| m.mrr).fold(f64::MIN, f64::max)));
    }
}

#[test]
fn any_number_of_threads_has_the_same_winner() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let options = options(6);
            let trainer = raced(family(60), &options, &options.signatures());
            (trainer.race().unwrap().clone(), trainer.model.parameters.clone(), epochs(&trainer))
        })
    };
    let (one, two, three) = (run(1), run(2), run(3));
    assert!(one == two && one == three);
}

/// Interrupted after any epoch of any model, saved, read, and gone on: the same bits as without, and a sound model meanwhile.
#[test]
fn a_race_goes_on_from_a_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let (checkpoint, model) = (folder.path().join("checkpoint"), folder.path().join("model"));
    let mut options = options(4);
    options.epochs = 12;
    let whole = raced(family(30), &options, &options.signatures());
    let of_race: usize = whole.race().unwrap().tried.iter().map(|tried| tried.epochs).sum();
    assert_eq!(of_race, 30);
    for after in 0..=of_race {
        let stop = Cancel::never();
        if after == 0 {
            stop.cancel();
        }
        let mut trainer = Trainer::racing(family(30), &options, &options.signatures()).unwrap();
        let mut seen = 0;
        let ended = trainer.run(None, &stop, |_, _| {
            seen += 1;
            if seen == after {
                stop.cancel();
            }
        });
        assert_eq!(ended, Ended::Interrupted, "{after}");
        let best = trainer.best().unwrap();
        assert!(best.is_finite() && best.residual() < 1e-10);
        assert_eq!(best.options.signature, trainer.race().unwrap().chosen);
        Saved::new(best.clone(), trainer.graph()).write(&model).unwrap();
        same(&best, &Saved::read(&model, None).unwrap().model);
        trainer.save(&checkpoint).unwrap();
        let racing = trainer.is_racing();
        let mut trainer = Trainer::resume(family(30), &checkpoint, None, |_| ()).unwrap();
        assert_eq!(racing, trainer.is_racing());
        assert_eq!(trainer.run(None, &NEVER, |_, _| ()), Ended::Epochs);
        same(&whole.model, &trainer.model);
        same(&whole.best().unwrap(), &trainer.best().unwrap());
        assert_eq!((whole.race(), epochs(&whole)), (trainer.race(), epochs(&trainer)), "{after}");
    }
}

/// A race that would take more than a quarter of the time limit does not begin; one that does all the same is cut. Either way
/// the first model continues.
#[test]
fn a_race_takes_its_share_of_the_time() {
    let mut options = options(4);
    options.epochs = 6;
    for slow in [3, 4] {
        let mut trainer = Trainer::racing(family(20), &options, &[3, 4, 2, 0]).unwrap();
        let ended = trainer.run(Some(6.0), &NEVER, |now, _| {
            if now.model.options.signature == slow && now.is_racing() {
                std::thread::sleep(std::time::Duration::from_millis(320)); // 1.6 s of 6 in five epochs
            }
        });
        assert_eq!(ended, Ended::Epochs);
        let race = trainer.race().unwrap();
        assert_eq!((race.chosen, race.rounds, race.ended), (3, 0, RaceEnded::TimeLimit));
        assert_eq!(race.tried[2].epochs + race.tried[3].epochs, 0);
        assert!(!trainer.is_racing());
        same(&alone(family(20), &options, 3).model, &trainer.model);
    }
    let mut trainer = Trainer::racing(family(20), &options, &[3, 4]).unwrap();
    assert_eq!(trainer.run(Some(0.0), &NEVER, |_, _| ()), Ended::TimeLimit);
    assert_eq!(trainer.race().unwrap().ended, RaceEnded::NotYet);
}

/// What `--patience` counts continues after the race; numbers that break in all models end it.
#[test]
fn races_end_as_training_does() {
    let mut options = options(4);
    (options.epochs, options.patience, options.evaluate_every) = (400, Some(2), 1);
    let mut trainer = Trainer::racing(family(30), &options, &[3, 4]).unwrap();
    assert_eq!(trainer.run(None, &NEVER, |_, _| ()), Ended::Patience);
    assert!(trainer.race().unwrap().rounds == 1 && trainer.history().len() > 5);
    options.lr = 1e300;
    let mut trainer = Trainer::racing(family(30), &options, &[3, 4]).unwrap();
    assert_eq!(trainer.run(None, &NEVER, |_, _| ()), Ended::NumericalError);
    assert!(trainer.best().unwrap().is_finite());
}

#[test]
fn candidates() {
    let of = |dim: usize, change: &dyn Fn(&mut Options)| {
        let mut options = options(dim);
        change(&mut options);
        options.signatures()
    };
    assert_eq!(of(32, &|_| ()), [31, 32, 16, 0]);
    assert_eq!(of(3, &|_| ()), [2, 3, 1, 0]);
    assert_eq!((of(2, &|_| ()), of(1, &|_| ())), (vec![1, 2, 0], vec![0, 1]));
    assert_eq!(of(8, &|o| o.per_relation = vec![PerRelation::Curvature]), [7, 4, 0]);
    assert_eq!(of(8, &|o| o.distance = Distance::Split), [7, 8, 4]);
    let refused = |graph: Graph, signatures: &[usize], words: &str| {
        let error = Trainer::racing(graph, &options(4), signatures).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    refused(Graph { valid: Vec::new(), ..family(20) }, &[3, 4], "valid has no triples");
    refused(family(20), &[], "at least one");
    refused(family(20), &[3, 4, 3], "once");
    refused(family(20), &[3, 5], "signature is 5");
    let trainer = raced(family(20), &options(4), &[2]);
    same(&alone(family(20), &options(4), 2).model, &trainer.model);
}
