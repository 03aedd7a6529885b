import ChildProcesses
import Foundation
import SessionJournal
import Synchronization
import Testing

@Suite("Verdicts")
struct VerdictTests {
  /// Bytes after the open sample journal (sequence 6 expected at 296), and the verdict.
  private struct Case {
    let name: String
    let tail: [UInt8]
    let verdict: String
  }

  private let sample: SampleJournal
  private let chain: UInt32

  init() throws {
    sample = try SampleJournal(closed: false)
    chain = number(sample.bytes, at: 224)
  }

  private func forge(_ change: (inout FrameForge) -> Void) -> [UInt8] {
    var forge = FrameForge(sequence: 6, chain: chain)
    change(&forge)
    return forge.bytes
  }

  private var cases: [Case] {
    let good = forge { $0.payload = [1, 2, 3] }
    // After a frame of 32 bytes: proves 6.
    let proof = forge { forge in
      forge.sequence = 7
      forge.chain = 99
    }
    let zeros = [UInt8](repeating: 0, count: 4096)
    let junk = [UInt8](repeating: 0xA5, count: 40)
    return [
      Case(name: "good", tail: good, verdict: "6 0 clean 336 0"),
      Case(name: "zeros", tail: zeros, verdict: "5 0 clean 296 4096"),
      Case(name: "a few zeros", tail: [0, 0, 0], verdict: "5 0 clean 296 3"),
      Case(name: "a few bytes", tail: [0, 0, 1], verdict: "5 0 torn 296 6 3 shortHeader"),
      Case(name: "good, then zeros", tail: good + zeros, verdict: "6 0 clean 336 4096"),
      Case(
        name: "half a frame, then zeros", tail: good.prefix(33) + zeros,
        verdict: "5 0 undetermined 296 6 4129 payloadChecksum"),
      Case(name: "junk", tail: junk, verdict: "5 0 undetermined 296 6 40 headerChecksum"),
      Case(
        name: "zeros, then junk", tail: zeros + junk,
        verdict: "5 0 undetermined 296 6 4136 headerChecksum"),
      Case(
        name: "zeros, then the proof", tail: zeros + proof,
        verdict: "5 0 damaged 296 6 headerChecksum"),
      Case(
        name: "the proof, not 8-aligned", tail: junk + [1, 2, 3, 4] + proof,
        verdict: "5 0 undetermined 296 6 76 headerChecksum"),
      Case(
        name: "a later frame in the place", tail: proof, verdict: "5 0 damaged 296 6 sequenceBroken"
      ),
      Case(
        name: "a later frame that proves only 5",
        tail: forge {
          $0.sequence = 7
          $0.delta = 2
        },
        verdict: "5 0 undetermined 296 6 32 sequenceBroken"),
      Case(
        name: "a later frame that says nothing",
        tail: forge {
          $0.sequence = 1 << 40
          $0.delta = .max
        },
        verdict: "5 0 undetermined 296 6 32 sequenceBroken"),
      Case(
        name: "a proof of another file",
        tail: junk
          + forge {
            $0.sequence = 7
            $0.salt = 5
          },
        verdict: "5 0 undetermined 296 6 72 headerChecksum"),
      Case(
        name: "an old frame again", tail: Array(sample.bytes[64..<104]),
        verdict: "5 0 undetermined 296 6 40 sequenceBroken"),
      Case(
        name: "another past", tail: forge { $0.chain = 7 },
        verdict: "5 0 undetermined 296 6 32 chainBroken"),
      Case(
        name: "kind 0", tail: forge { $0.kind = 0 },
        verdict: "5 0 undetermined 296 6 32 impossibleHeader"),
      Case(
        name: "a snapshot", tail: forge { $0.kind = 0x7F },
        verdict: "5 0 undetermined 296 6 32 impossibleHeader"),
      Case(
        name: "durable before it was written", tail: forge { $0.delta = 0 },
        verdict: "5 0 undetermined 296 6 32 impossibleHeader"),
      Case(
        name: "durable before the beginning", tail: forge { $0.delta = 7 },
        verdict: "5 0 undetermined 296 6 32 impossibleHeader"),
      Case(
        name: "nothing durable", tail: forge { $0.delta = 6 }, verdict: "6 0 clean 328 0"),
      Case(
        name: "longer than allowed", tail: forge { $0.length = 4097 },
        verdict: "5 0 undetermined 296 6 32 impossibleHeader"),
      Case(
        name: "longer than the file", tail: forge { $0.length = 4096 },
        verdict: "5 0 torn 296 6 32 shortPayload"),
      Case(
        name: "a watermark", tail: forge { $0.kind = 0xFF }, verdict: "5 1 clean 328 0"),
      Case(
        name: "a watermark with bytes",
        tail: forge {
          $0.kind = 0xFF
          $0.payload = [1]
        },
        verdict: "5 0 undetermined 296 6 40 impossibleHeader"),
      Case(
        name: "a watermark within a batch",
        tail: forge {
          $0.kind = 0xFF
          $0.left = 1
        },
        verdict: "5 0 undetermined 296 6 32 impossibleHeader"),
      Case(
        name: "a batch without its end", tail: forge { $0.left = 1 },
        verdict: "5 0 torn 296 6 32 shortBatch"),
      Case(
        name: "a batch without its end, then zeros", tail: forge { $0.left = 1 } + zeros,
        verdict: "5 0 torn 296 6 4128 onlyZeros"),
      Case(
        name: "a batch without its end, then a few zeros", tail: forge { $0.left = 1 } + [0, 0],
        verdict: "5 0 torn 296 6 34 shortHeader"),
      Case(
        name: "a batch that miscounts", tail: brokenBatch,
        verdict: "5 0 undetermined 296 6 64 batchBroken"),
      Case(
        name: "frames as payload of a rotten record", tail: rotten(holding: sample.bytes[64...]),
        verdict: "5 0 undetermined 296 6 264 payloadChecksum"),
    ]
  }

