//! The command `orthopt`: all of it is in the library beside it.

fn main() -> std::process::ExitCode {
    orthopt_cli::main()
}
