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

  @Test("JRN-2 opening after a cut at any byte cuts the tail, keeps a copy, reports it and appends")
  func reopened() throws {
    let sample = try SampleJournal(closed: true)
    for size in stride(from: JournalHeader.size, through: sample.bytes.count, by: 3) {
      let scratch = try TemporaryFolder()
      let path = try scratch.write(Array(sample.bytes.prefix(size)))
      let whole = sample.wholeBatches(at: size)
      let offset = sample.boundaries[whole]
      let next = SampleJournal.sequences[whole] + 1
      let journal = try Journal.open(at: path)
      if size == offset {
        #expect(journal.recovery.repair == nil)
      } else {
        let aside = "\(path).torn-\(next)-0"
        #expect(journal.recovery.repair?.keptAside == aside)
        #expect(try contents(of: aside) == Array(sample.bytes[offset..<size]))
        #expect(try mode(of: aside) == 0o600)
      }
      #expect(try contents(of: path) == Array(sample.bytes.prefix(offset)))
      let done = try journal.append([draft("after")])
      #expect(done.appended.map(\.sequence) == [next])
      var reader = try JournalReader(path: path)
      #expect(try reader.ending() == .clean)
      #expect(reader.totals.lastSequence == next)
      // A second recovery has nothing to do.
      #expect(try Journal.open(at: path).recovery.repair == nil)
    }
  }

  @Test("JRN-2 a flipped bit is reported as damaged, or as undetermined in the last commit")
  func flips() throws {
    for closed in [false, true] {
      let sample = try SampleJournal(closed: closed)
      let last = sample.boundaries[sample.boundaries.count - 2]
      for bit in 0..<(sample.bytes.count * 8) {
        var bytes = sample.bytes
        bytes[bit / 8] ^= 1 << (bit % 8)
        let line = verdictLine(bytes)
        let ending = line.split(separator: " ").dropFirst(2).first.map(String.init) ?? line
        if bit / 8 < JournalHeader.size {
          #expect(ending == "headerDamaged", "bit \(bit): \(line)")
        } else {
          #expect(
            ending == (bit / 8 < last ? "damaged" : "undetermined"), "bit \(bit): \(line)")
          let whole = sample.wholeBatches(at: bit / 8)
          let records = min(SampleJournal.sequences[whole], 5)
          #expect(line.hasPrefix("\(records) "), "bit \(bit): \(line)")
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
