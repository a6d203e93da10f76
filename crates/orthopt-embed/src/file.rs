//! Models and checkpoints as files: a line that says what it is, a line of JSON (options, names, where training
//! is), then numbers, little endian, and a checksum. A checkpoint is a model with everything that training needs to continue.

use std::io::{self, Write};
use std::path::Path;

use orthopt::RowMat;
use orthopt_data::{
    default_memory, printable, read_sealed, show_bytes, write_sealed, write_sealed_or_rescue,
};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::graph::{Graph, Triple};
use crate::jobcd::Estimator;
use crate::model::{Model, Parts};
use crate::moments::Moments;
use crate::options::{Options, Scorer};
use crate::own::Own;
use crate::race::{Race, RaceEnded};
use crate::train::{Record, Trainer};

const MAGIC: &[u8] = b"orthopt knowledge graph 2\n";

#[derive(Debug, Serialize, Deserialize)]
struct Header {
    options: Options,
    entities: Vec<String>,
    relations: Vec<String>,
    facts: usize,
    training: Option<Training>,
}

/// Position of the training.
#[derive(Debug, Serialize, Deserialize)]
struct Training {
    epoch: usize,
    batch: usize,
    loss: u64, // its bits: it may be no number
    seconds: f64,
    idle: usize,
    best: Option<f64>,
    estimators: Vec<bool>,
    history: Vec<Record>,
    #[serde(default)]
    race: Option<Race>,
    #[serde(default)]
    rivals: Vec<(usize, Training)>, // signatures of the other models in a race that continues; their numbers follow
}

/// A model with the names of what it is about, and the facts that it has learned.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Saved {
    /// The model.
    pub model: Model,
    /// Names of the entities.
    pub entities: Vec<String>,
    /// Names of the relations.
    pub relations: Vec<String>,
    /// The facts of train.
    pub facts: Vec<Triple>,
}

impl Saved {
    /// A model of a graph.
    pub fn new(model: Model, graph: &Graph) -> Self {
        let (entities, relations) = (graph.entities.clone(), graph.relations.clone());
        Self { model, entities, relations, facts: graph.train.clone() }
    }

    /// Writes the model, as a whole or not at all; into the folder of temporary files where its own fails.
    ///
    /// # Errors
    /// [`Error::Data`]: the file cannot be written, or is elsewhere.
    pub fn write(&self, path: &Path) -> Result<()> {
        let header = Header {
            options: self.model.options.clone(),
            entities: self.entities.clone(),
            relations: self.relations.clone(),
            facts: self.facts.len(),
            training: None,
        };
        Ok(write_sealed_or_rescue(path, MAGIC, |out| {
            begin(out, &header, &self.facts)?;
            write_parts(out, &self.model, &self.model.parts())
        })?)
    }

    /// Reads a model, or the present model of a checkpoint, which may take `max_memory` bytes, or what the machine has.
    ///
    /// # Errors
    /// [`Error::Data`] or [`Error::Model`].
    pub fn read(path: &Path, max_memory: Option<u64>) -> Result<Self> {
        let bytes = load(path, max_memory)?;
        let mut numbers = Numbers::begin(path, &bytes, max_memory)?;
        let header = numbers.header.take().ok_or_else(|| numbers.broken())?;
        let facts = numbers.facts(&header)?;
        let model = numbers.model(&header)?;
        Ok(Self { model, entities: header.entities, relations: header.relations, facts })
    }
}

