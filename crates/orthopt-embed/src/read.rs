//! Reading triples.
//!
//! | format | a line |
//! |---|---|
//! | [`Format::Tsv`] | `head<TAB>relation<TAB>tail`, names or numbers; without tabs, three words |
//! | [`Format::OpenKe`] | first the number of triples, then `head tail relation`, numbers from 0 |
//!
//! Files may be gzipped. Which format it is follows from the first line: one number alone is OpenKE's count.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use orthopt_data::{DataError, Lines, printable};

use crate::error::{Error, Result};
use crate::graph::{Graph, Triple};

/// How triples are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// `head<TAB>relation<TAB>tail`.
    Tsv,
    /// OpenKE's.
    OpenKe,
}

/// A word's number, in the order in which words appear.
#[derive(Clone, Debug, Default)]
struct Names {
    names: Vec<String>,
    ids: HashMap<String, u32>,
}

impl Names {
    fn id(&mut self, name: &str) -> u32 {
        if let Some(id) = self.ids.get(name) {
            return *id;
        }
        let id = self.names.len() as u32;
        self.names.push(name.into());
        self.ids.insert(name.into(), id);
        id
    }
}

/// Counts of irregular triples in files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// Triples that a file has more than once; the first is kept.
    pub duplicates: usize,
    /// Triples of valid or test that train has as well; they stay in both.
    pub repeated: usize,
    /// Entities of valid or test that no triple of train mentions.
    pub unknown_entities: usize,
    /// Relations of valid or test that no triple of train mentions.
    pub unknown_relations: usize,
    /// First lines of files that hold names of columns (`head relation tail`) and no triple.
    pub headers: usize,
}

/// Words of a line: head, relation, tail.
pub type Words = [String; 3];

/// What the columns of triples are called.
const CALLED: [&[&str]; 3] = [
    &["head", "subject", "source", "from", "start", "h", "s", "src", "entity1", "e1", "node1", "head_id"],
    &[
        "relation",
        "predicate",
        "edge",
        "type",
        "label",
        "r",
        "p",
        "rel",
        "relation_type",
        "property",
        "relation_id",
    ],
    &["tail", "object", "target", "to", "end", "t", "o", "dst", "entity2", "e2", "node2", "tail_id"],
];

/// Whether the words of a first line are names of columns; that their entities occur nowhere else is for others to see.
pub fn may_be_header(words: &Words) -> bool {
    words.iter().zip(CALLED).all(|(word, called)| called.contains(&word.to_lowercase().as_str()))
}

/// Reads a graph; `max_memory` bytes may be taken, nine tenths of what is free otherwise.
///
/// # Errors
/// [`Error::Data`] with file and line: a file that cannot be read, a line that is no triple, a count that is
/// wrong. [`Error::Graph`]: train has no triples.
pub fn read_graph(
    train: &Path,
    valid: Option<&Path>,
    test: Option<&Path>,
    max_memory: Option<u64>,
) -> Result<(Graph, Found)> {
    let (mut entities, mut relations, mut found) = (Names::default(), Names::default(), Found::default());
    let mut aside: Vec<(usize, Words)> = Vec::new(); // first lines that may be headers
    let mut part = |number: usize, path: Option<&Path>, found: &mut Found| -> Result<Vec<Triple>> {
        let Some(path) = path else { return Ok(Vec::new()) };
        let mut seen = HashSet::new();
        let mut triples = Vec::new();
        let mut first = true;
        read_triples(path, max_memory, |words| {
            if std::mem::take(&mut first) && may_be_header(&words) {
                aside.push((number, words));
                return 0;
            }
            let [head, relation, tail] = words;
            let triple = Triple {
                head: entities.id(&head),
                relation: relations.id(&relation),
                tail: entities.id(&tail),
            };
            match seen.insert(triple) {
                true => triples.push(triple),
                false => found.duplicates += 1,
            }
            // a triple, its place in the set, its answers in both directions
            64 * triples.len() + 128 * (entities.names.len() + relations.names.len())
        })?;
        Ok(triples)
    };
    let mut train = part(0, Some(train), &mut found)?;
    let known = (train.iter().map(|t| t.head.max(t.tail)).max(), train.iter().map(|t| t.relation).max());
    let (mut valid, mut test) = (part(1, valid, &mut found)?, part(2, test, &mut found)?);
    for (number, [head, relation, tail]) in aside {
        // what other triples speak of is an entity
        let is_header = ![&head, &tail].iter().any(|name| entities.ids.contains_key(*name));
        found.headers += usize::from(is_header);
        if !is_header {
            let triple = Triple {
                head: entities.id(&head),
                relation: relations.id(&relation),
                tail: entities.id(&tail),
            };
            [&mut train, &mut valid, &mut test][number].insert(0, triple);
        }
    }
    let learned: HashSet<Triple> = train.iter().copied().collect();
    found.repeated = valid.iter().chain(&test).filter(|t| learned.contains(t)).count();
    let beyond = |count: usize, last: Option<u32>| count - last.map_or(0, |last| last as usize + 1);
    found.unknown_entities = beyond(entities.names.len(), known.0);
    found.unknown_relations = beyond(relations.names.len(), known.1);
    if train.is_empty() {
        return Err(Error::Graph("train has no triples: there is nothing to learn from".into()));
    }
    Ok((Graph { entities: entities.names, relations: relations.names, train, valid, test }, found))
}

