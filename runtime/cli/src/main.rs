//! The program; everything it does is in the library beside it.

fn main() -> std::process::ExitCode {
    chatmd::main()
}
