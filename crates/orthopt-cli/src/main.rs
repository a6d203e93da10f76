//! The command `orthopt`: all of it is in the library beside it.

fn main() -> std::process::ExitCode {
    orthopt_cli::command(std::env::args_os().collect()).into()
}
