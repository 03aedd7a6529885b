import Synchronization
import Testing

@testable import SessionJournal

@Suite("The part of a file that is in memory")
struct ReadWindowTests {
  /// A file of zeros that grows, and the sizes of the reads of it.
  private final class GrowingFile: ReadOnlyFile {
    private let state: Mutex<(size: Int, reads: [Int])>

    init(size: Int) { state = Mutex((size, [])) }

    var reads: [Int] { state.withLock { $0.reads } }
    func grow(to size: Int) { state.withLock { $0 = (size, []) } }

    func status() throws(SystemFault) -> FileStatus { throw SystemFault("inspect", code: 1) }
    func nextData(from offset: UInt64) throws(SystemFault) -> UInt64? { offset }
    func close() {}

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(SystemFault)
      -> Int
    {
      state.withLock { state in
        state.reads.append(buffer.count)
        return max(0, min(buffer.count, state.size - Int(offset)))
      }
    }
  }

  /// Reads frames of 64 bytes to the end of a file.
  private func readAll(_ window: inout ReadWindow, _ offset: inout UInt64, of file: GrowingFile)
    throws
  {
    while try window.available(at: offset) >= 64
      || window.fill(64, at: offset, keeping: offset, of: file) >= 64
    { offset += 64 }
  }

  @Test("SCL-2 a short file is read at once, and its window does not grow at its end")
  func short() throws {
    let file = GrowingFile(size: 32_000)
    var window = ReadWindow(fileSize: 32_000)
    var offset: UInt64 = 0
    try readAll(&window, &offset, of: file)
    #expect(offset == 32_000 && window.storage.count == 32_001)
    #expect(file.reads.count == 2 && file.reads.first == 32_001)
  }

  @Test("SCL-2 a file that was short when it was opened is read in large pieces after it has grown")
  func grown() throws {
    let file = GrowingFile(size: 64)
    var window = ReadWindow(fileSize: 64)
    var offset: UInt64 = 0
    try readAll(&window, &offset, of: file)
    window.release()
    file.grow(to: 1 << 20)
    try readAll(&window, &offset, of: file)
    #expect(offset == 1 << 20)
    #expect(file.reads.first == ReadWindow.sizeAfterRest)
    #expect(window.storage.count == ReadWindow.ordinarySize)
    // The window, its first bytes, and the end.
    #expect(file.reads.count <= (1 << 20) / ReadWindow.ordinarySize + 3, "\(file.reads)")
  }
}

@Suite("Checksum")
struct ChecksumTests {
  @Test("JRN-5 CRC32C gives the values of RFC 3720, appendix B.4")
  func vectors() {
    let descending: [UInt8] = (0...31).reversed()
    let command: [UInt8] = [
      0x01, 0xC0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x14, 0, 0, 0, 0, 0, 0x04, 0, 0, 0, 0,
      0x14, 0, 0, 0, 0x18, 0x28, 0, 0, 0, 0, 0, 0, 0, 0x02, 0, 0, 0, 0, 0, 0, 0,
    ]
    let vectors: [(bytes: [UInt8], value: UInt32)] = [
      ([UInt8](repeating: 0, count: 32), 0x8A91_36AA),
      ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43), (Array(0...31), 0x46DD_794E),
      (descending, 0x113F_DB5C), (command, 0xD996_3A56), (Array("123456789".utf8), 0xE306_9283),
      ([], 0),
    ]
    for vector in vectors {
      var checksum = Checksum()
      checksum.extend(over: vector.bytes)
      #expect(checksum.value == vector.value)
      #expect(vector.bytes.withUnsafeBytes { Checksum.portable(over: $0, from: 0) } == vector.value)
    }
  }

  @Test("JRN-5 the instruction and the tables agree at every length, alignment and start")
  func instructionAndTables() {
    var generator = SystemRandomNumberGenerator()
    let bytes = (0..<1100).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    bytes.withUnsafeBytes { raw in
      for from in 0..<16 {
        for length in Array(0...80) + [255, 256, 1023, 1024, 1080] {
          let part = UnsafeRawBufferPointer(rebasing: raw[from..<(from + length)])
          var checksum = Checksum()
          checksum.extend(over: UnsafeRawBufferPointer(rebasing: raw[..<from]))
          let start = checksum.value
          checksum.extend(over: part)
          #expect(checksum.value == Checksum.portable(over: part, from: start))
        }
      }
    }
  }
}
