internal import SessionJournal

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// A file of mode 0600 without a name, so that the system removes it with the process in any case.
struct TemporaryFile: ~Copyable {
  let descriptor: Int32
  private(set) var size = 0

  init() throws(ToolError) {
    let variable = ToolContext.Variable.temporaryFolder.rawValue
    let folder = getenv(variable).map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(folder)/sessionreplay.XXXXXX".utf8CString)
    descriptor = aboveStandardStreams(mkstemp(&template))
    guard descriptor >= 0 else {
      throw Self.refused("create a temporary file in \(folder)", errno)
    }
    unlink(template)
  }

  deinit {
    close(descriptor)
  }

  mutating func append(_ bytes: ArraySlice<UInt8>) throws(ToolError) {
    do throws(OutputFailure) {
      try DescriptorOutput(descriptor: descriptor).write(bytes)
    } catch {
      let code = if case .refused(let code) = error { code } else { EPIPE }
      throw Self.refused("write a temporary file", code)
    }
    size += bytes.count
  }

  /// Returns the bytes in `range`, which must have been written.
  func read(_ range: Range<Int>) throws(ToolError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: range.count)
    var done = 0
    while done < range.count {
      let count = bytes.withUnsafeMutableBytes { buffer in
        pread(
          descriptor, buffer.baseAddress.map { $0 + done }, buffer.count - done,
          off_t(range.lowerBound + done))
      }
      if count > 0 {
        done += count
      } else if count == 0 || errno != EINTR {
        throw Self.refused("read a temporary file back", count == 0 ? EIO : errno)
      }
    }
    return bytes
  }

  static func refused(_ operation: String, _ code: Int32) -> ToolError {
    ToolError(
      .inputOutput, .inputOutput,
      "The system refused to \(operation): \(systemMessage(code)) (errno \(code)).",
      next: "again with TMPDIR set to a folder with room")
  }
}

/// Returns the system's message for an `errno`.
func systemMessage(_ code: Int32) -> String {
  var buffer = [CChar](repeating: 0, count: 256)
  guard strerror_r(code, &buffer, buffer.count) == 0 else { return "unknown error" }
  let bytes = buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
  return String(decoding: bytes, as: UTF8.self)
}

/// Lines to be printed in reverse order, held on disk and not in memory.
struct ReversedLines: ~Copyable {
  private static let blockSize = 64 * 1024

  private var file: TemporaryFile
  private var pending: [UInt8] = []

  init() throws(ToolError) {
    file = try TemporaryFile()
  }

  /// Appends the next line; its only line feed is at its end.
  mutating func append(_ line: ArraySlice<UInt8>) throws(ToolError) {
    pending.append(contentsOf: line)
    if pending.count >= Self.blockSize { try flush() }
  }

  /// Prints all lines, the last one first.
  mutating func print(to output: Output) throws(ToolError) {
    try flush()
    // What was read and not yet printed. Its first line may begin in the block before.
    var rest: [UInt8] = []
    var end = file.size
    while end > 0, output.isOpen {
      let start = max(0, end - Self.blockSize)
      rest.insert(contentsOf: try file.read(start..<end), at: 0)
      end = start
      while let feed = rest.dropLast().lastIndex(of: 0x0A) {
        output.write(rest[(feed + 1)...])
        rest.removeSubrange((feed + 1)...)
      }
    }
    output.write(rest)
  }

  private mutating func flush() throws(ToolError) {
    try file.append(pending[...])
    pending.removeAll(keepingCapacity: true)
  }
}

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// A file or pipe that is read as a whole, up to a limit.
struct SmallFile {
  enum Failure: Error {
    case folder
    case refused(Refusal)
    /// The command must end.
    case interrupted
  }

  enum Refusal {
    case missing
    case forbidden
    case other(Int32)

    fileprivate init(_ code: Int32) {
      switch code {
      case ENOENT, ENOTDIR, ELOOP, ENAMETOOLONG: self = .missing
      case EACCES, EPERM: self = .forbidden
      default: self = .other(code)
      }
    }
  }

  /// The first `most` bytes.
  let bytes: [UInt8]
  /// Whether it is a regular file that its group or all users may read.
  let isReadableByOthers: Bool

  init(_ path: String, most: Int, _ interruption: Interruption) throws(Failure) {
    let descriptor = openDescriptor(path, O_RDONLY)
    guard descriptor >= 0 else {
      throw interruption.isRaised ? .interrupted : .refused(Refusal(errno))
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .refused(Refusal(errno)) }
    let kind = status.st_mode & S_IFMT
    guard kind != S_IFDIR else { throw .folder }
    isReadableByOthers = kind == S_IFREG && status.st_mode & (S_IRGRP | S_IROTH) != 0
    var bytes = [UInt8](repeating: 0, count: most)
    var size = 0
    while size < most {
      guard !interruption.isRaised else { throw .interrupted }
      let count = bytes.withUnsafeMutableBytes { buffer in
        read(descriptor, buffer.baseAddress.map { $0 + size }, most - size)
      }
      if count == 0 { break }
      if count > 0 {
        size += count
      } else if errno != EINTR {
        throw .refused(Refusal(errno))
      }
    }
    self.bytes = Array(bytes[..<size])
  }
}
