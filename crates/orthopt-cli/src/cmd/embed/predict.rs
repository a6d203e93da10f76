//! `orthopt embed predict MODEL TRIPLES`.

use std::collections::HashMap;
use std::path::PathBuf;

use clap::ValueHint;
use orthopt::request::Size;
use orthopt_data::printable;
use orthopt_embed::{Answers, Question, Saved, Triple, may_be_header, read_triples};

use super::ours;
use crate::configured::Help;
use crate::failure::{EXIT_CODES, ExitCode, usage};
use crate::files::Files;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  Scores of triples, higher is more likely:
    orthopt embed predict model triples.tsv
  The five best answers to questions, without facts of train:
    printf 'anna\\tmother of\\t?\\n?\\tlikes\\tbob\\n' > q.tsv; orthopt embed predict model q.tsv --top 5";

/// Scores of triples, or the best answers where one of head and tail is `?`
///
/// Prints head, relation, tail and score, with tabs between. Answers that are facts of train are left out.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"))]
pub struct Args {
    #[command(flatten)]
    help: Help,

    /// Model written by `orthopt embed ... --save-model MODEL`
    #[arg(value_name = "MODEL", value_hint = ValueHint::FilePath)]
    model: PathBuf,

    /// Triples and questions, as for embed; - is stdin
    #[arg(value_name = "TRIPLES", value_hint = ValueHint::FilePath)]
    triples: PathBuf,

    /// Answers to each question
    #[arg(long, value_name = "N", default_value_t = 10)]
    top: usize,

    /// Where to write them [default: stdout]
    #[arg(short, long, value_name = "FILE.tsv", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,

    /// Refuse a model and triples that need more memory: 500M, 8G [default: nine tenths of what is free]
    #[arg(long, value_name = "SIZE")]
    max_memory: Option<Size>,
}

/// Names of a model, with their numbers.
struct Names<'a> {
    saved: &'a Saved,
    entities: HashMap<&'a str, u32>,
    relations: HashMap<&'a str, u32>,
    facts: Answers,
}

pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    Files::default()
        .reads("MODEL", Some(&args.model))
        .reads("TRIPLES", Some(&args.triples))
        .writes("--output", args.output.as_deref())
        .check()?;
    let memory = args.max_memory.map(|size| size.0);
    let saved = Saved::read(&args.model, memory).map_err(ours)?;
    let names = Names {
        entities: saved.entities.iter().map(String::as_str).zip(0..).collect(),
        relations: saved.relations.iter().map(String::as_str).zip(0..).collect(),
        facts: Answers::of(&saved.facts),
        saved: &saved,
    };
    let mut asked: Vec<[String; 3]> = Vec::new();
    let mut first = true;
    read_triples(&args.triples, memory, |words| {
        let known = |name: &String| names.entities.contains_key(name.as_str());
        let is_header =
            std::mem::take(&mut first) && may_be_header(&words) && !known(&words[0]) && !known(&words[2]);
        if !is_header {
            asked.push(words);
        }
        200 * asked.len()
    })
    .map_err(ours)?;
    let mut text = String::new();
    for (k, words) in asked.iter().enumerate() {
        let place = || format!("{}, triple {}", args.triples.display(), k + 1);
        names
            .answer(words, args.top, &mut text)
            .map_err(|problem| usage(format!("{}: {problem}", place())))?;
    }
    match &args.output {
        None => output::print(&text)?,
        Some(path) => orthopt_data::write_or_rescue(path, |out| out.write_all(text.as_bytes()))?,
    }
    Ok(ExitCode::SUCCESS)
}

impl Names<'_> {
    fn entity(&self, name: &str) -> Result<u32, String> {
        let unknown = || format!("`{}` is not an entity of the model", printable(name));
        self.entities.get(name).copied().ok_or_else(unknown)
    }

    /// Appends the answer to a triple or a question.
    fn answer(
        &self,
        [head, relation, tail]: &[String; 3],
        top: usize,
        out: &mut String,
    ) -> Result<(), String> {
        let unknown = || format!("`{}` is not a relation of the model", printable(relation));
        let relation = *self.relations.get(relation.as_str()).ok_or_else(unknown)?;
        let model = &self.saved.model;
        let question = match (head.as_str(), tail.as_str()) {
            ("?", "?") => return Err("head and tail are both `?`: one of them must be given".into()),
            (head, "?") => Question { known: self.entity(head)?, relation, head: false },
            ("?", tail) => Question { known: self.entity(tail)?, relation, head: true },
            (head, tail) => {
                let triple = Triple { head: self.entity(head)?, relation, tail: self.entity(tail)? };
                self.line(triple, model.score(&[triple])[0], out);
                return Ok(());
            }
        };
        let scores = model.scores(&[question]);
        let known = self.facts.to(&question);
        let mut best: Vec<u32> =
            (0..scores.ncols() as u32).filter(|id| known.binary_search(id).is_err()).collect();
        best.sort_by(|a, b| scores.get(0, *b as usize).total_cmp(&scores.get(0, *a as usize)));
        for id in best.into_iter().take(top) {
            let triple = match question.head {
                true => Triple { head: id, relation, tail: question.known },
                false => Triple { head: question.known, relation, tail: id },
            };
            self.line(triple, scores.get(0, id as usize), out);
        }
        Ok(())
    }

    fn line(&self, triple: Triple, score: f64, out: &mut String) {
        let entity = |id: u32| printable(&self.saved.entities[id as usize]);
        let relation = printable(&self.saved.relations[triple.relation as usize]);
        *out += &format!("{}\t{relation}\t{}\t{score:.6}\n", entity(triple.head), entity(triple.tail));
    }
}
