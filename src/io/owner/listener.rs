//! The owner's ear: it takes the commands of other processes of the same user, each on a thread of its own.

use std::fs;
use std::io::{self, Read};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener as StdListener, UnixStream};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::net::UnixListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::address::{make_folder, own_user};
use super::frames::{read_frame, write_frame};
use super::guest::GuestOutput;
use super::messages::{ClientMessage, OwnerKind, OwnerMessage, PROTOCOL, Taker};
use crate::io::performing::Ending;
use crate::io::system::words::system_words;
use crate::io::visits::Hand;

/// Processes that are attended at the same time.
const GUESTS_MAX: usize = 64;
/// How long a process may take to say who it is.
const HELLO_TIME: Duration = Duration::from_secs(10);

/// Does what a command line says; returns the message that it ended with.
pub type RunCommand = dyn Fn(Vec<String>, Rc<GuestOutput>, Hand) -> OwnerMessage + Send + Sync;

/// The owner's ear. Other processes find it until it is closed.
#[derive(Debug)]
pub struct Listener {
    socket: PathBuf,
    accepting: JoinHandle<()>,
    guests: Arc<Guests>,
}

/// Those who are attended.
#[derive(Debug, Default)]
struct Guests {
    /// Connections, also of those who have not said who they are.
    attended: AtomicUsize,
    /// Those who have said it: the end of this process waits for them.
    served: AtomicUsize,
    /// Nobody is served any more who is not yet.
    closed: AtomicBool,
    hands: watch::Sender<Vec<(Hand, UnixStream)>>,
    /// Those who wait for the end: they notice it when their connection closes.
    waiting: watch::Sender<Vec<UnixStream>>,
    /// Who takes the store over.
    taker: watch::Sender<Option<(UnixStream, Taker)>>,
}

/// What the owner does for others.
#[derive(Clone)]
struct Service {
    kind: OwnerKind,
    hand: Hand,
    run: Arc<RunCommand>,
    guests: Arc<Guests>,
}

impl Listener {
    /// Begins to listen at a socket. The caller has the store open, so whatever is at the socket's place was left by a
    /// process that ended. Needs a tokio runtime around it. An error is a sentence.
    pub fn start(
        socket: &Path,
        kind: OwnerKind,
        hand: Hand,
        run: Arc<RunCommand>,
    ) -> Result<Self, String> {
        let cannot = |error: io::Error| {
            format!(
                "no other command can reach this one: {} cannot be used: {}",
                socket.display(),
                system_words(&error)
            )
        };
        make_folder(socket)?;
        match fs::remove_file(socket) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(cannot(error)),
            Ok(()) | Err(_) => {}
        }
        let listener = StdListener::bind(socket).map_err(cannot)?;
        listener.set_nonblocking(true).map_err(cannot)?;
        let listener = UnixListener::from_std(listener).map_err(cannot)?;
        let guests = Arc::<Guests>::default();
        let service = Service { kind, hand, run, guests: Arc::clone(&guests) };
        let accepting = tokio::spawn(async move {
            loop {
                match listener.accept().await {
                    Ok((stream, _)) => service.welcome(stream),
                    // Too many open files, say: that passes.
                    Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
                }
            }
        });
        Ok(Self { socket: socket.into(), accepting, guests })
    }

    /// How many commands of others run.
    pub fn guests(&self) -> usize {
        self.guests.served.load(Ordering::SeqCst)
    }

    /// Is not found any more; what runs goes on.
    pub fn close(&self) {
        // Once only: by the second time another process may listen there.
        if !self.guests.closed.swap(true, Ordering::SeqCst) {
            self.accepting.abort();
            fs::remove_file(&self.socket).ok();
        }
    }

    /// A way to tell all commands of others to end.
    pub fn canceller(&self) -> impl Fn() + Send + use<> {
        let guests = Arc::clone(&self.guests);
        move || guests.hands.borrow().iter().for_each(|(hand, _)| hand.cancel())
    }

    /// Ends the connections of those who do not read what they asked for.
    pub fn shut_guests(&self) {
        for (_, stream) in self.guests.hands.borrow().iter() {
            // It has ended already, then.
            stream.shutdown(Shutdown::Both).ok();
        }
    }

    /// Tells commands of others to end: all, or those that do not end by themselves.
    pub fn cancel_guests(&self, all: bool) {
        for (hand, _) in self.guests.hands.borrow().iter() {
            if all || hand.is_endless() {
                hand.cancel();
            }
        }
    }

    /// The store is free: whoever takes it over is told so, and whoever waits for the end notices it. Returns the
    /// connection to who takes it over; it closes when that process gives the store back or ends.
    pub fn release(self) -> Option<(UnixStream, Taker)> {
        self.close();
        let (mut stream, taker) = self.guests.taker.send_replace(None)?;
        write_frame(&mut stream, &OwnerMessage::Yours).ok().map(|()| (stream, taker))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.close();
        self.guests.waiting.send_replace(Vec::new());
    }
}

