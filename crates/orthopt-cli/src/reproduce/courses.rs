//! Table and curves of trained knowledge graphs, over epochs or over seconds.

use std::path::Path;

use orthopt_embed::{Metrics, Record};

use super::sheet::{Drawing, Grid};
use super::training::{Course, Trained};
use crate::picture::chart::About;
use crate::picture::curves::{Curve, plain};
use crate::plot::stacked;
use crate::text;

/// A number of a record, where it has it.
type Figure = fn(&Record) -> Option<f64>;

/// Quantities shown for an epoch.
const SHOWN: [(&str, Figure); 3] = [
    ("loss of a fact of train", |r| Some(r.loss)),
    ("MRR of test", |r| Some(r.valid?.mrr)),
    ("hits@10 of test", |r| Some(r.valid?.hits10)),
];

/// Shares of the way that have rows of their own.
const SHARES: [f64; 3] = [0.25, 0.5, 1.0];

impl Course {
    fn place(&self, record: &Record) -> f64 {
        if self.0.by_epoch { record.epoch as f64 } else { record.seconds }
    }

    /// The figure of some runs, and its numbers where all of them have got.
    ///
    /// # Errors
    /// The drawing fails.
    pub fn drawing(&self, runs: &[Trained], folder: &Path) -> anyhow::Result<Drawing> {
        let axis = if self.0.by_epoch { "epochs" } else { "seconds" };
        let header = [axis, "method", "epochs", "s", "loss", "MRR", "hits@1", "hits@3", "hits@10"];
        let ends = runs.iter().filter_map(|run| run.history.last()).map(|last| self.place(last));
        let end = ends.fold(f64::INFINITY, f64::min);
        let mut rows = Vec::new();
        let mut places =
            SHARES.map(|share| if self.0.by_epoch { (share * end).ceil() } else { share * end }).to_vec();
        places.dedup();
        for at in places {
            rows.extend(runs.iter().filter_map(|run| self.row(run, at)));
        }
        let grid = Grid { header: header.map(String::from).to_vec(), rows };
        Ok(Drawing { svg: self.svg(runs, axis)?, grid, notes: self.notes(runs, folder) })
    }

    /// The last epoch of a run up to a place.
    fn row(&self, run: &Trained, at: f64) -> Option<Vec<String>> {
        let last = run.history.iter().take_while(|r| self.place(r) <= at).last()?;
        let Metrics { mrr, hits1, hits3, hits10, .. } = last.valid?;
        let place = if self.0.by_epoch { text::exact(at) } else { text::number(at, 3) };
        let numbers = [mrr, hits1, hits3, hits10].map(|x| format!("{x:.4}"));
        let course = [text::number(last.seconds, 3), text::number(last.loss, 5)];
        let names = [place, run.method.clone(), last.epoch.to_string()];
        Some(names.into_iter().chain(course).chain(numbers).collect())
    }

    fn svg(&self, runs: &[Trained], axis: &str) -> anyhow::Result<String> {
        let all = SHOWN.map(|(name, value)| {
            let points = |run: &Trained| -> Vec<(f64, f64)> {
                run.history.iter().filter_map(|r| Some((self.place(r), value(r)?))).collect()
            };
            let lines: Vec<Curve> =
                runs.iter().map(|run| Curve { label: run.method.clone(), points: points(run) }).collect();
            let about = About { title: Some(format!("{}, {name}", self.0.dataset)), ..About::default() };
            let sizes = &self.0.sizes;
            let remark = format!("{} facts for training, {} for testing", sizes.train, sizes.test);
            about.chart("", &remark, plain([axis, name], &lines))
        });
        stacked(&all)
    }

    fn notes(&self, runs: &[Trained], folder: &Path) -> Vec<String> {
        let s = &self.0.sizes;
        let batch = (s.train as f64).sqrt().round();
        let mut notes = vec![
            format!(
                "{}: {} facts for training and {} for testing, {} entities, {} relations, as in the paper, which does \
                 not specify them. Here: the core of the graph (the entity with the fewest facts is removed until this \
                 number is left, then the relations with the most facts are kept, then entities again), in the order \
                 of seed 0, facts with a new entity or relation first.",
                self.0.dataset, s.train, s.test, s.entities, s.relations
            ),
            format!(
                "Setting of the paper: n 36, p 18, delta 5, alpha 1, 50 negatives per fact, Adam at 5e-4 for entities \
                 and biases. Not specified there and chosen here: {batch} facts per step with all methods (the square \
                 root of all, the mini-batch of VR-J-JOBCD), Adagrad at PyTorch's rate 0.01 for CSDM, starts. Test is \
                 ranked after every epoch, and the seconds include that. Numbers are those of the epoch in the row; no \
                 best epoch is selected. The paper has curves and no numbers."
            ),
        ];
        if let Some(run) = runs.first() {
            let file = |name: &str| folder.join(name).display().to_string();
            notes.push(format!(
                "One run by itself: orthopt embed {} --valid {} {} --time-limit {}",
                file("train.tsv"),
                file("test.tsv"),
                run.options.join(" "),
                text::exact(run.time_limit)
            ));
        }
        notes
    }
}