impl Trainer {
    /// Writes everything that training needs to continue, as a whole or not at all.
    ///
    /// # Errors
    /// [`Error::Data`]: the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        let graph = self.graph();
        let header = Header {
            options: self.model.options.clone(),
            entities: graph.entities.clone(),
            relations: graph.relations.clone(),
            facts: graph.train.len(),
            training: Some(self.training()),
        };
        Ok(write_sealed(path, MAGIC, |out| {
            begin(out, &header, &graph.train)?;
            [self].into_iter().chain(&self.rivals).try_for_each(|trainer| trainer.write_numbers(out))
        })?)
    }

    fn training(&self) -> Training {
        Training {
            epoch: self.epoch,
            batch: self.batch,
            loss: self.loss.to_bits(),
            seconds: self.seconds,
            idle: self.idle,
            best: self.best.as_ref().map(|(mrr, _)| *mrr),
            estimators: self.estimators.iter().map(Option::is_some).collect(),
            history: self.history.clone(),
            race: self.race.clone(),
            rivals: self.rivals.iter().map(|r| (r.model.options.signature, r.training())).collect(),
        }
    }

    fn write_numbers(&self, out: &mut dyn Write) -> io::Result<()> {
        write_parts(out, &self.model, &self.model.parts())?;
        for moments in self.all_moments() {
            [&moments.first, &moments.second, &moments.steps].into_iter().try_for_each(|v| write(out, v))?;
        }
        write(out, &self.majorisers.iter().map(|m| m.s).collect::<Vec<_>>())?;
        for estimator in self.estimators.iter().flatten() {
            write(out, estimator.at.data())?;
            write(out, estimator.g.data())?;
        }
        self.best.iter().try_for_each(|(_, parts)| write_parts(out, &self.model, parts))
    }

    /// Takes up training where [`save`](Self::save) has left it: every number becomes what it would have been
    /// without the interruption. `change` may alter options that do not concern the model's shape (epochs, limits), of all models of a race.
    /// The file may take `max_memory` bytes, or what the machine has.
    ///
    /// # Errors
    /// [`Error::Data`] or [`Error::Model`]: no checkpoint, or one of another graph.
    pub fn resume(
        graph: Graph,
        path: &Path,
        max_memory: Option<u64>,
        mut change: impl FnMut(&mut Options),
    ) -> Result<Self> {
        let bytes = load(path, max_memory)?;
        let mut numbers = Numbers::begin(path, &bytes, max_memory)?;
        let mut header = numbers.header.take().ok_or_else(|| numbers.broken())?;
        let fail = |problem: &str| Error::Model { path: path.display().to_string(), problem: problem.into() };
        let Some(mut training) = header.training.take() else {
            return Err(fail("this is a model, not a checkpoint: training cannot continue from it"));
        };
        let facts = numbers.facts(&header)?;
        if header.entities != graph.entities || header.relations != graph.relations || facts != graph.train {
            return Err(fail("the checkpoint was made with other triples: give the same files"));
        }
        let mut model = numbers.model(&header)?;
        change(&mut model.options);
        model.options.check()?;
        let mut trainer = Self::with_model(graph, model)?;
        let rivals = std::mem::take(&mut training.rivals);
        numbers.training(&mut trainer, training)?;
        for (signature, training) in rivals {
            header.options.signature = signature;
            header.options.check()?;
            let mut model = numbers.model(&header)?;
            change(&mut model.options);
            model.options.check()?;
            let mut rival = trainer.beside(model);
            numbers.training(&mut rival, training)?;
            trainer.rivals.push(rival);
        }
        trainer.racing = trainer.race.as_ref().is_some_and(|race| race.ended == RaceEnded::NotYet);
        Ok(trainer)
    }
}

fn begin(out: &mut dyn Write, header: &Header, facts: &[Triple]) -> io::Result<()> {
    serde_json::to_writer(&mut *out, header)?;
    out.write_all(b"\n")?;
    for fact in facts {
        [fact.head, fact.relation, fact.tail]
            .into_iter()
            .try_for_each(|id| out.write_all(&id.to_le_bytes()))?;
    }
    Ok(())
}

fn write(out: &mut dyn Write, numbers: &[f64]) -> io::Result<()> {
    numbers.iter().try_for_each(|x| out.write_all(&x.to_le_bytes()))
}

fn write_parts(
    out: &mut dyn Write,
    model: &Model,
    ((parameters, bias, relations), own): &Parts,
) -> io::Result<()> {
    write(out, parameters.data())?;
    write(out, bias)?;
    relations.iter().try_for_each(|relation| write(out, &model.group().numbers(relation)))?;
    if model.options.per_relation.is_empty() {
        return Ok(());
    }
    own.iter().try_for_each(|own| write(out, &own.numbers()))
}

fn load(path: &Path, max_memory: Option<u64>) -> Result<Vec<u8>> {
    let problem = "this is not a model of a knowledge graph: `orthopt embed ... --save-model` writes one";
    let no_model = || Error::Model { path: path.display().to_string(), problem: problem.into() };
    read_sealed(path, MAGIC, max_memory)?.ok_or_else(no_model)
}

/// Remaining numbers of a file.
struct Numbers<'a> {
    path: &'a Path,
    max_memory: u64,
    header: Option<Header>,
    rest: &'a [u8],
}

/// Characters of what is wrong with a model, which may quote all of it.
const QUOTED: usize = 200;

impl<'a> Numbers<'a> {
    fn begin(path: &'a Path, rest: &'a [u8], max_memory: Option<u64>) -> Result<Self> {
        let fail = |problem: String| Error::Model { path: path.display().to_string(), problem };
        let max_memory = max_memory.unwrap_or_else(default_memory);
        let end = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
        let header: Header = serde_json::from_slice(&rest[..end])
            .map_err(|error| printable(&error.to_string().chars().take(QUOTED).collect::<String>()))
            .map_err(|error| fail(format!("the model is damaged ({error}): make it again")))?;
        header.options.check()?;
        Ok(Self { path, max_memory, header: Some(header), rest: rest.get(end + 1..).unwrap_or_default() })
    }

    fn broken(&self) -> Error {
        let problem = "the model is damaged (it is truncated): make it again".into();
        Error::Model { path: self.path.display().to_string(), problem }
    }

