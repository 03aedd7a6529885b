/// A request on its way through the server; owned by its connection.
struct CallJob: Sendable {
  enum Stage: Sendable {
    case arrived
    /// The fault is chosen; acts when the instant is reached.
    case delayed(until: Int64)
    case acted(CallResult)
  }

  let number: Int
  let endpoint: LoopbackEndpoint
  let request: ReceivedRequest
  var stage = Stage.arrived
  var fault: LoopbackFault?
}

/// What a job may do next.
enum CallStep: Sendable {
  /// Ask again when woken, or at this instant of the monotonic clock.
  case wait(until: Int64?)
  /// Send these bytes, then do that with the connection.
  case finish([UInt8], then: Ending)
}

/// What becomes of a connection after an answer.
enum Ending: Sendable {
  case goOn
  /// Orderly: the client is told, and given time to read.
  case close
  /// At once, with a reset.
  case reset
}

/// How a call ends, before it becomes bytes.
enum CallResult: Sendable {
  case answer(SentResponse, code: String?, LoopbackCall.Violation?)
  case cut(SentResponse, afterBytes: Int)
  case drop
}
