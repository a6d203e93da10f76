//! Damaged triples, models and checkpoints: read as something that fits together, or an error of one line that names
//! the file; never a panic.

use std::path::Path;

use orthopt_embed::{Error, Form, PerRelation, Saved, Trainer, read_graph};
use orthopt_fuzz::{mutated, one_line, pick, run};
use rand::RngExt;
use rand_pcg::Pcg64;

use crate::common::{family, small, trained};

fn readable(error: &Error, name: &str) {
    let message = error.to_string();
    one_line(&message);
    let of_file = matches!(error, Error::Data(_) | Error::Model { .. });
    assert!(!of_file || message.contains(name), "the message names no file: {message}");
}

#[test]
fn fuzz_triples() {
    let folder = tempfile::tempdir().unwrap();
    let valid: [&[u8]; 4] = [
        b"anna\tmother of\tbob\nbob\tlikes\tanna\r\nanna\tlikes\tcarl\n",
        b"a r b\nb  r c\nc s a\n",
        b"3\n5 6 0\n6 7 1\n7 5 0\n",
        "\u{feff}\u{e4}\t\u{f6}\t\u{fc}\n\n1\t2\t3\n".as_bytes(),
    ];
    let [train, test] = ["train.tsv", "test.tsv"].map(|name| folder.path().join(name));
    run("triples", 1500, |rng| {
        let (a, b, other) = (pick(rng, &valid), pick(rng, &valid), pick(rng, &valid));
        std::fs::write(&train, mutated(rng, a, other)).unwrap();
        std::fs::write(&test, mutated(rng, b, other)).unwrap();
        match read_graph(&train, None, Some(&test), Some(50_000_000)) {
            Err(error) => readable(&error, ".tsv"),
            Ok((graph, found)) => {
                let (entities, relations) = (graph.entities.len(), graph.relations.len());
                let fits = |id: u32, count: usize| (id as usize) < count;
                let right = graph
                    .facts()
                    .all(|t| fits(t.head, entities) && fits(t.tail, entities) && fits(t.relation, relations));
                assert!(right && !graph.train.is_empty());
                assert!(found.unknown_entities < entities && found.unknown_relations < relations);
            }
        }
    });
}

/// Damage as everywhere, or to the line of options and names alone, or to the numbers alone.
fn damaged(rng: &mut Pcg64, bytes: &[u8]) -> Vec<u8> {
    let mut ends = (0..bytes.len()).filter(|k| bytes[*k] == b'\n');
    let (head, json) = (ends.next().unwrap() + 1, ends.next().unwrap());
    match rng.random_range(0..4) {
        0 => mutated(rng, bytes, bytes),
        1 => [&bytes[..json + 1], &mutated(rng, &bytes[json + 1..], bytes)].concat(),
        _ => [&bytes[..head], &mutated(rng, &bytes[head..json], b"null"), &bytes[json..]].concat(),
    }
}

/// Writes the bytes of a file of ours that were changed, with the checksum that belongs to them.
fn seal(path: &Path, bytes: &[u8]) {
    const SEAL: usize = 16;
    let body = &bytes[..bytes.len().saturating_sub(SEAL)];
    orthopt_data::write_sealed(path, &[], |out| out.write_all(body)).unwrap();
}

fn check_model(path: &Path) {
    match Saved::read(path, None) {
        Err(error) => readable(&error, "file"),
        Ok(saved) => {
            let (model, entities) = (&saved.model, saved.entities.len());
            assert_eq!(model.bias.len(), entities);
            assert_eq!((model.parameters.nrows(), model.parameters.ncols()), (entities, model.options.dim));
            let times = if model.options.reciprocal { 2 } else { 1 };
            assert_eq!(model.relations.len(), times * saved.relations.len());
            // what was damaged may be no number, but is asked all the same
            assert_eq!(model.score(&saved.facts).len(), saved.facts.len());
        }
    }
}

#[test]
fn fuzz_models() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let models: Vec<Vec<u8>> = [Form::Full, Form::Cs, Form::Givens]
        .map(|form| {
            let mut options = small();
            (options.relations, options.signature, options.epochs) = (form, 5, 1);
            if form == Form::Cs {
                options.per_relation = vec![PerRelation::Curvature];
            }
            let trainer = trained(family(8), &options);
            Saved::new(trainer.model.clone(), trainer.graph()).write(&path).unwrap();
            std::fs::read(&path).unwrap()
        })
        .into();
    let models: Vec<&[u8]> = models.iter().map(Vec::as_slice).collect();
    run("models", 1500, |rng| {
        let model = pick(rng, &models);
        seal(&path, &damaged(rng, model));
        check_model(&path);
    });
}

#[test]
fn fuzz_checkpoints() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    trained(family(8), &small()).save(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    run("checkpoints", 1000, |rng| {
        seal(&path, &damaged(rng, &bytes));
        check_model(&path);
        if let Err(error) = Trainer::resume(family(8), &path, None, |_| ()) {
            readable(&error, "file");
        }
    });
}

/// The message where "dim" of a model is replaced by `dim`; and the length of the file's name in it.
fn with_dim(dim: &str) -> (String, usize) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let trainer = trained(family(8), &small());
    Saved::new(trainer.model.clone(), trainer.graph()).write(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    let (from, to) = ("\"dim\":8,", format!("\"dim\":{dim},"));
    let at = text.find(from).unwrap();
    seal(&path, &[&bytes[..at], to.as_bytes(), &bytes[at + from.len()..]].concat());
    (Saved::read(&path, None).unwrap_err().to_string(), path.as_os_str().len())
}

/// Found by fuzzing: what is wrong was quoted whole.
#[test]
fn a_long_word_in_a_model_makes_no_long_message() {
    let (message, name) = with_dim(&format!("\"{}\"", "8".repeat(5000)));
    assert!(message.contains("the model is damaged") && message.contains("make it again"), "{message}");
    assert!(message.len() < 400 + name, "{message}");
}

/// A small file that says it is large once took the program with it.
#[test]
fn a_model_of_a_size_that_is_not_there() {
    let (message, _) = with_dim("4294967295");
    assert!(message.contains("it is truncated"), "{message}");
}
