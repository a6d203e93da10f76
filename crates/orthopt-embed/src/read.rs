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

/// Format of a file of triples.
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

    /// Keeps some of the names; returns the new number of each.
    fn kept(&mut self, kept: &[bool]) -> Vec<u32> {
        let names = std::mem::take(&mut self.names);
        self.ids.clear();
        let number = |(name, kept): (String, &bool)| if *kept { self.id(&name) } else { 0 };
        names.into_iter().zip(kept).map(number).collect()
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
    /// First lines of files that hold names of columns (`head relation tail`, or words that occur nowhere else) and no triple.
    pub headers: usize,
    /// The order of the columns.
    pub order: Order,
}

/// Words of a line: head, relation, tail.
pub type Words = [String; 3];

/// Usual names of the columns of triples.
const CALLED: [&[&str]; 3] = [
    &["head", "subject", "source", "from", "start", "h", "s", "src", "entity1", "e1", "node1", "head_entity"],
    &[
        "relation",
        "relationship",
        "predicate",
        "edge",
        "type",
        "label",
        "r",
        "p",
        "rel",
        "relation_type",
        "property",
        "link",
    ],
    &["tail", "object", "target", "to", "end", "t", "o", "dst", "entity2", "e2", "node2", "tail_entity"],
];

/// A name of a column without what programs put around it: `head_id:token`, `:START_ID`, `Subject ID`.
fn plain(word: &str) -> String {
    let word = word.trim_start_matches(':').split(':').next().unwrap_or_default().to_lowercase();
    let word = word.replace([' ', '-', '.'], "_");
    word.strip_suffix("_id").unwrap_or(&word).trim_end_matches('_').into()
}

/// Meaning of the name of a column: 0 the head, 1 the relation, 2 the tail.
fn meaning(word: &str) -> Option<usize> {
    let word = plain(word);
    CALLED.iter().position(|called| called.contains(&word.as_str()))
}

/// True if the words of a first line, in the order head, relation, tail, are names of columns; that their entities occur
/// nowhere else is for others to see.
pub fn may_be_header(words: &Words) -> bool {
    words.iter().enumerate().all(|(at, word)| meaning(word) == Some(at))
}

/// The order of the columns of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// Head, relation, tail.
    #[default]
    Usual,
    /// Head, tail, relation.
    RelationLast,
    /// Relation, head, tail.
    RelationFirst,
}

/// Triples by which the order is decided, and the fewest that decide it without a header.
const LOOKED_AT: usize = 2000;
const DECIDING: usize = 10;

