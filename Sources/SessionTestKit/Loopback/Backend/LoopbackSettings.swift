import SessionCore

/// The settings of a loopback server; they can change while it runs.
public struct LoopbackSettings: Sendable, Equatable {
  /// How long an access token is valid, at least 1 ms; one hour by default.
  ///
  /// A change applies to tokens that are issued later. The server checks expiry by the millisecond.
  /// `expires_in` is rounded to whole seconds, at least 1.
  public var accessTokenLifetime: Duration = .seconds(3600)

  /// How long a refresh token is valid after it was issued; `nil` (the default) means without
  /// limit.
  public var refreshTokenLifetime: Duration?

  /// Whether each refresh replaces the refresh token (as TIK and API do) or keeps it (EDU, the
  /// default).
  ///
  /// A context switch always issues a new refresh token.
  public var rotatesRefreshTokens = false

  /// How long a replaced refresh token is still accepted after its first replacement; 0 by default.
  ///
  /// Within this time the answer repeats the refresh token of the first answer.
  ///
  /// - Requirement: REF-7
  public var rotationGrace: Duration = .zero

  /// Whether a replaced refresh token ends the session if it arrives after its grace (RFC 9700
  /// §4.14).
  public var reuseEndsSession = false

  /// How far the server's clock is ahead of the true time; it affects `Date`, `iat`, `exp` and
  /// expiry.
  public var clockSkew: Duration = .zero

  /// Whether answers have a `Date` field, as those of a real server do.
  ///
  /// A session uses it to record the difference between the server's clock and its own.
  public var tellsTime = true

  /// How long each request waits, in real time, before the server acts on it; 0 by default.
  public var latency: Duration = .zero

  /// Whether connections stay open between requests; if `false`, answers have `Connection: close`.
  public var keepsConnections = true

  /// Creates the default settings.
  public init() {}
}

/// A change that the service accepted; repetitions of it are not counted.
public struct LoopbackChange: Sendable, Equatable {
  /// The idempotency key by which the service recognizes a repetition.
  public let key: String
  /// The id of the user who made it.
  public let userID: String
  /// The body of its request.
  public let body: [UInt8]
}

extension LoopbackBackend {
  /// Accepts a change, or repeats the answer to one that it accepted before.
  ///
  /// A key belongs to a user. The answer is 422 `KEY_REUSED` if the same key arrives with another
  /// body. It is 400 if the key is missing, empty or longer than 255 bytes.
  mutating func change(_ request: ReceivedRequest, now: Int64) -> BackendAnswer {
    let session: Int
    switch authorize(request, now: now) {
    case .success(let found): session = found
    case .failure(let refusal): return refusal.answer
    }
    let keys = request.fields.values(of: "idempotency-key")
    guard keys.count == 1, let key = keys.first, (1...255).contains(key.utf8.count) else {
      return .broken(.body, "A change needs one Idempotency-Key.")
    }
    let change = LoopbackChange(
      key: key, userID: sessions[session].userID, body: request.body)
    let known = changes.firstIndex { $0.key == key && $0.userID == change.userID }
    if let known, changes[known] != change {
      return .failure(422, "KEY_REUSED", "Another change has used this key.")
    }
    if known == nil { changes.append(change) }
    return BackendAnswer(
      status: 201, body: ["number": .int((known ?? changes.count - 1) + 1)])
  }
}

extension LoopbackChange: CustomStringConvertible, CustomReflectable {
  /// The key, and the size of the body in bytes.
  public var description: String { "change \(key), \(body.count) bytes" }

  /// A mirror that shows only the description.
  public var customMirror: Mirror { Mirror(self, children: ["change": description]) }
}

extension Duration {
  /// The duration in whole milliseconds, truncated; clamped to the bounds of `Int64`.
  var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1000)
    if overflow { return seconds < 0 ? .min : .max }
    return whole.addingSaturating(attoseconds / 1_000_000_000_000_000)
  }
}
