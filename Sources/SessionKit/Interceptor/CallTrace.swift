@_spi(Internals) public import SessionCore

/// One step of a protected call, for logs and metrics; holds no token, no body and no query.
///
/// - Requirement: STO-3
public struct CallTrace: Hashable, Sendable {
  /// What was done.
  public enum Step: Hashable, Sendable {
    /// It goes out, with the token of this generation or without one.
    case sent(Generation?)
    /// An answer came.
    case answered(status: Int?)
    /// It waits for a newer token.
    case waits
    /// It waits this long before another attempt.
    case rests(Duration)
    /// It failed.
    case failed
  }

  /// The method.
  public let method: String
  /// The path, without query and host.
  public let path: String
  /// What was done.
  public let step: Step

  /// A step.
  public init(method: String, path: String, step: Step) {
    (self.method, self.path, self.step) = (method, path, step)
  }
}

extension CallTrace: CustomStringConvertible {
  /// `GET /materials goes out with tok#3`.
  public var description: String {
    switch step {
    case .sent(let generation?): "\(method) \(path) goes out with \(generation)"
    case .sent(nil): "\(method) \(path) goes out as it is"
    case .answered(let status?): "\(method) \(path) was answered \(status)"
    case .answered(nil): "\(method) \(path) was answered"
    case .waits: "\(method) \(path) waits for a newer token"
    case .rests(let pause):
      "\(method) \(path) is tried again in \(pause.milliseconds(atLeast: 0)) ms"
    case .failed: "\(method) \(path) failed"
    }
  }
}