/// Reads the triples of one file; `take` says how many bytes it holds after each. A file without triples is fine.
///
/// # Errors
/// [`Error::Data`] with file and line.
pub fn read_triples(
    path: &Path,
    max_memory: Option<u64>,
    mut take: impl FnMut(Words) -> usize,
) -> Result<Format> {
    let mut lines = match Lines::open(path, max_memory) {
        Err(DataError::File { problem, .. }) if problem == "the file is empty" => return Ok(Format::Tsv),
        lines => lines?,
    };
    let (mut format, mut first, mut count) = (Format::Tsv, true, 0usize);
    let (mut announced, mut held) = (0, 0);
    while let Some(line) = lines.next_line()? {
        let line = understood(line, first, format);
        match line.map_err(|problem| lines.error(problem))? {
            Line::Nothing => continue,
            Line::Count(number) => (format, announced) = (Format::OpenKe, number),
            Line::Fact(words) => {
                count += 1;
                held = held.max(take(words));
            }
        }
        first = false;
        if count > u32::MAX as usize / 4 {
            return Err(lines.error("more than a billion triples, which is the limit").into());
        }
        if count.is_multiple_of(4096) {
            lines.check_memory(held)?;
        }
    }
    if format == Format::OpenKe && count != announced {
        let problem = format!("the first line announces {announced} triples, but there are {count}");
        return Err(lines.file_error(problem).into());
    }
    Ok(format)
}

/// Kinds of lines.
enum Line {
    Nothing,
    Count(usize),
    Fact(Words),
}

/// A line, or what is wrong with it. The first one may be OpenKE's count.
fn understood(line: &[u8], first: bool, format: Format) -> std::result::Result<Line, String> {
    let text = std::str::from_utf8(line).map_err(|_| "the line is not UTF-8 text: convert the file")?;
    let words = words(text);
    if let (true, [word]) = (first, &words[..])
        && let Ok(number) = word.parse::<usize>()
    {
        return Ok(Line::Count(number));
    }
    if text.trim().is_empty() {
        return Ok(Line::Nothing);
    }
    let short = |text: &str| printable(&text.chars().take(60).collect::<String>());
    let words = <[&str; 3]>::try_from(words).ok().filter(|words| words.iter().all(|word| !word.is_empty()));
    let Some([head, second, third]) = words else {
        return Err(format!(
            "`{}` is not a triple: give head, relation and tail, separated by tabs",
            short(text)
        ));
    };
    if format == Format::Tsv {
        return Ok(Line::Fact([head, second, third].map(String::from)));
    }
    match [head, second, third].iter().find(|word| word.parse::<u32>().is_err()) {
        Some(word) => Err(format!(
            "`{}` is not a number: the first line is a count, so this is OpenKE's format (head tail relation)",
            short(word)
        )),
        None => Ok(Line::Fact([head, third, second].map(String::from))),
    }
}

/// Between tabs, or where there are none between white space.
fn words(text: &str) -> Vec<&str> {
    if text.contains('\t') {
        text.split('\t').map(str::trim).collect()
    } else {
        text.split_whitespace().collect()
    }
}
