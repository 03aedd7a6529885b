internal import FuzzTargets

/// Checks the payload of one record.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  PayloadTarget.check([UInt8](UnsafeBufferPointer(start: start, count: count)))
  return 0
}
