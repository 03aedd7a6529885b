/// The purpose of a request; the cases are the paths of the EDU protocol.
public enum LoopbackEndpoint: Sendable, Hashable, CaseIterable {
  /// `POST /auth/login`.
  case login
  /// `POST /auth/refresh`.
  case refresh
  /// `POST /auth/switch-context`.
  case switchContext
  /// `POST /auth/logout`.
  case logout
  /// `GET /materials`, the protected resource.
  case materials
  /// `POST /changes`, which accepts offline changes, one for each `Idempotency-Key`.
  case changes
  /// Any other path; the answer is 404.
  case other
  /// Bytes that are not an HTTP request; the answer is 400, 413, 414, 417, 431, 501 or 505.
  case unreadable

  init(path: String) {
    self = Self.allCases.first { $0.path == path } ?? .other
  }

  var path: String? {
    switch self {
    case .login: "/auth/login"
    case .refresh: "/auth/refresh"
    case .switchContext: "/auth/switch-context"
    case .logout: "/auth/logout"
    case .materials: "/materials"
    case .changes: "/changes"
    case .other, .unreadable: nil
    }
  }

  var method: String? {
    switch self {
    case .login, .refresh, .switchContext, .logout, .changes: "POST"
    case .materials: "GET"
    case .other, .unreadable: nil
    }
  }
}