impl Order {
    /// The words as head, relation and tail.
    fn sorted(self, [a, b, c]: Words) -> Words {
        match self {
            Self::Usual => [a, b, c],
            Self::RelationLast => [a, c, b],
            Self::RelationFirst => [b, a, c],
        }
    }

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Usual => "head, relation, tail",
            Self::RelationLast => "head, tail, relation",
            Self::RelationFirst => "relation, head, tail",
        }
    }

    /// The order that the first line says, or that of the columns: relations are few and no entities, and the two others
    /// share entities.
    fn of(lines: &[Words]) -> Self {
        let Some((first, rest)) = lines.split_first() else { return Self::Usual };
        match [meaning(&first[0]), meaning(&first[1]), meaning(&first[2])] {
            [Some(0), Some(2), Some(1)] => return Self::RelationLast,
            [Some(1), Some(0), Some(2)] => return Self::RelationFirst,
            [Some(0), Some(1), Some(2)] => return Self::Usual,
            _ => {}
        }
        let column = |at: usize| rest.iter().map(|words| words[at].as_str()).collect::<HashSet<_>>();
        let columns = [column(0), column(1), column(2)];
        let is_relation = |at: usize| {
            let (a, b) = (&columns[(at + 1) % 3], &columns[(at + 2) % 3]);
            2 * columns[at].len() <= rest.len()
                && columns[at].is_disjoint(a)
                && columns[at].is_disjoint(b)
                && !a.is_disjoint(b)
        };
        match [is_relation(0), is_relation(1), is_relation(2)] {
            _ if rest.len() < DECIDING => Self::Usual,
            [false, false, true] => Self::RelationLast,
            [true, false, false] => Self::RelationFirst,
            _ => Self::Usual,
        }
    }

    /// The order of the columns of a file, by its first lines.
    fn of_file(path: &Path, max_memory: Option<u64>) -> Result<Self> {
        let mut lines = Vec::new();
        let format = read_some(path, max_memory, LOOKED_AT, |words| {
            lines.push(words);
            256 * lines.len()
        })?;
        Ok(if format == Format::OpenKe { Self::Usual } else { Self::of(&lines) })
    }
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
    let order = Order::of_file(train, max_memory)?;
    found.order = order;
    let mut firsts: Vec<(usize, Words)> = Vec::new(); // first lines of words, which may be headers
    let mut part = |number: usize, path: Option<&Path>, found: &mut Found| -> Result<Vec<Triple>> {
        let Some(path) = path else { return Ok(Vec::new()) };
        let mut seen = HashSet::new();
        let mut triples = Vec::new();
        let mut first = true;
        read_triples(path, max_memory, |words| {
            let words = order.sorted(words);
            if std::mem::take(&mut first) && words.iter().all(|word| word.parse::<f64>().is_err()) {
                firsts.push((number, words.clone()));
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
    let mut parts =
        [part(0, Some(train), &mut found)?, part(1, valid, &mut found)?, part(2, test, &mut found)?];
    found.headers = without_headers(&mut parts, &firsts, &mut entities, &mut relations);
    let [train, valid, test] = parts;
    let known = (train.iter().map(|t| t.head.max(t.tail)).max(), train.iter().map(|t| t.relation).max());
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

/// Takes out the first lines that are names of columns: their entities stand nowhere else, and they are called so or their
/// relation stands nowhere else either. Returns how many there were.
fn without_headers(
    parts: &mut [Vec<Triple>; 3],
    firsts: &[(usize, Words)],
    entities: &mut Names,
    relations: &mut Names,
) -> usize {
    let mut used = (vec![false; entities.names.len()], vec![false; relations.names.len()]);
    let is_first = |number: usize, at: usize| at == 0 && firsts.iter().any(|(part, _)| *part == number);
    let mut count = 0;
    let mut mark = |used: &mut (Vec<bool>, Vec<bool>), triple: &Triple| {
        (used.0[triple.head as usize], used.0[triple.tail as usize]) = (true, true);
        used.1[triple.relation as usize] = true;
        count += 1;
    };
    for (number, triples) in parts.iter().enumerate() {
        triples
            .iter()
            .enumerate()
            .filter(|(at, _)| !is_first(number, *at))
            .for_each(|(_, t)| mark(&mut used, t));
    }
    // relations repeat in a graph, so that a line of words that stand nowhere else is none of its triples
    let repeats = count >= DECIDING && 2 * used.1.iter().filter(|used| **used).count() <= count;
    let is_header = |words: &Words, triple: &Triple| {
        let is_new =
            triple.head != triple.tail && !used.0[triple.head as usize] && !used.0[triple.tail as usize];
        is_new && (may_be_header(words) || (repeats && !used.1[triple.relation as usize]))
    };
    let headers: Vec<usize> = firsts
        .iter()
        .filter(|(number, words)| parts[*number].first().is_some_and(|triple| is_header(words, triple)))
        .map(|(number, _)| *number)
        .collect();
    if headers.is_empty() {
        return 0;
    }
    for number in &headers {
        parts[*number].remove(0);
    }
    let mut used = (vec![false; entities.names.len()], vec![false; relations.names.len()]);
    for triple in parts.iter().flatten() {
        (used.0[triple.head as usize], used.0[triple.tail as usize]) = (true, true);
        used.1[triple.relation as usize] = true;
    }
    let (of_entities, of_relations) = (entities.kept(&used.0), relations.kept(&used.1));
    for triple in parts.iter_mut().flatten() {
        triple.head = of_entities[triple.head as usize];
        triple.tail = of_entities[triple.tail as usize];
        triple.relation = of_relations[triple.relation as usize];
    }
    headers.len()
}

/// Reads the triples of one file; `take` says how many bytes it holds after each. A file without triples is fine.
///
/// # Errors
/// [`Error::Data`] with file and line.
pub fn read_triples(
    path: &Path,
    max_memory: Option<u64>,
    take: impl FnMut(Words) -> usize,
) -> Result<Format> {
    read_some(path, max_memory, usize::MAX, take)
}

/// [`read_triples`] for at most `most` triples.
fn read_some(
    path: &Path,
    max_memory: Option<u64>,
    most: usize,
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
        if count >= most {
            return Ok(format);
        }
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
