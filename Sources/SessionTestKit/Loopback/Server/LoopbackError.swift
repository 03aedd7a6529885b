/// The reason why a loopback server could not start.
public enum LoopbackError: Error, Sendable, Equatable, CustomStringConvertible {
  /// A system call failed; `code` is its `errno`.
  case socket(call: String, code: Int32)

  /// A sentence that says what failed, where, the consequence, and what to do.
  public var description: String {
    switch self {
    case .socket(let call, let code):
      "The loopback server did not start: \(call) on 127.0.0.1 failed with errno \(code). "
        + "Nothing listens. Check that this process may open sockets and has file descriptors left."
    }
  }
}
