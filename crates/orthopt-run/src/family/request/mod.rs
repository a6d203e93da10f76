//! Options of users: [`OPTIONS`] declares every option once, and a [`Request`] holds their values. The command, Python, R
//! and C fill in a `Request` each; [`Request::checked`] fills in defaults, and problems, solvers and runs take it.

mod case;
mod declare;
mod table;
mod written;

pub use case::{Call, CallOptions, Case, Run};
pub use declare::{Choices, Entry, FileUse, Front, Group, IsFile, Kind, Of, find_option};
pub use table::{OPTIONS, Request};
pub use written::{Counts, Field, Gram, Input, OfMatrix, Rank, Size, Written};

use std::path::Path;

use super::catalogue::{all_constants, check_solvers, find_constant, parse_constants};
use super::rank::RankRule;
use super::{Limit, LinearInput};
use crate::search::Effort;
use crate::solvers::AUTO;
use orthopt_core::certify::Scope;
use orthopt_core::linear_map::AnyMap;
use orthopt_core::options::Given;
use orthopt_core::penalty::Shape;
use orthopt_core::problem::Between;
use orthopt_core::solve::Stopping;
use orthopt_core::start::Start;
use orthopt_linalg::RowMat;
use orthopt_linalg::error::{Error, Result};
use orthopt_linalg::message::Message;
use orthopt_solvers::obcd::{Obcd, ObcdOptions};

/// Share of the time limit of a bound that the search for its X has.
const SEARCH: f64 = 0.3;

impl Request {
    /// Nothing given, in a front end.
    pub fn of(front: Front) -> Self {
        Self { front, ..Self::default() }
    }

    /// Sets the option, or the constant of a solver or penalty, that the front end calls `name`.
    ///
    /// # Errors
    /// [`Error::UnknownName`] with names like it; [`Error::InvalidOption`] for a value of another kind.
    pub fn set(&mut self, name: &str, written: Written) -> Result<()> {
        let front = self.front;
        let called = |entry: &&Entry| entry.lacked_by(front).is_none() && entry.name_in(front) == name;
        let mut entries = OPTIONS.iter().filter(called).peekable();
        let expected = entries.peek().map(|entry| entry.expected(front));
        // files are named in the command
        let fits = |entry: &Entry| match entry.kind {
            Kind::File | Kind::Files | Kind::Gram if front != Front::Command => {
                matches!(written, Written::Matrix(_) | Written::Flag(_))
            }
            _ => true,
        };
        if let Some(expected) = expected {
            for entry in entries.filter(|entry| fits(entry)) {
                if entry.set(self, &written)? {
                    return Ok(());
                }
            }
            return Err(invalid(name, &written.to_string(), &expected));
        }
        let owned = |c: &super::NamedConstant| name.starts_with(&c.owner.replace('-', "_"));
        if !all_constants().iter().any(owned) {
            let known = match similar(name, front)[..] {
                [] => "the arguments of this function, and SOLVER_CONSTANT for every constant of a solver or penalty".into(),
                ref near => format!("{}, ...", near.join(", ")),
            };
            return Err(Error::UnknownName { kind: "option", name: name.into(), known });
        }
        let text = written.to_string();
        if matches!(written, Written::List(_) | Written::Matrix(_)) {
            return Err(invalid(name, &text, "a number, yes or no, or a name"));
        }
        let given = parse_constants([(name.replace('_', "-").as_str(), text)])?;
        given.iter().for_each(|(name, value)| self.constants.insert(name, value));
        Ok(())
    }

