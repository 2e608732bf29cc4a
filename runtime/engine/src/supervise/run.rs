//! The supervising loop of one pipeline.

use std::time::Duration;

use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use super::feed::{self, Event, Source};
use super::{Budget, Channel, Ended, Feed, Observer, Stage, Stop, Termination};
use crate::sys::{Guarded, descriptor};

/// Longest pause between two output notes of one channel.
const NOTE_INTERVAL: Duration = Duration::from_millis(250);
/// Between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_millis(500);
/// After all stages have ended: longest wait without a byte for the end of their pipes.
const QUIET: Duration = Duration::from_millis(500);
/// The same, in all.
const DRAIN: Duration = Duration::from_secs(2);
/// Longest wait for killed processes; the guard itself gives up after five seconds.
const REAP: Duration = Duration::from_millis(5_500);
/// Bytes kept from a side channel.
const SIDE_BYTES: usize = 64 * 1024;

/// Runs a pipeline to its end. On [`Stop`] everything has been killed and collected.
///
/// Counts every byte into `budget.total_used`. Cancelled by dropping.
pub async fn run<O: Observer>(
    stages: Vec<Stage>,
    feed: Option<Feed>,
    budget: &mut Budget,
    observer: &mut O,
) -> Result<Vec<Ended>, Stop<O::Error>> {
    let supervision = Supervision::start(stages, feed).map_err(Stop::Io)?;
    let mut watch = Watch {
        supervision,
        observer,
    };
    let result = watch.supervision.until_end(budget, watch.observer).await;
    if let Err(stop) = &result {
        let gentle = matches!(stop, Stop::WallTime | Stop::IdleTime);
        watch.supervision.shut_down(gentle).await;
    }
    result.map(|()| {
        let stages = watch.supervision.stages.iter_mut();
        stages
            .map(|watched| std::mem::take(&mut watched.ended))
            .collect()
    })
}

/// A run with its observer. However it ends, by a limit, by an error or dropped, the observer hears
/// of every byte that was read.
struct Watch<'a, O: Observer> {
    supervision: Supervision,
    observer: &'a mut O,
}

impl<O: Observer> Drop for Watch<'_, O> {
    fn drop(&mut self) {
        for stage in 0..self.supervision.stages.len() {
            for channel in [Channel::Stdout, Channel::Stderr] {
                // The run has ended already; an error can not end it once more.
                let _ = self.supervision.close_note(stage, channel, self.observer);
            }
        }
    }
}

struct Watched {
    process: Guarded,
    termination: Termination,
    ended: Ended,
    exited: bool,
    notes: [Note; 2],
}

impl Watched {
    fn note(&mut self, channel: Channel) -> &mut Note {
        let [stdout, stderr] = &mut self.notes;
        match channel {
            Channel::Stdout => stdout,
            Channel::Stderr => stderr,
        }
    }
}

/// Output that the observer has not heard of yet.
#[derive(Clone, Copy)]
struct Note {
    bytes: u64,
    open: bool,
    last_sent: Option<Instant>,
}

struct Supervision {
    stages: Vec<Watched>,
    events: Receiver<Event>,
    /// Aborted on drop, which closes their pipe ends.
    tasks: JoinSet<()>,
    open_pipes: usize,
    last_activity: Instant,
}

impl Supervision {
    fn start(stages: Vec<Stage>, feed: Option<Feed>) -> std::io::Result<Self> {
        let (sender, events) = mpsc::channel(8);
        let mut tasks = JoinSet::new();
        let mut open_pipes = 0;
        let mut watched = Vec::with_capacity(stages.len());
        for (index, mut stage) in stages.into_iter().enumerate() {
            let mut read = |pipe, source, sender: Sender<Event>| {
                open_pipes += 1;
                let pipe = descriptor::watch(pipe)?;
                tasks.spawn(feed::read_all(pipe, index, source, sender));
                std::io::Result::Ok(())
            };
            let has_stdout = stage.stdout.is_some();
            if let Some(pipe) = stage.stdout {
                read(pipe, Source::Output(Channel::Stdout), sender.clone())?;
            }
            read(
                stage.stderr,
                Source::Output(Channel::Stderr),
                sender.clone(),
            )?;
            let mut side = Vec::new();
            if let Some((bytes, pipe)) = stage.side {
                side = bytes;
                read(pipe, Source::Side, sender.clone())?;
            }
            if let Some(pipe) = stage.process.take_status_pipe() {
                tasks.spawn(feed::wait_end(
                    descriptor::watch(pipe)?,
                    index,
                    sender.clone(),
                ));
            }
            let note = |open| Note {
                bytes: 0,
                open,
                last_sent: None,
            };
            watched.push(Watched {
                process: stage.process,
                termination: stage.termination,
                ended: Ended {
                    status: None,
                    stdout: Default::default(),
                    stderr: Default::default(),
                    side,
                },
                exited: false,
                notes: [note(has_stdout), note(true)],
            });
        }
        if let Some(feed) = feed {
            tasks.spawn(feed::write_all(
                descriptor::watch(feed.pipe)?,
                feed.bytes,
                sender,
            ));
        }
        Ok(Self {
            stages: watched,
            events,
            tasks,
            open_pipes,
            last_activity: Instant::now(),
        })
    }

