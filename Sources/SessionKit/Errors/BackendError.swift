@_spi(Internals) package import SessionCore

/// Why a request to a backend failed, and whether the server may have acted on it.
///
/// - Requirement: LOG-3, LOG-7, REF-6
public struct BackendError: Error, Hashable, Sendable {
  /// The class of an error.
  ///
  /// Later versions may add more.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name, such as `noResponse`.
    public let description: String
    let kind: RequestFailure.Kind
    /// The library's own code in addition to the kind.
    let mark: String?

    private init(_ name: String, _ kind: RequestFailure.Kind, mark: String? = nil) {
      (description, self.kind, self.mark) = (name, kind, mark)
    }

    /// There was no response.
    ///
    /// ``BackendError/mayHaveActed`` says whether the server may have received the request.
    public static let noResponse = Code("noResponse", .noReply)
    /// The backend has no such request.
    ///
    /// Nothing was sent.
    public static let unsupported = Code(
      "unsupported", .noConnection, mark: RequestFailure.notOffered)
    /// The address cannot be used.
    ///
    /// Nothing was sent.
    public static let invalidAddress = Code(
      "invalidAddress", .noConnection, mark: RequestFailure.wrongAddress)
    /// The server's certificate is not trusted.
    ///
    /// Nothing was sent.
    public static let notTrusted = Code(
      "notTrusted", .noConnection, mark: RequestFailure.notTrusted)
    /// The credential or the token is refused.
    ///
    /// The same one never succeeds.
    public static let rejected = Code("rejected", .rejected)
    /// The request is refused for another reason, which `status` and `serverCode` state.
    public static let refused = Code("refused", .unexpected)
    /// The user's account is inactive.
    public static let userInactive = Code("userInactive", .userInactive)
    /// The user's account is deleted.
    public static let userDeleted = Code("userDeleted", .userDeleted)
    /// The server renews the session only with the user.
    ///
    /// - Requirement: STA-9
    public static let userNeeded = Code("userNeeded", .userNeeded)
    /// The key to which the tokens are bound is gone, or is another one.
    ///
    /// Nothing was sent, and the session ends.
    ///
    /// - Requirement: INT-9
    public static let proofKeyLost = Code("proofKeyLost", .proofKeyLost)
    /// Too many requests.
    public static let rateLimited = Code("rateLimited", .rateLimited)
    /// The server failed and issued no token.
    public static let serverFailure = Code("serverFailure", .server)
    /// A captive portal or a proxy answered in place of the server.
    public static let intercepted = Code("intercepted", .intercepted)
    /// The server accepted the request, but its response cannot be read.
    public static let invalidResponse = Code("invalidResponse", .unreadable)
    /// In a revocation: the access token that authenticates the request has expired or is refused.
    public static let accessTokenRefused = Code("accessTokenRefused", .rejected)
    /// In a revocation: the token to revoke is already invalid.
    public static let alreadyInvalid = Code("alreadyInvalid", .rejected)

