@_spi(Internals) package import SessionCore

/// Why a request to a backend brought nothing, and whether the server may have acted on it.
///
/// - Requirement: LOG-3, LOG-7, REF-6
public struct BackendError: Error, Hashable, Sendable {
  /// The class of an error; later versions may have more.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The name, such as `noResponse`.
    public let description: String
    let kind: RequestFailure.Kind
    /// The library's own code beside the kind.
    let mark: String?

    private init(_ name: String, _ kind: RequestFailure.Kind, mark: String? = nil) {
      (description, self.kind, self.mark) = (name, kind, mark)
    }

    /// No response came; ``BackendError/mayHaveActed`` says whether the request may have arrived.
    public static let noResponse = Code("noResponse", .noReply)
    /// The backend has no such request; nothing was sent.
    public static let unsupported = Code(
      "unsupported", .noConnection, mark: RequestFailure.notOffered)
    /// The address cannot be used; nothing was sent.
    public static let invalidAddress = Code(
      "invalidAddress", .noConnection, mark: RequestFailure.wrongAddress)
    /// The server's certificate is not trusted; nothing was sent.
    public static let notTrusted = Code(
      "notTrusted", .noConnection, mark: RequestFailure.notTrusted)
    /// The credential or the token is refused: the same one never succeeds.
    public static let rejected = Code("rejected", .rejected)
    /// The request is refused for another reason, which `status` and `serverCode` tell.
    public static let refused = Code("refused", .unexpected)
    /// The user's account is inactive.
    public static let userInactive = Code("userInactive", .userInactive)
    /// The user's account is deleted.
    public static let userDeleted = Code("userDeleted", .userDeleted)
    /// Too many requests.
    public static let rateLimited = Code("rateLimited", .rateLimited)
    /// The server has failed, and has issued no token.
    public static let serverFailure = Code("serverFailure", .server)
    /// A captive portal or a proxy answered in place of the server.
    public static let intercepted = Code("intercepted", .intercepted)
    /// The server accepted the request, and its response cannot be read.
    public static let invalidResponse = Code("invalidResponse", .unreadable)
    /// At a revocation: the access token that authenticates the request is expired or refused.
    public static let accessTokenRefused = Code("accessTokenRefused", .rejected)
    /// At a revocation: the token to revoke is invalid already.
    public static let alreadyInvalid = Code("alreadyInvalid", .rejected)

    /// The code of a failure that a rule has found.
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
      case .rateLimited: self = .rateLimited
      case .server: self = .serverFailure
      case .intercepted: self = .intercepted
      case .unreadable: self = .invalidResponse
      default: self.init(failure.kind.description, failure.kind)
      }
    }
  }

  /// The class.
  public let code: Code
  /// Whether the server may have acted on the request, so that it may have issued tokens that did not arrive.
  ///
  /// If it is `false` after `noResponse`, it is certain that nothing was sent. It is `true` for
  /// `invalidResponse`, and `false` for every other code: a server that has answered has issued nothing.
  public let mayHaveActed: Bool
  /// The status of the server's response; `nil` if there is none.
  public let status: Int?
  /// The server's own code; `nil` if there is none.
  ///
  /// The journal keeps a code that is known, or that ``AuthBackend/errorCodes`` names.
  public let serverCode: String?
  /// How long the server asked to wait; `nil` if it did not say.
  ///
  /// The session waits at most a day.
  public let retryAfter: Duration?
  /// What happened, in a short sentence without a secret; `nil` if the code says it all.
  public let message: String?
  /// The failure as a rule of HTTP has found it, with the code that the journal keeps.
  private let found: RequestFailure?

  /// An error of a response, or of a request that was not made.
  ///
  /// Of a request without a response, ``noResponse(_:mayHaveActed:)`` says more: with `noResponse` the server
  /// may have acted.
  public init(
    _ code: Code, status: Int? = nil, serverCode: String? = nil, retryAfter: Duration? = nil,
    message: String? = nil
  ) {
    self.code = code
    mayHaveActed = code == .noResponse || code == .invalidResponse
    (self.status, self.serverCode, self.retryAfter) = (status, serverCode, retryAfter)
    (self.message, found) = (message, nil)
  }

  /// No response came.
  ///
  /// Say `mayHaveActed: false` only if it is certain that nothing was sent.
  public static func noResponse(_ message: String, mayHaveActed: Bool) -> BackendError {
    let kind: RequestFailure.Kind = mayHaveActed ? .noReply : .noConnection
    return BackendError(RequestFailure(kind: kind), message: message)
  }

  /// The backend has no such request; nothing was sent.
  public static func unsupported(_ message: String) -> BackendError {
    BackendError(.unsupported, message: message)
  }

  /// The error that a failure is; nothing of the failure is lost.
  package init(_ failure: RequestFailure, message: String?) {
    code = Code(failure)
    mayHaveActed = failure.kind == .noReply || failure.kind == .unreadable
    status = failure.status == 0 ? nil : Int(failure.status)
    serverCode = code.mark == nil ? failure.serverCode : nil
    retryAfter = failure.retryAfter
    (self.message, found) = (message, failure)
  }

  /// The failure for decisions and the journal; a code that the backend names is kept.
  func failure(naming codes: [String: ErrorMeaning]) -> RequestFailure {
    if let found { return found }
    let own = serverCode.flatMap { RequestFailure.kept($0, isNamed: codes[$0] != nil) }
    let limit = Duration.seconds(86_400)
    return RequestFailure(
      kind: code.kind, status: UInt16(clamping: status ?? 0), recordedCode: code.mark ?? own,
      retryAfter: retryAfter.map { min(max(.zero, $0), limit).wholeMilliseconds })
  }
}

extension BackendError: CustomStringConvertible {
  /// `serverFailure 503: the database is down`, with the parts that there are.
  ///
  /// It holds the server's code only if the code is known, since a server may repeat a secret in its place.
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

  /// A mirror that shows the description only: the server's code may be anything.
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
