import Foundation

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A loopback server that reads the head of a request, sends given bytes and hangs up.
///
/// It gives responses that no correct server gives.
final class RawServer: Sendable {
  let port: UInt16
  private let listener: Int32

  init(answering text: String) throws {
    let (listener, port) = try PlainSocket.listener(backlog: 8)
    (self.listener, self.port) = (listener, port)
    let bytes = Array(text.utf8)
    Thread.detachNewThread { RawServer.serve(listener, bytes) }
  }

  deinit {
    // Wakes the thread, which closes the descriptor.
    shutdown(listener, Int32(SHUT_RDWR))
  }

  private static func serve(_ listener: Int32, _ answer: [UInt8]) {
    while true {
      let connection = accept(listener, nil, nil)
      guard connection >= 0 else { break }
      readHead(connection)
      PlainSocket.send(answer, to: connection)
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