    async fn until_end<O: Observer>(
        &mut self,
        budget: &mut Budget,
        observer: &mut O,
    ) -> Result<(), Stop<O::Error>> {
        let idle_tick = budget
            .idle
            .map_or(NOTE_INTERVAL, |idle| (idle / 4).min(NOTE_INTERVAL));
        let mut tick = tokio::time::interval(idle_tick.max(Duration::from_millis(1)));
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut ended_at: Option<Instant> = None;
        loop {
            if ended_at.is_none() && self.all_exited() {
                ended_at = Some(Instant::now());
            }
            if let Some(ended_at) = ended_at {
                let quiet = self.last_activity.max(ended_at) + QUIET;
                if self.open_pipes == 0 || Instant::now() >= quiet.min(ended_at + DRAIN) {
                    // Only a process outside the guard's reach can still hold a pipe.
                    return self.close_notes(observer);
                }
            }
            // The clock comes first: a child that floods a pipe can not hold it back.
            tokio::select! {
                biased;
                () = sleep_until(budget.deadline) => return Err(Stop::WallTime),
                _ = tick.tick() => {
                    self.send_notes(observer)?;
                    let idle = budget.idle.is_some_and(|idle| self.last_activity.elapsed() >= idle);
                    if idle && ended_at.is_none() {
                        return Err(Stop::IdleTime);
                    }
                }
                event = self.events.recv() => match event {
                    Some(event) => self.take(event, budget, observer)?,
                    // All tasks have ended, and with them all pipes.
                    None => return self.close_notes(observer),
                },
            }
        }
    }

    fn all_exited(&self) -> bool {
        self.stages.iter().all(|stage| stage.exited)
    }

    fn take<O: Observer>(
        &mut self,
        event: Event,
        budget: &mut Budget,
        observer: &mut O,
    ) -> Result<(), Stop<O::Error>> {
        match event {
            Event::Fed => self.last_activity = Instant::now(),
            Event::Status { stage, status } => {
                if let Some(watched) = self.stages.get_mut(stage) {
                    watched.exited = true;
                    watched.ended.status = status;
                }
            }
            Event::Bytes {
                stage,
                source,
                data,
            } => {
                let Some(watched) = self.stages.get_mut(stage) else {
                    return Ok(());
                };
                let Source::Output(channel) = source else {
                    let room = SIDE_BYTES.saturating_sub(watched.ended.side.len());
                    watched.ended.side.extend(data.into_iter().take(room));
                    return Ok(());
                };
                self.last_activity = Instant::now();
                budget.total_used = budget.total_used.saturating_add(data.len() as u64);
                match channel {
                    Channel::Stdout => watched.ended.stdout.add(&data, budget.stdout_bytes),
                    Channel::Stderr => watched.ended.stderr.add(&data, budget.stderr_bytes),
                }
                watched.note(channel).bytes += data.len() as u64;
                if budget.total_used > budget.total_bytes {
                    return Err(Stop::TotalOutput(budget.total_used));
                }
            }
            Event::End { stage, source } => {
                self.open_pipes = self.open_pipes.saturating_sub(1);
                if let Source::Output(channel) = source {
                    return self.close_note(stage, channel, observer);
                }
            }
        }
        Ok(())
    }

    fn send_notes<O: Observer>(&mut self, observer: &mut O) -> Result<(), Stop<O::Error>> {
        let now = Instant::now();
        for (index, stage) in self.stages.iter_mut().enumerate() {
            for (note, channel) in stage
                .notes
                .iter_mut()
                .zip([Channel::Stdout, Channel::Stderr])
            {
                let due = note
                    .last_sent
                    .is_none_or(|sent| now - sent >= NOTE_INTERVAL);
                if note.open && note.bytes > 0 && due {
                    let bytes = std::mem::take(&mut note.bytes);
                    note.last_sent = Some(now);
                    observer
                        .output(index, channel, bytes, false)
                        .map_err(Stop::Observer)?;
                }
            }
        }
        Ok(())
    }

    fn close_note<O: Observer>(
        &mut self,
        stage: usize,
        channel: Channel,
        observer: &mut O,
    ) -> Result<(), Stop<O::Error>> {
        let Some(watched) = self.stages.get_mut(stage) else {
            return Ok(());
        };
        let note = watched.note(channel);
        if !std::mem::take(&mut note.open) {
            return Ok(());
        }
        observer
            .output(stage, channel, note.bytes, true)
            .map_err(Stop::Observer)
    }

    fn close_notes<O: Observer>(&mut self, observer: &mut O) -> Result<(), Stop<O::Error>> {
        for stage in 0..self.stages.len() {
            self.close_note(stage, Channel::Stdout, observer)?;
            self.close_note(stage, Channel::Stderr, observer)?;
        }
        Ok(())
    }

    /// Ends every process and waits until the guards have collected them (B5.6).
    async fn shut_down(&mut self, gentle: bool) {
        let mut asked = false;
        for stage in &mut self.stages {
            if gentle && stage.termination == Termination::Graceful && !stage.exited {
                stage.process.terminate();
                asked = true;
            } else {
                stage.process.kill();
            }
        }
        if asked {
            self.wait_for_exits(GRACE).await;
        }
        for stage in &mut self.stages {
            stage.process.kill();
        }
        self.wait_for_exits(REAP).await;
        self.tasks.abort_all();
    }

    async fn wait_for_exits(&mut self, bound: Duration) {
        let deadline = Instant::now() + bound;
        while !self.all_exited() {
            let event = tokio::select! {
                () = sleep_until(deadline) => return,
                event = self.events.recv() => event,
            };
            match event {
                Some(Event::Status { stage, status }) => {
                    if let Some(watched) = self.stages.get_mut(stage) {
                        watched.exited = true;
                        watched.ended.status = status;
                    }
                }
                // Output is read on, so that nothing blocks; it is counted and thrown away.
                Some(Event::Bytes {
                    stage,
                    source: Source::Output(channel),
                    data,
                }) => {
                    if let Some(watched) = self.stages.get_mut(stage) {
                        watched.note(channel).bytes += data.len() as u64;
                    }
                }
                Some(_) => {}
                None => return,
            }
        }
    }
}
