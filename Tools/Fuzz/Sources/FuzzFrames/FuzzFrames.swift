internal import FuzzTargets

/// Checks a file of sealed frames that the input describes.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  FramesTarget.check([UInt8](UnsafeBufferPointer(start: start, count: count)))
  return 0
}
