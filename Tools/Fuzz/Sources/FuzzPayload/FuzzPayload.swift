internal import FuzzTargets

/// One record's payload.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  PayloadTarget.check([UInt8](UnsafeBufferPointer(start: start, count: count)))
  return 0
}
