#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Where a command writes its text.
public protocol TextOutput: AnyObject {
  /// Whether a person looks at it directly.
  var isTerminal: Bool { get }

  /// Takes more text; it may stay in memory until `flush`.
  func write(_ text: String) throws(OutputFailure)

  /// Hands on what was taken so far.
  func flush() throws(OutputFailure)
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
  /// Everything written so far.
  public private(set) var text = ""

  /// Whether it passes for a terminal.
  public let isTerminal: Bool

  /// Nothing collected yet.
  public init(isTerminal: Bool = false) {
    self.isTerminal = isTerminal
  }

  /// Appends the text.
  public func write(_ text: String) {
    self.text += text
  }

  /// Does nothing.
  public func flush() {}
}

/// Writes to an open file descriptor, a block at a time.
public final class DescriptorOutput: TextOutput {
  private static let blockSize = 64 * 1024

  private let descriptor: Int32
  private var pending: [UInt8] = []

  /// Output to `descriptor`, which stays open.
  public init(descriptor: Int32) {
    self.descriptor = descriptor
    pending.reserveCapacity(Self.blockSize + 4096)
  }

  /// Whether a person looks at it directly.
  public var isTerminal: Bool { isatty(descriptor) == 1 }

  /// Takes more text; writes when a block is full.
  public func write(_ text: String) throws(OutputFailure) {
    pending.append(contentsOf: text.utf8)
    if pending.count >= Self.blockSize { try flush() }
  }

  /// Writes what is pending.
  public func flush() throws(OutputFailure) {
    defer { pending.removeAll(keepingCapacity: true) }
    try Raw(descriptor).write(pending[...])
  }

  /// Writes bytes at once and whole.
  struct Raw {
    private let descriptor: Int32

    init(_ descriptor: Int32) {
      self.descriptor = descriptor
    }

    func write(_ bytes: ArraySlice<UInt8>) throws(OutputFailure) {
      var rest = bytes
      while !rest.isEmpty {
        let written = rest.withUnsafeBytes { systemWrite(descriptor, $0) }
        if written >= 0 {
          rest = rest.dropFirst(written)
        } else if errno == EPIPE {
          throw .closed
        } else if errno != EINTR {
          throw .refused(errno)
        }
      }
    }
  }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
  write(descriptor, bytes.baseAddress, bytes.count)
}