    /// Names of the options that are given: neither left open nor what holds where nothing is said.
    pub fn given(&self) -> Vec<&'static str> {
        self.given_of(&[Of::Data, Of::Problem, Of::Run])
    }

    /// Names of such options that depend on these parts of a case.
    pub fn given_of(&self, parts: &[Of]) -> Vec<&'static str> {
        let of_parts = OPTIONS.iter().filter(|entry| parts.contains(&entry.of));
        let given = |entry: &&Entry| entry.get(self).is_some_and(|value| !entry.is_default(&value));
        of_parts.filter(given).map(|entry| entry.name).collect()
    }

    /// The options given here, and the other ones given there.
    #[must_use]
    pub fn over(mut self, other: &Self) -> Self {
        for entry in OPTIONS {
            if let (None, Some(value)) = (entry.get(&self), entry.get(other)) {
                let _ = entry.set(&mut self, &value); // the value of such a field
            }
        }
        let mut constants = other.constants.clone();
        self.constants.iter().for_each(|(name, value)| constants.insert(name, value));
        Self { constants, ..self }
    }

    /// Fills in what holds where nothing is said.
    pub fn fill(&mut self) {
        for entry in OPTIONS.iter().filter(|entry| !entry.default.is_empty()) {
            if let (None, Ok(value)) = (entry.get(self), entry.typed(entry.default)) {
                let _ = entry.set(self, &value); // a test sets every default
            }
        }
    }

    /// Takes the matrices that options name by a file from `read`, which receives the option and the file.
    ///
    /// # Errors
    /// What `read` says.
    pub fn load<E>(
        &mut self,
        read: impl Fn(&'static str, &Path) -> std::result::Result<RowMat, E>,
    ) -> std::result::Result<(), E>
    where
        E: From<Error>,
    {
        for entry in OPTIONS.iter().filter(|entry| entry.matrix.is_some()) {
            if let Some(Written::Path(path)) = entry.get(self) {
                entry.set(self, &Written::Matrix(read(entry.name, &path)?.into()))?;
            }
        }
        Ok(())
    }

    /// The request with what holds where nothing is said.
    ///
    /// # Errors
    /// A value out of range, a name that does not exist, a file that was not read, options that exclude each other.
    pub fn checked(mut self) -> Result<Self> {
        self.fill();
        self.check()?;
        self.solver = self.solver.filter(|name| name != AUTO.0);
        self.solver.as_deref().map_or(Ok(()), check_solvers)?;
        check_pairs(&self)?;
        self.show_scree |= self.plot_scree.is_some();
        Ok(self)
    }

    /// Gives the search for the X of a bound its share of these seconds, in which it ends by itself where it can.
    pub fn search_before_a_bound(&mut self, seconds: f64) {
        self.time_limit = Some(SEARCH * seconds);
        self.effort.get_or_insert(Effort::Normal);
    }

    /// Ranges of numbers, and options that exclude each other.
    fn check(&self) -> Result<()> {
        for entry in OPTIONS {
            let Some(value) = entry.get(self) else { continue };
            if let (Written::Path(path), true) = (&value, entry.matrix.is_some()) {
                let expected = "a matrix: this file was not read";
                return Err(invalid(&entry.name_in(self.front), &path.display().to_string(), expected));
            }
            let number = match value {
                Written::Number(v) => Some(v),
                Written::Whole(v) => Some(v as f64),
                _ => None,
            };
            if let (Some(v), Some(least)) = (number, entry.least)
                && !(v.is_finite() && v >= least)
            {
                let name = entry.name_in(self.front);
                return Err(invalid(&name, &value.to_string(), &entry.expected(self.front)));
            }
            let other = OPTIONS.iter().find(|o| entry.excludes.contains(&o.name) && o.get(self).is_some());
            if let Some(other) = other {
                let message = Message::about(entry.name).text(" and ").option(other.name);
                let why = " exclude each other: give one of them, not several";
                return Err(Error::Incompatible(message.text(why)));
            }
        }
        Ok(())
    }

    /// Number of components, if it is given or known from the rule.
    pub fn rank(&self) -> Option<usize> {
        match self.rank {
            Some(Rank::Given(rank)) => Some(rank),
            Some(Rank::By(_)) => self.scree.as_ref().map(|scree| scree.rank),
            None => None,
        }
    }

    /// The rule for the number of components, instead of a number.
    pub fn rank_rule(&self) -> Option<RankRule> {
        match self.rank {
            Some(Rank::By(rule)) => Some(rule),
            _ => None,
        }
    }

    /// The limit on nonzeros.
    pub fn limit(&self) -> Option<Limit> {
        let counts = self.nonzeros.clone().map(|counts| match counts {
            Counts::Given(list) => Limit::Nonzeros(list),
            Counts::Auto => Limit::Knee,
        });
        counts.or(self.total_nonzeros.map(Limit::Total)).or(self.variables.map(Limit::Variables))
    }

    /// Sets the limit on nonzeros.
    pub fn set_limit(&mut self, limit: Option<Limit>) {
        (self.nonzeros, self.total_nonzeros, self.variables) = (None, None, None);
        match limit {
            None => {}
            Some(Limit::Nonzeros(list)) => self.nonzeros = Some(Counts::Given(list)),
            Some(Limit::Knee) => self.nonzeros = Some(Counts::Auto),
            Some(Limit::Total(most)) => self.total_nonzeros = Some(most),
            Some(Limit::Variables(most)) => self.variables = Some(most),
        }
    }

    /// The same request with another limit on nonzeros.
    #[must_use]
    pub fn with_limit(mut self, limit: Option<Limit>) -> Self {
        self.set_limit(limit);
        self
    }

    /// Relation between two components.
    pub fn between(&self) -> Between {
        self.constraint.unwrap_or_default()
    }

    /// The linear map inside the penalty.
    pub fn map(&self) -> Option<&AnyMap> {
        self.map.as_ref().and_then(Input::value)
    }

    /// E of ⟨E, X⟩.
    pub fn linear(&self) -> Option<&LinearInput> {
        self.linear.as_ref().and_then(Input::value)
    }

    /// B of ‖AX − B‖.
    pub fn target(&self) -> Option<&RowMat> {
        self.target.as_ref().and_then(Input::value)
    }

    /// The starting point.
    pub fn start(&self) -> Option<&Start> {
        self.init.as_ref().and_then(Input::value)
    }

    /// Bytes that the problem may take; any number if `None`.
    pub fn memory(&self) -> Option<u64> {
        self.max_memory.map(|size| size.0)
    }

    /// Constants of penalties.
    pub fn shape(&self) -> Shape {
        self.constants.filtered(is_of_penalty)
    }

    /// Constants of solvers.
    pub fn solver_constants(&self) -> Given {
        self.constants.filtered(|name| !is_of_penalty(name))
    }

    /// Seed of all random choices.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or_default()
    }

    /// When a run ends.
    pub fn stopping(&self) -> Stopping {
        Stopping {
            max_iters: self.max_iters,
            time_limit: self.time_limit,
            tol: self.tol.unwrap_or_default(),
            min_decrease: self.min_decrease.unwrap_or_default(),
        }
    }

    /// The pairs of rows that are checked afterwards.
    pub fn scope(&self) -> Option<Scope> {
        match (self.certify, self.certify_sample) {
            // certify = false in front of a sample from a config file switches it off
            (Some(false), _) => None,
            (_, Some(pairs)) => Some(Scope::Sample { pairs, seed: self.seed() }),
            (certify, None) => (certify == Some(true)).then_some(Scope::All),
        }
    }

    /// The file of C, where there is one.
    pub fn gram_file(&self) -> Option<&Path> {
        match &self.gram {
            Some(Gram::File(path)) => Some(path),
            _ => None,
        }
    }
}

