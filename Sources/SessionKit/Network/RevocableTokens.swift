import Synchronization

/// The token that a refresh is asked with; shown without it.
public struct RefreshToken: Hashable, Sendable {
  /// The token; shown nowhere.
  package let secret: Secret

  /// A refresh token.
  public init(_ secret: Secret) {
    self.secret = secret
  }

  /// The token's text.
  ///
  /// - Requirement: STO-3
  public var plaintext: String { secret.plaintext }
}

extension RefreshToken: CustomStringConvertible {
  /// Always `<redacted>`.
  public var description: String { "<redacted>" }
}

/// The tokens of a session that has ended, for the server to invalidate; shown without them.
///
/// - Requirement: OUT-1, OUT-5
public struct RevocableTokens: Sendable {
  /// The access token.
  public let access: Secret
  /// The refresh token; `nil` if there is none.
  public let refresh: RefreshToken?
  /// Whether the access token has expired, and a newer one can be had.
  ///
  /// A backend whose request must be authenticated by a valid access token throws
  /// ``BackendError/Code/accessTokenRefused`` then. It is `false` if no newer one can be had: the backend
  /// tries with what there is.
  public let needsRefresh: Bool
  /// The requests that the server has confirmed.
  package let progress: RevocationProgress
  /// Keeps the names of the requests that the server has confirmed, so that a later run does not ask again.
  package let save: @Sendable ([String]) async -> Void

  /// Tokens to invalidate.
  public init(access: Secret, refresh: RefreshToken?, needsRefresh: Bool = false) {
    self.init(
      access: access, refresh: refresh, needsRefresh: needsRefresh, progress: RevocationProgress()
    ) { _ in }
  }

  init(
    access: Secret, refresh: RefreshToken?, needsRefresh: Bool, progress: RevocationProgress,
    save: @escaping @Sendable ([String]) async -> Void
  ) {
    (self.access, self.refresh, self.needsRefresh) = (access, refresh, needsRefresh)
    (self.progress, self.save) = (progress, save)
  }
}

extension RevocableTokens: CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// Always `<redacted>`.
  public var description: String { "<redacted>" }

  /// Always `<redacted>`.
  public var debugDescription: String { description }

  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// How far a revocation of several requests is; one for all attempts of one run.
package final class RevocationProgress: Sendable {
  private struct State {
    var confirmed: [String]
    var refusedStatus: UInt16?
  }

  private let state: Mutex<State>

  /// These requests are confirmed.
  init(_ confirmed: [String] = []) {
    state = Mutex(State(confirmed: confirmed))
  }

  /// The names of the requests that the server has confirmed, the oldest first.
  package var confirmed: [String] { state.withLock { $0.confirmed } }

  /// The status of a request whose token was invalid already; `nil` if there was none.
  package var refusedStatus: UInt16? { state.withLock { $0.refusedStatus } }

  /// The server has confirmed a request; `refusedStatus` if its token was invalid already.
  package func confirm(_ name: String, refusedStatus: UInt16? = nil) {
    state.withLock { state in
      state.confirmed.append(name)
      state.refusedStatus = refusedStatus ?? state.refusedStatus
    }
  }
}
