internal import FuzzTargets

/// Checks one redirect, or one error of an identity SDK.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  IdentityTarget.check([UInt8](UnsafeBufferPointer(start: start, count: count)))
  return 0
}
