//! Accepts connections from other processes of the same user while this process has the store open, runs each of their commands on
//! its own thread, and sends the output back.

use std::cell::Cell;
use std::fs;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener as StdListener, UnixStream};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use tokio::net::UnixListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::address::{make_folder, own_user};
use super::messages::{
    ClientMessage, OwnerKind, OwnerMessage, PIECE_BYTES, PROTOCOL, Progress, Taker, pieces,
    read_frame, write_frame,
};
use crate::engine::external_command::ExternalCommand;
use crate::io::loop_handle::LoopHandle;
use crate::io::named_files::{NamedFile, WriteFile};
use crate::io::output::{CommandOutput, FILE_BYTES_MAX};
use crate::io::performing::Ending;
use crate::io::system::system_words;

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
    handle: LoopHandle,
    run: Arc<RunCommand>,
    guests: Arc<Guests>,
}

impl Listener {
    /// Starts listening at a socket. The caller has the store open, so an existing socket file was left by a process that has
    /// ended. Must be called within a tokio runtime. The error is a sentence.
    pub fn start(
        socket: &Path,
        kind: OwnerKind,
        handle: LoopHandle,
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
        let service = Service { kind, handle, run, guests: Arc::clone(&guests) };
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
        move || guests.hands.borrow().iter().for_each(|(handle, _)| handle.cancel())
    }

    /// Closes the connections of all running commands, so that a process that does not read its output no longer delays its
    /// command.
    pub fn shut_guests(&self) {
        for (_, stream) in self.guests.hands.borrow().iter() {
            // Ignore an error, because it means that the connection has already ended.
            stream.shutdown(Shutdown::Both).ok();
        }
    }

    /// Cancels commands of other processes: all of them, or only those that never end on their own.
    pub fn cancel_guests(&self, all: bool) {
        for (handle, _) in self.guests.hands.borrow().iter() {
            if all || handle.is_endless() {
                handle.cancel();
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
        let handle = self.handle.another();
        let output = GuestOutput::attend(stream, handle.clone())?;
        let shut = stream.try_clone()?;
        self.guests.hands.send_modify(|hands| hands.push((handle.clone(), shut)));
        let ended = (self.run)(arguments, Rc::clone(&output), handle.clone());
        output.send(&ended);
        self.guests.hands.send_modify(|hands| hands.retain(|(other, _)| !other.is_same(&handle)));
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
        self.handle.visit(|host| host.end(Ending::HandOver)).ok();
        Ok(())
    }
}

/// Checks whether a connection on which no messages are exchanged is still open.
fn is_open(stream: &UnixStream) -> bool {
    let read = stream.set_nonblocking(true).and_then(|()| (&mut &*stream).read(&mut [0]));
    !matches!(read, Ok(0))
}

/// A guest that is being served. When this is dropped, the main loop is woken, because it may be waiting for the last guest.
struct Served<'a>(&'a Service);

impl Drop for Served<'_> {
    fn drop(&mut self) {
        self.0.guests.served.fetch_sub(1, Ordering::SeqCst);
        self.0.handle.wake();
    }
}

/// The terminal and the files of a process that submitted a command. A process that does not read its messages delays only
/// its own command.
#[derive(Debug)]
pub struct GuestOutput {
    stream: UnixStream,
    /// Set once the process has ended or closed the connection.
    closed: Arc<AtomicBool>,
    /// Set once the process knows that its command has begun.
    begun: Cell<bool>,
    files: Receiver<ClientMessage>,
}

impl GuestOutput {
    /// Starts receiving messages from the process while its command runs. The process may cancel the command, send a file, or
    /// end.
    pub fn attend(stream: &UnixStream, handle: LoopHandle) -> io::Result<Rc<Self>> {
        let (sender, files) = channel();
        let closed = Arc::<AtomicBool>::default();
        let (mut heard, ended) = (stream.try_clone()?, Arc::clone(&closed));
        std::thread::Builder::new().name("guest ear".into()).spawn(move || {
            listen(&mut heard, &handle, &sender);
            ended.store(true, Ordering::Relaxed);
            handle.cancel();
        })?;
        let stream = stream.try_clone()?;
        Ok(Rc::new(Self { stream, closed, begun: Cell::new(false), files }))
    }

