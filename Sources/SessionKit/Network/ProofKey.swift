/// A private key with which an app proves that it holds its tokens (DPoP, RFC 9449).
///
/// It is a key of the curve P-256, and signs with ES256. It must live as long as the session, because
/// the server binds the tokens to it. All processes of a session use the same key. The session stores
/// nothing of it but the thumbprint of its public part.
///
/// - Requirement: INT-9
public protocol ProofKey: Sendable {
  /// Returns the public part of the key.
  func publicKey() async throws(ProofKeyError) -> ProofPublicKey

  /// Returns the signature of a message: *r* and *s* of ECDSA over its SHA-256, 32 bytes each.
  func signature(for message: [UInt8]) async throws(ProofKeyError) -> [UInt8]
}

/// The public part of a ``ProofKey``: a point of the curve P-256.
///
/// - Requirement: INT-9
public struct ProofPublicKey: Hashable, Sendable {
  /// The first coordinate, 32 bytes.
  public let x: [UInt8]
  /// The second coordinate, 32 bytes.
  public let y: [UInt8]

  /// Creates a key from its coordinates; throws `failed` unless both have 32 bytes.
  public init(x: [UInt8], y: [UInt8]) throws(ProofKeyError) {
    guard x.count == 32, y.count == 32 else {
      throw .failed("a public key of P-256 has two coordinates of 32 bytes")
    }
    (self.x, self.y) = (x, y)
  }

  /// Creates a key from its uncompressed form (ANSI X9.63): the byte 4 and both coordinates.
  public init(x963 bytes: [UInt8]) throws(ProofKeyError) {
    guard bytes.count == 65, bytes[0] == 4 else {
      throw .failed("the uncompressed form of a public key of P-256 is the byte 4 and 64 others")
    }
    try self.init(x: Array(bytes[1...32]), y: Array(bytes[33...]))
  }

  /// The thumbprint of the key (RFC 7638), in base64url: 43 characters.
  public var thumbprint: String {
    let members = #"{"crv":"P-256","kty":"EC","x":"\#(text(x))","y":"\#(text(y))"}"#
    return text(SHA256.digest(Array(members.utf8)))
  }

  /// The key as a JSON Web Key, as the header of a proof has it.
  var json: String { #"{"kty":"EC","x":"\#(text(x))","y":"\#(text(y))","crv":"P-256"}"# }

  private func text(_ bytes: [UInt8]) -> String { Base64.encode(url: bytes) }
}
