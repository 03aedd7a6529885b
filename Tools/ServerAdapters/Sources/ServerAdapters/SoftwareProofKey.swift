public import Crypto
import Foundation
public import SessionKit

/// A key of swift-crypto that proves possession of bound tokens (DPoP).
///
/// ```swift
/// backend.proof = ProofOfPossession(key: SoftwareProofKey(key))
/// ```
/// Keep `key.rawRepresentation` where the session's secrets are, and as long: without the key its tokens are
/// of no use.
public struct SoftwareProofKey: ProofKey {
  private let key: P256.Signing.PrivateKey

  /// Creates a value that signs with this key.
  public init(_ key: P256.Signing.PrivateKey) { self.key = key }

  /// Returns the public part of the key.
  public func publicKey() throws(ProofKeyError) -> ProofPublicKey {
    try ProofPublicKey(x963: Array(key.publicKey.x963Representation))
  }

  /// Returns *r* and *s*, 32 bytes each.
  public func signature(for message: [UInt8]) throws(ProofKeyError) -> [UInt8] {
    do { return Array(try key.signature(for: message).rawRepresentation) } catch {
      throw .failed("swift-crypto did not sign")
    }
  }
}
