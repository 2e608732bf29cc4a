//! The end of the process (spec 11 section 1.2): whoever has a reason to end it says so here, and
//! the main thread leaves, whatever the other threads wait for.

use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};

/// Success: `exit` after `shutdown`.
pub const OK: u8 = 0;
/// Every other end.
pub const FAILED: u8 = 1;
/// Wrong use of the program.
pub const USAGE: u8 = 2;

/// How long the last answers may take to be written.
pub const DRAIN: Duration = Duration::from_millis(50);
/// How often the parent process is looked for.
const PARENT_INTERVAL: Duration = Duration::from_secs(3);

/// Says that the process ends.
#[derive(Clone)]
pub struct End(Sender<u8>);

impl End {
    /// A way to end the process and the place to wait for it.
    pub fn new() -> (Self, Receiver<u8>) {
        let (sender, receiver) = bounded(1);
        (Self(sender), receiver)
    }

    /// Ends the process with that code; the first call decides.
    pub fn with(&self, code: u8) {
        let _ = self.0.try_send(code);
    }
}

/// Ends the process soon after its parent is gone.
pub fn watch_parent(process: u32, end: End) {
    let watch = move || {
        while is_alive(process) {
            std::thread::sleep(PARENT_INTERVAL);
        }
        end.with(FAILED);
    };
    let _ = std::thread::Builder::new()
        .name("parent watch".to_owned())
        .spawn(watch);
}

#[cfg(unix)]
fn is_alive(process: u32) -> bool {
    use nix::errno::Errno;
    use nix::sys::signal::kill;
    use nix::unistd::Pid;
    let Ok(process) = i32::try_from(process) else {
        return true;
    };
    // Zero and one would name a group and the first process: no parent to watch.
    process <= 1 || kill(Pid::from_raw(process), None) != Err(Errno::ESRCH)
}

#[cfg(not(unix))]
fn is_alive(_: u32) -> bool {
    // The closed input tells on systems without signals.
    true
}
