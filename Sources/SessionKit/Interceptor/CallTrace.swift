@_spi(Internals) public import SessionCore

/// One step of a protected call, for logs and metrics.
///
/// It contains no token, no body and no query.
///
/// - Requirement: STO-3
public struct CallTrace: Hashable, Sendable {
  /// The kind of a step.
  public enum Step: Hashable, Sendable {
    /// The call is sent, with the token of this generation or without one.
    case sent(Generation?)
    /// The server responded.
    case answered(status: Int?)
    /// The call waits for a newer token.
    case waits
    /// The call waits for this time before another attempt.
    case rests(Duration)
    /// The call failed.
    case failed
  }

  /// The method.
  public let method: String
  /// The path, without query and host.
  public let path: String
  /// The kind of the step.
  public let step: Step

  /// Creates a step.
  public init(method: String, path: String, step: Step) {
    (self.method, self.path, self.step) = (method, path, step)
  }
}

extension CallTrace: CustomStringConvertible {
  /// One line, such as `GET /materials is sent with tok#3`.
  public var description: String {
    switch step {
    case .sent(let generation?): "\(method) \(path) is sent with \(generation)"
    case .sent(nil): "\(method) \(path) is sent unchanged"
    case .answered(let status?): "\(method) \(path) was answered with \(status)"
    case .answered(nil): "\(method) \(path) was answered"
    case .waits: "\(method) \(path) waits for a newer token"
    case .rests(let pause):
      "\(method) \(path) is tried again in \(pause.milliseconds(atLeast: 0)) ms"
    case .failed: "\(method) \(path) failed"
    }
  }
}
