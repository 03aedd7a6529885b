internal import SessionJSON

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// A destination of the tool's text, which arrives in blocks.
public protocol TextOutput: AnyObject {
  /// Whether it is a terminal.
  var isTerminal: Bool { get }

  /// The number of columns of the terminal; `nil` if there is none.
  var width: Int? { get }

  /// Writes all of the text, which is UTF-8.
  ///
  /// Throws if its reader is gone or the system refuses.
  func write(_ bytes: ArraySlice<UInt8>) throws(OutputFailure)

  /// Throws if it is known, without writing, that the output has no reader any more.
  func probe() throws(OutputFailure)

  /// Waits; ends early if the output has no reader any more, or a signal arrives.
  func wait(milliseconds: Int32)
}

extension TextOutput {
  /// Waits, or returns early when a signal arrives.
  public func wait(milliseconds: Int32) {
    poll(nil, 0, milliseconds)
  }

  /// Writes all of the text.
  ///
  /// Throws if its reader is gone or the system refuses.
  public func write(_ text: String) throws(OutputFailure) {
    try write(ArraySlice(text.utf8))
  }
}

/// Why text could not be written.
public enum OutputFailure: Error, Equatable, Sendable {
  /// The output has no reader any more: the other end of the pipe is closed.
  case closed
  /// The system returned this `errno`.
  case refused(Int32)
}

/// An output that collects text in memory.
public final class CollectedOutput: TextOutput {
  private var bytes: [UInt8] = []

  /// All text that was written.
  public var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Whether the output acts as a terminal.
  public let isTerminal: Bool

  /// The number of columns that the output reports.
  public let width: Int?

  /// Creates an empty output.
  public init(isTerminal: Bool = false, width: Int? = nil) {
    self.isTerminal = isTerminal
    self.width = width
  }

  /// Appends the text.
  public func write(_ bytes: ArraySlice<UInt8>) {
    self.bytes += bytes
  }

  /// Does nothing.
  public func probe() {}
}

/// An output that writes to an open file descriptor at once.
public final class DescriptorOutput: TextOutput {
  let descriptor: Int32
  private let isEnding: @Sendable () -> Bool

  /// Creates an output to `descriptor`, which the output never closes.
  ///
  /// If `isEnding` returns true while a write waits for a reader, the rest of the text is dropped.
  public init(descriptor: Int32, isEnding: @escaping @Sendable () -> Bool = { false }) {
    self.descriptor = descriptor
    self.isEnding = isEnding
  }

  /// Whether the descriptor is a terminal.
  public var isTerminal: Bool { isatty(descriptor) == 1 }

  /// The number of columns that the terminal reports; `nil` if there is none.
  public var width: Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// Writes all bytes.
  ///
  /// Throws `closed` if the reader is gone, or if a signal that ends the program interrupts the
  /// write. Throws `refused` for any other `errno`.
  public func write(_ bytes: ArraySlice<UInt8>) throws(OutputFailure) {
    var rest = bytes
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { systemWrite(descriptor, $0) }
      if written >= 0 {
        rest = rest.dropFirst(written)
        // A signal ends a write of which a part was taken, without an error.
        if !rest.isEmpty, isEnding() { throw .closed }
      } else if errno == EINTR, isEnding() {
        throw .closed
      } else if errno == EPIPE {
        throw .closed
      } else if errno != EINTR {
        throw .refused(errno)
      }
    }
  }

  /// Asks the system whether the other end of a pipe is closed; throws `closed` if so.
  public func probe() throws(OutputFailure) {
    var asked = pollfd(fd: descriptor, events: 0, revents: 0)
    guard poll(&asked, 1, 0) == 1 else { return }
    if asked.revents & Int16(POLLERR | POLLHUP) != 0 { throw .closed }
  }
}

extension DescriptorOutput {
  /// Waits; ends early if the other end of a pipe is closed, or a signal arrives.
  public func wait(milliseconds: Int32) {
    // No event is requested: the system reports a closed pipe in any case.
    var asked = pollfd(fd: descriptor, events: 0, revents: 0)
    poll(&asked, 1, milliseconds)
  }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  write(descriptor, bytes.baseAddress, bytes.count)
}

extension String {
  /// A file's name as a shell reads it back.
  ///
  /// The name is quoted if it holds anything except letters, digits and `._/-+:@%,=`. It never
  /// contains a line feed, and a shell command never takes it for an option.
  ///
  /// A name that is longer than any path can be is cut.
  var quotedWhereNeeded: String {
    guard utf8.count <= 4_096 else { return String(prefix(80)).quotedWhereNeeded + "…" }
    guard !hasPrefix("-") || self == "-" else { return ("./" + self).quotedWhereNeeded }
    guard isEmpty || unicodeScalars.contains(where: { !$0.isPlainInShell }) else { return self }
    guard unicodeScalars.contains(where: \.isUnprintable) else {
      return "'"
        + split(separator: "'", omittingEmptySubsequences: false)
        .joined(separator: #"'\''"#) + "'"
    }
    var text = "$'"
    for scalar in unicodeScalars {
      if scalar.isUnprintable {
        for byte in Array(String(scalar).utf8) {
          let digits = String(byte, radix: 8)
          text += "\\" + String(repeating: "0", count: 3 - digits.count) + digits
        }
      } else {
        if scalar == "'" || scalar == "\\" { text += "\\" }
        text.unicodeScalars.append(scalar)
      }
    }
    return text + "'"
  }

  /// The text, cut to at most 80 characters; for words from the command line.
  var shortened: String {
    utf8.count <= 80 || count <= 80 ? self : prefix(79) + "…"
  }
}

extension Unicode.Scalar {
  /// Whether the character has no special meaning for a shell.
  fileprivate var isPlainInShell: Bool {
    switch self {
    case "a"..."z", "A"..."Z", "0"..."9": true
    case ".", "_", "/", "-", "+", ":", "@", "%", ",", "=": true
    default: properties.isAlphabetic
    }
  }
}