    /// Creates the code of a failure that a rule has found.
    fileprivate init(_ failure: RequestFailure) {
      let marked = [Code.unsupported, .invalidAddress, .notTrusted]
      switch failure.kind {
      case .noConnection:
        self = marked.first { $0.mark == failure.serverCode } ?? .noResponse
      case .noReply: self = .noResponse
      case .rejected: self = .rejected
      case .unexpected: self = .refused
      case .userInactive: self = .userInactive
      case .userDeleted: self = .userDeleted
      case .userNeeded: self = .userNeeded
      case .proofKeyLost: self = .proofKeyLost
      case .rateLimited: self = .rateLimited
      case .server: self = .serverFailure
      case .intercepted: self = .intercepted
      case .unreadable: self = .invalidResponse
      default: self.init(failure.kind.description, failure.kind)
      }
    }
  }

  /// The class of the error.
  public let code: Code
  /// Whether the server may have acted on the request, and may have issued tokens that did not
  /// arrive.
  ///
  /// If it is `false` after `noResponse`, it is certain that nothing was sent. It is `true` for
  /// `invalidResponse`. It is `false` for every other code, because a server that refuses a request
  /// issues nothing.
  public let mayHaveActed: Bool
  /// The HTTP status of the response; `nil` if there was none.
  public let status: Int?
  /// The server's own code; `nil` if there is none.
  ///
  /// The journal keeps a code that is known, or that ``AuthBackend/errorCodes`` names.
  public let serverCode: String?
  /// The time that the server asked to wait; `nil` if it did not say.
  ///
  /// The session waits at most a day.
  public let retryAfter: Duration?
  /// A short sentence on what happened, without a secret; `nil` if the code is sufficient.
  public let message: String?
  /// The failure that a rule of HTTP has found, with the code that the journal keeps.
  private let found: RequestFailure?

  /// Creates an error for a response, or for a request that was not made.
  ///
  /// For a request without a response, use ``noResponse(_:mayHaveActed:)``. With the code
  /// `noResponse`, this initializer assumes that the server may have acted.
  public init(
    _ code: Code, status: Int? = nil, serverCode: String? = nil, retryAfter: Duration? = nil,
    message: String? = nil
  ) {
    self.code = code
    mayHaveActed = code == .noResponse || code == .invalidResponse
    (self.status, self.serverCode, self.retryAfter) = (status, serverCode, retryAfter)
    (self.message, found) = (message, nil)
  }

  /// Creates an error for a request without a response.
  ///
  /// Pass `mayHaveActed: false` only if it is certain that nothing was sent.
  public static func noResponse(_ message: String, mayHaveActed: Bool) -> BackendError {
    let kind: RequestFailure.Kind = mayHaveActed ? .noReply : .noConnection
    return BackendError(RequestFailure(kind: kind), message: message)
  }

  /// Creates an error for a request that the backend does not have.
  ///
  /// Nothing was sent.
  public static func unsupported(_ message: String) -> BackendError {
    BackendError(.unsupported, message: message)
  }

  /// Creates the error of a failure.
  ///
  /// It keeps all data of the failure.
  package init(_ failure: RequestFailure, message: String?) {
    code = Code(failure)
    mayHaveActed = failure.kind == .noReply || failure.kind == .unreadable
    status = failure.status == 0 ? nil : Int(failure.status)
    serverCode = code.mark == nil ? failure.serverCode : nil
    retryAfter = failure.retryAfter
    (self.message, found) = (message, failure)
  }

  /// Creates the error of a request that was not sent, because its proof could not be made.
  package init(_ error: ProofKeyError) {
    let kind: RequestFailure.Kind =
      switch error {
      case .gone: .proofKeyLost
      case .locked: .secretsUnavailable
      case .failed: .noConnection
      }
    self.init(RequestFailure(kind: kind), message: error.description)
  }

  /// Returns the failure for decisions and the journal.
  ///
  /// A code that the backend names is kept.
  package func failure(naming codes: [String: ErrorMeaning] = [:]) -> RequestFailure {
    if let found { return found }
    let own = serverCode.flatMap { RequestFailure.kept($0, isNamed: codes[$0] != nil) }
    let limit = Duration.seconds(86_400)
    return RequestFailure(
      kind: code.kind, status: UInt16(clamping: status ?? 0), recordedCode: code.mark ?? own,
      retryAfter: retryAfter.map { min(max(.zero, $0), limit).wholeMilliseconds })
  }
}

extension BackendError: CustomStringConvertible {
  /// The parts that exist, such as `serverFailure 503: the database is down`.
  ///
  /// It contains the server's code only if the code is known, since a server may repeat a secret in
  /// its place.
  public var description: String {
    var text = code.description
    if let status { text += " \(status)" }
    if let known = failure(naming: [:]).serverCode, code.mark == nil { text += " \(known)" }
    return message.map { "\(text): \($0)" } ?? text
  }
}

extension BackendError: CustomDebugStringConvertible, CustomReflectable {
  /// The same as the description.
  public var debugDescription: String { description }

  /// A mirror that shows the description only, since the server's code may contain anything.
  public var customMirror: Mirror { Mirror(self, children: ["error": description]) }
}

extension Duration {
  /// The number of milliseconds, rounded up.
  package var wholeMilliseconds: Int64 {
    let (seconds, attoseconds) = components
    let scaled = seconds.multipliedReportingOverflow(by: 1_000)
    guard !scaled.overflow else { return seconds < 0 ? .min : .max }
    let unit: Int64 = 1_000_000_000_000_000
    let rest = attoseconds / unit + (attoseconds % unit > 0 ? 1 : 0)
    return scaled.partialValue.addingSaturating(rest)
  }
}
