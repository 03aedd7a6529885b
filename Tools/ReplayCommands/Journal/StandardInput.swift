#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Standard input as a file that can be read at any place, and more than once.
///
/// A regular file is read in its place. Anything else is first copied into a temporary file.
struct StandardInput: ~Copyable {
  private let path: String
  private let copy: TemporaryFile?
  private let interruption: Interruption

  /// Reads the input; throws `interrupted` if the command must end before the input does.
  init(_ interruption: Interruption) throws(ToolError) {
    self.interruption = interruption
    var status = stat()
    if fstat(STDIN_FILENO, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
      path = "/dev/fd/0"
      copy = nil
    } else {
      let made = try Self.copied(interruption)
      path = "/dev/fd/\(made.descriptor)"
      copy = consume made
    }
  }

  /// Lends the file, which exists only during the call.
  borrowing func withFile<Answer>(_ body: (JournalFile) throws(ToolError) -> Answer)
    throws(ToolError) -> Answer
  {
    try body(
      JournalFile(
        path: path, name: "standard input", isStandardInput: true, interruption: interruption))
  }

  private static func copied(_ interruption: Interruption) throws(ToolError) -> TemporaryFile {
    var copy = try TemporaryFile()
    var block = [UInt8](repeating: 0, count: 64 * 1024)
    while true {
      try interruption.requireGoingOn()
      let count = block.withUnsafeMutableBytes { read(STDIN_FILENO, $0.baseAddress, $0.count) }
      if count > 0 {
        try copy.append(block[..<count])
      } else if count == 0 {
        return copy
      } else if errno != EINTR {
        throw TemporaryFile.refused("read standard input", errno)
      }
    }
  }
}
