//! Every constant of every solver and penalty as an option `--SOLVER-CONSTANT`, made from the registries. There
//! are too many for the help of a command: `--help-constants` and `orthopt list solver NAME` show them.

use std::collections::BTreeMap;

use clap::error::{ErrorKind, Result as ClapResult};
use clap::{Arg, ArgAction, ArgMatches, Command};
use orthopt::family::{all_constants, all_penalties, all_solvers, find_constant, parse_constants};
use orthopt::options::Given;
use serde::{Deserialize, Serialize};

use crate::configured::HELP;
use crate::describe;

/// Constants as given on the command line or in a config file, `solver-constant` to value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Constants(pub BTreeMap<String, Written>);

/// A value as it was written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Written {
    Flag(bool),
    Whole(i64),
    Number(f64),
    Text(String),
}

impl Written {
    /// Value on the command line in the form of a config file.
    fn typed(text: &str) -> Self {
        let flag = text.parse().ok().map(Self::Flag);
        let whole = || text.parse().ok().map(Self::Whole);
        let number = || text.parse().ok().map(Self::Number);
        flag.or_else(whole).or_else(number).unwrap_or_else(|| Self::Text(text.into()))
    }

    fn text(&self) -> String {
        match self {
            Self::Flag(v) => v.to_string(),
            Self::Whole(v) => v.to_string(),
            Self::Number(v) => v.to_string(),
            Self::Text(v) => v.clone(),
        }
    }
}

impl Constants {
    /// True if none was set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Their values, those of solvers and those of penalties.
    ///
    /// # Errors
    /// A constant that does not exist (config files can have such), a value that is out of range.
    pub fn parse(&self) -> orthopt::Result<(Given, Given)> {
        let all = parse_constants(self.0.iter().map(|(name, value)| (name.as_str(), value.text())))?;
        let of_penalty = |name: &str| find_constant(name).is_ok_and(|c| c.of_penalty);
        Ok((all.filtered(|name| !of_penalty(name)), all.filtered(of_penalty)))
    }
}

const OPTION: &str = "help-constants";

impl clap::Args for Constants {
    fn augment_args(command: Command) -> Command {
        let help = Arg::new(OPTION)
            .long(OPTION)
            .help("Print the constants of all solvers and penalties (each is an option) and stop")
            .action(ArgAction::SetTrue)
            .help_heading(HELP);
        command.arg(help).args(all_constants().into_iter().map(|c| {
            Arg::new(c.option.clone())
                .long(c.option)
                .help(describe::line(&c.constant))
                .value_name("VALUE")
                .action(ArgAction::Set)
                .allow_hyphen_values(true)
                .hide(true)
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for Constants {
    fn from_arg_matches(matches: &ArgMatches) -> ClapResult<Self> {
        if matches.get_flag(OPTION) {
            return Err(clap::Error::raw(ErrorKind::DisplayHelp, help()));
        }
        let given = |name: String| {
            let text = matches.get_one::<String>(&name)?;
            Some((name, Written::typed(text)))
        };
        Ok(Self(all_constants().into_iter().filter_map(|c| given(c.option)).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> ClapResult<()> {
        self.0.extend(Self::from_arg_matches(matches)?.0);
        Ok(())
    }
}

/// All constants, under the solvers and penalties that have them.
fn help() -> String {
    let solvers = all_solvers().into_iter().map(|s| (s.name, s.doc, s.constants));
    let penalties = all_penalties().into_iter().map(|p| (p.name, p.doc, p.constants));
    let parts = solvers.chain(penalties).filter(|(_, _, constants)| !constants.is_empty());
    parts
        .map(|(name, doc, constants)| format!("{name}: {doc}\n{}\n", describe::table(name, constants)))
        .collect()
}
