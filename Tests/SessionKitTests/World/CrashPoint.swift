import SessionHTTP
import SessionKit
import SessionTestKit
import Synchronization

/// A moment at which a process dies: before or after one call on the disk, one on the secrets, or one
/// request.
enum CrashPoint: Hashable, Sendable, CustomStringConvertible {
  /// The process dies in call number `Int`; of a write, the first `bytes` bytes are in the file.
  case disk(Int, bytes: Int)
  case secret(Int, isDone: Bool)
  /// The process dies before it sends request number `Int`, or before it reads the response.
  case request(Int, isActedOn: Bool)

  var description: String {
    switch self {
    case .disk(let call, let bytes): "in call \(call) on the disk, behind \(bytes) bytes"
    case .secret(let call, let isDone): "\(isDone ? "after" : "before") call \(call) on the secrets"
    case .request(let number, let isActedOn):
      "\(isActedOn ? "after the server acted on" : "before") request \(number)"
    }
  }
}

/// How many moments a story has.
struct CrashCounts: Sendable {
  /// The calls on the disk.
  var disk: ArraySlice<DiskCall> = []
  var secrets = 0
  var requests = 0

  /// Every moment at which the story can be cut short with a different result.
  ///
  /// A death in a call that only reads leaves the same as a death in the next call that writes.
  var points: [CrashPoint] {
    var points: [CrashPoint] = []
    for (number, call) in disk.enumerated() where call.operation.changesSomething {
      let bytes = call.operation == .write ? call.bytes : 0
      for count in Set([0, bytes / 2, bytes]).sorted() {
        points.append(.disk(number, bytes: count))
      }
    }
    for call in 0..<secrets {
      points += [.secret(call, isDone: false), .secret(call, isDone: true)]
    }
    for number in 0..<requests {
      points += [.request(number, isActedOn: false), .request(number, isActedOn: true)]
    }
    return points
  }
}

extension DiskOperation {
  fileprivate var changesSomething: Bool {
    switch self {
    case .open, .openForWriting, .inspectPath, .inspect, .list, .read, .nextData: false
    case .create, .createOnly, .rename, .remove, .synchronizeFolder, .write, .truncate,
      .synchronizeData, .synchronize, .lock, .unlock:
      true
    }
  }
}

/// The network of a process that may die.
///
/// A dead process sends nothing and reads nothing.
final class MortalTransport: HTTPTransport {
  private let server: SimulatedServer
  private let process: SimulatedProcess
  private let point: CrashPoint?
  private let state = Mutex(0)

  init(_ server: SimulatedServer, _ process: SimulatedProcess, dyingAt point: CrashPoint? = nil) {
    (self.server, self.process, self.point) = (server, process, point)
  }

  /// How many requests were sent.
  var count: Int { state.withLock { $0 } }

  func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
    let number = state.withLock { count in
      defer { count += 1 }
      return count
    }
    if point == .request(number, isActedOn: false) { process.kill() }
    try live()
    let response = try await server.send(request)
    if point == .request(number, isActedOn: true) { process.kill() }
    try live()
    return response
  }

  private func live() throws(TransportError) {
    guard process.isAlive else { throw .noConnection("a dead process") }
  }
}

/// A network without a connection.
struct NoTransport: HTTPTransport {
  func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
    throw .noConnection("there is no network")
  }
}
