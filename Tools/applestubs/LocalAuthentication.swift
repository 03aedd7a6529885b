// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation, AlwaysUseLowerCamelCase

// The part of Apple's LocalAuthentication that SessionKit uses, as its headers declare it.
import Foundation
import Security

// tvOS has the module, but not its types.
#if !SYSTEM_tvOS
public enum LAAccessControlOperation: Int, Sendable {
  case createItem = 0
  case useItem = 1
}

public enum LAPolicy: Int, Sendable {
  case deviceOwnerAuthentication = 2
}

/// Not Sendable: this is the strictest assumption for its callers.
open class LAContext: NSObject {
  public override init() {}
  open var interactionNotAllowed = false
  open func invalidate() {}
  open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
    false
  }
  // watchOS has no biometry.
  #if !SYSTEM_watchOS
  open func evaluateAccessControl(
    _ accessControl: SecAccessControl, operation: LAAccessControlOperation,
    localizedReason: String, reply: @escaping @Sendable (Bool, (any Error)?) -> Void
  ) {}
  #endif
}
#endif
