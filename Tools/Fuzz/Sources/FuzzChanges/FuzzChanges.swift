internal import FuzzTargets

/// Checks one record of a change log.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  ChangesTarget.check([UInt8](UnsafeBufferPointer(start: start, count: count)))
  return 0
}
