internal import FuzzTargets

/// Checks the first 64 bytes of a file.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  HeaderTarget.check([UInt8](UnsafeBufferPointer(start: start, count: count)))
  return 0
}
