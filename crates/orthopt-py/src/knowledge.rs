//! Knowledge graphs. What can be said in Python is said in `orthopt._knowledge`.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray2};
use orthopt::RowMat;
use orthopt_embed::{
    Answers, Error, Graph, Metrics, Model, Options, Question, Race, Record, Rule, Saved, Scorer, Trainer,
    Triple, read_graph,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;

use crate::errors::{Failure, named};
use crate::result::array;
use crate::supervise::{Watch, follow};

/// Triples or questions, a row for each.
type Rows<'py> = PyReadonlyArray2<'py, u32>;
/// Names of entities and relations; train, valid and test.
type Read<'py> = (Vec<String>, Vec<String>, [Bound<'py, PyArray2<u32>>; 3]);
/// MRR and hits; ranks.
type Ranked<'py> = (Bound<'py, PyDict>, Bound<'py, PyArray2<f64>>);

fn failure(error: Error) -> PyErr {
    match error {
        Error::Data(error) => Failure::from(error).into(),
        Error::Option(error) => Failure::from(error).into(),
        Error::Graph(why) => named("IncompatibleError", &why),
        other => named("DataFileError", &other.to_string()),
    }
}

/// Reads files of triples, as the command does.
#[pyfunction]
pub fn read_knowledge<'py>(
    py: Python<'py>,
    train: PathBuf,
    valid: Option<PathBuf>,
    test: Option<PathBuf>,
) -> PyResult<Read<'py>> {
    let read = || read_graph(&train, valid.as_deref(), test.as_deref(), None);
    let (graph, _) = py.detach(read).map_err(failure)?;
    let table = |triples: &[Triple]| {
        let numbers = triples.iter().flat_map(|t| [t.head, t.relation, t.tail]);
        PyArray1::from_iter(py, numbers).reshape([triples.len(), 3])
    };
    let parts = [table(&graph.train)?, table(&graph.valid)?, table(&graph.test)?];
    Ok((graph.entities, graph.relations, parts))
}

/// The options of training with their defaults, as JSON.
#[pyfunction]
pub fn knowledge_options() -> PyResult<String> {
    serde_json::to_string(&Options::default()).map_err(|e| named("OrthoptError", &e.to_string()))
}

/// The defaults with what `given`, an object of JSON, replaces; with a time limit and no number of epochs they have no
/// end. True if a race chooses the signature.
fn options(given: &str, timed: bool) -> PyResult<(Options, bool)> {
    let wrong = |e: serde_json::Error| named("InvalidOptionError", &e.to_string());
    let mut given: Value = serde_json::from_str(given).map_err(wrong)?;
    let asked = given.get("scorer").filter(|scorer| !scorer.is_null()).cloned();
    let scorer: Scorer = asked.map(serde_json::from_value).transpose().map_err(wrong)?.unwrap_or_default();
    let defaults = Options::of(scorer);
    let mut all = serde_json::to_value(&defaults).map_err(wrong)?;
    for name in ["scorer", "dim"] {
        if given[name].is_null() {
            given[name] = all[name].clone();
        }
    }
    let raced = given["signature"] == "auto";
    if raced || given["signature"].is_null() {
        let dim = given["dim"].as_u64().map_or(defaults.dim, |dim| dim as usize);
        given["signature"] = scorer.signature(dim).into();
    }
    let rate = |name: &str| given.get(name).and_then(Value::as_f64);
    let (lr, relation_lr) = (rate("lr"), rate("relation_lr"));
    let counted = given.get("epochs").is_some_and(|epochs| !epochs.is_null());
    let numbers = given.get("per_relation").is_some();
    if let (Value::Object(all), Value::Object(given)) = (&mut all, given) {
        all.extend(given);
    }
    let mut options: Options = serde_json::from_value(all).map_err(wrong)?;
    if !numbers {
        options.set_rule(options.rule);
    }
    if timed && !counted {
        options.epochs = Options::NO_END;
    }
    options.set_rates(lr, relation_lr);
    Ok((options, raced))
}

