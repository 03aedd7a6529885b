#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The server's thread: waits for sockets and for the bell, and gives each connection its turn.
///
/// One thread for all connections: a held request costs no thread, requests are received in one
/// order, and stopping is one wake-up. Nothing in it blocks but `poll`.
struct LoopbackLoop {
  private let listener: Socket
  private let ringing: Socket
  private let bell: Wakeup
  private let desk: LoopbackMailbox
  private var connections: [LoopbackConnection] = []
  private var accepted = 0
  /// Out of descriptors: nobody is let in before this instant, lest the loop spin.
  private var listensAgain: Int64?

  init(listener: Socket, ringing: Socket, bell: Wakeup, desk: LoopbackMailbox) {
    self.listener = listener
    self.ringing = ringing
    self.bell = bell
    self.desk = desk
  }

  /// Runs until the desk is stopped, then closes everything.
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

  /// What happened, by position: the bell, the listener, then the connections.
  private func waitForEvents() -> [Int16] {
    var polled = [
      pollfd(fd: ringing.descriptor, events: Int16(POLLIN), revents: 0),
      // A negative descriptor is passed over.
      pollfd(
        fd: listensAgain == nil ? listener.descriptor : -1, events: Int16(POLLIN), revents: 0),
    ]
    for connection in connections {
      let reads = connection.wantsToRead ? Int16(POLLIN) : 0
      let writes = connection.wantsToWrite ? Int16(POLLOUT) : 0
      // One that wants nothing is passed over, for a hang-up would be reported again and again.
      let descriptor = reads | writes == 0 ? -1 : connection.socket.descriptor
      polled.append(pollfd(fd: descriptor, events: reads | writes, revents: 0))
    }
    // Interrupted or not, what it did not report is reported again.
    _ = poll(&polled, nfds_t(polled.count), timeout())
    return polled.map(\.revents)
  }

  /// Milliseconds until somebody must be looked at; −1 for never.
  private func timeout() -> Int32 {
    let wakes = connections.compactMap(\.wakes) + [listensAgain].compactMap(\.self)
    guard let first = wakes.min() else { return -1 }
    return Int32(clamping: max(0, first.adding(-Self.now())))
  }

  private mutating func acceptAll(at instant: Int64) {
    while true {
      let (socket, code) = listener.accept()
      guard let socket else {
        if code != 0 { listensAgain = instant.adding(50) }
        return
      }
      accepted += 1
      connections.append(LoopbackConnection(socket, number: accepted, desk: desk))
    }
  }

  /// Milliseconds of a clock that nobody sets.
  private static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
