internal import Synchronization

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// A flag that is set if the command must end: by Ctrl-C, another signal or a closed output.
///
/// Every read of a journal checks it (`WatchedFiles`), and so does every loop that writes
/// (`Output.isOpen`). The command can therefore clean up before it ends: it prints whole lines,
/// removes drafts of files and restores the terminal.
final class Interruption: Sendable {
  /// The value for an output that accepts no more; signals are positive.
  private static let outputEnded: Int32 = -1

  private let raised = Atomic<Int32>(0)
  /// The descriptor of the output to watch; -1 for none.
  private let watched = Atomic<Int32>(-1)
  /// The number of reads of files.
  private let reads = Atomic<UInt32>(0)
  /// How many reads there are to a question to the system; a power of two.
  private static let readsToQuestion: UInt32 = 8

  /// The interruption of the process; signals raise it after `watchSignals` was called.
  static let ofProcess = Interruption()

  /// Whether the command must end.
  var isRaised: Bool { raised.load(ordering: .relaxed) != 0 }

  /// The signal that ends the command; 0 for none.
  var signal: Int32 { max(0, raised.load(ordering: .relaxed)) }

  /// Watches this output, so that `goesOn` notices when its reader is gone.
  func watch(_ descriptor: Int32) { watched.store(descriptor, ordering: .relaxed) }

  /// Ends the command because its output accepts no more; a signal that was raised before stays.
  func endOutput() {
    _ = raised.compareExchange(
      expected: 0, desired: Self.outputEnded, successOrdering: .relaxed, failureOrdering: .relaxed)
  }

  /// Returns whether the command goes on now; asks the system about the watched output.
  func goesOn() -> Bool {
    guard !isRaised else { return false }
    let descriptor = watched.load(ordering: .relaxed)
    guard descriptor >= 0 else { return true }
    var asked = pollfd(fd: descriptor, events: 0, revents: 0)
    guard poll(&asked, 1, 0) == 1, asked.revents & Int16(POLLERR | POLLHUP) != 0 else {
      return true
    }
    endOutput()
    return false
  }

  /// Returns whether a file may be read; asks the system about the watched output only sometimes.
  func mayRead() -> Bool {
    let number = reads.wrappingAdd(1, ordering: .relaxed).newValue
    return number % Self.readsToQuestion == 0 ? goesOn() : !isRaised
  }

  /// The exit code of the signal; `nil` for no signal.
  var code: ExitCode? {
    switch signal {
    case 0: nil
    case SIGINT: .interrupted
    default: .terminated
    }
  }

  /// Throws if the command must end; the tool prints nothing about this error.
  func requireGoingOn() throws(ToolError) {
    guard goesOn() else { throw error }
  }

  /// The error of a command that must end.
  var error: ToolError { ToolError(code ?? .ok, .interrupted, "The command was interrupted.") }

  func raise(_ signal: Int32) {
    raised.store(signal, ordering: .relaxed)
  }

  /// Watches Ctrl-C, `SIGTERM` and `SIGHUP`.
  ///
  /// The first of these signals asks the command to end and clean up. A second one ends the process
  /// at once.
  ///
  /// A waiting system call ends with `EINTR`. After the first signal an alarm is raised each second,
  /// so that a call that begins to wait later ends too.
  ///
  /// The parent process may have left the signals blocked, as threads of libdispatch do; they are
  /// unblocked.
  static func watchSignals() {
    var watched = sigset_t()
    sigemptyset(&watched)
    for number in [SIGINT, SIGTERM, SIGHUP, SIGALRM] { sigaddset(&watched, number) }
    pthread_sigmask(SIG_UNBLOCK, &watched, nil)
    for number in [SIGINT, SIGTERM, SIGHUP] {
      var action = sigaction()
      sigemptyset(&action.sa_mask)
      // The kernel restores the default action when it calls the handler.
      action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND))
      setHandler(of: &action) { number in
        Interruption.ofProcess.raise(number)
        alarm(1)
      }
      _ = sigaction(number, &action, nil)
    }
    var action = sigaction()
    sigemptyset(&action.sa_mask)
    setHandler(of: &action) { _ in alarm(1) }
    _ = sigaction(SIGALRM, &action, nil)
  }

  private static func setHandler(
    of action: inout sigaction, _ handler: @escaping @convention(c) (Int32) -> Void
  ) {
    #if canImport(Darwin)
    action.__sigaction_u.__sa_handler = handler
    #else
    action.__sigaction_handler.sa_handler = handler
    #endif
  }
}
