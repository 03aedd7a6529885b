/// Why a ``ProofKey`` could not be used.
///
/// - Requirement: INT-9
public enum ProofKeyError: Error, Hashable, Sendable {
  /// The key does not exist any more, or never did.
  ///
  /// The session ends, because its tokens are of no use without the key.
  case gone
  /// The key cannot be used now, for example because the device is locked.
  ///
  /// The session goes on, and callers receive `locked`.
  case locked
  /// Another failure, in words without a secret.
  ///
  /// The session goes on, and callers receive `noConnection`.
  case failed(String)
}

extension ProofKeyError: CustomStringConvertible {
  /// What happened and what it means.
  public var description: String {
    switch self {
    case .gone: "the key to which the tokens are bound does not exist any more. Nothing was sent"
    case .locked: "the key to which the tokens are bound cannot be used yet. Nothing was sent"
    case .failed(let reason): "the proof of possession could not be signed: \(reason)"
    }
  }
}
