internal import FuzzTargets

/// Checks one answer of a backend.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  AnswerTarget.check([UInt8](UnsafeBufferPointer(start: start, count: count)))
  return 0
}
