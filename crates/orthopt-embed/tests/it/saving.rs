//! Models and checkpoints in files.

use orthopt::cancel::Cancel;
use orthopt_embed::{Ended, Form, Model, Optimiser, Options, PerRelation, Rule, Saved, Trainer};

use crate::common::{NEVER, family, small, trained};

fn same(a: &Model, b: &Model) {
    assert_eq!(a.parameters, b.parameters);
    assert_eq!(a.bias, b.bias);
    assert_eq!(a.matrices(), b.matrices());
    assert_eq!(a.own, b.own);
}

#[test]
fn models_come_back_as_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m");
    for (form, more) in [(Form::Full, false), (Form::Cs, true), (Form::Givens, false), (Form::Givens, true)] {
        let mut options = small();
        (options.relations, options.signature) = (form, 5);
        if more {
            options.per_relation = vec![PerRelation::Curvature];
        }
        let trainer = trained(family(40), &options);
        let best = trainer.best().unwrap();
        Saved::new(best.clone(), trainer.graph()).write(&path).unwrap();
        let read = Saved::read(&path, None).unwrap();
        same(&best, &read.model);
        assert_eq!(best.own.iter().any(|own| own.curvature != 0.0), more);
        assert!(best.own.iter().all(|own| own.scale == 0.0));
        assert_eq!((read.model.options, &read.entities), (options, &trainer.graph().entities));
        assert_eq!(
            (read.relations, read.facts),
            (trainer.graph().relations.clone(), trainer.graph().train.clone())
        );
    }
}

/// Interrupted in the middle of an epoch, saved, read, and gone on: the same bits as without.
#[test]
fn training_goes_on_as_if_it_had_never_ended() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    let kinds = [
        (Rule::Adaptive, Form::Full, Optimiser::Adam, false),
        (Rule::Adaptive, Form::Cs, Optimiser::Adagrad, false),
        (Rule::Adaptive, Form::Full, Optimiser::Adam, true),
        (Rule::Adaptive, Form::Givens, Optimiser::Adagrad, true),
        (Rule::VrJJobcd, Form::Full, Optimiser::Adagrad, false),
        (Rule::JJobcd, Form::Full, Optimiser::Adam, false),
    ];
    for (rule, form, optimiser, more) in kinds {
        let mut options = small();
        (options.rule, options.relations, options.optimiser, options.signature) = (rule, form, optimiser, 5);
        options.decay = 1e-4;
        if more {
            options.per_relation = vec![PerRelation::Scale, PerRelation::Curvature];
        }
        let whole = trained(family(40), &options);
        let mut trainer = Trainer::new(family(40), &options).unwrap();
        let mut calls = 0;
        loop {
            // the time is up after a batch or two
            match trainer.run(Some(1e-3), &NEVER, |_, _| ()) {
                Ended::TimeLimit => {}
                ended => {
                    assert_eq!(ended, Ended::Epochs);
                    break;
                }
            }
            trainer.save(&path).unwrap();
            trainer = Trainer::resume(family(40), &path, None, |_| ()).unwrap();
            calls += 1;
            assert!(calls < 10_000);
        }
        assert!(calls > 1, "nothing was interrupted");
        same(&whole.model, &trainer.model);
        same(&whole.best().unwrap(), &trainer.best().unwrap());
        let losses = |t: &Trainer| t.history().iter().map(|r| (r.loss, r.valid)).collect::<Vec<_>>();
        assert_eq!(losses(&whole), losses(&trainer));
    }
}

#[test]
fn an_interruption_keeps_the_epoch_that_is_not_over() {
    let stop = Cancel::never();
    stop.cancel();
    let mut trainer = Trainer::new(family(40), &small()).unwrap();
    assert_eq!(trainer.run(None, &stop, |_, _| ()), Ended::Interrupted);
    assert!(trainer.history().is_empty());
}

#[test]
fn files_that_are_no_models_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let trainer = trained(family(20), &small());
    trainer.save(&at("checkpoint")).unwrap();
    Saved::new(trainer.model.clone(), trainer.graph()).write(&at("model")).unwrap();
    let says = |error: Option<orthopt_embed::Error>, words: &str| {
        let error = error.unwrap().to_string();
        assert!(error.contains(words), "{error}");
    };
    let nothing = |_: &mut Options| ();
    says(Trainer::resume(family(20), &at("model"), None, nothing).err(), "not a checkpoint");
    says(Trainer::resume(family(21), &at("checkpoint"), None, nothing).err(), "made with other triples");
    same(&Saved::read(&at("checkpoint"), None).unwrap().model, &trainer.model);
    let bytes = std::fs::read(at("checkpoint")).unwrap();
    for cut in [10, 30, bytes.len() / 2, bytes.len() - 1] {
        std::fs::write(at("cut"), &bytes[..cut]).unwrap();
        assert!(Trainer::resume(family(20), &at("cut"), None, nothing).is_err(), "{cut}");
    }
    std::fs::write(at("text"), "hello").unwrap();
    says(Saved::read(&at("text"), None).err(), "not a model");
    says(Saved::read(&at("none"), None).err(), "cannot read");
}

/// A file in which one bit is another is never taken for a model or a checkpoint.
#[test]
fn changed_bits_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let trainer = trained(family(20), &small());
    trainer.save(&at("checkpoint")).unwrap();
    Saved::new(trainer.model.clone(), trainer.graph()).write(&at("model")).unwrap();
    for name in ["checkpoint", "model"] {
        let whole = std::fs::read(at(name)).unwrap();
        let mut rng = rand_pcg::Pcg64::new(1, 1);
        for _ in 0..300 {
            let bit = rand::RngExt::random_range(&mut rng, 0..8 * whole.len());
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            std::fs::write(at("flipped"), flipped).unwrap();
            let errors = [
                Saved::read(&at("flipped"), None).err(),
                Trainer::resume(family(20), &at("flipped"), None, |_| ()).err(),
            ];
            for error in errors {
                let error = error.unwrap_or_else(|| panic!("{name}: bit {bit} is not missed")).to_string();
                assert!(error.contains("damaged") || error.contains("not a model"), "{error}");
            }
        }
    }
}

/// What never ends is no model, and what is too long is refused before it is held.
#[cfg(target_os = "linux")]
#[test]
fn memory_is_kept() {
    let error = Saved::read(std::path::Path::new("/dev/zero"), None).unwrap_err().to_string();
    assert!(error.contains("not a model"), "{error}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    trained(family(20), &small()).save(&path).unwrap();
    let error = Trainer::resume(family(20), &path, Some(1000), |_| ()).err().unwrap().to_string();
    assert!(error.contains("memory"), "{error}");
}
