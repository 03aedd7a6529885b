internal import FuzzTargets

/// A whole file, as it is.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  JournalTarget.check([UInt8](UnsafeBufferPointer(start: start, count: count)))
  return 0
}
