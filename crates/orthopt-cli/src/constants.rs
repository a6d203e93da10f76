//! Every constant of every solver and penalty as an option `--SOLVER-CONSTANT`, made from the registries. There
//! are too many for the help of a command: `--help-constants` and `orthopt list solver NAME` show them.

use clap::builder::{StringValueParser, TypedValueParser};
use clap::error::Result as ClapResult;
use clap::{Arg, ArgAction, ArgMatches, Command};
use orthopt::family::{all_constants, all_penalties, all_solvers};
use orthopt::options::{Given, Value};

use crate::describe;
use crate::options::Misread;

/// Heading of the options that print help.
pub const HELP: &str = "Help";

const OPTION: &str = "help-constants";

/// The command with `--help-constants` and an argument for every constant.
pub fn augment(command: Command) -> Command {
    let help = Arg::new(OPTION)
        .long(OPTION)
        .help("Print the constants of all solvers and penalties; each is an option")
        .action(ArgAction::SetTrue)
        .help_heading(HELP);
    command.arg(help).args(all_constants().into_iter().map(|c| {
        let (help, option) = (c.constant.line(), c.option.clone());
        let parse = move |text: String| c.constant.parse(&option, &text).map_err(Misread);
        Arg::new(c.option.clone())
            .long(c.option)
            .help(help)
            .value_parser(StringValueParser::new().try_map(parse))
            .value_name("VALUE")
            .action(ArgAction::Set)
            .allow_hyphen_values(true)
            .hide(true)
    }))
}

/// The constants that are typed.
///
/// # Errors
/// The help that is asked for.
pub fn given(matches: &ArgMatches) -> ClapResult<Given> {
    if matches.get_flag(OPTION) {
        Command::new("orthopt").override_help(help()).try_get_matches_from(["orthopt", "--help"])?; // a help is an error to clap
    }
    let given = |name: String| matches.get_one::<Value>(&name).map(|value| (name, *value));
    Ok(all_constants().into_iter().filter_map(|c| given(c.option)).collect())
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
