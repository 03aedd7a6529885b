import Foundation
import Testing

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A loopback server that reads the head of a request, sends given bytes and hangs up: for answers
/// that no good server gives.
final class RawServer: Sendable {
  struct SystemError: Error {
    let call: String
    let code: Int32
  }

  let port: UInt16
  private let listener: Int32

  init(answering text: String) throws {
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
        return bind(listener, address, length) == 0 && listen(listener, 8) == 0
          && getsockname(listener, address, &length) == 0
      }
    }
    guard isListening else {
      let code = errno
      close(listener)
      throw SystemError(call: "listen", code: code)
    }
    self.listener = listener
    port = UInt16(bigEndian: address.sin_port)
    let bytes = Array(text.utf8)
    Thread.detachNewThread { RawServer.serve(listener, bytes) }
  }

  deinit {
    // Wakes the thread, which closes it.
    shutdown(listener, Int32(SHUT_RDWR))
  }

  /// A client that hangs up must not end the process.
  #if canImport(Darwin)
    private static let quietly: Int32 = 0x80000
  #else
    private static let quietly = Int32(MSG_NOSIGNAL)
  #endif

  private static func serve(_ listener: Int32, _ answer: [UInt8]) {
    while true {
      let connection = accept(listener, nil, nil)
      guard connection >= 0 else { break }
      readHead(connection)
      var rest = answer[...]
      while !rest.isEmpty {
        let sent = rest.withUnsafeBytes { bytes in
          send(connection, bytes.baseAddress, bytes.count, quietly)
        }
        guard sent > 0 else { break }
        rest = rest.dropFirst(sent)
      }
      shutdown(connection, Int32(SHUT_WR))
      var sink = [UInt8](repeating: 0, count: 4096)
      while read(connection, &sink, sink.count) > 0 {}
      close(connection)
    }
    close(listener)
  }

  private static func readHead(_ connection: Int32) {
    var head: [UInt8] = []
    var byte: UInt8 = 0
    while !head.suffix(4).elementsEqual([13, 10, 13, 10]), read(connection, &byte, 1) == 1 {
      head.append(byte)
    }
  }
}
