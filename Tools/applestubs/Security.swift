// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase

// The part of Apple's Security and CoreFoundation that SessionKit uses, as its headers declare it. The
// sources are type-checked against it and never run (see `run`).
public import Foundation
public import FoundationNetworking

public typealias OSStatus = Int32
public typealias CFTypeRef = AnyObject
public typealias CFDictionary = NSDictionary
public final class CFAllocator {}
public typealias CFTypeID = UInt
public typealias CFIndex = Int
/// With Objective-C, `as` bridges it to Data, but here both are one type.
public typealias CFData = Data
public final class CFError {}
public func CFErrorGetCode(_ error: CFError) -> CFIndex { 0 }
public func CFGetTypeID(_ object: CFTypeRef) -> CFTypeID { 0 }

/// A CFString; with Objective-C, `as` bridges it to String, but here both are one type.
public typealias CFString = String

public final class SecAccessControl {}

public struct SecAccessControlCreateFlags: OptionSet, Sendable {
  public let rawValue: UInt
  public init(rawValue: UInt) { self.rawValue = rawValue }
  public static var userPresence: SecAccessControlCreateFlags { .init(rawValue: 1) }
  public static var biometryAny: SecAccessControlCreateFlags { .init(rawValue: 2) }
  public static var biometryCurrentSet: SecAccessControlCreateFlags { .init(rawValue: 8) }
  public static var privateKeyUsage: SecAccessControlCreateFlags { .init(rawValue: 1 << 30) }
}

/// Takes a protection class, which is a CFString; Apple's headers declare any CFTypeRef.
public func SecAccessControlCreateWithFlags(
  _ allocator: CFAllocator?, _ protection: CFString, _ flags: SecAccessControlCreateFlags,
  _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecAccessControl? { nil }

public func SecItemCopyMatching(
  _ query: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus { 0 }

public func SecItemAdd(
  _ attributes: CFDictionary, _ result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus { 0 }

public func SecItemUpdate(_ query: CFDictionary, _ attributesToUpdate: CFDictionary) -> OSStatus {
  0
}

public func SecItemDelete(_ query: CFDictionary) -> OSStatus { 0 }

public final class SecKey {}
public func SecKeyGetTypeID() -> CFTypeID { 0 }

public struct SecKeyAlgorithm: Sendable {
  public static let ecdsaSignatureMessageX962SHA256 = SecKeyAlgorithm()
}

public func SecKeyCreateRandomKey(
  _ parameters: CFDictionary, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> SecKey? { nil }

public func SecKeyCopyPublicKey(_ key: SecKey) -> SecKey? { nil }

public func SecKeyCopyExternalRepresentation(
  _ key: SecKey, _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? { nil }

public func SecKeyCreateSignature(
  _ key: SecKey, _ algorithm: SecKeyAlgorithm, _ dataToSign: CFData,
  _ error: UnsafeMutablePointer<Unmanaged<CFError>?>?
) -> CFData? { nil }

public let kSecClass: CFString = ""
public let kSecClassKey: CFString = ""
public let kSecAttrApplicationTag: CFString = ""
public let kSecAttrKeyType: CFString = ""
public let kSecAttrKeyTypeECSECPrimeRandom: CFString = ""
public let kSecAttrKeySizeInBits: CFString = ""
public let kSecAttrKeyClass: CFString = ""
public let kSecAttrKeyClassPrivate: CFString = ""
public let kSecAttrTokenID: CFString = ""
public let kSecAttrTokenIDSecureEnclave: CFString = ""
public let kSecPrivateKeyAttrs: CFString = ""
public let kSecAttrIsPermanent: CFString = ""
public let kSecReturnRef: CFString = ""
public let kSecClassGenericPassword: CFString = ""
public let kSecAttrService: CFString = ""
public let kSecAttrAccount: CFString = ""
public let kSecAttrAccessGroup: CFString = ""
public let kSecAttrAccessible: CFString = ""
public let kSecAttrAccessControl: CFString = ""
public let kSecAttrSynchronizable: CFString = ""
public let kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly: CFString = ""
public let kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly: CFString = ""
public let kSecUseDataProtectionKeychain: CFString = ""
public let kSecUseAuthenticationContext: CFString = ""
public let kSecValueData: CFString = ""
public let kSecReturnData: CFString = ""
public let kSecMatchLimit: CFString = ""
public let kSecMatchLimitOne: CFString = ""

// Foundation has it on the systems that have Security.
extension URLSession {
  public struct AsyncBytes: AsyncSequence, Sendable {
    public typealias Element = UInt8
    public struct AsyncIterator: AsyncIteratorProtocol {
      public mutating func next() async throws -> UInt8? { nil }
    }
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator() }
    public let task: URLSessionDataTask
  }

  public func bytes(
    for request: URLRequest, delegate: (any URLSessionTaskDelegate)? = nil
  ) async throws -> (AsyncBytes, URLResponse) { throw URLError(.unsupportedURL) }
}
