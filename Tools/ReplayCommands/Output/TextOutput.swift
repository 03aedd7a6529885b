#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Where the tool's text goes; the tool gathers it into blocks.
public protocol TextOutput: AnyObject {
  /// Whether a person looks at it directly.
  var isTerminal: Bool { get }

  /// How many columns the terminal has; `nil` where there is none.
  var width: Int? { get }

  /// Takes more text, UTF-8, all of it.
  func write(_ bytes: ArraySlice<UInt8>) throws(OutputFailure)

  /// Throws if it is known, without writing, that nobody reads any more.
  func probe() throws(OutputFailure)

  /// Waits so many milliseconds; ends early where nobody reads any more, or a signal comes.
  func wait(milliseconds: Int32)
}

extension TextOutput {
  /// Waits so many milliseconds, or until a signal comes.
  public func wait(milliseconds: Int32) {
    poll(nil, 0, milliseconds)
  }

  /// Takes more text, all of it.
  public func write(_ text: String) throws(OutputFailure) {
    try write(ArraySlice(text.utf8))
  }
}

/// Why text could not be written.
public enum OutputFailure: Error, Equatable, Sendable {
  /// Nobody reads any more: the other end of the pipe is closed.
  case closed
  /// The system refused, with this `errno`.
  case refused(Int32)
}

/// Collects text in memory.
public final class CollectedOutput: TextOutput {
  private var bytes: [UInt8] = []

  /// Everything written so far.
  public var text: String { String(decoding: bytes, as: UTF8.self) }

  /// Whether it passes for a terminal.
  public let isTerminal: Bool

  /// How many columns it passes for.
  public let width: Int?

  /// Nothing collected yet.
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

/// Writes to an open file descriptor, at once.
public final class DescriptorOutput: TextOutput {
  let descriptor: Int32
  private let isEnding: @Sendable () -> Bool

  /// Output to `descriptor`, which stays open.
  ///
  /// Where the program is to end while nobody takes what is written, the rest is given up.
  public init(descriptor: Int32, isEnding: @escaping @Sendable () -> Bool = { false }) {
    self.descriptor = descriptor
    self.isEnding = isEnding
  }

  /// Whether a person looks at it directly.
  public var isTerminal: Bool { isatty(descriptor) == 1 }

  /// What the terminal says of itself.
  public var width: Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// Writes all of it.
  public func write(_ bytes: ArraySlice<UInt8>) throws(OutputFailure) {
    var rest = bytes
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { systemWrite(descriptor, $0) }
      if written >= 0 {
        rest = rest.dropFirst(written)
      } else if errno == EINTR, isEnding() {
        throw .closed
      } else if errno == EPIPE {
        throw .closed
      } else if errno != EINTR {
        throw .refused(errno)
      }
    }
  }

  /// Asks the system whether the other end of a pipe is gone.
  public func probe() throws(OutputFailure) {
    var asked = pollfd(fd: descriptor, events: 0, revents: 0)
    guard poll(&asked, 1, 0) == 1 else { return }
    if asked.revents & Int16(POLLERR | POLLHUP) != 0 { throw .closed }
  }
}

extension DescriptorOutput {
  /// Waits so many milliseconds; ends early where nobody reads any more, or a signal comes.
  public func wait(milliseconds: Int32) {
    // Nothing is asked for: the system tells of a closed pipe all the same.
    var asked = pollfd(fd: descriptor, events: 0, revents: 0)
    poll(&asked, 1, milliseconds)
  }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  write(descriptor, bytes.baseAddress, bytes.count)
}