/// Why an option that was given means nothing.
fn idle(given: &str, options: &Options, valid: bool, test: bool) -> Option<String> {
    let given: Value = serde_json::from_str(given).unwrap_or_default();
    let adaptive = options.rule == Rule::Adaptive;
    let idle = [
        ("evaluate_every", valid, "evaluations on valid, which is not given"),
        ("patience", valid, "evaluations on valid, which is not given"),
        ("no_negatives", valid || test, "facts of valid and test, which are not given"),
        ("relation_lr", adaptive, "rule=\"adaptive\" (the other rules minimise over pairs of rows)"),
    ];
    let (name, _, of) = idle.iter().find(|(name, means, _)| given.get(*name).is_some() && !means)?;
    Some(format!("{name}= does not apply here: it is for {of}; leave it out"))
}

fn triples(rows: &Rows<'_>, entities: usize, relations: usize) -> PyResult<Vec<Triple>> {
    let rows = rows.as_array();
    let (most, kinds) = (entities as u32, relations as u32);
    let inside = |r: &[u32; 3]| r[0] < most && r[2] < most && r[1] < kinds;
    let all = rows.outer_iter().map(|row| [row[0], row[1], row[2]]);
    let checked = all.map(|r| inside(&r).then_some(Triple { head: r[0], relation: r[1], tail: r[2] }));
    checked.collect::<Option<Vec<_>>>().ok_or_else(|| named("IncompatibleError", "a number without a name"))
}

/// Trains a model; `callback` sees the record of the last epoch as JSON and its signature, and true ends it.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "called from one place, which has them all")]
pub fn train_knowledge(
    py: Python<'_>,
    entities: Vec<String>,
    relations: Vec<String>,
    train: Rows<'_>,
    valid: Rows<'_>,
    test: Rows<'_>,
    given: &str,
    seconds: Option<f64>,
    callback: Option<Bound<'_, PyAny>>,
) -> PyResult<PyKnowledge> {
    let (options, raced) = options(given, seconds.is_some())?;
    let idle = idle(given, &options, valid.as_array().nrows() > 0, test.as_array().nrows() > 0);
    if let Some(why) = idle {
        return Err(named("IncompatibleError", &why));
    }
    let read = |rows: &Rows<'_>| triples(rows, entities.len(), relations.len());
    let (train, valid, test) = (read(&train)?, read(&valid)?, read(&test)?);
    if seconds.is_none() && options.epochs == Options::NO_END {
        return Err(named("InvalidOptionError", "epochs without a number need a time_limit"));
    }
    let graph = Graph { entities, relations, train, valid, test };
    let begun = match raced {
        true => Trainer::racing(graph, &options, &options.signatures()),
        false => Trainer::new(graph, &options),
    };
    let mut trainer = begun.map_err(failure)?;
    let last: Mutex<Option<(usize, Record)>> = Mutex::new(None);
    let look = || {
        let now = last.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (Some((signature, now)), Some(callback)) = (now, &callback) else { return Ok(false) };
        callback.call1((json(&now)?, signature))?.is_truthy()
    };
    let work = |watch: &Watch| {
        trainer.run(seconds, watch.cancel(), |trainer, record| {
            let now = (trainer.model.options.signature, record.clone());
            *last.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
        })
    };
    let ended = follow(py, look, work)?;
    let model = trainer.best().map_err(failure)?;
    let graph = trainer.graph();
    Ok(PyKnowledge {
        known: Answers::of(graph.facts()),
        learned: graph.learned(),
        saved: Saved::new(model, graph),
        history: trainer.history().to_vec(),
        race: trainer.race().cloned(),
        status: Some(ended.status().name()),
    })
}

fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|e| named("OrthoptError", &e.to_string()))
}

/// A trained model with the facts that it was made from.
#[pyclass(name = "Knowledge", module = "orthopt._orthopt", frozen)]
pub struct PyKnowledge {
    saved: Saved,
    known: Answers,
    learned: Vec<bool>,
    history: Vec<Record>,
    race: Option<Race>,
    status: Option<&'static str>,
}