fn is_of_penalty(name: &str) -> bool {
    find_constant(name).is_ok_and(|c| c.of_penalty)
}

fn invalid(option: &str, value: &str, expected: &str) -> Error {
    Error::InvalidOption { option: option.into(), value: value.into(), expected: expected.into() }
}

/// The solver checks its options; doing it now spares reading the data first.
fn check_pairs(wanted: &Request) -> Result<()> {
    let defaults = ObcdOptions::default();
    Obcd::new(ObcdOptions {
        block: wanted.block.unwrap_or(defaults.block),
        alpha: wanted.alpha.unwrap_or(defaults.alpha),
        candidates: wanted.candidates,
        ..defaults
    })
    .map(drop)
}

/// Names of options and constants in a front end that are like this one, the nearest first.
pub fn similar(name: &str, front: Front) -> Vec<String> {
    let known = OPTIONS.iter().filter(|entry| entry.lacked_by(front).is_none());
    let known =
        known.map(|entry| entry.name_in(front)).chain(all_constants().into_iter().map(|c| match front {
            Front::Command => c.option,
            _ => c.option.replace('-', "_"),
        }));
    let near =
        |other: &String| distance(name, other).min(if other.starts_with(name) { 1 } else { usize::MAX });
    let mut known: Vec<(usize, String)> = known.map(|other| (near(&other), other)).collect();
    known.retain(|(far, _)| *far <= 1 + name.chars().count() / 5);
    known.sort();
    known.dedup();
    known.into_iter().map(|(_, other)| other).take(5).collect()
}

