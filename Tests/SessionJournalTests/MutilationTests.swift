import ChildProcesses
import Foundation
import SessionJournal
import Testing

@Suite("Mutilated journals")
struct MutilationTests {
  @Test("JRN-2 JRN-5 the reader in another language gives the same verdict on each of them")
  func otherReader() throws {
    let sample = try SampleJournal(closed: false)
    let scratch = try TemporaryFolder()
    let path = try scratch.write(sample.bytes)
    let program = """
      import base64, sys, journal_reader as j
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
      for line in open(sys.argv[2]):
        show(base64.b64decode(line.partition(" ")[2]))
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
    // What fuzzing has kept reaches more of the format than one sample does.
    let corpus = ChildProcess.specs + "/../Tools/Fuzz/Corpus/Journal.txt"
    for line in try String(contentsOfFile: corpus, encoding: .utf8).split(separator: "\n") {
      let text = line.split(separator: " ").dropFirst().first ?? ""
      lines.append(surveyLine([UInt8](try #require(Data(base64Encoded: String(text))))))
    }
    let python = try ChildProcess.python(["-c", program, path, corpus])
    #expect(python.code == 0)
    let others = python.text.split(separator: "\n").map(String.init)
    #expect(others.count == lines.count)
    for (number, pair) in zip(lines, others).enumerated() where pair.0 != pair.1 {
      Issue.record("case \(number): Swift says \(pair.0), Python says \(pair.1)")
    }
  }
}
