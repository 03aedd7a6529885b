internal import SessionExplain
internal import SessionJournal

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Reads the lines of a text file one by one.
struct InputLines: ~Copyable {
  private static let blockSize = 256 * 1024
  /// The longest line of an export, in bytes: the longest payload in hexadecimal, in two places.
  static let longest = 64 * 1024 * 1024

  private let name: String
  private let interruption: Interruption
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  /// The index of the next line's first byte in the buffer.
  private var start = 0
  private var isAtEnd = false
  /// The number of the last line that was returned, from 1.
  private(set) var number = 0

  init(_ file: JournalFile, _ interruption: Interruption) throws(ToolError) {
    self.interruption = interruption
    name = file.name
    descriptor = try Self.opened(file)
  }

  deinit {
    close(descriptor)
  }

  /// Returns the next line without its line feed; `nil` at the end.
  mutating func next() throws(ToolError) -> ArraySlice<UInt8>? {
    var searched = start
    while true {
      if let feed = buffer.lineFeed(from: searched) {
        defer { start = feed + 1 }
        number += 1
        return buffer[start..<feed]
      }
      searched = buffer.count
      if isAtEnd { break }
      searched -= try readMore()
    }
    guard start < buffer.count else { return nil }
    defer { start = buffer.count }
    number += 1
    return buffer[start...]
  }

  /// Reads more bytes of an unfinished line; returns how far the bytes in the buffer were moved.
  private mutating func readMore() throws(ToolError) -> Int {
    let moved = start
    if start > 0 {
      buffer.removeSubrange(..<start)
      start = 0
    }
    guard buffer.count <= Self.longest else {
      throw ToolError(
        .damaged, .badLine,
        "\(name), line \(number + 1): it has more than \(Self.longest.grouped) bytes, and no line of an "
          + "export has.", next: "check the path")
    }
    try read()
    return moved
  }

  private mutating func read() throws(ToolError) {
    try interruption.requireGoingOn()
    var (count, code) = (0, Int32(0))
    buffer += [UInt8](unsafeUninitializedCapacity: Self.blockSize) { bytes, filled in
      count = readSome(descriptor, UnsafeMutableRawBufferPointer(bytes))
      code = errno
      filled = max(0, count)
    }
    guard count >= 0 else {
      guard code == EINTR else { throw Self.refused(name, code) }
      return
    }
    isAtEnd = count == 0
  }

  private static func opened(_ file: JournalFile) throws(ToolError) -> Int32 {
    guard file.path.utf8.allSatisfy({ $0 != 0 }), !file.path.isEmpty else {
      throw missing(file)
    }
    // The open must not wait for a process that writes to a pipe.
    let descriptor = openDescriptor(file.path, O_RDONLY | O_NOCTTY | O_NONBLOCK)
    if descriptor >= 0 {
      var status = stat()
      guard fstat(descriptor, &status) == 0 else {
        let code = errno
        close(descriptor)
        throw refused(file.name, code)
      }
      switch status.st_mode & S_IFMT {
      case S_IFREG: return descriptor
      case let kind:
        close(descriptor)
        guard kind != S_IFDIR else { throw refused(file.name, EISDIR) }
        throw ToolError(
          .damaged, .notARegularFile, "\(file.name) is a device, pipe or socket, not a file.",
          next: "a regular file, or - to read standard input")
      }
    }
    switch errno {
    case ENOENT, ENOTDIR: throw missing(file)
    case EACCES, EPERM:
      throw ToolError(
        .inputOutput, .permissionDenied, "This user may not read \(file.name).",
        next: "check the file's owner and mode, or run as its owner")
    case let code: throw refused(file.name, code)
    }
  }

  private static func missing(_ file: JournalFile) -> ToolError {
    ToolError(
      .missing, .missing, "There is no file at \(file.name).", next: "check the path")
  }

  private static func refused(_ name: String, _ code: Int32) -> ToolError {
    guard code != EISDIR else {
      return ToolError(
        .damaged, .isDirectory, "\(name) is a folder, not an export.", next: "name a file in it")
    }
    return ToolError(
      .inputOutput, .inputOutput,
      "The system refused to read \(name): \(systemMessage(code)) (errno \(code)).",
      next: "check the disk and the path")
  }
}

extension [UInt8] {
  /// Returns the place of the first line feed from a place on.
  func lineFeed(from start: Int) -> Int? {
    withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress, start < bytes.count,
        let found = memchr(base + start, 0x0A, bytes.count - start)
      else { return nil }
      return UnsafeRawPointer(found) - base
    }
  }
}

private func readSome(_ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer) -> Int {
  read(descriptor, bytes.baseAddress, bytes.count)
}
