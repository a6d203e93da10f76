//! Figures that show the training of a knowledge graph (JOBCD paper, App. F.2, Figures 9 to 12): UltraE with its relations
//! moved by CSDM, J-JOBCD and VR-J-JOBCD, everything else the same.
//!
//! The paper takes "a batch" of each graph and says its numbers of facts, entities and relations, not which facts: here they
//! are those of [`Graph::part`], written as `train.tsv` and `test.tsv` beside the records, so that `embed` can run them by itself.

use std::path::{Path, PathBuf};

use clap::Parser;
use orthopt_embed::{Ended, Graph, Record, Trainer, Triple, read_graph};
use serde::{Deserialize, Serialize};

use super::cell::{read_record, write_record};
use crate::cmd::embed::options::Choices;
use crate::export::to_file;
use crate::interrupt;
use crate::progress::Progress;
use crate::text;
use orthopt_papers::item::Item;
use orthopt_papers::training::{Mover, SEED, Training};

/// Limits of a run and the folder of its files.
pub struct Place<'a> {
    pub out: &'a Path,
    pub seconds: f64,
    pub epochs: Option<u64>,
    pub again: bool,
    pub quiet: bool,
}

/// Result of a method.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Trained {
    pub item: String,
    pub dataset: String,
    pub method: String,
    /// The options of `orthopt embed` besides its files.
    pub options: Vec<String>,
    pub time_limit: f64,
    pub status: String,
    pub threads: usize,
    pub version: String,
    /// Every epoch; the ranking is that of the facts to report on.
    pub history: Vec<Record>,
}

/// The options of `embed` as a command of their own.
#[derive(Parser)]
struct Line {
    #[command(flatten)]
    choices: Choices,
}

/// A figure that shows training.
#[derive(Clone, Copy, Debug)]
pub struct Course(pub Training);

impl Course {
    /// Folder of the records and the facts.
    pub fn folder(&self, out: &Path) -> PathBuf {
        out.join("records").join(self.0.records.replace('/', "-"))
    }

    /// The part of the graph, from its two files beside the records, which are written first: their order is that of the
    /// numbers of entities, and so part of the run.
    fn part(&self, files: &[PathBuf], out: &Path) -> anyhow::Result<Graph> {
        let rest = files.get(1).map(PathBuf::as_path);
        let (whole, _) = read_graph(&files[0], None, rest, None)?;
        let part = whole.part(&self.0.sizes, SEED)?;
        let folder = self.folder(out);
        std::fs::create_dir_all(&folder)?;
        let paths = ["train.tsv", "test.tsv"].map(|name| folder.join(name));
        for (path, facts) in paths.iter().zip([&part.train, &part.test]) {
            write_facts(&part, facts, path)?;
        }
        // ranked after every epoch, and nothing chosen by it: the numbers of the last epoch are reported
        Ok(read_graph(&paths[0], Some(&paths[1]), None, None)?.0)
    }

    /// The records of the methods asked for, made where there are none. An interrupted run is not kept.
    ///
    /// # Errors
    /// The graph has no such part, or a file cannot be read or written.
    pub fn run(
        &self,
        item: &Item,
        methods: &[&'static Mover],
        files: &[PathBuf],
        place: &Place<'_>,
        progress: &mut Progress,
    ) -> anyhow::Result<Vec<Trained>> {
        let graph = self.part(files, place.out)?;
        let mut all = Vec::new();
        for mover in methods {
            let options = self.0.options(mover, place.epochs);
            let name = format!("t{}_{}.json", text::exact(place.seconds), mover.name.to_lowercase());
            let path = self.folder(place.out).join(name);
            let kept = read_record::<Trained>(&path).filter(|kept| !place.again && kept.options == options);
            if let Some(kept) = kept {
                all.push(kept);
                continue;
            }
            if interrupt::asked() {
                break;
            }
            if !place.quiet {
                let what = format!("{} {}: {}", item.name, self.0.dataset, mover.name);
                progress.suspend(|| crate::failure::say("run", &what));
            }
            let (trained, ended) = self.train(mover.name, &graph, options, place, progress)?;
            if ended != Ended::Interrupted {
                write_record(&trained, &path)?;
                all.push(trained);
            }
        }
        Ok(all)
    }

    fn train(
        &self,
        method: &str,
        graph: &Graph,
        options: Vec<String>,
        place: &Place<'_>,
        progress: &mut Progress,
    ) -> anyhow::Result<(Trained, Ended)> {
        let words = std::iter::once("embed").chain(options.iter().map(String::as_str));
        let choices = Line::try_parse_from(words)?.choices.options(false);
        let mut trainer = Trainer::new(graph.clone(), &choices)?;
        progress.run_begins();
        let ended = trainer.run(Some(place.seconds), interrupt::cancel(), |_, record| {
            let line = format!("{method}: epoch {}, loss {}", record.epoch, text::number(record.loss, 5));
            progress.epoch(&line, record.epoch as u64, record.seconds);
        });
        let trained = Trained {
            item: self.0.records.into(),
            dataset: self.0.dataset.into(),
            method: method.into(),
            options,
            time_limit: place.seconds,
            status: ended.status().name().into(),
            threads: rayon::current_num_threads(),
            version: env!("CARGO_PKG_VERSION").into(),
            history: trainer.history().to_vec(),
        };
        Ok((trained, ended))
    }
}

/// Facts by their names, a line each.
fn write_facts(graph: &Graph, facts: &[Triple], path: &Path) -> anyhow::Result<()> {
    to_file(path, |out| {
        for t in facts {
            let [head, tail] = [t.head, t.tail].map(|e| &graph.entities[e as usize]);
            writeln!(out, "{head}\t{}\t{tail}", graph.relations[t.relation as usize])?;
        }
        Ok(())
    })
}
