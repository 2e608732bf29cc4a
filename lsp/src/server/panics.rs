//! Where a panic happened: its place goes to the log, its message, which may quote a document, goes
//! nowhere (spec 11 section 2.4).

use std::cell::RefCell;

use super::log::Log;

thread_local! {
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// From now on panics are logged by their place alone.
pub fn install(log: Log) {
    std::panic::set_hook(Box::new(move |info| {
        let place = info
            .location()
            .map(|at| format!("{}:{}", at.file(), at.line()));
        let place = place.unwrap_or_else(|| "an unknown place".to_owned());
        log.error(&format!("a panic at {place}"));
        // A thread that ends has no such place any more.
        let _ = LAST.try_with(|last| last.replace(Some(place)));
    }));
}

/// The place of the last panic of this thread, once.
pub fn take_place() -> String {
    let last = LAST.try_with(RefCell::take).ok().flatten();
    last.unwrap_or_else(|| "an unknown place".to_owned())
}
