//! The tasks that move bytes between pipes and the supervising loop.

use std::io;
use std::os::fd::OwnedFd;

use nix::errno::Errno;
use tokio::io::unix::AsyncFd;
use tokio::sync::mpsc::Sender;

use super::{Channel, WaitStatus};
use crate::sys::launch;

/// Bytes read at a time.
const CHUNK: usize = 64 * 1024;

/// Where bytes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Output(Channel),
    Side,
}

/// What the tasks report.
#[derive(Debug)]
pub(super) enum Event {
    Bytes {
        stage: usize,
        source: Source,
        data: Vec<u8>,
    },
    End {
        stage: usize,
        source: Source,
    },
    Fed,
    Status {
        stage: usize,
        status: Option<WaitStatus>,
    },
}

/// One read: `Ok(0)` is the end of the pipe.
pub(crate) async fn read_some(pipe: &AsyncFd<OwnedFd>, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        let mut ready = pipe.readable().await?;
        let attempt =
            ready.try_io(|pipe| nix::unistd::read(pipe.get_ref(), buffer).map_err(io::Error::from));
        match attempt {
            Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(result) => return result,
            Err(_would_block) => {}
        }
    }
}

/// Reports everything until the end of the pipe. A read error counts as its end.
pub(super) async fn read_all(
    pipe: AsyncFd<OwnedFd>,
    stage: usize,
    source: Source,
    events: Sender<Event>,
) {
    let mut buffer = vec![0_u8; CHUNK];
    while let Ok(read @ 1..) = read_some(&pipe, &mut buffer).await {
        let data = buffer.get(..read).unwrap_or_default().to_vec();
        if events
            .send(Event::Bytes {
                stage,
                source,
                data,
            })
            .await
            .is_err()
        {
            return;
        }
    }
    let _ = events.send(Event::End { stage, source }).await;
}

/// Writes all bytes, then closes the pipe. A reader that has gone is no error.
pub(super) async fn write_all(pipe: AsyncFd<OwnedFd>, bytes: Vec<u8>, events: Sender<Event>) {
    let mut rest = bytes.as_slice();
    while !rest.is_empty() {
        let Ok(mut ready) = pipe.writable().await else {
            return;
        };
        let attempt =
            ready.try_io(|pipe| nix::unistd::write(pipe.get_ref(), rest).map_err(io::Error::from));
        match attempt {
            Ok(Ok(written)) => {
                rest = rest.get(written..).unwrap_or_default();
                if events.send(Event::Fed).await.is_err() {
                    return;
                }
            }
            Ok(Err(error)) if error.raw_os_error() == Some(Errno::EINTR as i32) => {}
            Ok(Err(_)) => return,
            Err(_would_block) => {}
        }
    }
}

/// Reports the end of a stage: the guard's record, or `None` when the guard ended without one.
pub(super) async fn wait_end(pipe: AsyncFd<OwnedFd>, stage: usize, events: Sender<Event>) {
    let mut record = [0_u8; 8];
    // The guard writes the record at once and whole.
    let status = match read_some(&pipe, &mut record).await {
        Ok(8) => launch::decode_status(record),
        _ => None,
    };
    let _ = events.send(Event::Status { stage, status }).await;
}
