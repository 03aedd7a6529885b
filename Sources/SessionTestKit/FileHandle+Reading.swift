package import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension FileHandle {
  /// Waits for the next bytes of a pipe or file, and returns them; empty at its end.
  ///
  /// It continues after a signal. `availableData` would end the process then, and
  /// `read(upToCount:)` would throw.
  package func nextBytes() throws -> Data {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = systemRead(fileDescriptor, &buffer, buffer.count)
      if count >= 0 { return Data(buffer[..<count]) }
      guard errno == EINTR else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }
  }

  /// Waits for all bytes to the end of a pipe or file, and returns them.
  package func remainingBytes() throws -> Data {
    var bytes = Data()
    while true {
      let next = try nextBytes()
      if next.isEmpty { return bytes }
      bytes += next
    }
  }
}

/// Calls the system's `read`: inside `FileHandle` that name is a method.
private func systemRead(_ file: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
  read(file, buffer, count)
}