#[pymethods]
impl PyKnowledge {
    /// A model that `write` or the command wrote; of its facts it knows those of train.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let saved = py.detach(|| Saved::read(&path, None)).map_err(failure)?;
        let mut learned = vec![false; saved.entities.len()];
        for fact in &saved.facts {
            learned[fact.head as usize] = true;
            learned[fact.tail as usize] = true;
        }
        Ok(Self {
            known: Answers::of(&saved.facts),
            learned,
            saved,
            history: Vec::new(),
            race: None,
            status: None,
        })
    }

    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let path: &Path = &path;
        py.detach(|| self.saved.write(path)).map_err(failure)
    }

    /// z of every triple.
    fn score<'py>(&self, py: Python<'py>, rows: Rows<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let asked = self.triples(&rows)?;
        let scores = py.detach(|| self.model().score(&asked));
        Ok(PyArray1::from_vec(py, scores))
    }

    /// z of every entity as the answer to every question (known entity, relation, 1 if the head is asked for), -inf
    /// where that is a known fact and `new` ones are asked for.
    fn answers<'py>(
        &self,
        py: Python<'py>,
        rows: Rows<'py>,
        new: bool,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = rows.as_array();
        let question = |row: [u32; 3]| Question { known: row[0], relation: row[1], head: row[2] != 0 };
        let asked: Vec<Question> = rows.outer_iter().map(|r| question([r[0], r[1], r[2]])).collect();
        let scores = py.detach(|| {
            let mut scores = self.model().scores(&asked);
            for (i, question) in asked.iter().enumerate().filter(|_| new) {
                for id in self.known.to(question) {
                    scores.set(i, *id as usize, f64::NEG_INFINITY);
                }
            }
            scores
        });
        array(py, &scores)
    }

    /// Filtered ranks of triples, with further `known` facts: MRR and hits, and the ranks of tail and head.
    fn rank<'py>(&self, py: Python<'py>, rows: Rows<'py>, known: Rows<'py>) -> PyResult<Option<Ranked<'py>>> {
        let (asked, more) = (self.triples(&rows)?, self.triples(&known)?);
        let model = self.model();
        let facts = self.known.and(&more);
        let work = |watch: &Watch| model.rank(&asked, &facts, &self.learned, watch.cancel());
        let Some(found) = follow(py, || Ok(false), work)? else { return Ok(None) };
        let ranks = PyArray1::from_iter(py, found.ranks.iter().flat_map(|(_, pair)| *pair));
        Ok(Some((metrics(py, &found.metrics())?, ranks.reshape([found.ranks.len(), 2])?)))
    }

    /// The entities' points (n x d).
    fn points<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        array(py, self.model().points())
    }

    /// The relations' matrices, those of the other direction behind them where there are any (k x d x d).
    fn matrices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let rows = |m: &RowMat| (0..m.nrows()).map(|i| m.row(i).to_vec()).collect::<Vec<_>>();
        let all: Vec<Vec<Vec<f64>>> = self.model().matrices().iter().map(rows).collect();
        Ok(PyArray3::from_vec3(py, &all)?)
    }

    /// max |R'JR - J|.
    #[getter]
    fn residual(&self) -> f64 {
        self.model().residual()
    }

    #[getter]
    fn entities(&self) -> Vec<String> {
        self.saved.entities.clone()
    }

    #[getter]
    fn relations(&self) -> Vec<String> {
        self.saved.relations.clone()
    }

    #[getter]
    fn options(&self) -> PyResult<String> {
        json(&self.model().options)
    }

    #[getter]
    fn history(&self) -> PyResult<String> {
        json(&self.history)
    }

    #[getter]
    fn race(&self) -> PyResult<String> {
        json(&self.race)
    }

    #[getter]
    fn status(&self) -> Option<&'static str> {
        self.status
    }
}

impl PyKnowledge {
    fn model(&self) -> &Model {
        &self.saved.model
    }

    fn triples(&self, rows: &Rows<'_>) -> PyResult<Vec<Triple>> {
        triples(rows, self.saved.entities.len(), self.saved.relations.len())
    }
}

fn metrics<'py>(py: Python<'py>, found: &Metrics) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    let shares =
        [("mrr", found.mrr), ("hits1", found.hits1), ("hits3", found.hits3), ("hits10", found.hits10)];
    for (name, value) in shares {
        out.set_item(name, value)?;
    }
    out.set_item("triples", found.triples)?;
    Ok(out)
}
