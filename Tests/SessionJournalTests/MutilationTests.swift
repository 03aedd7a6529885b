import ChildProcesses
import Foundation
import SessionJournal
import Testing

@Suite("Mutilated journals")
struct MutilationTests {
  @Test("JRN-2 a journal cut at any byte is torn after its longest prefix of whole batches")
  func cuts() throws {
    for closed in [false, true] {
      let sample = try SampleJournal(closed: closed)
      for size in 0...sample.bytes.count {
        let line = verdictLine(Array(sample.bytes.prefix(size)))
        let whole = sample.wholeBatches(at: size)
        if size == 0 {
          #expect(line == "empty")
        } else if whole < 0 {
          #expect(line == "headerDamaged")
        } else {
          let offset = sample.boundaries[whole]
          let records = min(SampleJournal.sequences[whole], 5)
          let counts = "\(records) \(SampleJournal.sequences[whole] - records)"
          let next = SampleJournal.sequences[whole] + 1
          #expect(
            size == offset
              ? line == "\(counts) clean \(size) 0"
              : line.hasPrefix("\(counts) torn \(offset) \(next) \(size - offset) short"),
            "cut at \(size): \(line)")
        }
      }
    }
  }

  @Test("JRN-5 the reader in another language gives the same verdict on each of them")
  func otherReader() throws {
    let sample = try SampleJournal(closed: false)
    let scratch = try TemporaryFolder()
    let path = try scratch.write(sample.bytes)
    let program = """
      import sys, journal_reader as j
      data = open(sys.argv[1], "rb").read()
      def show(data):
        v = j.verdict_of(data)
        keys = ("records", "watermarks", "ending", "offset", "sequence", "bytes", "flaw", "room")
        parts = v.get("behind", {"lost": [], "readable": []})
        ranges = [(r["offset"], r["bytes"], r["firstSequence"], r["lastSequence"],
                   r.get("looseFrames", r.get("records")))
                  for r in parts["lost"] + parts["readable"]]
        words = [v[key] for key in keys if key in v] + [part for r in ranges for part in r]
        print(*("-" if word is None else word for word in words))
      for size in range(len(data) + 1):
        show(data[:size])
        show(data[:size] + bytes(100))
      for bit in range(len(data) * 8):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << (bit % 8)
        show(bytes(flipped))
      for start in range(64, len(data), 8):
        for end in range(start + 8, len(data) + 1, 8):
          show(data[:start] + data[end:])
          show(data[:start] + bytes(end - start) + data[end:])
      """
    var lines: [String] = []
    let bytes = sample.bytes
    for size in 0...bytes.count {
      lines.append(surveyLine(Array(bytes.prefix(size))))
      lines.append(surveyLine(Array(bytes.prefix(size)) + [UInt8](repeating: 0, count: 100)))
    }
    for bit in 0..<(bytes.count * 8) {
      var flipped = bytes
      flipped[bit / 8] ^= 1 << (bit % 8)
      lines.append(surveyLine(flipped))
    }
    for start in stride(from: 64, to: bytes.count, by: 8) {
      for end in stride(from: start + 8, through: bytes.count, by: 8) {
        let zeros = [UInt8](repeating: 0, count: end - start)
        lines.append(surveyLine(Array(bytes[..<start] + bytes[end...])))
        lines.append(surveyLine(Array(bytes[..<start] + zeros + bytes[end...])))
      }
    }
    let python = try ChildProcess.python(["-c", program, path])
    #expect(python.code == 0)
    let others = python.text.split(separator: "\n").map(String.init)
    #expect(others.count == lines.count)
    for (number, pair) in zip(lines, others).enumerated() where pair.0 != pair.1 {
      Issue.record("case \(number): Swift says \(pair.0), Python says \(pair.1)")
    }
  }
}
