//! Arguments in, exit code out.

fn main() -> std::process::ExitCode {
    stamp_rally::cli::run()
}
