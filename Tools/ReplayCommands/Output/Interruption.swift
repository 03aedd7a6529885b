internal import Synchronization

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Whether the command must end: by Ctrl-C, by another signal, or because its output takes no more.
///
/// Every read of a journal asks it (`WatchedFiles`), and so does every loop that writes
/// (`Output.isOpen`). A command then ends in good order: whole lines are printed, drafts of files are
/// removed, the terminal is as it was.
final class Interruption: Sendable {
  /// Marks an output that takes no more; signals are positive.
  private static let outputEnded: Int32 = -1

  private let raised = Atomic<Int32>(0)
  /// The descriptor of the output that is watched; -1 for none.
  private let watched = Atomic<Int32>(-1)

  /// The process's own, which signals raise once `watchSignals` was called.
  static let ofProcess = Interruption()

  /// Whether the tool is to end.
  var isRaised: Bool { raised.load(ordering: .relaxed) != 0 }

  /// The signal that wants the end; 0 for none.
  var signal: Int32 { max(0, raised.load(ordering: .relaxed)) }

  /// Whether the command ended because its output takes no more.
  var isOutputEnded: Bool { raised.load(ordering: .relaxed) == Self.outputEnded }

  /// Notices when nobody reads this output any more.
  func watch(_ descriptor: Int32) { watched.store(descriptor, ordering: .relaxed) }

  /// Ends the command because its output takes no more; a signal that was raised stays.
  func endOutput() {
    _ = raised.compareExchange(
      expected: 0, desired: Self.outputEnded, successOrdering: .relaxed, failureOrdering: .relaxed)
  }

  /// Whether the command goes on, as of now: asks the system about the output that is watched.
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

  /// What the shell is told of it.
  var code: ExitCode? {
    switch signal {
    case 0: nil
    case SIGINT: .interrupted
    default: .terminated
    }
  }

  /// Ends a command that was asked to end; nothing is said then.
  func requireGoingOn() throws(ToolError) {
    guard goesOn() else { throw error }
  }

  /// The error of a command that was asked to end.
  var error: ToolError { ToolError(code ?? .ok, .interrupted, "The command was interrupted.") }

  func raise(_ signal: Int32) {
    raised.store(signal, ordering: .relaxed)
  }

  /// From here on, the first Ctrl-C, `SIGTERM` or `SIGHUP` asks for an end in good order, and a second one
  /// ends the process at once.
  ///
  /// A call of the system that waits is left with `EINTR`, also one that begins to wait only then: an
  /// alarm goes off each second from then on.
  /// Whoever started the process may have left them blocked, as threads of libdispatch do.
  static func watchSignals() {
    var watched = sigset_t()
    sigemptyset(&watched)
    for number in [SIGINT, SIGTERM, SIGHUP, SIGALRM] { sigaddset(&watched, number) }
    pthread_sigmask(SIG_UNBLOCK, &watched, nil)
    for number in [SIGINT, SIGTERM, SIGHUP] {
      var action = sigaction()
      sigemptyset(&action.sa_mask)
      // The default comes back as the handler is called.
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
