import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The blocking socket calls on 127.0.0.1 that test servers need.
enum PlainSocket {
  struct SystemError: Error {
    let call: String
    let code: Int32
  }

  /// A listening descriptor, at a port that the system chose.
  static func listener(backlog: Int32) throws -> (descriptor: Int32, port: UInt16) {
    #if canImport(Darwin)
      let kind = SOCK_STREAM
    #else
      let kind = Int32(SOCK_STREAM.rawValue)
    #endif
    let listener = socket(AF_INET, kind, 0)
    guard listener >= 0 else { throw SystemError(call: "socket", code: errno) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutableBytes(of: &address) { bytes in
      bytes.withMemoryRebound(to: sockaddr.self) { address in
        guard let address = address.baseAddress else { return false }
        return bind(listener, address, length) == 0 && listen(listener, backlog) == 0
          && getsockname(listener, address, &length) == 0
      }
    }
    guard isListening else {
      let code = errno
      close(listener)
      throw SystemError(call: "listen", code: code)
    }
    return (listener, UInt16(bigEndian: address.sin_port))
  }

  /// Sends all bytes.
  ///
  /// Returns `false` if the client has hung up, which must not end the process.
  @discardableResult
  static func send(_ bytes: [UInt8], to connection: Int32) -> Bool {
    #if canImport(Darwin)
      let quietly: Int32 = 0x80000
    #else
      let quietly = Int32(MSG_NOSIGNAL)
    #endif
    var rest = bytes[...]
    while !rest.isEmpty {
      let sent = rest.withUnsafeBytes { bytes in
        #if canImport(Darwin)
          Darwin.send(connection, bytes.baseAddress, bytes.count, quietly)
        #else
          Glibc.send(connection, bytes.baseAddress, bytes.count, quietly)
        #endif
      }
      guard sent > 0 else { return false }
      rest = rest.dropFirst(sent)
    }
    return true
  }
}
