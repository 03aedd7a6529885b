#if os(Linux)
  import Foundation
  import Glibc
  import Synchronization
  import Testing

  /// A program on a terminal of its own, driven as a person does: keys, a window size, signals.
  ///
  /// The program leads a session whose terminal this is, so that Ctrl-Z, a closed window and a changed
  /// size reach it as they reach any program.
  final class PseudoTerminal: Sendable {
    /// Longer than any screen takes on a busy machine.
    private static let patience = 120

    // Constants of Linux that Swift does not show.
    private static let unlock: UInt = 0x4004_5431  // TIOCSPTLCK
    private static let getNumber: UInt = 0x8004_5430  // TIOCGPTN
    private static let leadSession: Int32 = 0x80  // POSIX_SPAWN_SETSID

    private let controller: Int32
    /// The other side, held open so that its mode can be read after the program has ended.
    private let side: Int32
    /// A write to this pipe makes the reader close the terminal.
    private let closer: Int32
    let process: pid_t
    private let watch: Watch
    private let isOpen = Mutex(true)

    /// The results of two threads: one reads, the other waits for the end.
    private final class Watch: Sendable {
      let grid: Mutex<TerminalGrid>
      let exit = Mutex<Int32?>(nil)
      let news = NSCondition()

      init(_ grid: TerminalGrid) {
        self.grid = Mutex(grid)
      }

      /// Reads until the terminal is closed.
      func read(from controller: Int32, until closed: Int32) {
        var bytes = [UInt8](repeating: 0, count: 4096)
        var asked = [
          pollfd(fd: controller, events: Int16(POLLIN), revents: 0),
          pollfd(fd: closed, events: Int16(POLLIN), revents: 0),
        ]
        while true {
          guard poll(&asked, 2, -1) >= 0 || errno == EINTR else { break }
          if asked[1].revents != 0 { break }
          guard asked[0].revents != 0 else { continue }
          let count = Glibc.read(controller, &bytes, bytes.count)
          guard count > 0 || errno == EINTR else { break }
          grid.withLock { $0.feed(bytes[..<max(0, count)]) }
          news.withLock { news.broadcast() }
        }
        Glibc.close(controller)
        Glibc.close(closed)
      }

      func wait(for process: pid_t) {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        let code = status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + (status & 0x7F)
        exit.withLock { $0 = code }
        news.withLock { news.broadcast() }
      }
    }

    init(
      _ program: String, _ arguments: [String], rows: Int = 24, columns: Int = 100,
      environment: [String: String] = [:], input: String? = nil
    ) throws {
      controller = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
      var (number, lock) = (Int32(0), Int32(0))
      try #require(
        controller >= 0 && ioctl(controller, Self.unlock, &lock) == 0
          && ioctl(controller, Self.getNumber, &number) == 0)
      let name = "/dev/pts/\(number)"
      side = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
      try #require(side >= 0)
      var ends: [Int32] = [-1, -1]
      try #require(pipe(&ends) == 0)
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      closer = ends[1]
      var size = winsize(
        ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
      try #require(ioctl(controller, UInt(TIOCSWINSZ), &size) == 0)
      process = try Self.spawn(program, arguments, environment, on: name, input: input)
      watch = Watch(TerminalGrid(rows: rows, columns: columns))
      let (watch, process, controller, closed) = (watch, process, controller, ends[0])
      Thread.detachNewThread { watch.read(from: controller, until: closed) }
      Thread.detachNewThread { watch.wait(for: process) }
    }

    deinit {
      if watch.exit.withLock({ $0 == nil }) { kill(process, SIGKILL) }
      close()
      Glibc.close(closer)
    }

    /// The first terminal that a session's leader opens becomes the session's.
    private static func spawn(
      _ program: String, _ arguments: [String], _ environment: [String: String],
      on terminal: String, input: String?
    ) throws -> pid_t {
      var attributes = posix_spawnattr_t()
      var actions = posix_spawn_file_actions_t()
      posix_spawnattr_init(&attributes)
      posix_spawn_file_actions_init(&actions)
      defer {
        posix_spawnattr_destroy(&attributes)
        posix_spawn_file_actions_destroy(&actions)
      }
      // The runner of the tests may ignore signals that a program on a terminal needs.
      var defaults = sigset_t()
      sigemptyset(&defaults)
      for signal in [SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT, SIGWINCH, SIGPIPE, SIGTTOU] {
        sigaddset(&defaults, signal)
      }
      posix_spawnattr_setsigdefault(&attributes, &defaults)
      var mask = sigset_t()
      sigemptyset(&mask)
      posix_spawnattr_setsigmask(&attributes, &mask)
      posix_spawnattr_setflags(
        &attributes,
        Int16(Self.leadSession | Int32(POSIX_SPAWN_SETSIGDEF) | Int32(POSIX_SPAWN_SETSIGMASK)))
      posix_spawn_file_actions_addopen(&actions, 1, terminal, O_RDWR, 0)
      posix_spawn_file_actions_adddup2(&actions, 1, 2)
      if let input {
        posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
      } else {
        posix_spawn_file_actions_adddup2(&actions, 1, 0)
      }
      let variables = ["PATH": "/usr/bin:/bin", "TERM": "xterm-256color", "LANG": "C.UTF-8"]
        .merging(ToolRun.seeded) { $1 }
        .merging(environment) { $1 }
      var words = ([program] + arguments).map { strdup($0) } + [nil]
      var settings = variables.map { strdup("\($0)=\($1)") } + [nil]
      defer { for word in words + settings { free(word) } }
      var process = pid_t()
      let code = posix_spawn(&process, program, &actions, &attributes, &words, &settings)
      try #require(code == 0, "\(program): \(code)")
      return process
    }

    var grid: TerminalGrid { watch.grid.withLock { $0 } }

    /// Waits until the screen meets a condition, and returns the screen.
    @discardableResult
    func screen(
      _ what: String, _ isWanted: @escaping @Sendable (TerminalGrid) -> Bool
    ) throws -> TerminalGrid {
      try until(what) { isWanted(self.grid) }
      return grid
    }

    /// Waits until a text is shown.
    @discardableResult
    func shows(_ text: String) throws -> TerminalGrid {
      try screen("'\(text)'") { $0.text.contains(text) }
    }

    private func until(_ what: String, _ isSo: () -> Bool) throws {
      let end = Date(timeIntervalSinceNow: TimeInterval(Self.patience))
      watch.news.lock()
      defer { watch.news.unlock() }
      while !isSo() {
        try #require(watch.news.wait(until: end), "\(what) never came:\n\(grid.text)")
      }
    }

    /// Presses keys.
    func press(_ text: String) {
      let bytes = Array(text.utf8)
      var done = 0
      while done < bytes.count {
        let count = bytes[done...].withUnsafeBytes { bytes in
          Glibc.write(controller, bytes.baseAddress, bytes.count)
        }
        guard count > 0 else { return }
        done += count
      }
    }

    func resize(rows: Int, columns: Int) {
      watch.grid.withLock { $0.resize(rows: rows, columns: columns) }
      var size = winsize(
        ws_row: UInt16(rows), ws_col: UInt16(columns), ws_xpixel: 0, ws_ypixel: 0)
      _ = ioctl(controller, UInt(TIOCSWINSZ), &size)
    }

    func signal(_ number: Int32) { kill(process, number) }

    /// Closes the window: the terminal has no reader any more.
    func close() {
      let isOpen = isOpen.withLock { isOpen in
        defer { isOpen = false }
        return isOpen
      }
      guard isOpen else { return }
      // The reader goes by this and not by the end of the other side, which would close the pipe first.
      _ = Glibc.write(closer, [0], 1)
      Glibc.close(side)
    }

    /// Waits for the program's end; its code, or 128 plus the number of the signal that ended it.
    func end() throws -> Int32 {
      try until("its end") { watch.exit.withLock { $0 != nil } }
      return try #require(watch.exit.withLock { $0 })
    }

    /// The maximum memory of the program so far, in KiB.
    ///
    /// The system's own figure for an ended child includes its parent's memory up to `exec`.
    func peakMemory() throws -> Int {
      let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
      let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
      let number = line?.split(whereSeparator: \.isWhitespace).dropFirst().first
      return try #require(number.flatMap { Int($0) })
    }

    /// How the terminal reads keys and shows them.
    func mode() throws -> [UInt8] {
      var mode = termios()
      try #require(tcgetattr(side, &mode) == 0)
      return withUnsafeBytes(of: &mode) { Array($0) }
    }
  }
#endif
