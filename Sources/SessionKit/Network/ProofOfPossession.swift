public import Foundation
package import SessionCore
import Synchronization

/// Proves with a key that the session holds its tokens, so that a stolen token is of no use (DPoP,
/// RFC 9449).
///
/// ```swift
/// backend.proof = ProofOfPossession(key: myKey)
/// ```
/// Each token request and each call of the session then has a proof in its field `DPoP`, and calls carry
/// the token as `Authorization: DPoP …`. Nonces and the servers' clocks are kept in memory, and are
/// shared by all copies of the value. ``SessionWarning/tokenNotBound`` reports a server that answers with
/// a bearer token, which is used as such.
///
/// - Requirement: INT-9
public struct ProofOfPossession: Sendable {
  /// The key that signs the proofs.
  public let key: any ProofKey
  private let state = Shared()

  private final class Shared: Sendable {
    let memory = Mutex(ProofMemory())
    let thumbprint = Mutex<Identifier?>(nil)
  }

  /// Creates a value whose proofs are signed by this key.
  public init(key: any ProofKey) {
    self.key = key
  }

  /// Returns a proof for a request of your own with the session's token, as the value of its field `DPoP`.
  ///
  /// The session makes those of its own requests and calls. A proof is valid for one request.
  public func proof(
    method: String, url: URL, token: AccessToken
  ) async throws(ProofKeyError) -> String {
    let server = ProofMemory.Server(of: url, issuesTokens: false)
    return try await made(
      method, url, token.secret, boundTo: token.boundKey, for: server, at: SystemClock().now()
    ).text
  }

  /// A signed proof.
  package struct Made: Sendable {
    package let text: String
    package let claims: ProofClaims
  }

  /// Returns a new proof for one request; throws `gone` if the tokens are bound to another key.
  package func made(
    _ method: String, _ url: URL, _ token: Secret?, boundTo bound: Identifier?,
    for server: ProofMemory.Server, at now: ClockReading
  ) async throws(ProofKeyError) -> Made {
    let publicKey = try await key.publicKey()
    let thumbprint = Identifier(publicKey.thumbprint)
    if let bound, bound != thumbprint { throw .gone }
    let (nonce, time) = remembered(of: server, at: now)
    let claims = ProofClaims(
      id: UUID().uuidString, method: method, url: url, issuedAt: time, accessToken: token,
      nonce: nonce)
    let text = claims.text(by: publicKey)
    let signature = try await key.signature(for: Array(text.utf8))
    guard signature.count == 64 else {
      throw .failed("a signature of ES256 has 64 bytes, and this one has \(signature.count)")
    }
    note(thumbprint)
    return Made(text: "\(text).\(Base64.encode(url: signature))", claims: claims)
  }

  /// The thumbprint of the key of the last proof; `nil` before the first one.
  package var thumbprint: Identifier? {
    @inline(never) get { state.thumbprint.withLock(\.self) }
  }

  /// Takes in a response, and returns its error code if the request may succeed with another proof.
  @inline(never)
  package func take(
    _ reply: ProofMemory.Reply, to proof: ProofClaims, of server: ProofMemory.Server,
    at now: ClockReading
  ) -> String? {
    state.memory.withLock { $0.take(reply, to: proof, of: server, at: now) }
  }

  // Never inlined: async functions call them, and a lock belongs to its thread.
  @inline(never)
  private func remembered(of server: ProofMemory.Server, at now: ClockReading) -> (String?, Int64) {
    state.memory.withLock { ($0.nonce(of: server), $0.issueTime(at: server, now)) }
  }

  @inline(never)
  private func note(_ thumbprint: Identifier) {
    state.thumbprint.withLock { $0 = thumbprint }
  }
}

extension ProofOfPossession: CustomStringConvertible, CustomReflectable {
  /// The thumbprint of the key, once a proof was made.
  public var description: String { "proof of possession by \(thumbprint?.description ?? "a key")" }

  /// A mirror that shows the description only.
  public var customMirror: Mirror { Mirror(self, children: ["proof": description]) }
}

extension CallToken {
  /// Creates the field with a proof; `next` makes those of redirects.
  init(_ made: ProofOfPossession.Made, next proofs: CallProofs) {
    self.init(place: .header("DPoP"), secret: Secret(made.text))
    self.proofs = proofs
  }
}

/// The proofs of one call: one for each address to which it is sent.
struct CallProofs: Sendable {
  let proof: ProofOfPossession
  let token: Secret
  /// The key to which the server bound the token.
  let key: Identifier
  let clock: any SessionClock

  /// Returns a proof for this method and address.
  func made(_ method: String, _ url: URL) async throws(ProofKeyError) -> ProofOfPossession.Made {
    try await proof.made(
      method, url, token, boundTo: key, for: ProofMemory.Server(of: url, issuesTokens: false),
      at: clock.now())
  }

  /// Takes in a response, and returns whether the server refused the proof only, and its code if the call
  /// may succeed with another one.
  func take(_ response: CallResponse, to made: ProofOfPossession.Made) -> (
    isRefused: Bool, news: String?
  ) {
    let reply = ProofMemory.Reply(response)
    let server = ProofMemory.Server(of: made.claims.url, issuesTokens: false)
    return (reply.isOfProof, proof.take(reply, to: made.claims, of: server, at: clock.now()))
  }
}
