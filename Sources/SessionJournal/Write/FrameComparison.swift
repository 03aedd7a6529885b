/// The comparison of a compacted file's frames with those of the old file.
struct FrameComparison: ~Copyable {
  private let file: any JournalFileHandle
  private let oldStart: UInt64
  private let newStart: UInt64
  private var window = ReadWindow()

  /// Why the old file could not be read; nil if it could.
  private(set) var fault: SystemFault?

  /// Creates a comparison: the frame at `newStart` is a copy of the one at `oldStart` of `file`.
  init(file: any JournalFileHandle, shift oldStart: UInt64, from newStart: UInt64) {
    self.file = file
    self.oldStart = oldStart
    self.newStart = newStart
  }

  /// Whether a frame equals that of the old file, except for salt and chain.
  mutating func isEqual(_ frame: JournalFrame, _ payload: RawSpan) -> Bool {
    let offset = frame.offset - newStart + oldStart
    do throws(SystemFault) {
      if window.available(at: offset) < frame.size {
        guard try window.fill(frame.size, at: offset, keeping: offset, of: file) >= frame.size
        else { return false }
      }
    } catch {
      fault = error
      return false
    }
    let place = Int(offset - window.origin)
    return window.storage.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return false }
      let old = JournalFrame(verified: base + place, offset: frame.offset)
      guard old.isCopied(by: frame) else { return false }
      let start = place + JournalFrame.headerSize
      let oldPayload = UnsafeRawBufferPointer(
        rebasing: bytes[start..<(start + Int(old.payloadLength))])
      return payload.withUnsafeBytes { $0.isSame(as: oldPayload) }
    }
  }
}

extension JournalFrame {
  fileprivate func isCopied(by other: JournalFrame) -> Bool {
    sequence == other.sequence && payloadLength == other.payloadLength && kind == other.kind
      && flags == other.flags && remainingInBatch == other.remainingInBatch
      && durableDelta == other.durableDelta && payloadChecksum == other.payloadChecksum
  }
}
