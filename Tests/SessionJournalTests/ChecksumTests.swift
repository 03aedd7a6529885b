import SessionJournal
import Testing

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
      ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43),
      (Array(0...31), 0x46DD_794E),
      (descending, 0x113F_DB5C),
      (command, 0xD996_3A56),
      (Array("123456789".utf8), 0xE306_9283),
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
