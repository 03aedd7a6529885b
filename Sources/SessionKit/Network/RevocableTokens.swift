import Synchronization

/// The refresh token of a refresh request.
///
/// Descriptions do not show it.
public struct RefreshToken: Hashable, Sendable {
  /// The token.
  ///
  /// No description shows it.
  package let secret: Secret

  /// Creates a refresh token.
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

/// The tokens of an ended session that the server should invalidate.
///
/// Descriptions do not show them.
///
/// - Requirement: OUT-1, OUT-5
public struct RevocableTokens: Sendable {
  /// The access token.
  public let access: Secret
  /// The refresh token; `nil` if there is none.
  public let refresh: RefreshToken?
  /// Whether the access token has expired and the session can get a newer one.
  ///
  /// If the request must be authenticated by a valid access token, the backend then throws
  /// ``BackendError/Code/accessTokenRefused``. The value is `false` if the session cannot get a
  /// newer token. Then the backend tries with the token that it has.
  public let needsRefresh: Bool
  /// The names of the requests that the server has confirmed, oldest first.
  public var confirmed: [String] { progress.confirmed }
  package let progress: RevocationProgress
  package let save: @Sendable ([String]) async -> Void

  /// Creates a value with tokens to invalidate.
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

  /// Stores that the server has confirmed a request, so that a later call does not repeat it.
  ///
  /// Only a revocation of several requests needs it, before the next one.
  public func confirm(_ request: String) async {
    progress.confirm(request)
    await save(progress.confirmed)
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

/// The progress of a revocation that consists of several requests.
///
/// All attempts of one run share it.
package final class RevocationProgress: Sendable {
  private struct State {
    var confirmed: [String]
    var refusedStatus: UInt16?
  }

  private let state: Mutex<State>

  /// Creates a progress in which these requests are confirmed.
  init(_ confirmed: [String] = []) {
    state = Mutex(State(confirmed: confirmed))
  }

  /// The names of the requests that the server has confirmed, oldest first.
  package var confirmed: [String] { state.withLock { $0.confirmed } }

  /// The status of a request whose token was already invalid; `nil` if there was none.
  package var refusedStatus: UInt16? { state.withLock { $0.refusedStatus } }

  /// Records that the server has confirmed a request.
  ///
  /// `refusedStatus` is set if its token was already invalid.
  package func confirm(_ name: String, refusedStatus: UInt16? = nil) {
    state.withLock { state in
      state.confirmed.append(name)
      state.refusedStatus = refusedStatus ?? state.refusedStatus
    }
  }
}
