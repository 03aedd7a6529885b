package import Foundation
import SessionCore
import SessionJSON

/// What one proof of possession says (RFC 9449 §4.2).
package struct ProofClaims: Hashable, Sendable {
  /// The identifier of the proof, which is used once.
  package var id: String
  /// The method of the request.
  package var method: String
  /// The address of the request.
  package var url: URL
  /// The time at which the proof was made, in seconds since 1970.
  package var issuedAt: Int64
  /// The access token that the request carries; `nil` if it carries none.
  package var accessToken: Secret?
  /// The server's last nonce; `nil` if it has sent none.
  package var nonce: String?

  package init(
    id: String, method: String, url: URL, issuedAt: Int64, accessToken: Secret? = nil,
    nonce: String? = nil
  ) {
    (self.id, self.method, self.url, self.issuedAt) = (id, method, url, issuedAt)
    (self.accessToken, self.nonce) = (accessToken, nonce)
  }

  /// Returns the text to sign: the header with the public key, and the claims, both in base64url.
  package func text(by key: ProofPublicKey) -> String {
    let header = #"{"typ":"dpop+jwt","alg":"ES256","jwk":\#(key.json)}"#
    var claims =
      #"{"jti":\#(JSONValue.quoted(id)),"htm":\#(JSONValue.quoted(method)),"#
      + #""htu":\#(JSONValue.quoted(Self.target(of: url))),"iat":\#(issuedAt)"#
    if let accessToken {
      let hash = Base64.encode(url: SHA256.digest(Array(accessToken.plaintext.utf8)))
      claims += #","ath":"\#(hash)""#
    }
    if let nonce { claims += #","nonce":\#(JSONValue.quoted(nonce))"# }
    return [header, claims + "}"].map { Base64.encode(url: Array($0.utf8)) }
      .joined(separator: ".")
  }

  /// Returns the address of a request without query, fragment and user, as the request line has it.
  static func target(of url: URL) -> String {
    guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return "" }
    (parts.query, parts.fragment, parts.user, parts.password) = (nil, nil, nil, nil)
    (parts.scheme, parts.percentEncodedHost) = (
      parts.scheme?.lowercased(), parts.percentEncodedHost?.lowercased()
    )
    if parts.percentEncodedPath.isEmpty { parts.percentEncodedPath = "/" }
    return parts.string ?? ""
  }
}

/// What servers said of proofs: the last nonce of each, and the reading of its clock.
///
/// ```text
///             a response with DPoP-Nonce
///   no nonce ───────────────────────────▶ nonce ─┐ a newer one takes its place
///                                           ▲────┘
/// ```
/// A proof is refused if its nonce is missing or old, or if its time is not the server's. The response
/// then brings what the next proof needs, and the request is sent again (RFC 9449 §8 and §9): at most once
/// for a nonce, and once for the time.
package struct ProofMemory: Hashable, Sendable {
  /// A server to which proofs are sent.
  ///
  /// The nonces of the authorization server and of the calls are kept apart, even at one origin.
  package struct Server: Hashable, Sendable {
    package let origin: String
    /// Whether it issues tokens.
    package let issuesTokens: Bool

    package init(of url: URL, issuesTokens: Bool) {
      (origin, self.issuesTokens) = (CallAddress.origin(of: url) ?? "", issuesTokens)
    }
  }

  /// The parts of a response that the next proof depends on.
  package struct Reply: Hashable, Sendable {
    package var nonce: String?
    /// The error code of the response.
    package var code: String?
    package var serverTime: Timestamp?

    package init(nonce: String? = nil, code: String? = nil, serverTime: Timestamp? = nil) {
      (self.nonce, self.code, self.serverTime) = (nonce, code, serverTime)
    }
  }

  /// The server's time at an uptime: the device's clock may be wrong, or be set.
  private struct Clock: Hashable, Sendable {
    let time: Timestamp
    let uptime: Int64
  }

  private var nonces: [Server: String] = [:]
  private var clocks: [Server: Clock] = [:]

  package init() {}

  package func nonce(of server: Server) -> String? { nonces[server] }

  /// Returns the time of a proof in seconds: the server's, as far as it is known.
  package func issueTime(at server: Server, _ now: ClockReading) -> Int64 {
    let time =
      clocks[server].map { $0.time.advanced(by: now.uptime.subtractingSaturating($0.uptime)) }
      ?? now.time
    return time.milliseconds / 1000
  }

  /// Takes in a response, and returns its error code if the request may succeed with another proof.
  package mutating func take(
    _ reply: Reply, to proof: ProofClaims, of server: Server, at now: ClockReading
  ) -> String? {
    if let nonce = reply.nonce, Self.isNonce(nonce) { nonces[server] = nonce }
    if let time = reply.serverTime { clocks[server] = Clock(time: time, uptime: now.uptime) }
    guard reply.isOfProof else { return nil }
    let drift = issueTime(at: server, now).subtractingSaturating(proof.issuedAt).magnitude
    return nonces[server] != proof.nonce || drift > Self.tolerance ? reply.code : nil
  }

  /// A nonce has no control characters and no quotes (RFC 9449 §8.1); its length is no server's business.
  private static func isNonce(_ text: String) -> Bool {
    (1...1_024).contains(text.utf8.count)
      && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
  }

  /// The seconds by which a server's clock and the time of a refused proof must differ to try again.
  private static let tolerance: UInt64 = 5
}

extension ProofMemory.Reply {
  /// Whether the server refused the proof, and not the token or the request.
  package var isOfProof: Bool { code == "use_dpop_nonce" || code == "invalid_dpop_proof" }

  /// Reads them from the response to a call.
  init(_ response: CallResponse) {
    self.init(
      nonce: response.value(of: "dpop-nonce"),
      serverTime: response.value(of: "date").flatMap { Timestamp(httpDate: $0) })
    guard response.status == 401 else { return }
    code = AuthenticationChallenge.proofError(in: response.fields)
  }
}
