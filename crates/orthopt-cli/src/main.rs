//! The command `orthopt`: all of it is in the library beside it.

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    orthopt_cli::command(std::env::args_os().collect()).into()
}