/// Letters to change, leave out or put in to make one text of another.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let changed = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text that an option takes.
    fn a_text(option: &str) -> &'static str {
        match option {
            "constraint" => "both",
            "maximise" => "polar",
            "order" => "sequential",
            "map" => "differences",
            "linear" => "randn:3",
            "component-weights" => "2,1",
            "init" => "random",
            "candidates" => "all",
            _ => "word",
        }
    }

    /// Every option takes what it gives, in every front end that has it, and nothing is given where nothing is set.
    #[test]
    fn every_option_is_set_and_read() {
        for front in [Front::Command, Front::Python, Front::R] {
            for entry in OPTIONS {
                let written = match (entry.kind, entry.names().last()) {
                    (_, Some(name)) => Written::Text((*name).into()),
                    (Kind::Flag, _) => Written::Flag(true),
                    (Kind::Whole, _) => Written::Whole(3),
                    (Kind::Number, _) => Written::Number(0.25),
                    (Kind::Text, _) => Written::Text(a_text(entry.name).into()),
                    (Kind::Gram, _) if front != Front::Command => Written::Flag(true),
                    (Kind::File | Kind::Files, _)
                        if front != Front::Command && entry.lacked_by(front).is_none() =>
                    {
                        let set =
                            Request::of(front).set(&entry.name_in(front), Written::Text("file.npy".into()));
                        assert!(matches!(set, Err(Error::InvalidOption { .. })), "{}", entry.name);
                        continue;
                    }
                    (Kind::File | Kind::Gram, _) => Written::Path("file.npy".into()),
                    (Kind::Files, _) => {
                        Written::List(vec![Written::Path("a".into()), Written::Path("b".into())])
                    }
                    (Kind::Counts, _) => Written::List(vec![Written::Whole(2), Written::Whole(1)]),
                    (Kind::Rank, _) => Written::Text("auto".into()),
                    (Kind::Size, _) => Written::Text("8000".into()),
                };
                let mut request = Request::of(front);
                match (request.set(&entry.name_in(front), written.clone()), entry.lacked_by(front)) {
                    (Ok(()), None) => {
                        assert_eq!(entry.get(&request), Some(written), "{}", entry.name);
                        assert_eq!(request.given(), [entry.name]);
                        entry.clear(&mut request);
                        assert!(request.given().is_empty() && entry.get(&request).is_none());
                    }
                    (Err(Error::UnknownName { .. }), Some(why)) => assert!(!why.is_empty()),
                    (other, lacked) => panic!("{front:?} {}: {other:?} {lacked:?}", entry.name),
                }
            }
        }
    }

    #[test]
    fn defaults_are_not_given() {
        let mut request = Request::default();
        request.fill();
        assert_eq!((request.tol, request.seed), (Some(1e-9), Some(0)));
        assert!(request.given().is_empty(), "{:?}", request.given());
        assert!(OPTIONS.iter().all(|e| e.default.is_empty() || e.get(&request).is_some()));
    }

    #[test]
    fn what_is_given_wins_over_what_a_file_says() {
        let file =
            Request { rank: Some(2.into()), lambda: Some(1.0), center: Some(true), ..Request::default() };
        let typed = Request { rank: Some(4.into()), center: Some(false), ..Request::default() };
        let both = typed.over(&file);
        assert_eq!((both.rank, both.lambda, both.center), (Some(4.into()), Some(1.0), Some(false)));
    }

    #[test]
    fn ranges_and_exclusions() {
        let refused = |name: &str, value: Written| {
            let mut request = Request::of(Front::Python);
            request.set(name, value).and_then(|()| request.checked().map(drop)).unwrap_err().to_string()
        };
        assert_eq!(refused("lam", Written::Number(-1.0)), "lam is -1: expected a finite number >= 0");
        assert_eq!(refused("max_iters", Written::Whole(0)), "max_iters is 0: expected a whole number >= 1");
        assert!(refused("rank", Written::Number(1.5)).contains("a whole number"));
        assert!(refused("ranc", Written::Whole(1)).contains("choose one of: rank"));
        let request = Request { lambda: Some(1.0), lambda_share: Some(0.1), ..Request::default() };
        assert!(matches!(request.checked(), Err(Error::Incompatible(_))));
    }

    #[test]
    fn an_option_alone_stands_for_a_value() {
        let mut request = Request::of(Front::R);
        request.set("bound", Written::Flag(true)).unwrap();
        request.set("certify", Written::Whole(5)).unwrap();
        assert_eq!((request.bound, request.certify_sample, request.certify), (Some(60.0), Some(5), None));
        let mut request = Request::of(Front::Python);
        request.set("bound", Written::Flag(false)).unwrap();
        request.set("certify", Written::Flag(true)).unwrap();
        assert_eq!((request.bound, request.certify_sample, request.certify), (None, None, Some(true)));
    }

    #[test]
    fn names_that_are_near_come_first() {
        assert_eq!(similar("lamda", Front::Command)[0], "lambda");
        assert_eq!(similar("scad_b", Front::R)[0], "scad_a");
        assert!(similar("no_such_option", Front::Python).is_empty());
    }
}
