internal import SessionJournal
internal import Synchronization

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The terminal of a full-screen program, which receives each key as it is pressed.
///
/// It draws on standard output. It reads standard input or, if that is no terminal, the terminal
/// that it draws on. `leave` restores the terminal; it is also called when the value is released.
final class RawTerminal {
  /// The result of a wait for keys.
  enum ReceivedResponse: Equatable {
    case bytes([UInt8])
    case nothing
    /// The terminal no longer exists.
    case closed
  }

  /// Switches to the alternate screen, turns line wrap off, brackets pasted text and hides the
  /// cursor.
  private static let begin = "\u{1B}[?1049h\u{1B}[?7l\u{1B}[?2004h\u{1B}[?25l"
  /// Undoes `begin` in reverse order.
  private static let end = "\u{1B}[0m\u{1B}[?25h\u{1B}[?2004l\u{1B}[?7h\u{1B}[?1049l"

  /// The signal of Ctrl-C, which is an ordinary key here.
  static let interrupt = SIGINT

  private let input: Int32
  private let isInputOwned: Bool
  private let output = DescriptorOutput(descriptor: STDOUT_FILENO)
  /// The terminal's previous mode; `nil` unless this program has changed it.
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
    let opened = aboveStandardStreams(open(name, O_RDONLY | O_NOCTTY | O_CLOEXEC))
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

  /// The terminal's size in cells; 80 columns and 24 rows if it is not known.
  var size: ScreenSize {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
    else { return ScreenSize(rows: 24, columns: 80) }
    return ScreenSize(rows: Int(size.ws_row), columns: Int(size.ws_col))
  }

  /// Takes the screen and the keys; called again after another program may have changed the
  /// terminal.
  func enter() throws(ToolError) {
    var current = termios()
    guard tcgetattr(input, &current) == 0 else { throw refused("read the terminal's mode") }
    let before = saved ?? current
    var raw = before
    cfmakeraw(&raw)
    // This program handles the keys itself, while output processing stays unchanged.
    raw.c_oflag = before.c_oflag
    if saved == nil { watchSignals() }
    saved = before
    guard tcsetattr(input, TCSADRAIN, &raw) == 0 else { throw refused("set the terminal's mode") }
    try write(Self.begin)
  }

  /// Restores the terminal.
  func leave() {
    guard var before = saved else { return }
    saved = nil
    do throws(OutputFailure) {
      try output.write(Self.end)
    } catch {
      // The terminal does not accept the text, so nothing would be visible anyway.
    }
    tcsetattr(input, TCSADRAIN, &before)
    for (signal, var action) in oldActions { sigaction(signal, &action, nil) }
    oldActions = []
  }

  /// Restores the terminal and stops all processes of the command line, as the terminal does on
  /// Ctrl-Z.
  ///
  /// It returns when the process is continued.
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

  /// Waits for keys at most `milliseconds`; a signal ends the wait.
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

/// The last news of the terminal from a signal handler, until it is taken.
private let news = Atomic<Int32>(0)

extension RawTerminal {
  /// An event of the terminal that a signal reported.
  enum News: Int32 {
    /// The process was stopped and continued.
    case continued = 1
    case suspend = 2
  }

  /// Returns the news since the last call.
  func takeNews() -> News? {
    News(rawValue: news.exchange(0, ordering: .relaxed))
  }

  private func watchSignals() {
    handle(SIGWINCH) { _ in }
    handle(SIGCONT) { _ in news.store(News.continued.rawValue, ordering: .relaxed) }
    handle(SIGTSTP) { _ in news.store(News.suspend.rawValue, ordering: .relaxed) }
  }

  /// Installs a handler.
  ///
  /// The signal also ends a wait for keys, and the caller then takes the news.
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