    /// Sends the process a message. A message that cannot be sent is lost, since the process has ended.
    pub fn send(&self, message: &OwnerMessage) {
        if write_frame(&mut &self.stream, message).is_err() {
            self.closed.store(true, Ordering::Relaxed);
        }
    }

    /// Checks whether the command has begun, so that it cannot be submitted again.
    pub fn has_begun(&self) -> bool {
        self.begun.get()
    }

    fn answer(&self) -> io::Result<ClientMessage> {
        let ended = |_| io::Error::other("the process that has the file open ended");
        self.files.recv().map_err(ended)
    }
}

/// Receives messages from the process until it ends or sends an unexpected one.
fn listen(stream: &mut UnixStream, handle: &LoopHandle, files: &Sender<ClientMessage>) {
    while let Ok(Some(message)) = read_frame(stream) {
        match message {
            ClientMessage::Cancel => handle.cancel(),
            ClientMessage::FileBytes(_) | ClientMessage::FileEnd(_) | ClientMessage::Opened(_) => {
                if files.send(message).is_err() {
                    return;
                }
            }
            ClientMessage::Hello { .. }
            | ClientMessage::Run(_)
            | ClientMessage::TakeOver(_)
            | ClientMessage::WaitForEnd => return,
        }
    }
}

impl CommandOutput for GuestOutput {
    fn put(&self, text: &str) {
        self.begun.set(true);
        for piece in pieces(&format!("{text}\n")) {
            self.send(&OwnerMessage::Out(piece.to_owned()));
        }
    }

    fn tell(&self, text: &str) {
        self.begun.set(true);
        let mut pieces = pieces(text);
        self.send(&OwnerMessage::Told(pieces.next().unwrap_or_default().to_owned()));
    }

    fn begin(&self) {
        if !self.begun.replace(true) {
            self.send(&OwnerMessage::Began);
        }
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    fn show_progress(&self, progress: Option<Progress>) {
        self.send(&OwnerMessage::Progress(progress));
    }

    fn read_file(&self, path: &str) -> io::Result<Vec<u8>> {
        self.send(&OwnerMessage::ReadFile(path.to_owned()));
        let mut bytes = Vec::new();
        loop {
            let answer = self.answer()?;
            if let ClientMessage::FileEnd(end) = answer {
                return end.map(|()| bytes).map_err(io::Error::other);
            }
            if bytes.len() >= FILE_BYTES_MAX {
                return Err(io::Error::other("it is too large"));
            }
            if let ClientMessage::FileBytes(piece) = answer {
                bytes.extend(piece);
            }
        }
    }

    fn write_file(&self, file: &NamedFile, write: &mut WriteFile<'_>) -> io::Result<()> {
        self.send(&OwnerMessage::CreateFile(file.clone()));
        let mut pieces = FilePieces { output: self, piece: Vec::new() };
        let written = write(&mut pieces).and_then(|()| pieces.flush());
        self.send(&OwnerMessage::FileEnd(written.is_ok()));
        let answer = self.answer()?;
        written?;
        if let ClientMessage::FileEnd(end) = answer {
            end.map_err(io::Error::other)
        } else {
            Err(io::Error::other(
                "the process that writes it did not report whether it is complete",
            ))
        }
    }

    fn open_link(&self, link: &str, command: Option<&ExternalCommand>) -> io::Result<()> {
        // Mark the command as started, because submitting the command again would open the link twice.
        self.begin();
        self.send(&OwnerMessage::Open { link: link.to_owned(), command: command.cloned() });
        if let ClientMessage::Opened(opened) = self.answer()? {
            opened.map_err(io::Error::other)
        } else {
            Err(io::Error::other("the process that opens it did not report whether it succeeded"))
        }
    }
}

/// A writer whose bytes are sent to the other process, which writes them to a file.
struct FilePieces<'a> {
    output: &'a GuestOutput,
    piece: Vec<u8>,
}

impl Write for FilePieces<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.output.is_closed() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let taken = bytes.get(..bytes.len().min(PIECE_BYTES)).unwrap_or(bytes);
        self.piece.extend_from_slice(taken);
        if self.piece.len() >= PIECE_BYTES {
            self.flush()?;
        }
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.piece.is_empty() {
            self.output.send(&OwnerMessage::FileBytes(std::mem::take(&mut self.piece)));
        }
        Ok(())
    }
}
