//! Accepts connections from other processes of the same user while this process has the store open, and runs each of their
//! commands on its own thread.

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
use crate::io::loop_handle::LoopHandle;
use crate::io::performing::Ending;
use crate::io::system::words::system_words;

/// Maximum number of concurrent connections.
const GUESTS_MAX: usize = 64;
/// Time for a process to send its greeting.
const HELLO_TIME: Duration = Duration::from_secs(10);

/// A function that runs a command line and returns the final message.
pub type RunCommand =
    dyn Fn(Vec<String>, Rc<GuestOutput>, LoopHandle) -> OwnerMessage + Send + Sync;

/// The owner's listener. Other processes can connect until it is closed.
#[derive(Debug)]
pub struct Listener {
    socket: PathBuf,
    accepting: JoinHandle<()>,
    guests: Arc<Guests>,
}

/// The state of all connections to other processes.
#[derive(Debug, Default)]
struct Guests {
    /// Number of connections, including those before the greeting.
    attended: AtomicUsize,
    /// Number of connections after the greeting; this process waits for them before it ends.
    served: AtomicUsize,
    /// Set when new connections are no longer accepted.
    closed: AtomicBool,
    hands: watch::Sender<Vec<(LoopHandle, UnixStream)>>,
    /// Connections of processes that wait for this process to end; a closed connection shows them that this process has ended.
    waiting: watch::Sender<Vec<UnixStream>>,
    /// The connection to the process that takes the store over, and the kind of that process.
    taker: watch::Sender<Option<(UnixStream, Taker)>>,
}

/// The data that each thread needs to serve another process.
#[derive(Clone)]
struct Service {
    kind: OwnerKind,
    hand: LoopHandle,
    run: Arc<RunCommand>,
    guests: Arc<Guests>,
}

impl Listener {
    /// Starts listening at a socket. The caller has the store open, so an existing socket file was left by a process that has
    /// ended. Must be called within a tokio runtime. The error is a sentence.
    pub fn start(
        socket: &Path,
        kind: OwnerKind,
        hand: LoopHandle,
        run: Arc<RunCommand>,
    ) -> Result<Self, String> {
        let cannot = |error: io::Error| {
            format!(
                "other commands cannot reach this one: {} cannot be used: {}",
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
                    // Accepting failed, perhaps because too many files are open. Try again after a pause.
                    Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
                }
            }
        });
        Ok(Self { socket: socket.into(), accepting, guests })
    }

    /// Returns the number of connections being served.
    pub fn guests(&self) -> usize {
        self.guests.served.load(Ordering::SeqCst)
    }

    /// Stops accepting connections; running commands continue.
    pub fn close(&self) {
        // Remove the socket file only once, because later it may belong to another process.
        if !self.guests.closed.swap(true, Ordering::SeqCst) {
            self.accepting.abort();
            fs::remove_file(&self.socket).ok();
        }
    }

    /// Returns a function that cancels all commands of other processes.
    pub fn canceller(&self) -> impl Fn() + Send + use<> {
        let guests = Arc::clone(&self.guests);
        move || guests.hands.borrow().iter().for_each(|(hand, _)| hand.cancel())
    }

    /// Closes the connections of processes that do not read their output.
    pub fn shut_guests(&self) {
        for (_, stream) in self.guests.hands.borrow().iter() {
            // Ignore an error, because it means that the connection has already ended.
            stream.shutdown(Shutdown::Both).ok();
        }
    }

    /// Cancels commands of other processes: all of them, or only those that never end on their own.
    pub fn cancel_guests(&self, all: bool) {
        for (hand, _) in self.guests.hands.borrow().iter() {
            if all || hand.is_endless() {
                hand.cancel();
            }
        }
    }

    /// Notifies the process that takes the store over that the store is free. Processes that wait for this process to end are
    /// notified too, because their connections close. Returns the connection to the taker, which closes when that process returns
    /// the store or ends.
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
    /// Serves a process of this user on a separate thread.
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
            let why = "too many commands are running; try again in a moment";
            write_frame(&mut &stream, &OwnerMessage::Refused(why.into())).ok();
            return;
        }
        let service = self.clone();
        let attended = std::thread::Builder::new().name("guest".into()).spawn(move || {
            // Ignore the error, because a broken connection affects only one guest.
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
                "backissue {version} has the store open and this is backissue {theirs}: quit the running one, or use its version"
            )),
            Ok(_) | Err(_) => Some(format!(
                "backissue {version} has the store open and does not understand this command: quit it, or use its version"
            )),
        };
        if let Some(why) = why {
            return write_frame(&mut stream, &OwnerMessage::Refused(why));
        }
        self.guests.served.fetch_add(1, Ordering::SeqCst);
        let served = Served(self);
        if self.guests.closed.load(Ordering::SeqCst) {
            // Close the connection, because this process is about to end. The client connects again and finds the next owner.
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
        // Close the connection, so that the thread that receives messages from the guest ends.
        stream.shutdown(Shutdown::Both)
    }

    /// Keeps a connection open until this process ends, and drops connections that the peer has closed.
    fn let_wait(&self, stream: UnixStream) {
        self.guests.waiting.send_modify(|waiting| {
            waiting.retain(is_open);
            if waiting.len() < GUESTS_MAX {
                waiting.push(stream);
            }
        });
    }

    /// Ends the main loop, so that another process can take the store over. That process is notified when the store is free.
    fn hand_over(&self, stream: UnixStream, taker: Taker) -> io::Result<()> {
        if self.kind == OwnerKind::Command {
            // This process runs only a command, whose output the user waits for, so let the other process wait until the command
            // ends.
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
            let why = "another process is taking over the store; try again in a moment";
            return write_frame(&mut stream, &OwnerMessage::Refused(why.into()));
        }
        self.hand.visit(|host| host.end(Ending::HandOver)).ok();
        Ok(())
    }
}

/// Checks whether the peer has not closed a connection on which no messages are exchanged.
fn is_open(stream: &UnixStream) -> bool {
    let read = stream.set_nonblocking(true).and_then(|()| (&mut &*stream).read(&mut [0]));
    !matches!(read, Ok(0))
}

/// A guest that is being served. When this is dropped, the main loop is woken, because it may be waiting for the last guest.
struct Served<'a>(&'a Service);

impl Drop for Served<'_> {
    fn drop(&mut self) {
        self.0.guests.served.fetch_sub(1, Ordering::SeqCst);
        self.0.hand.wake();
    }
}
