//! Report of a trained model: JSON, summary, trace and picture.

use std::path::Path;

use orthopt::report::SCHEMA;
use orthopt::solve::Status;
use orthopt_embed::{Ended, Metrics, Model, Options, Race, RaceEnded, Ranks, Record, Scorer, Trainer, Tried};
use serde::Serialize;

use crate::export::{picture, to_file};
use crate::picture::chart::About;
use crate::picture::curves::{Curve, plain};
use crate::plot::{self, PictureSize};
use crate::summary::Summary;
use crate::table::aligned;
use crate::text;

/// The rankings by the best model.
pub struct Parts {
    pub valid: Option<Ranks>,
    pub test: Option<Ranks>,
}

/// Sizes of the graph.
#[derive(Debug, Serialize)]
struct Facts {
    entities: usize,
    relations: usize,
    train: usize,
    valid: usize,
    test: usize,
    unknown: usize, // triples of test about entities that train does not know
}

/// The ranking of test for one relation.
#[derive(Debug, Serialize)]
struct OfRelation {
    relation: String,
    #[serde(flatten)]
    metrics: Metrics,
}

/// The object of `--json`.
#[derive(Debug, Serialize)]
pub struct Result {
    schema: u32,
    data: Facts,
    settings: Options,
    race: Option<Race>,
    status: Status,
    epochs: usize,
    best_epoch: usize,
    seconds: f64,
    loss: Option<f64>,
    j_residual: Option<f64>, // none with complex
    largest_j_residual: Option<f64>,
    valid: Option<Metrics>,
    test: Option<Metrics>,
    by_relation: Vec<OfRelation>,
    history: Vec<Record>,
    threads: usize,
}

impl Result {
    pub fn of(trainer: &Trainer, best: &Model, ended: Ended, parts: &Parts) -> Self {
        let (graph, history) = (trainer.graph(), trainer.history());
        let by_relation = parts.test.iter().flat_map(Ranks::by_relation);
        let named = |(relation, metrics): (u32, Metrics)| OfRelation {
            relation: graph.relations[relation as usize].clone(),
            metrics,
        };
        let mrr = |r: &&Record| r.valid.map_or(f64::NEG_INFINITY, |m| m.mrr);
        let on_group = best.options.scorer != Scorer::Complex;
        // the first of the best
        let at = history.iter().rev().max_by(|a, b| mrr(a).total_cmp(&mrr(b)));
        Self {
            schema: SCHEMA,
            data: Facts {
                entities: graph.entities.len(),
                relations: graph.relations.len(),
                train: graph.train.len(),
                valid: graph.valid.len(),
                test: graph.test.len(),
                unknown: parts.test.as_ref().map_or(0, |ranks| ranks.unknown),
            },
            settings: best.options.clone(),
            race: trainer.race().cloned(),
            status: ended.status(),
            epochs: history.len(),
            best_epoch: at.filter(|r| r.valid.is_some()).map_or(history.len(), |r| r.epoch),
            seconds: trainer.seconds(),
            loss: history.last().map(|r| r.loss),
            j_residual: on_group.then(|| best.residual()),
            largest_j_residual: on_group
                .then(|| history.iter().map(|r| r.residual).fold(best.residual(), f64::max)),
            // after an interruption nothing is ranked any more, but training has ranked valid
            valid: parts.valid.as_ref().map(Ranks::metrics).or(at.and_then(|r| r.valid)),
            test: parts.test.as_ref().map(Ranks::metrics),
            by_relation: by_relation.map(named).collect(),
            history: history.to_vec(),
            threads: rayon::current_num_threads(),
        }
    }

