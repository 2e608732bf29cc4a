//! Frames from the reading thread as a stream of bytes for the framework.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::mpsc;

/// Frames that may wait between the threads.
const CAPACITY: usize = 64;

/// The reading end.
pub struct Input {
    frames: mpsc::Receiver<Vec<u8>>,
    current: Vec<u8>,
    at: usize,
}

/// A channel of frames and the stream of their bytes.
pub fn channel() -> (mpsc::Sender<Vec<u8>>, Input) {
    let (sender, frames) = mpsc::channel(CAPACITY);
    let input = Input {
        frames,
        current: Vec::new(),
        at: 0,
    };
    (sender, input)
}

impl AsyncRead for Input {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        if self.at >= self.current.len() {
            match ready!(self.frames.poll_recv(context)) {
                Some(frame) => {
                    self.current = frame;
                    self.at = 0;
                }
                None => return Poll::Ready(Ok(())),
            }
        }
        let rest = self.current.get(self.at..).unwrap_or_default();
        let count = rest.len().min(out.remaining());
        out.put_slice(rest.get(..count).unwrap_or_default());
        self.at += count;
        Poll::Ready(Ok(()))
    }
}