    fn bytes(&mut self, count: Option<usize>) -> Result<&'a [u8]> {
        let (part, rest) =
            count.and_then(|count| self.rest.split_at_checked(count)).ok_or_else(|| self.broken())?;
        self.rest = rest;
        Ok(part)
    }

    fn take(&mut self, count: usize) -> Result<Vec<f64>> {
        let bytes = self.bytes(count.checked_mul(8))?;
        Ok(bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap_or_default())).collect())
    }

    fn facts(&mut self, header: &Header) -> Result<Vec<Triple>> {
        let bytes = self.bytes(header.facts.checked_mul(12))?;
        let word = |b: &[u8]| u32::from_le_bytes(b.try_into().unwrap_or_default());
        let fact = |b: &[u8]| Triple { head: word(&b[..4]), relation: word(&b[4..8]), tail: word(&b[8..]) };
        let facts: Vec<Triple> = bytes.chunks_exact(12).map(fact).collect();
        let fits = |f: &Triple| {
            let entities = header.entities.len() as u32;
            f.head < entities && f.tail < entities && (f.relation as usize) < header.relations.len()
        };
        if facts.iter().all(fits) { Ok(facts) } else { Err(self.broken()) }
    }

    fn matrix(&mut self, rows: usize, cols: usize) -> Result<RowMat> {
        let data = self.take(rows.saturating_mul(cols))?;
        RowMat::from_vec(rows, cols, data).ok_or_else(|| self.broken())
    }

    /// No size is believed before the numbers for it are there, or the memory for what is made of them.
    fn check_sizes(&self, header: &Header) -> Result<()> {
        let (entities, dim) = (header.entities.len().max(1), header.options.dim);
        if entities.saturating_mul(dim).saturating_mul(8) > self.rest.len() {
            return Err(self.broken());
        }
        let ultrae = header.options.scorer == Scorer::Ultrae; // others have no matrices
        let each = if ultrae { dim.saturating_mul(dim) } else { 2 * dim };
        let matrices = header.relations.len().saturating_mul(16).saturating_mul(each);
        if matrices as u64 > self.max_memory {
            let path = self.path.display().to_string();
            let problem = format!("its relations take {} of memory", show_bytes(matrices as u64));
            return Err(Error::Model { path, problem });
        }
        Ok(())
    }

    fn model(&mut self, header: &Header) -> Result<Model> {
        self.check_sizes(header)?;
        let nothing =
            Model::from_parts(&header.options, (RowMat::zeros(0, header.options.dim), vec![], vec![]))?;
        let relations = header.relations.len() * if header.options.reciprocal { 2 } else { 1 };
        let parts = self.some_parts(&nothing, header.entities.len(), relations)?;
        Model::of(parts, &header.options)
    }

    fn parts(&mut self, model: &Model) -> Result<Parts> {
        self.some_parts(model, model.bias.len(), model.relations.len())
    }

    fn some_parts(&mut self, model: &Model, entities: usize, relations: usize) -> Result<Parts> {
        let parameters = self.matrix(entities, model.options.dim)?;
        let bias = self.take(entities)?;
        let count = model.group().count();
        let relations = (0..relations)
            .map(|_| Ok(model.group().of_numbers(&self.take(count)?)))
            .collect::<Result<Vec<_>>>()?;
        let mut own = vec![Own::default(); relations.len()];
        if !model.options.per_relation.is_empty() {
            let numbers = self.take(own.len().saturating_mul(Own::LEN))?;
            let parts = numbers.as_chunks::<{ Own::LEN }>().0;
            own.iter_mut().zip(parts).for_each(|(own, numbers)| *own = Own::of(*numbers));
        }
        Ok(((parameters, bias, relations), own))
    }

    /// Everything that training needs beside the model.
    fn training(&mut self, trainer: &mut Trainer, training: Training) -> Result<()> {
        self.moments(&mut trainer.entity_moments)?;
        self.moments(&mut trainer.bias_moments)?;
        self.moments(&mut trainer.relation_moments)?;
        self.moments(&mut trainer.own_moments)?;
        let constants = self.take(trainer.majorisers.len())?;
        trainer.majorisers.iter_mut().zip(constants).for_each(|(m, s)| m.s = s);
        let n = trainer.model.options.dim;
        for (slot, there) in trainer.estimators.iter_mut().zip(&training.estimators) {
            if *there {
                *slot = Some(Estimator { at: self.matrix(n, n)?, g: self.matrix(n, n)? });
            }
        }
        if let Some(mrr) = training.best {
            trainer.best = Some((mrr, self.parts(&trainer.model)?));
        }
        (trainer.epoch, trainer.batch, trainer.idle) = (training.epoch, training.batch, training.idle);
        (trainer.loss, trainer.seconds) = (f64::from_bits(training.loss), training.seconds);
        (trainer.history, trainer.race) = (training.history, training.race);
        Ok(())
    }

    fn moments(&mut self, moments: &mut Moments) -> Result<()> {
        for part in [&mut moments.first, &mut moments.second, &mut moments.steps] {
            *part = self.take(part.len())?;
        }
        Ok(())
    }
}
