package import Foundation
@_spi(Internals) package import SessionCore
package import SessionHTTP
package import SessionKit

/// The response to the request for a code (RFC 8628 §3.2).
package struct DeviceAuthorization: Hashable, Sendable {
  package let code: Secret
  package let userCode: String
  package let address: URL
  package let completeAddress: URL?
  /// How long the codes are valid, in milliseconds.
  package let lifetime: Int64
  /// The least time between two polls, in milliseconds.
  package let interval: Int64

  /// Reads a response of this backend.
  package init(
    _ response: HTTPResponse, from backend: HTTPBackend
  ) throws(AnswerFailure) {
    self = try backend.read(response) { (members) throws(Unreadable) in
      try DeviceAuthorization(members)
    }
  }

  private init(_ members: JSONMembers) throws(Unreadable) {
    guard let code = try members.token("device_code") else {
      throw Unreadable("device_code is missing")
    }
    guard let userCode = try members.string(at: ["user_code"]), !userCode.isEmpty,
      userCode.utf8.count <= 255, userCode.unicodeScalars.allSatisfy({ $0.value >= 0x20 })
    else { throw Unreadable("user_code must be a text of one line") }
    guard let address = try Self.address("verification_uri", members) else {
      throw Unreadable("verification_uri is missing")
    }
    let must = "a number of seconds"
    guard let lifetime = try members.number("expires_in", must: must), lifetime > 0 else {
      throw Unreadable("expires_in must be a number of seconds above 0")
    }
    let interval = try members.number("interval", must: must) ?? 5
    guard interval >= 0 else { throw Unreadable("interval must not be below 0") }
    (self.code, self.userCode, self.address) = (code, userCode, address)
    completeAddress = try Self.address("verification_uri_complete", members)
    self.lifetime = Int64(min(lifetime, 1e9) * 1000)
    // RFC 8628 does not forbid 0; without any pause the app would never stop asking.
    self.interval = Int64(max(1, min(interval, 86_400)) * 1000)
  }

  private static func address(
    _ name: String, _ members: JSONMembers
  ) throws(Unreadable) -> URL? {
    guard let text = try members.string(at: [name]) else { return nil }
    // The user opens it and logs in there, so it must not be any scheme. Unlike an endpoint, a page
    // may have a fragment.
    guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }), let url = URL(string: text),
      url.isSecure, url.user == nil, url.password == nil
    else { throw Unreadable("\(name) must be an HTTPS address without user") }
    return url
  }
}

/// Decides what follows a poll that returned no tokens (RFC 8628 §3.5).
///
/// It is a value, without clock and network.
package struct DevicePolling: Hashable, Sendable {
  package enum Step: Hashable, Sendable {
    /// Poll again after a number of milliseconds.
    case wait(Int64)
    case end(WebSignInProblem)
  }

  private static let expired = WebSignInProblem.refused(IdentityCode("expired_token"))

  private var interval: Int64
  private let end: Int64
  /// The number of polls without an answer of the token endpoint, since the last one that it answered.
  private var unanswered = 0
  private var mayHaveLostTokens = false

  /// Creates the polling for codes that were requested at this uptime, in milliseconds.
  package init(_ device: DeviceAuthorization, since start: Int64) {
    interval = device.interval
    end = start.addingSaturating(device.lifetime)
  }

  /// Returns the next step, at this uptime in milliseconds.
  package mutating func next(after error: BackendError, at now: Int64) -> Step {
    let failure = error.failure()
    switch (failure.kind, failure.serverCode) {
    case (_, "authorization_pending"): unanswered = 0
    case (_, "slow_down"):
      interval += 5000
      unanswered = 0
    case (_, "access_denied"): return .end(.cancelledByUser)
    case (_, "expired_token"): return .end(Self.expired)
    // An error with a code is the server's decision, and any other one ends the polling.
    case (.noConnection, nil), (.noReply, nil), (.server, nil), (.rateLimited, nil):
      unanswered = min(unanswered + 1, 6)
      mayHaveLostTokens = mayHaveLostTokens || error.mayHaveActed
    default: return .end(failed(failure, error.message))
    }
    // One poll follows the end: the server may measure the lifetime from a later time, and a user who
    // has just entered the code is logged in.
    guard now < end else {
      return .end(unanswered > 0 ? failed(failure, error.message) : Self.expired)
    }
    let pause = max(interval << unanswered, failure.retryAfter?.wholeMilliseconds ?? 0)
    return .wait(max(interval, min(pause, end - now)))
  }

  private func failed(_ failure: RequestFailure, _ detail: String?) -> WebSignInProblem {
    let lost = "the response to a poll was lost, and may have had the tokens"
    return .requestFailed(failure, detail: mayHaveLostTokens ? lost : detail)
  }
}
