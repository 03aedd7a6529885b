internal import Synchronization

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The terminal of a program that takes all of its screen, and each key as it is pressed.
///
/// Draws on standard output. Reads standard input, or, where that is no terminal, the terminal that is
/// drawn on. Whatever ends the program in good order, the terminal is as it was: `leave` is also called
/// when the value goes.
final class RawTerminal {
  /// What came of waiting for keys.
  enum ReceivedResponse: Equatable {
    case bytes([UInt8])
    case nothing
    /// There is no terminal any more.
    case closed
  }

  /// Sets the terminal's own screen aside, turns line wrap off, marks pasted text, hides the cursor.
  private static let begin = "\u{1B}[?1049h\u{1B}[?7l\u{1B}[?2004h\u{1B}[?25l"
  /// The opposite, in the opposite order.
  private static let end = "\u{1B}[0m\u{1B}[?25h\u{1B}[?2004l\u{1B}[?7h\u{1B}[?1049l"

  /// The signal of Ctrl-C, which is a key here.
  static let interrupt = SIGINT

  private let input: Int32
  private let isInputOwned: Bool
  private let output = DescriptorOutput(descriptor: STDOUT_FILENO)
  /// How the terminal was; `nil` while it is so.
  private var saved: termios?
  private var oldActions: [(signal: Int32, action: sigaction)] = []

  init() throws(ToolError) {
    guard isatty(STDOUT_FILENO) == 1 else { throw Self.notATerminal("Standard output") }
    if isatty(STDIN_FILENO) == 1 {
      (input, isInputOwned) = (STDIN_FILENO, false)
      return
    }
    var name = [CChar](repeating: 0, count: 1024)
    guard ttyname_r(STDOUT_FILENO, &name, name.count) == 0 else {
      throw Self.notATerminal("Standard input")
    }
    let opened = open(name, O_RDONLY | O_NOCTTY | O_CLOEXEC)
    guard opened >= 0 else { throw Self.notATerminal("Standard input") }
    (input, isInputOwned) = (opened, true)
  }

  deinit {
    leave()
    if isInputOwned { close(input) }
  }

  static func notATerminal(_ what: String) -> ToolError {
    .usage(
      .notATerminal, "\(what) is no terminal, and step shows a journal on one.",
      next: "sessionreplay timeline FILE")
  }

  /// How large it is, in cells; what it does not say is 80 columns and 24 rows.
  var size: ScreenSize {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
    else { return ScreenSize(rows: 24, columns: 80) }
    return ScreenSize(rows: Int(size.ws_row), columns: Int(size.ws_col))
  }

  /// Takes the screen and the keys; again, where somebody else may have changed the terminal.
  func enter() throws(ToolError) {
    var current = termios()
    guard tcgetattr(input, &current) == 0 else { throw refused("read the terminal's mode") }
    let before = saved ?? current
    var raw = before
    cfmakeraw(&raw)
    // The keys are ours, the output is as it was.
    raw.c_oflag = before.c_oflag
    if saved == nil { watchSignals() }
    saved = before
    guard tcsetattr(input, TCSADRAIN, &raw) == 0 else { throw refused("set the terminal's mode") }
    try write(Self.begin)
  }

  /// Gives the terminal back as it was.
  func leave() {
    guard var before = saved else { return }
    saved = nil
    do throws(OutputFailure) {
      try output.write(Self.end)
    } catch {
      // Nobody is there to see it.
    }
    tcsetattr(input, TCSADRAIN, &before)
    for (signal, var action) in oldActions { sigaction(signal, &action, nil) }
    oldActions = []
  }

  /// Gives the terminal back and stops all processes of the command line, as the terminal itself does
  /// on Ctrl-Z; comes back when somebody lets it go on.
  func suspend() throws(ToolError) {
    leave()
    kill(0, SIGTSTP)
    try enter()
  }

  func write(_ bytes: [UInt8]) throws(ToolError) {
    do throws(OutputFailure) {
      try output.write(bytes[...])
    } catch {
      throw refused("write to the terminal", error)
    }
  }

  private func write(_ text: String) throws(ToolError) {
    try write(Array(text.utf8))
  }

  /// Waits for keys at most so long; a signal ends the wait.
  func read(within milliseconds: Int32) -> ReceivedResponse {
    var asked = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
    guard poll(&asked, 1, milliseconds) > 0 else { return .nothing }
    var bytes = [UInt8](repeating: 0, count: 1024)
    let count = bytes.withUnsafeMutableBytes { systemRead(input, $0) }
    if count > 0 { return .bytes(Array(bytes[..<count])) }
    return count < 0 && (errno == EINTR || errno == EAGAIN) ? .nothing : .closed
  }

  private func refused(_ operation: String, _ failure: OutputFailure? = nil) -> ToolError {
    let code = if case .refused(let code)? = failure { code } else { errno }
    return ToolError(
      .inputOutput, .output,
      "The system refused to \(operation): \(systemMessage(code)) (errno \(code)).",
      next: "another terminal")
  }
}

/// What signals say of the terminal, until somebody asks.
private let news = Atomic<Int32>(0)

extension RawTerminal {
  /// What somebody else did to the terminal, or wants.
  enum News: Int32 {
    /// The process was stopped and goes on.
    case continued = 1
    case suspend = 2
  }

  /// Takes what was said since the last call.
  func takeNews() -> News? {
    News(rawValue: news.exchange(0, ordering: .relaxed))
  }

  private func watchSignals() {
    handle(SIGWINCH) { _ in }
    handle(SIGCONT) { _ in news.store(News.continued.rawValue, ordering: .relaxed) }
    handle(SIGTSTP) { _ in news.store(News.suspend.rawValue, ordering: .relaxed) }
  }

  /// A wait for keys ends with the signal, and its reason is looked at then.
  private func handle(_ signal: Int32, _ handler: @escaping @convention(c) (Int32) -> Void) {
    var action = sigaction()
    var old = sigaction()
    sigemptyset(&action.sa_mask)
    #if canImport(Darwin)
      action.__sigaction_u.__sa_handler = handler
    #else
      action.__sigaction_handler.sa_handler = handler
    #endif
    guard sigaction(signal, &action, &old) == 0 else { return }
    oldActions.append((signal, old))
  }
}

private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
  read(descriptor, buffer.baseAddress, buffer.count)
}
