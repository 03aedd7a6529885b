import SessionJournal
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A system call for a socket failed; `code` is its `errno`.
package struct SocketError: Error, Equatable {
  package let call: String
  package let code: Int32
}

/// An address of this machine, which no other machine reaches.
package enum LoopbackHost: String, Sendable {
  case ipv4 = "127.0.0.1"
  case ipv6 = "::1"

  fileprivate var family: Int32 { self == .ipv4 ? AF_INET : AF_INET6 }
}

/// A non-blocking descriptor that child processes do not inherit; its owner must close it.
package struct Socket: Sendable {
  package enum Reading {
    case bytes([UInt8])
    case wouldBlock
    case ended
  }

  package enum Writing {
    case wrote(Int)
    case wouldBlock
    case failed
  }

  package let descriptor: Int32

  /// Opens a listener on an address of this machine.
  ///
  /// With port 0 the system chooses a free port that no listener of this process had before. So a
  /// client of a stopped server does not reach another server by accident.
  package static func listening(
    port: UInt16, on host: LoopbackHost = .ipv4
  ) throws(SocketError) -> (Socket, port: UInt16) {
    var refused: [Socket] = []
    defer { for socket in refused { socket.close() } }
    while true {
      let (socket, chosen) = try bound(to: port, on: host)
      let isNew = usedPorts.withLock { $0.insert(chosen).inserted }
      // If the process has used most ports, a used one must be accepted.
      if isNew || port != 0 || refused.count == 64 { return (socket, port: chosen) }
      refused.append(socket)
    }
  }

  private static let usedPorts = Mutex<Set<UInt16>>([])

  private static func bound(
    to port: UInt16, on host: LoopbackHost
  ) throws(SocketError) -> (Socket, port: UInt16) {
    let socket = Socket(descriptor: Self.open(host.family))
    guard socket.descriptor >= 0 else { throw SocketError(call: "socket", code: errno) }
    do throws(SocketError) {
      try socket.prepare()
      try socket.set(SO_REUSEADDR, "SO_REUSEADDR")
      return (socket, port: try socket.take(port, on: host, listening: true))
    } catch {
      socket.close()
      throw error
    }
  }

  /// Reserves a port of 127.0.0.1 that refuses every connection, until the socket is closed.
  package static func deaf() throws(SocketError) -> (Socket, port: UInt16) {
    let socket = Socket(descriptor: Self.open(AF_INET))
    guard socket.descriptor >= 0 else { throw SocketError(call: "socket", code: errno) }
    do throws(SocketError) {
      // With SO_REUSEADDR the system could give this port, which has no listener, to other sockets
      // too.
      try socket.prepare()
      return (socket, port: try socket.take(0, on: .ipv4, listening: false))
    } catch {
      socket.close()
      throw error
    }
  }

  /// Creates two connected sockets; bytes written to the second can be read from the first.
  package static func pair() throws(SocketError) -> (reader: Socket, writer: Socket) {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, streamType, 0, &ends) == 0 else {
      throw SocketError(call: "socketpair", code: errno)
    }
    let pair = (
      reader: Socket(descriptor: aboveStandardStreams(ends[0])),
      writer: Socket(descriptor: aboveStandardStreams(ends[1]))
    )
    do throws(SocketError) {
      try pair.reader.prepare()
      try pair.writer.prepare()
      return pair
    } catch {
      pair.reader.close()
      pair.writer.close()
      throw error
    }
  }

  /// Accepts the next connection of a listener.
  ///
  /// The code is `errno`, or 0 if no connection waits.
  package func accept() -> (Socket?, code: Int32) {
    while true {
      let accepted = aboveStandardStreams(Self.systemAccept(descriptor))
      if accepted >= 0 {
        let socket = Socket(descriptor: accepted)
        do {
          try socket.prepare()
          return (socket, code: 0)
        } catch {
          socket.close()
          return (nil, code: 0)
        }
      }
      let code = errno
      if code == EINTR || code == ECONNABORTED { continue }
      return (nil, code: code == EAGAIN || code == EWOULDBLOCK ? 0 : code)
    }
  }

  package func read(atMost count: Int = 64 * 1024) -> Reading {
    while true {
      var length = 0
      let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
        length = recv(descriptor, buffer.baseAddress, count, 0)
        initialized = max(0, length)
      }
      if length > 0 { return .bytes(bytes) }
      if length == 0 { return .ended }
      if errno == EINTR { continue }
      return errno == EAGAIN || errno == EWOULDBLOCK ? .wouldBlock : .ended
    }
  }

  package func write(_ bytes: some Collection<UInt8>) -> Writing {
    let bytes = Array(bytes)
    #if os(Linux)
    let flags = Int32(MSG_NOSIGNAL)
    #else
    let flags: Int32 = 0
    #endif
    while true {
      let written = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, flags) }
      if written >= 0 { return .wrote(written) }
      if errno == EINTR { continue }
      return errno == EAGAIN || errno == EWOULDBLOCK ? .wouldBlock : .failed
    }
  }

  /// Announces that no more bytes will be written; bytes from the peer can still be read.
  package func finishWriting() {
    _ = shutdown(descriptor, Int32(SHUT_WR))
  }

  /// Closes the descriptor; with `resetting`, the peer sees a broken connection.
  package func close(resetting: Bool = false) {
    if resetting {
      var now = linger(l_onoff: 1, l_linger: 0)
      setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
    }
    // The descriptor is closed even after EINTR; a second call could close a descriptor of other
    // code.
    _ = Self.systemClose(descriptor)
  }

  private func prepare() throws(SocketError) {
    let flags = fcntl(descriptor, F_GETFL)
    guard flags >= 0, fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) >= 0,
      fcntl(descriptor, F_SETFD, FD_CLOEXEC) >= 0
    else { throw SocketError(call: "fcntl", code: errno) }
    #if canImport(Darwin)
    try set(SO_NOSIGPIPE, "SO_NOSIGPIPE")
    #endif
  }

  private func set(_ option: Int32, _ name: String) throws(SocketError) {
    var on: Int32 = 1
    let size = socklen_t(MemoryLayout<Int32>.size)
    guard setsockopt(descriptor, SOL_SOCKET, option, &on, size) == 0 else {
      throw SocketError(call: "setsockopt(\(name))", code: errno)
    }
  }

  private func take(
    _ port: UInt16, on host: LoopbackHost, listening isListening: Bool
  ) throws(SocketError) -> UInt16 {
    // Both kinds of address begin with the family and the port.
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(host.family)
    address.sin6_port = port.bigEndian
    var size = socklen_t(
      host == .ipv4 ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size)
    let failed: String? = withUnsafeMutableBytes(of: &address) { bytes in
      bytes[host == .ipv4 ? 7 : 23] = 1
      if host == .ipv4 { bytes[4] = 127 }
      return bytes.withMemoryRebound(to: sockaddr.self) { rebound in
        guard bind(descriptor, rebound.baseAddress, size) == 0 else { return "bind" }
        guard !isListening || listen(descriptor, SOMAXCONN) == 0 else { return "listen" }
        guard getsockname(descriptor, rebound.baseAddress, &size) == 0 else {
          return "getsockname"
        }
        return nil
      }
    }
    if let failed { throw SocketError(call: failed, code: errno) }
    return UInt16(bigEndian: address.sin6_port)
  }

  /// The type of a stream socket; if the system allows it, child processes never inherit the
  /// socket.
  #if canImport(Glibc)
  private static let streamType = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
  #elseif canImport(Musl)
  private static let streamType = SOCK_STREAM | SOCK_CLOEXEC
  #else
  private static let streamType = SOCK_STREAM
  #endif

  private static func open(_ family: Int32) -> Int32 {
    aboveStandardStreams(socket(family, streamType, 0))
  }

  // The methods above hide the system's functions of the same names.
  #if canImport(Darwin)
  private static func systemAccept(_ listener: Int32) -> Int32 {
    Darwin.accept(listener, nil, nil)
  }

  private static func systemClose(_ descriptor: Int32) -> Int32 { Darwin.close(descriptor) }
  #elseif canImport(Glibc)
  private static func systemAccept(_ listener: Int32) -> Int32 {
    Glibc.accept(listener, nil, nil)
  }

  private static func systemClose(_ descriptor: Int32) -> Int32 { Glibc.close(descriptor) }
  #elseif canImport(Musl)
  private static func systemAccept(_ listener: Int32) -> Int32 {
    Musl.accept(listener, nil, nil)
  }

  private static func systemClose(_ descriptor: Int32) -> Int32 { Musl.close(descriptor) }
  #endif
}
