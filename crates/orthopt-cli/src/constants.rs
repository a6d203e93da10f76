//! Every constant of every solver as an option `--SOLVER-CONSTANT`, and every shape parameter of a
//! penalty as `--PENALTY-PARAMETER`, made from the registries.

use std::collections::BTreeMap;

use clap::error::Result as ClapResult;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use orthopt::family::{all_shapes, all_solvers};
use orthopt::options::Constant;
use serde::{Deserialize, Serialize};

/// The constants that were set: `solver-constant` to value. In a config file a table of that
/// name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Constants(pub BTreeMap<String, f64>);

impl Constants {
    /// Whether none was set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first name that is no constant of any solver (config files can have such).
    pub fn unknown(&self) -> Option<&str> {
        self.0.keys().map(String::as_str).find(|key| all().all(|(name, _)| name != *key))
    }
}

/// The part of them that belongs to penalties.
pub fn is_shape(name: &str) -> bool {
    all_shapes().any(|(owner, c)| name == format!("{owner}-{}", c.name))
}

/// All constants with the names of their options.
pub fn all() -> impl Iterator<Item = (String, &'static Constant)> {
    let of_solvers = all_solvers().into_iter().flat_map(|s| s.2.iter().map(move |c| (s.0, c)));
    of_solvers.chain(all_shapes()).map(|(owner, c)| (format!("{owner}-{}", c.name), c))
}

impl clap::Args for Constants {
    fn augment_args(command: Command) -> Command {
        command.args(all().map(|(name, constant)| {
            let default = match constant.default {
                Some(value) => format!("{} [default: {value}]", constant.doc),
                None => constant.doc.to_string(),
            };
            Arg::new(name.clone())
                .long(name)
                .help(default)
                .value_name("VALUE")
                .action(ArgAction::Set)
                .allow_hyphen_values(true)
                .value_parser(value_parser!(f64))
                .help_heading("Constants of solvers and penalties")
                .hide_short_help(true)
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for Constants {
    fn from_arg_matches(matches: &ArgMatches) -> ClapResult<Self> {
        let given = |name: String| matches.get_one::<f64>(&name).map(|value| (name, *value));
        Ok(Self(all().filter_map(|(name, _)| given(name)).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> ClapResult<()> {
        self.0.extend(Self::from_arg_matches(matches)?.0);
        Ok(())
    }
}