  private var brokenBatch: [UInt8] {
    let first = forge { $0.left = 2 }
    let second = forge { forge in
      forge.sequence = 7
      forge.delta = 2
      forge.left = 0
      forge.chain = number(first, at: 0)
    }
    return first + second
  }

  private func rotten(holding frames: ArraySlice<UInt8>) -> [UInt8] {
    var bytes = forge { $0.payload = Array(frames) }
    bytes[32 + 40 + 9] ^= 1
    return bytes
  }

  @Test("JRN-2 both readers give the verdict of each row of the table")
  func table() throws {
    let scratch = try TemporaryFolder()
    var paths: [String] = []
    for (place, item) in cases.enumerated() {
      #expect(verdictLine(sample.bytes + item.tail) == item.verdict, "\(item.name)")
      paths.append(try scratch.write(sample.bytes + item.tail, to: "\(place).journal"))
    }
    let python = try ChildProcess.python(
      [ChildProcess.specs + "/journal_reader.py", "--verdict"] + paths)
    let keys = ["records", "watermarks", "ending", "offset", "sequence", "bytes", "flaw", "room"]
    let lines = try python.text.split(separator: "\n").map { line in
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? NSDictionary
      return keys.compactMap { object?[$0].map { "\($0)" } }.joined(separator: " ")
    }
    #expect(lines == cases.map(\.verdict))
  }

  @Test("JRN-2 opening keeps room, the next batch is written into it, and no total counts it")
  func room() throws {
    let scratch = try TemporaryFolder()
    let path = try scratch.write(sample.bytes + [UInt8](repeating: 0, count: 200))
    var reader = try JournalReader(path: path)
    #expect(try reader.ending() == .clean)
    #expect(reader.room == 200)
    #expect(reader.totals.bytes == UInt64(sample.bytes.count))
    let journal = try Journal.open(at: path)
    #expect(journal.recovery.totals == reader.totals)
    #expect(journal.recovery.repair == nil)
    #expect(try contents(of: path).count == sample.bytes.count + 200)
    // The reader that saw the room continues with what is written into it.
    _ = try journal.append([draft("in the room")])
    #expect(try reader.next()?.text == "in the room")
    #expect(try reader.ending() == .clean)
    #expect(reader.totals.lastSequence == 6)
  }

  @Test("JRN-3 a journal may begin later than 1, up to the highest first sequence")
  func laterBeginning() throws {
    var header = Array(
      JournalHeader(identifier: .random(), salt: 5, maximumRecordSize: 64).encoded.prefix(60))
    for (first, isGood) in [
      (UInt64(412), true), (1 << 62, true), (1 << 62 + 1, false), (.max, false),
    ] {
      header.replaceSubrange(40..<48, with: little(first))
      var checksum = Checksum()
      checksum.extend(over: header)
      var bytes = header + little(checksum.value)
      bytes += FrameForge(sequence: first, chain: checksum.value, salt: 5).bytes
      #expect(verdictLine(bytes) == (isGood ? "1 0 clean 96 0" : "headerDamaged"))
    }
  }

  @Test("JRN-4 a header with a snapshot has a first sequence of 2 or more")
  func firstSequence() {
    let plain = JournalHeader(
      identifier: JournalIdentifier(high: 1, low: 2), salt: 5, maximumRecordSize: 64)
    #expect(JournalHeader.read(plain.compacted(from: 1, salt: 5).encoded) == .damaged)
    #expect(JournalHeader.read(plain.compacted(from: (1 << 62) + 1, salt: 5).encoded) == .damaged)
    for first: UInt64 in [2, 1 << 62] {
      let header = plain.compacted(from: first, salt: 9)
      #expect(JournalHeader.read(header.encoded) == .whole(header))
      #expect(header.identifier == plain.identifier)
      #expect(header.encoded[12] == 1)
    }
  }

  @Test("JRN-2 a large batch is read in few steps, whatever its frames are")
  func largeBatch() throws {
    let scratch = try TemporaryFolder()
    let record = JournalDraft(kind: 1, payload: [UInt8](repeating: 7, count: 1000))
    _ = try Journal.open(at: scratch.journal).append([JournalDraft](repeating: record, count: 3000))
    let system = FaultyFileSystem()
    system.plan.withLock { $0.readsLeft = 20 }
    var reader = try JournalReader(path: scratch.journal, fileSystem: system)
    #expect(try reader.ending() == .clean)
    #expect(reader.totals.records == 3000)
  }

  @Test("JRN-2 a batch above 16 MiB is not a batch and is not held in memory")
  func endlessBatch() throws {
    var bytes = sample.bytes
    var chain = chain
    let payload = [UInt8](repeating: 1, count: 4096)
    let frames = 16 * 1024 * 1024 / (32 + 4096) + 1
    for place in 0..<frames {
      let frame = FrameForge(
        sequence: 6 + UInt64(place), chain: chain, delta: UInt32(1 + place),
        left: UInt16(frames - 1 - place), payload: payload
      ).bytes
      chain = number(frame, at: 0)
      bytes += frame
    }
    let last = frames * 4128
    #expect(verdictLine(bytes) == "5 0 undetermined 296 6 \(last) batchBroken")
  }
}
