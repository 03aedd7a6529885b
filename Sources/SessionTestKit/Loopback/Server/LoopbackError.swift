/// Why a loopback server could not start.
public enum LoopbackError: Error, Sendable, Equatable, CustomStringConvertible {
  /// A system call failed; `code` is its `errno`.
  case socket(call: String, code: Int32)

  /// What failed, where, with what consequence, and what to do next.
  public var description: String {
    switch self {
    case .socket(let call, let code):
      "The loopback server did not start: \(call) on 127.0.0.1 failed with errno \(code). "
        + "Nothing listens. Check that sockets are allowed here and that files are left to open."
    }
  }
}
