#if canImport(Security)
import Foundation
import Security

/// A proof key of the system: in the Secure Enclave if the device has one, else in the keychain.
///
/// It never leaves the device, is in no backup, and signs once the device was unlocked since it started.
/// The first use creates it. If it is lost, a new one takes its place, and a session whose tokens are bound
/// to the lost one ends with `proofKeyLost`.
///
/// - Requirement: INT-9
public struct SystemProofKey: ProofKey {
  private let tag: String
  private let accessGroup: String?

  /// Creates a value for the key with this tag, such as the app's identifier and the account's number.
  ///
  /// Apps with the entitlement for `accessGroup` share the key, as they share the session's secrets.
  public init(tag: String, accessGroup: String? = nil) {
    (self.tag, self.accessGroup) = (tag, accessGroup)
  }

  /// Returns the public part of the key.
  public func publicKey() async throws(ProofKeyError) -> ProofPublicKey {
    var error: Unmanaged<CFError>?
    let held = try found()
    let secret = if let held { held } else { try made() }
    guard let key = SecKeyCopyPublicKey(secret),
      let bytes = SecKeyCopyExternalRepresentation(key, &error)
    else { throw failure(error, "read") }
    return try ProofPublicKey(x963: [UInt8](bytes as Data))
  }

  /// Returns the signature of a message; throws `gone` if there is no key.
  public func signature(for message: [UInt8]) async throws(ProofKeyError) -> [UInt8] {
    guard let key = try found() else { throw .gone }
    var error: Unmanaged<CFError>?
    guard
      let bytes = SecKeyCreateSignature(
        key, .ecdsaSignatureMessageX962SHA256, Data(message) as CFData, &error)
    else { throw failure(error, "use") }
    return try ProofSignature.raw(der: [UInt8](bytes as Data))
  }

  private var query: [String: Any] {
    var query: [String: Any] = [
      kSecClass as String: kSecClassKey, kSecAttrApplicationTag as String: Data(tag.utf8),
      kSecAttrKeyType as String: kSecAttrKeyTypeECSECPrimeRandom,
      kSecUseDataProtectionKeychain as String: true,
    ]
    query[kSecAttrAccessGroup as String] = accessGroup
    return query
  }

  private func found() throws(ProofKeyError) -> SecKey? {
    let question = query.merging([
      kSecAttrKeyClass as String: kSecAttrKeyClassPrivate, kSecReturnRef as String: true,
    ]) { $1 }
    var item: CFTypeRef?
    let status = SecItemCopyMatching(NSDictionary(dictionary: question) as CFDictionary, &item)
    // errSecItemNotFound
    if status == -25300 { return nil }
    guard status == 0, let item, CFGetTypeID(item) == SecKeyGetTypeID() else {
      throw failure(Int(status), "find")
    }
    return unsafeDowncast(item, to: SecKey.self)
  }

  /// Creates the key, and returns the one that is found then: another process may have created one.
  private func made() throws(ProofKeyError) -> SecKey {
    var error: Unmanaged<CFError>?
    // A simulator and an old Mac have no Secure Enclave, and only the attempt tells.
    for isInEnclave in [true, false] {
      error?.release()
      error = nil
      let flags: SecAccessControlCreateFlags = isInEnclave ? .privateKeyUsage : []
      guard
        let control = SecAccessControlCreateWithFlags(
          nil, kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly, flags, nil)
      else { continue }
      var attributes = query
      attributes[kSecClass as String] = nil
      attributes[kSecAttrApplicationTag as String] = nil
      attributes[kSecAttrKeySizeInBits as String] = 256
      if isInEnclave { attributes[kSecAttrTokenID as String] = kSecAttrTokenIDSecureEnclave }
      attributes[kSecPrivateKeyAttrs as String] = [
        kSecAttrIsPermanent as String: true, kSecAttrAccessControl as String: control,
        kSecAttrApplicationTag as String: Data(tag.utf8),
      ]
      let made = SecKeyCreateRandomKey(
        NSDictionary(dictionary: attributes) as CFDictionary, &error)
      if let made { return try found() ?? made }
    }
    throw failure(error, "create")
  }

  private func failure(_ error: Unmanaged<CFError>?, _ operation: String) -> ProofKeyError {
    failure(error.map { CFErrorGetCode($0.takeRetainedValue()) } ?? 0, operation)
  }

  private func failure(_ status: Int, _ operation: String) -> ProofKeyError {
    switch status {
    // errSecInteractionNotAllowed, errSecNotAvailable, errSecAuthFailed, errSecInteractionRequired
    case -25308, -25291, -25293, -25315: .locked
    default: .failed("the keychain did not \(operation) the key (status \(status))")
    }
  }
}
#endif

/// The signature of ECDSA with P-256.
enum ProofSignature {
  /// Converts a signature from DER (RFC 3279 §2.2.3) to *r* and *s*, 32 bytes each (RFC 7518 §3.4).
  static func raw(der bytes: [UInt8]) throws(ProofKeyError) -> [UInt8] {
    var rest = bytes[...]
    // Both numbers have at most 33 bytes, so each length is one byte.
    func take(_ tag: UInt8) throws(ProofKeyError) -> ArraySlice<UInt8> {
      guard rest.popFirst() == tag, let length = rest.popFirst(), length < 0x80,
        rest.count >= length
      else { throw .failed("a signature of the keychain is not DER") }
      defer { rest = rest.dropFirst(Int(length)) }
      return rest.prefix(Int(length))
    }
    rest = try take(0x30)
    var raw: [UInt8] = []
    for _ in 0..<2 {
      let number = try take(0x02).drop { $0 == 0 }
      guard number.count <= 32 else { throw .failed("a signature of the keychain is too long") }
      raw += Array(repeating: 0, count: 32 - number.count) + number
    }
    return raw
  }
}
