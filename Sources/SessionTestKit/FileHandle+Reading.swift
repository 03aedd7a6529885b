package import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension FileHandle {
  /// The next bytes of a pipe or file, waited for; empty at its end.
  ///
  /// `availableData` ends the process if a signal interrupts the wait, and `read(upToCount:)` throws then.
  package func nextBytes() throws -> Data {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = systemRead(fileDescriptor, &buffer, buffer.count)
      if count >= 0 { return Data(buffer[..<count]) }
      guard errno == EINTR else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }
  }

  /// All bytes to the end of a pipe or file, waited for.
  package func remainingBytes() throws -> Data {
    var bytes = Data()
    while true {
      let next = try nextBytes()
      if next.isEmpty { return bytes }
      bytes += next
    }
  }
}

/// The call of the system: within `FileHandle` its name means a method.
private func systemRead(_ file: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
  read(file, buffer, count)
}
