/// Why there is no answer to a request; tells apart whether the server may have acted.
public enum TransportError: Error, Hashable, Sendable {
  /// Certainly nothing was sent: refused, name not found, offline. The reason is a short sentence.
  case noConnection(String)
  /// The server's certificate is not trusted, and nothing was sent. The reason is a short sentence.
  case notTrusted(String)
  /// The address cannot be used, such as one without a host; nothing was sent. The problem is a short
  /// sentence.
  case badAddress(String)
  /// It was or may have been sent, and no whole answer came: the server may have acted.
  case noReply(String)
  /// The address is not HTTPS, nor loopback, nor allowed; nothing was sent.
  ///
  /// - Requirement: STO-4
  case insecure(host: String)
  /// The caller gave up; the server may have acted.
  case cancelled
}

extension TransportError: CustomStringConvertible {
  /// What happened and what it means; never holds an address's query nor anything that was sent.
  public var description: String {
    switch self {
    case .badAddress(let problem): "nothing was sent: \(problem)"
    case .noConnection(let reason), .notTrusted(let reason): "nothing was sent: \(reason)"
    case .noReply(let reason): "no answer came, and the server may have acted: \(reason)"
    case .insecure(let host):
      host.isEmpty
        ? "nothing was sent: the address has no host"
        : "nothing was sent: \(host) is not reached over HTTPS; use https, or allow insecure "
          + "connections"
    case .cancelled: "the request was cancelled, and the server may have acted"
    }
  }
}
