import ChildProcesses
import SessionJournal
import Testing

/// One file of `Specs/Golden`, and how it is made.
struct Golden: Sendable, CustomTestStringConvertible {
  let name: String

  /// The exit code of the reader in another language.
  let status: Int32

  /// Its header prevents reading.
  var isRefused = false

  let bytes: @Sendable () throws -> [UInt8]

  var testDescription: String { name }
  var file: String { ChildProcess.specs + "/Golden/\(name).journal" }
  var expected: String { ChildProcess.specs + "/Golden/\(name).json" }

  /// The question to the reader in another language.
  var question: [String] {
    [ChildProcess.specs + "/journal_reader.py"] + (isRefused ? ["--verdict"] : []) + [file]
  }

  static let all = whole + tails + damages + refused + compacted

  private static let whole = [
    Golden(name: "plain", status: 0) { try SampleJournal(closed: true).bytes },
    Golden(name: "zeros", status: 0) { try open() + zeros(64) },
    Golden(name: "unknown-kinds", status: 0) {
      try open { $0.kind = 0x7E } + frame(7, after: forge { $0.kind = 0x7E }) { $0.kind = 0x80 }
    },
  ]

  private static let tails = [
    Golden(name: "torn", status: 2) { Array(try open().dropLast(9)) },
    Golden(name: "short-header", status: 2) { Array(try open { $0.left = 0 }.dropLast(12)) },
    Golden(name: "short-batch", status: 2) {
      try open() + SampleJournal(closed: false).unfinishedBatch
    },
    Golden(name: "unfinished", status: 2) {
      try open() + SampleJournal(closed: false).unfinishedBatch + zeros(64)
    },
    Golden(name: "undetermined", status: 2) {
      var bytes = try open()
      bytes[bytes.count - 20] ^= 0x10
      return bytes
    },
    Golden(name: "impossible", status: 2) { try open { $0.kind = 0 } },
    Golden(name: "other-past", status: 2) { try open { $0.chain = 7 } },
    Golden(name: "sequence-beyond", status: 2) {
      try open() + rot(32) + forge { $0.sequence = .max }
    },
    Golden(name: "miscounted", status: 2) {
      let first = try forge { $0.left = 2 }
      return try open() + first + frame(7, after: first) { $0.delta = 2 }
    },
  ]

  private static let damages = [
    Golden(name: "damaged", status: 65) {
      let sample = try SampleJournal(closed: true)
      var bytes = sample.bytes
      // In the payload of the second record of the batch of three.
      bytes[sample.boundaries[1] + 32 + 40] ^= 0x01
      return bytes
    },
    Golden(name: "damaged-header", status: 65) {
      var bytes = try SampleJournal(closed: true).bytes
      bytes[64 + 5] ^= 0x80
      return bytes + zeros(64)
    },
    Golden(name: "sequence-highest", status: 65) {
      try open() + rot(32) + forge { $0.sequence = (1 << 63) - 1 }
    },
    Golden(name: "dropped", status: 65) {
      let sample = try SampleJournal(closed: true)
      return Array(
        sample.bytes[..<sample.boundaries[1]] + sample.bytes[sample.boundaries[2]...])
    },
  ]

  private static let refused = [
    Golden(name: "header-damaged", status: 65, isRefused: true) {
      var bytes = try open()
      bytes[40] ^= 2
      return bytes
    },
    Golden(name: "newer", status: 65, isRefused: true) {
      try under { $0.replaceSubrange(10..<12, with: [2, 0]) }
    },
    Golden(name: "unknown-feature", status: 65, isRefused: true) { try under { $0[12] = 2 } },
  ]

  /// A snapshot of the records before sequence 5, two records, and a watermark.
  private static let compacted = [
    Golden(name: "compacted", status: 0) { try compactedBytes() },
    Golden(name: "compacted-damaged", status: 65) {
      var bytes = try compactedBytes()
      bytes[64 + 32 + 3] ^= 4
      return bytes
    },
    Golden(name: "snapshot-impossible", status: 65) { try compactedBytes { $0.delta = 1 } },
    Golden(name: "snapshot-replaced", status: 65) { try compactedBytes { $0.kind = 1 } },
  ]

  private static func compactedBytes(
    snapshot change: (inout FrameForge) -> Void = { _ in }
  ) throws -> [UInt8] {
    var bytes = try under { header in
      header[12] = 1
      header[40] = 5
    }
    bytes.removeSubrange(JournalHeader.size...)
    var chain = number(bytes, at: 60)
    let frames: [(UInt64, UInt8, UInt32, String)] = [
      (4, 0x7F, .max, "a snapshot of four records"), (5, 1, 1, "the fifth"), (6, 0x83, 1, "sixth"),
      (7, 0xFF, 1, ""),
    ]
    for (sequence, kind, delta, text) in frames {
      var forge = FrameForge(
        sequence: sequence, chain: chain, delta: delta, kind: kind, payload: Array(text.utf8))
      if kind == 0x7F { change(&forge) }
      let frame = forge.bytes
      chain = number(frame, at: 0)
      bytes += frame
    }
    return bytes
  }
}

extension Golden {
  private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

  private static func rot(_ count: Int) -> [UInt8] { [UInt8](repeating: 0xFF, count: count) }

  /// The sample without closing.
  private static func open() throws -> [UInt8] { try SampleJournal(closed: false).bytes }

  /// The same with one more frame.
  private static func open(_ change: (inout FrameForge) -> Void) throws -> [UInt8] {
    try open() + forge(change)
  }

  /// A frame for the end of the sample that was not closed.
  private static func forge(_ change: (inout FrameForge) -> Void) throws -> [UInt8] {
    let sample = try SampleJournal(closed: false)
    var forge = FrameForge(sequence: 6, chain: number(sample.bytes, at: sample.boundaries[2]))
    change(&forge)
    return forge.bytes
  }

  private static func frame(
    _ sequence: UInt64, after frame: [UInt8], _ change: (inout FrameForge) -> Void
  ) -> [UInt8] {
    var forge = FrameForge(sequence: sequence, chain: number(frame, at: 0))
    change(&forge)
    return forge.bytes
  }

  /// The sample with another header, whose checksum is valid.
  private static func under(_ change: (inout [UInt8]) -> Void) throws -> [UInt8] {
    let bytes = try open()
    var header = Array(bytes[..<60])
    change(&header)
    var checksum = Checksum()
    checksum.extend(over: header)
    return header + little(checksum.value) + bytes[JournalHeader.size...]
  }
}
