//! The options of the table ([`orthopt::request`]) as arguments of a command.

use std::error::Error as StdError;
use std::ffi::OsStr;

use clap::builder::{
    BoolValueParser, PathBufValueParser, PossibleValue, PossibleValuesParser, StringValueParser,
    TypedValueParser, ValueParser,
};
use clap::error::Result as ClapResult;
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint};
use orthopt::Error;
use orthopt::family::{Call, find_problem};
use orthopt::request::{Entry, FileUse, Group, Kind, OPTIONS, Request, Written};

use crate::constants;

/// The options that are typed; those of one call alone where `OF` is not [`ANY`].
#[derive(Clone, Debug, Default)]
pub struct Typed<const OF: u8 = ANY>(pub Request);

/// All options: those of other calls are refused with the reason.
const ANY: u8 = 0;
/// The options of [`Call::Certify`].
pub const OF_X: u8 = 1;
/// The options of [`Call::Explore`].
pub const OF_EXPLORE: u8 = 2;
/// Those of data and of what is minimised; the name of the problem is known.
pub const OF_PROOF: u8 = 3;

/// Groups of options that state what a proof is about.
const STATED: [Group; 3] = [Group::Data, Group::Table, Group::Problem];

/// Options of `certify` that have a shorter name there.
const RENAMED: [&str; 1] = ["certify-sample"];

impl<const OF: u8> Typed<OF> {
    fn entries() -> impl Iterator<Item = &'static Entry> {
        OPTIONS.iter().filter(|entry| match OF {
            OF_X => entry.calls.contains(&Call::Certify) && !RENAMED.contains(&entry.name),
            OF_EXPLORE => entry.calls.contains(&Call::Explore),
            OF_PROOF => {
                entry.calls.contains(&Call::BoundOfX)
                    && STATED.contains(&entry.group)
                    && entry.name != "problem"
            }
            _ => true,
        })
    }
}

impl<const OF: u8> clap::Args for Typed<OF> {
    fn augment_args(command: Command) -> Command {
        let has = |name: &&'static str| Self::entries().any(|entry| entry.name == *name);
        let args = Self::entries()
            .map(|entry| argument(entry).conflicts_with_all(entry.excludes.iter().copied().filter(has)));
        let command = command.args(args);
        if OF == OF_EXPLORE || OF == OF_PROOF { command } else { constants::augment(command) }
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const OF: u8> clap::FromArgMatches for Typed<OF> {
    fn from_arg_matches(matches: &ArgMatches) -> ClapResult<Self> {
        let constants =
            if OF == OF_EXPLORE || OF == OF_PROOF { Default::default() } else { constants::given(matches)? };
        let mut typed = Self(Request { constants, ..Request::default() });
        for entry in Self::entries() {
            let Some(values) = matches.get_many::<Written>(entry.name) else { continue };
            let mut values: Vec<Written> = values.cloned().collect();
            let value = if entry.kind == Kind::Files { Written::List(values) } else { values.swap_remove(0) };
            let _ = entry.set(&mut typed.0, &value); // the parser of the argument has seen to it
        }
        Ok(typed)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> ClapResult<()> {
        self.0 = Self::from_arg_matches(matches)?.0.over(&self.0);
        Ok(())
    }
}

/// The argument of an option.
pub fn argument(entry: &'static Entry) -> Arg {
    let mut arg = Arg::new(entry.name).value_name(entry.value).value_parser(parser(entry));
    arg = match entry.common {
        "" => arg.help(entry.help()),
        line => arg.help(line).long_help(entry.help()),
    };
    if !entry.positional {
        arg =
            arg.long(entry.name).help_heading(entry.group.heading()).hide_short_help(entry.common.is_empty());
    }
    if let Some(letter) = entry.short {
        arg = arg.short(letter);
    }
    if entry.file != FileUse::None {
        arg = arg.value_hint(ValueHint::FilePath);
    }
    match entry.kind {
        Kind::Flag => arg = arg.num_args(0..=1).require_equals(true).default_missing_value("true"),
        Kind::Files => arg = arg.num_args(1..).action(ArgAction::Append),
        Kind::Number if entry.alone.is_empty() => arg = arg.allow_hyphen_values(true),
        // names of columns and cells may begin with anything
        Kind::Text if entry.group == Group::Table => arg = arg.allow_hyphen_values(true),
        _ => {}
    }
    if !entry.alone.is_empty() {
        arg = arg.num_args(0..=1).default_missing_value(entry.alone).allow_negative_numbers(true);
    }
    arg.hide_possible_values(!entry.listed)
}

/// The parser of its value.
fn parser(entry: &'static Entry) -> ValueParser {
    if entry.name == "problem" {
        return Problem(entry).into();
    }
    if entry.choices.is_some() {
        return PossibleValuesParser::new(values(entry)).map(Written::Text).into();
    }
    match entry.kind {
        Kind::Flag => BoolValueParser::new().map(Written::Flag).into(),
        Kind::File | Kind::Files | Kind::Gram => PathBufValueParser::new().map(Written::Path).into(),
        _ => StringValueParser::new().try_map(|text: String| typed(entry, &text)).into(),
    }
}

/// A text that is no value of the option.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Misread(pub Error);

fn typed(entry: &Entry, text: &str) -> Result<Written, Box<dyn StdError + Send + Sync>> {
    let written = entry.typed(text)?;
    entry.set(&mut Request::default(), &written).map_err(Misread)?;
    Ok(written)
}

fn values(entry: &Entry) -> Vec<PossibleValue> {
    let choices = entry.choices.map_or_else(Vec::new, |choices| choices());
    choices.into_iter().map(|(name, doc)| PossibleValue::new(name).help(doc)).collect()
}

/// The name of a problem; one that is not known has the library's error, which says what each stands for.
#[derive(Clone, Copy)]
struct Problem(&'static Entry);

impl TypedValueParser for Problem {
    type Value = Written;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> ClapResult<Written> {
        let named = |name: &str| find_problem(name).map(|info| Written::Text(info.name.into()));
        StringValueParser::new().try_map(move |name| named(&name)).parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(values(self.0).into_iter()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orthopt_data::Missing;

    #[test]
    fn missing_values_have_the_names_of_those_who_read_the_data() {
        let entry = OPTIONS.iter().find(|entry| entry.name == "missing").unwrap();
        assert_eq!(entry.names(), Missing::NAMES.iter().map(|name| name.0).collect::<Vec<_>>());
    }
}