impl Service {
    /// Attends a process on a thread of its own, if it is of this user.
    fn welcome(&self, stream: tokio::net::UnixStream) {
        if !stream.peer_cred().is_ok_and(|peer| peer.uid() == own_user()) {
            return;
        }
        let Ok(stream) = stream.into_std().and_then(|stream| {
            stream.set_nonblocking(false)?;
            Ok(stream)
        }) else {
            return;
        };
        if self.guests.attended.fetch_add(1, Ordering::Relaxed) >= GUESTS_MAX {
            self.guests.attended.fetch_sub(1, Ordering::Relaxed);
            let why = "too many commands run at the same time; try again in a moment";
            write_frame(&mut &stream, &OwnerMessage::Refused(why.into())).ok();
            return;
        }
        let service = self.clone();
        let attended = std::thread::Builder::new().name("guest".into()).spawn(move || {
            // A connection that breaks is the end of that guest alone.
            service.attend(stream).ok();
            service.guests.attended.fetch_sub(1, Ordering::Relaxed);
        });
        if attended.is_err() {
            self.guests.attended.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn attend(&self, mut stream: UnixStream) -> io::Result<()> {
        stream.set_read_timeout(Some(HELLO_TIME))?;
        let version = env!("CARGO_PKG_VERSION");
        let why = match read_frame(&mut stream) {
            Ok(Some(ClientMessage::Hello { protocol: PROTOCOL, version: theirs }))
                if theirs == version =>
            {
                None
            }
            Ok(Some(ClientMessage::Hello { version: theirs, .. })) => Some(format!(
                "backissue {version} has the store open and this is backissue {theirs}: end the one that runs, or use its version"
            )),
            Ok(_) | Err(_) => Some(format!(
                "backissue {version} has the store open and does not understand this command: end it, or use its version"
            )),
        };
        if let Some(why) = why {
            return write_frame(&mut stream, &OwnerMessage::Refused(why));
        }
        self.guests.served.fetch_add(1, Ordering::SeqCst);
        let served = Served(self);
        if self.guests.closed.load(Ordering::SeqCst) {
            // It is not waited for any more: it tries again and finds the next owner.
            return Ok(());
        }
        let done = self.serve(stream);
        drop(served);
        done
    }

    fn serve(&self, mut stream: UnixStream) -> io::Result<()> {
        let welcome = OwnerMessage::Welcome { owner: self.kind, process: std::process::id() };
        write_frame(&mut stream, &welcome)?;
        match read_frame(&mut stream)? {
            Some(ClientMessage::Run(arguments)) => {
                stream.set_read_timeout(None)?;
                self.run(&stream, arguments)
            }
            Some(ClientMessage::TakeOver(taker)) => self.hand_over(stream, taker),
            Some(ClientMessage::WaitForEnd) => {
                self.let_wait(stream);
                Ok(())
            }
            Some(
                ClientMessage::Hello { .. }
                | ClientMessage::Cancel
                | ClientMessage::FileBytes(_)
                | ClientMessage::FileEnd(_)
                | ClientMessage::Opened(_),
            )
            | None => Ok(()),
        }
    }

    fn run(&self, stream: &UnixStream, arguments: Vec<String>) -> io::Result<()> {
        let hand = self.hand.another();
        let output = GuestOutput::attend(stream, hand.clone())?;
        let shut = stream.try_clone()?;
        self.guests.hands.send_modify(|hands| hands.push((hand.clone(), shut)));
        let ended = (self.run)(arguments, Rc::clone(&output), hand.clone());
        output.send(&ended);
        self.guests.hands.send_modify(|hands| hands.retain(|(other, _)| !other.is_same(&hand)));
        // The thread that listens ends with the connection.
        stream.shutdown(Shutdown::Both)
    }

    /// Keeps a connection until the end; those that the other side has closed are forgotten.
    fn let_wait(&self, stream: UnixStream) {
        self.guests.waiting.send_modify(|waiting| {
            waiting.retain(is_open);
            if waiting.len() < GUESTS_MAX {
                waiting.push(stream);
            }
        });
    }

    /// Ends the loop; the connection is answered when the store is free.
    fn hand_over(&self, stream: UnixStream, taker: Taker) -> io::Result<()> {
        if self.kind == OwnerKind::Command {
            // It ends by itself, and whoever started it waits for what it says.
            self.let_wait(stream);
            return Ok(());
        }
        let mut coming = Some((stream, taker));
        self.guests.taker.send_if_modified(|known| {
            if known.is_none() {
                *known = coming.take();
            }
            known.is_some()
        });
        if let Some((mut stream, _)) = coming {
            let why = "another process is taking the store over; try again in a moment";
            return write_frame(&mut stream, &OwnerMessage::Refused(why.into()));
        }
        self.hand.visit(|host| host.end(Ending::HandOver)).ok();
        Ok(())
    }
}

/// Whether the other side of a connection on which nothing is said any more is still there.
fn is_open(stream: &UnixStream) -> bool {
    let read = stream.set_nonblocking(true).and_then(|()| (&mut &*stream).read(&mut [0]));
    !matches!(read, Ok(0))
}

/// A guest that is served; whoever waits for the last one looks again when it leaves.
struct Served<'a>(&'a Service);

impl Drop for Served<'_> {
    fn drop(&mut self) {
        self.0.guests.served.fetch_sub(1, Ordering::SeqCst);
        self.0.hand.wake();
    }
}
