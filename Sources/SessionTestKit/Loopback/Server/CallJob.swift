/// A request that the server is processing; its connection owns it.
struct CallJob: Sendable {
  enum Stage: Sendable {
    case arrived
    /// The fault is chosen; the server acts at this time of the monotonic clock, in milliseconds.
    case delayed(until: Int64)
    case acted(CallResult)
  }

  let number: Int
  let endpoint: LoopbackEndpoint
  let request: ReceivedRequest
  var stage = Stage.arrived
  var fault: LoopbackFault?
}

/// The next step of a connection for a job.
enum CallStep: Sendable {
  /// Try again after a wakeup, or at this time of the monotonic clock in milliseconds.
  case wait(until: Int64?)
  /// Send these bytes, then treat the connection as `then` says.
  case finish([UInt8], then: Ending)
}

/// The treatment of a connection after an answer.
enum Ending: Sendable {
  case goOn
  /// Closes it in order: announces the end, and gives the client time to read.
  case close
  /// Closes it at once, with a reset.
  case reset
}

/// The result of a call, before it becomes bytes.
enum CallResult: Sendable {
  case answer(SentResponse, code: String?, LoopbackCall.Violation?)
  case cut(SentResponse, afterBytes: Int)
  case drop
}
