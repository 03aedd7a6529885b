import SessionCore
import SessionKit

/// A connection of the server: it reads requests in order, and answers each before it reads the
/// next.
///
/// It is used only on the server's thread. While a job waits, the connection does not watch its
/// client. So, like a real server, it acts even if the client has stopped waiting for the answer.
struct LoopbackConnection {
  private enum Phase {
    case serving
    /// Everything is written. It continues to read for a short time. If it closed while the client
    /// still sends, the client could lose the answer (RFC 9112 §9.6).
    case lingering(until: Int64)
    case closed
  }

  let socket: Socket
  private let number: Int
  private let desk: LoopbackMailbox
  private var parser = HTTPRequestParser()
  private var phase = Phase.serving
  private var job: CallJob?
  private var output: ArraySlice<UInt8> = []
  private var ending = Ending.goOn
  private var inputEnded = false
  /// The time of the monotonic clock, in milliseconds, at which the job must be advanced again.
  private var deadline: Int64?

  init(_ socket: Socket, number: Int, desk: LoopbackMailbox) {
    self.socket = socket
    self.number = number
    self.desk = desk
  }

  var isClosed: Bool {
    if case .closed = phase { return true }
    return false
  }

  /// Whether more input can be processed now.
  var wantsToRead: Bool {
    switch phase {
    case .serving: job == nil && output.isEmpty && !inputEnded
    case .lingering: true
    case .closed: false
    }
  }

  var wantsToWrite: Bool { !output.isEmpty && !isClosed }

  /// The time at which the connection needs its turn even without an event.
  var wakes: Int64? {
    switch phase {
    case .serving: deadline
    case .lingering(let until): until
    case .closed: nil
    }
  }

  /// Ends the connection with a reset, as a crash or a lost network does.
  private mutating func reset() {
    socket.close(resetting: true)
    phase = .closed
  }

  mutating func close() {
    guard !isClosed else { return }
    // The end is announced explicitly, since a child process with a copy of the descriptor keeps it
    // open.
    socket.finishWriting()
    socket.close()
    phase = .closed
  }

  /// Does everything that is possible now.
  ///
  /// `isReadable` is the result of `poll`.
  mutating func work(isReadable: Bool, at instant: Int64) {
    switch phase {
    case .closed: break
    case .lingering(let until): linger(isReadable: isReadable, hasTime: instant < until)
    case .serving:
      if isReadable, wantsToRead { read() }
      serve(at: instant)
    }
  }

  private mutating func linger(isReadable: Bool, hasTime: Bool) {
    guard hasTime else { return close() }
    guard isReadable else { return }
    if case .ended = socket.read() { close() }
  }

  private mutating func read() {
    switch socket.read() {
    case .bytes(let bytes): parser.feed(bytes)
    case .wouldBlock: break
    case .ended: inputEnded = true
    }
  }

  private mutating func serve(at instant: Int64) {
    deadline = nil
    while case .serving = phase {
      guard output.isEmpty else {
        if write(at: instant) { continue }
        return
      }
      guard job == nil else {
        if advance(at: instant) { continue }
        return
      }
      if !parse() { return }
    }
  }

  /// Writes pending output; returns `false` if the client must read first, or is gone.
  private mutating func write(at instant: Int64) -> Bool {
    switch socket.write(output) {
    case .wouldBlock: return false
    case .failed:
      close()
      return false
    case .wrote(let count):
      output = output.dropFirst(count)
      if output.isEmpty { end(at: instant) }
      return true
    }
  }

  /// Continues or ends the connection after everything is written, as `ending` says.
  private mutating func end(at instant: Int64) {
    switch ending {
    case .goOn: break
    case .close: startLingering(at: instant)
    case .reset: reset()
    }
  }

  private mutating func startLingering(at instant: Int64) {
    socket.finishWriting()
    phase = .lingering(until: instant.addingSaturating(2000))
    if inputEnded { close() }
  }

  private mutating func advance(at instant: Int64) -> Bool {
    guard var current = job else { return false }
    // The job is out of the property while it changes, so that its request is not copied.
    job = nil
    switch desk.advance(&current, at: instant) {
    case .wait(let until):
      job = current
      deadline = until
      return false
    case .finish(let bytes, let ending):
      send(bytes, then: ending)
      if bytes.isEmpty { end(at: instant) }
      return true
    }
  }

  /// Processes the next event of the input; returns `false` if the connection has to wait.
  private mutating func parse() -> Bool {
    switch parser.next() {
    case .needsMoreBytes:
      if inputEnded { close() }
      return false
    case .expectsContinue: send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), then: .goOn)
    case .request(let request): job = desk.receive(request, connection: number)
    case .rejected(let rejection):
      send(desk.receiveUnreadable(rejection, connection: number), then: .close)
    }
    return true
  }

  private mutating func send(_ bytes: [UInt8], then ending: Ending) {
    output = bytes[...]
    self.ending = ending
  }
}
