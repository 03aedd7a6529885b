internal import SessionExplain
internal import SessionJournal
internal import Synchronization

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// The decompression of a file by the system's `gzip`, in a process of its own.
enum Decompression {
  private static let program = "gzip"
  private static let blockSize = 256 * 1024
  /// The exit codes after which all bytes are good: done, and bytes after the end were ignored.
  private static let accepted: [Int32] = [0, 2]

  /// Returns the decompressed bytes in an unnamed temporary file.
  static func copy(of file: JournalFile) throws(ToolError) -> TemporaryFile {
    let input = openDescriptor(file.path, O_RDONLY | O_NOCTTY | O_NONBLOCK)
    guard input >= 0 else { throw TemporaryFile.refused("read \(file.name)", errno) }
    defer { close(input) }
    let (process, output): (pid_t, Int32)
    do throws(StartFailure) {
      // Two starts at once could give a program the pipe of the other.
      (process, output) = try starting.withLock { _ throws(StartFailure) in try start(input) }
    } catch {
      throw notStarted(file, error.code)
    }
    defer { close(output) }
    let copy: TemporaryFile
    do throws(ToolError) {
      copy = try read(output, file.interruption)
    } catch {
      // Nothing reads the pipe any more, so the process could wait without an end.
      kill(process, SIGKILL)
      _ = end(of: process)
      throw error
    }
    guard accepted.contains(end(of: process)) else { throw bad(file) }
    return copy
  }

  private struct StartFailure: Error {
    let code: Int32
  }

  private static let starting = Mutex(())

  /// Starts the program; returns its process and the pipe with what it writes.
  private static func start(_ input: Int32) throws(StartFailure) -> (pid_t, Int32) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw StartFailure(code: errno) }
    ends = ends.map { aboveStandardStreams($0) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[1]) }
    do throws(StartFailure) {
      return (try start(input: input, output: ends[1]), ends[0])
    } catch {
      close(ends[0])
      throw error
    }
  }

  private static func start(input: Int32, output: Int32) throws(StartFailure) -> pid_t {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
      let flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_CLOEXEC_DEFAULT
    #else
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
      let flags = POSIX_SPAWN_SETSIGDEF
    #endif
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    // This tool ignores a closed pipe; the program must end then.
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    sigaddset(&signals, SIGXFSZ)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(flags))
    var process: pid_t = 0
    let words: [UnsafeMutablePointer<CChar>?] = [strdup(program), strdup("-dc"), nil]
    defer { for word in words { free(word) } }
    let code = posix_spawnp(&process, program, &actions, &attributes, words, environ)
    guard code == 0 else { throw StartFailure(code: code) }
    return process
  }

  private static func read(_ descriptor: Int32, _ interruption: Interruption) throws(ToolError)
    -> TemporaryFile
  {
    var copy = try TemporaryFile()
    var block = [UInt8](repeating: 0, count: blockSize)
    while true {
      try interruption.requireGoingOn()
      let count = block.withUnsafeMutableBytes { readSome(descriptor, $0) }
      if count > 0 {
        try copy.append(block[..<count])
      } else if count == 0 {
        return copy
      } else if errno != EINTR {
        throw TemporaryFile.refused("read from \(program)", errno)
      }
    }
  }

  /// Waits for the end of the process; returns its exit code, or −1 if a signal ended it.
  private static func end(of process: pid_t) -> Int32 {
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 {
      guard errno == EINTR else { return -1 }
    }
    return status & 0x7F == 0 ? (status >> 8) & 0xFF : -1
  }

  private static func notStarted(_ file: JournalFile, _ code: Int32) -> ToolError {
    ToolError(
      .inputOutput, .noGzip,
      "\(file.name) is compressed, and the system could not start \(program): "
        + "\(systemMessage(code)) (errno \(code)).",
      consequence: "Nothing of it was read.",
      next: "install \(program), or decompress the file on another computer")
  }

  private static func bad(_ file: JournalFile) -> ToolError {
    ToolError(
      .damaged, .badGzip,
      "\(file.name) is compressed, and its compressed bytes are damaged or cut.",
      consequence: "Nothing of it was read.", next: "another copy of the file")
  }
}

private func readSome(_ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer) -> Int {
  read(descriptor, bytes.baseAddress, bytes.count)
}
