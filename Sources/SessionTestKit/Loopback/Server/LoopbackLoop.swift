import SessionCore
import SessionKit
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The loop of the server's thread: it waits for sockets and wakeups, and gives each connection its
/// turn.
///
/// One thread serves all connections. So a held request needs no thread, requests are received in
/// one order, and one wakeup stops the server. Only `poll` blocks.
struct LoopbackLoop {
  private let listener: Socket
  private let ringing: Socket
  private let bell: Wakeup
  private let desk: LoopbackMailbox
  private var connections: [LoopbackConnection] = []
  private var accepted = 0
  /// The time until which no connection is accepted, so that the loop does not spin without
  /// descriptors.
  private var listensAgain: Int64?

  init(listener: Socket, ringing: Socket, bell: Wakeup, desk: LoopbackMailbox) {
    self.listener = listener
    self.ringing = ringing
    self.bell = bell
    self.desk = desk
  }

  /// Runs until the server is stopped, then closes all sockets.
  mutating func run() {
    while !desk.isStopped {
      let events = waitForEvents()
      if events[0] != 0 { _ = ringing.read() }
      let instant = Self.now()
      for index in connections.indices {
        connections[index].work(isReadable: events[index + 2] != 0, at: instant)
      }
      connections.removeAll(where: \.isClosed)
      if let again = listensAgain, instant >= again { listensAgain = nil }
      if events[1] != 0 { acceptAll(at: instant) }
    }
    for index in connections.indices { connections[index].close() }
    listener.close()
    bell.remove()
    ringing.close()
  }

  /// Returns the events by position: the wakeup, the listener, then the connections.
  private func waitForEvents() -> [Int16] {
    var polled = [
      pollfd(fd: ringing.descriptor, events: Int16(POLLIN), revents: 0),
      // `poll` ignores a negative descriptor.
      pollfd(
        fd: listensAgain == nil ? listener.descriptor : -1, events: Int16(POLLIN), revents: 0),
    ]
    for connection in connections {
      let reads = connection.wantsToRead ? Int16(POLLIN) : 0
      let writes = connection.wantsToWrite ? Int16(POLLOUT) : 0
      // A connection that needs nothing is ignored, since `poll` would report a hang-up again and
      // again.
      let descriptor = reads | writes == 0 ? -1 : connection.socket.descriptor
      polled.append(pollfd(fd: descriptor, events: reads | writes, revents: 0))
    }
    // The result can be ignored: after an interruption `poll` reports the same events again.
    _ = poll(&polled, nfds_t(polled.count), timeout())
    return polled.map(\.revents)
  }

  /// Returns the milliseconds until a connection or the listener needs its turn; −1 if none does.
  private func timeout() -> Int32 {
    let wakes = connections.compactMap(\.wakes) + [listensAgain].compactMap(\.self)
    guard let first = wakes.min() else { return -1 }
    return Int32(clamping: max(0, first.addingSaturating(-Self.now())))
  }

  private mutating func acceptAll(at instant: Int64) {
    while true {
      let (socket, code) = listener.accept()
      guard let socket else {
        if code != 0 { listensAgain = instant.addingSaturating(50) }
        return
      }
      accepted += 1
      connections.append(LoopbackConnection(socket, number: accepted, desk: desk))
    }
  }

  /// Returns the time of the monotonic clock in milliseconds; no user can set that clock.
  private static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}

/// A wakeup of a thread that waits in `poll`; it does nothing after the thread has ended.
final class Wakeup: Sendable {
  private let writer: Mutex<Socket?>

  init(writer: Socket) {
    self.writer = Mutex(writer)
  }

  func ring() {
    writer.withLock { writer in
      // If the socket's buffer is full, a wakeup is already pending.
      _ = writer?.write([0])
    }
  }

  /// Closes the socket.
  ///
  /// The lock ensures that no wakeup is written to a descriptor that was closed.
  func remove() {
    writer.withLock { writer in
      writer?.close()
      writer = nil
    }
  }
}