    /// The same for a person, who may have said nothing of the signature.
    pub fn summary(&self, no_signature: bool) -> String {
        let (data, o) = (&self.data, &self.settings);
        let mut summary = Summary::default();
        let count = |n: usize, what: &str| text::count(n as u64, what);
        summary.line(
            "graph",
            &format!(
                "{} entities, {}; {} for training, {} for validation, {} for testing",
                text::grouped(data.entities as u64),
                count(data.relations, "relation"),
                count(data.train, "triple"),
                text::grouped(data.valid as u64),
                text::grouped(data.test as u64)
            ),
        );
        let kind = match (o.scorer, o.dim - o.signature) {
            (Scorer::Complex, _) => "ComplEx",
            (Scorer::Bilinear, _) => "inner products",
            (_, 0) => "Euclidean space",
            (_, 1) => "hyperbolic space",
            _ => "ultrahyperbolic space",
        };
        let radius = match o.scorer {
            Scorer::Ultrae => format!(", alpha {}", text::exact(o.alpha)),
            _ => format!(", penalty {} N3", text::exact(o.n3)),
        };
        summary.line(
            "model",
            &format!("{kind}, {} coordinates, {} of them with J = 1{radius}", o.dim, o.signature),
        );
        match &self.race {
            Some(race) => summary.line("signature", &raced(race)),
            None if no_signature => {
                let other = match data.valid {
                    0 => "without --valid nothing can choose another",
                    _ => "--signature auto tries others on valid",
                };
                summary.line("signature", &format!("{}, the default; {other}", o.signature));
            }
            None => {}
        }
        summary.line("training", &self.training());
        if let Some(residual) = self.j_residual {
            summary.line("R'JR - J", &format!("{residual:.1e} at most"));
        }
        summary.gap();
        let mut rows = vec![["", "MRR", "hits@1", "hits@3", "hits@10", "triples"].map(String::from).to_vec()];
        for (part, metrics) in [("valid", self.valid), ("test", self.test)] {
            let Some(m) = metrics else { continue };
            let numbers = [m.mrr, m.hits1, m.hits3, m.hits10].map(|x| format!("{x:.4}"));
            let triples = text::grouped(m.triples as u64);
            rows.push([&[part.to_string()], &numbers[..], &[triples]].concat());
        }
        if rows.len() > 1 {
            aligned(&rows).iter().for_each(|line| summary.sentence(line));
        } else if self.status == Status::Interrupted {
            summary.sentence("interrupted before anything was ranked");
        } else {
            summary.sentence("nothing was ranked: --valid and --test name triples");
        }
        summary.take()
    }

    fn training(&self) -> String {
        let loss = self.loss.map_or(String::new(), |loss| format!(", loss {}", text::number(loss, 5)));
        let why = match self.status {
            Status::TimeLimit => "time limit reached",
            Status::Converged => "no better MRR on valid",
            Status::Interrupted => "interrupted",
            Status::NumericalError => "the loss became NaN or infinite; the model is the last finite one",
            _ => "all done",
        };
        let best = match self.valid {
            Some(_) if self.best_epoch != self.epochs => {
                format!("; the model is that of epoch {}", self.best_epoch)
            }
            _ => String::new(),
        };
        let epochs = text::count(self.epochs as u64, "epoch");
        format!("{epochs} in {}{loss}, {why}{best}", text::duration(self.seconds))
    }
}

/// A race in words: the signatures with their MRR on valid.
fn raced(race: &Race) -> String {
    let one = |tried: &Tried| {
        let mrr = tried.mrr.map_or("no rank".into(), |mrr| format!("{mrr:.4}"));
        format!("{}: {mrr} ({})", tried.signature, text::count(tried.epochs as u64, "epoch"))
    };
    let how = match race.ended {
        RaceEnded::OneLeft => "by a race on valid",
        RaceEnded::TimeLimit => "for a race the time limit is too short",
        _ => "so far, in a race that has not ended",
    };
    let tried = race.tried.iter().filter(|tried| tried.epochs > 0).map(one);
    let tried: Vec<String> = tried.collect();
    let list = if tried.is_empty() { String::new() } else { format!("; MRR {}", tried.join(", ")) };
    format!("{}, {how}{list}", race.chosen)
}

/// A line for every epoch.
///
/// # Errors
/// The file cannot be written.
pub fn trace(history: &[Record], path: &Path) -> anyhow::Result<()> {
    to_file(path, |out| {
        writeln!(out, "seconds,epoch,loss,residual,mrr,hits1,hits3,hits10")?;
        for r in history {
            let valid = r.valid.map_or([const { String::new() }; 4], |m| {
                [m.mrr, m.hits1, m.hits3, m.hits10].map(|x| x.to_string())
            });
            writeln!(out, "{},{},{},{:e},{}", r.seconds, r.epoch, r.loss, r.residual, valid.join(","))?;
        }
        Ok(())
    })
}

/// Loss and MRR against time, each in units of its largest value.
///
/// # Errors
/// The file cannot be drawn or written.
pub fn plot(result: &Result, history: &[Record], path: &Path) -> anyhow::Result<()> {
    let (first, last) = (history.first().map_or(1.0, |r| r.loss), history.last().map_or(1.0, |r| r.loss));
    let loss = history.iter().map(|r| (r.seconds, r.loss / first)).collect();
    let mrr = history.iter().filter_map(|r| Some((r.seconds, r.valid?.mrr))).collect();
    let lines = [
        Curve { label: "training loss relative to the first epoch".into(), points: loss },
        Curve { label: "MRR on valid".into(), points: mrr },
    ];
    let o = &result.settings;
    let title = format!(
        "{} entities, n = {}, p = {}",
        text::grouped(result.data.entities as u64),
        o.dim,
        o.signature
    );
    let subtitle = format!(
        "{}, loss {} to {}",
        text::count(result.epochs as u64, "epoch"),
        text::number(first, 4),
        text::number(last, 4)
    );
    let about = About { title: Some(title), ..About::default() };
    let chart = about.chart("", &subtitle, plain(["seconds", "loss, MRR"], &lines));
    picture::write(&plot::picture(&chart, PictureSize::default())?, path)
}
