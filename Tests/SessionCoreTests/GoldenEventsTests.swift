import Foundation
@_spi(Internals) import SessionCore
import Testing

@Suite("Specs/Golden/events.txt")
struct GoldenEventsTests {
  private struct Line {
    let kind: UInt8
    let payload: [UInt8]
    let readable: String
  }

  private func lines() throws -> [Line] {
    try SpecFile("Specs/Golden/events.txt").lines
      .filter { !$0.isEmpty && !$0.hasPrefix("#") }
      .map { line in
        let parts = line.components(separatedBy: " | ")
        try #require(parts.count >= 3)
        return Line(
          kind: try #require(UInt8(parts[0], radix: 16)),
          payload: try #require(bytes(parts[1])),
          readable: parts[2...].joined(separator: " | "))
      }
  }

  @Test("JRN-5 every line decodes to its value and encodes to the same bytes")
  func bothWays() throws {
    let lines = try lines()
    let samples = SampleRecords.all
    try #require(lines.count == samples.count)
    for (index, (line, sample)) in zip(lines, samples).enumerated() {
      let record = try SessionCodec.decode(
        sequence: 7, kind: line.kind, payload: line.payload)
      #expect(
        record == SessionRecord(sequence: 7, time: sample.time, content: sample.content),
        "line \(index)")
      let encoded = SessionCodec.encode(sample.content, at: sample.time)
      #expect(encoded.kind == line.kind)
      #expect(encoded.payload == line.payload, "line \(index)")
      #expect(line.readable.hasPrefix("{\"name\":\"\(record.name)\",\"time\":\"\(record.time)\","))
    }
  }

  @Test("JRN-5 every kind of event and note has a line")
  func complete() throws {
    let kinds = Set(try lines().map(\.kind))
    for kind in SessionEvent.Kind.allCases { #expect(kinds.contains(kind.rawValue), "\(kind)") }
    for kind in SessionNote.Kind.allCases { #expect(kinds.contains(kind.rawValue), "\(kind)") }
    #expect(kinds.contains(SessionRecord.snapshotKind))
  }

  private func bytes(_ hex: String) -> [UInt8]? {
    let digits = Array(hex)
    guard digits.count % 2 == 0 else { return nil }
    var bytes: [UInt8] = []
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let byte = UInt8(String(digits[index...index + 1]), radix: 16) else { return nil }
      bytes.append(byte)
    }
    return bytes
  }
}
