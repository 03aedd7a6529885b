internal import CPeers
internal import Foundation
@_spi(Internals) internal import SessionCore
internal import SessionJournal

extension Group {
  /// The time from the file to the final state, with every byte verified.
  static let fold = Group(name: "fold", summary: "read + verify + fold to the final state") {
    stage in
    let path = try stage.journal.get()
    let content = try bytes(of: path)
    let count = stage.eventCount
    // JSON takes so long that it processes only a part of the workload.
    let lines = try JSONLines(stage.records.prefix(stage.pick(2000, 20_000)))
    let contenders = [
      Contest.Contender(name: "journal") {
        try .timing(count) { try foldJournal(path, count) }
      },
      Contest.Contender(name: "CRC32C") {
        .timing(count) { keep(cchecksum_crc32c(0, content, content.count)) }
      },
      Contest.Contender(name: "JSONDecoder") {
        try .timing(lines.count) {
          var fold = SessionFold()
          try lines.decode { try fold.apply(try $0.record()) }
          try expect(fold.sequence == lines.count, "JSON lines lost records")
        }
      },
    ]
    let rates = try Contest(contenders: contenders).rates(rounds: stage.pick(5, 15))
    return Outcome(figures: [
      try .comparing(
        "fold.crc", "journal", to: "CRC32C", in: rates, goal: .atLeast(0.6), unit: "events/s"),
      try .comparing(
        "fold.json", "journal", to: "JSONDecoder", in: rates, goal: .atLeast(250),
        unit: "events/s"),
    ])
  }

  /// The time to read every record as the Swift value that an app uses.
  static let values = Group(name: "values", summary: "read every event as a full Swift value") {
    stage in
    let path = try stage.journal.get()
    let count = stage.eventCount
    let records = stage.records
    let lines = try JSONLines(records.prefix(stage.pick(2000, 20_000)))
    let contenders = [
      Contest.Contender(name: "journal") {
        try .timing(count) { try decodeJournal(path, count) }
      },
      Contest.Contender(name: "fold in memory") {
        try .timing(count) {
          var fold = SessionFold()
          for record in records { try fold.apply(record) }
          try expect(fold.sequence == count, "the fold lost records")
        }
      },
      Contest.Contender(name: "JSONDecoder") {
        try .timing(lines.count) {
          var sum: UInt64 = 0
          try lines.decode { sum &+= $0.sequence }
          keep(sum)
        }
      },
    ]
    let rates = try Contest(contenders: contenders).rates(rounds: stage.pick(5, 15))
    return Outcome(figures: [
      try .comparing(
        "values.json", "journal", to: "JSONDecoder", in: rates, goal: .atLeast(150),
        unit: "events/s"),
      try .comparing(
        "values.memory", "journal", to: "fold in memory", in: rates, goal: .atLeast(0.5),
        unit: "events/s"),
    ])
  }

  /// The size of an event on disk.
  static let size = Group(name: "size", summary: "bytes per event on file, frame included") {
    stage in
    let count = Double(stage.eventCount)
    let journal = Double(try bytes(of: try stage.journal.get()).count) / count
    let lines = Double(try JSONLines(stage.records[...]).bytes) / count
    return Outcome(figures: [
      Figure(
        name: "size.json", against: "JSON lines", goal: .atMost(0.5),
        ratio: Samples([journal / lines]), value: journal, againstValue: lines, unit: "bytes/event")
    ])
  }
}

/// Records as JSON, in memory and one value per line.
struct JSONLines {
  private let lines: [Data]

  init(_ records: ArraySlice<SessionRecord>) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    lines = try records.map { try encoder.encode(JSONRecord($0)) }
  }

  var count: Int { lines.count }

  /// The size of the lines in a file, with line feeds.
  var bytes: Int { lines.reduce(lines.count) { $0 + $1.count } }

  func decode(_ body: (JSONRecord) throws -> Void) throws {
    let decoder = JSONDecoder()
    for line in lines { try body(try decoder.decode(JSONRecord.self, from: line)) }
  }
}

/// Reads, verifies and folds a journal of the workload.
func foldJournal(_ path: String, _ count: Int) throws {
  try expect(try foldWhole(path) == count, "the journal lost records")
}

/// Reads, verifies and folds a journal; returns the last sequence.
func foldWhole(_ path: String) throws -> UInt64 {
  var payloads = PayloadFold()
  var failure: (any Error)?
  var reader = try JournalReader(path: path)
  try reader.visit { frame, payload in
    do throws(PayloadFold.Failure) {
      try payloads.apply(sequence: frame.sequence, kind: frame.kind, payload: payload)
      return true
    } catch {
      failure = error
      return false
    }
  }
  if let failure { throw failure }
  let fold = try payloads.fold()
  keep(fold)
  return fold.sequence
}

/// Reads and verifies a journal of the workload, and creates a value for each record.
func decodeJournal(_ path: String, _ count: Int) throws {
  var sum = 0
  var failure: (any Error)?
  var reader = try JournalReader(path: path)
  var decoder = SessionDecoder()
  try reader.visit { frame, payload in
    do throws(CodecError) {
      let record = try decoder.decode(
        sequence: frame.sequence, kind: frame.kind, payload: payload)
      sum += Int(record.sequence)
      return true
    } catch {
      failure = error
      return false
    }
  }
  if let failure { throw failure }
  // The peers add up the same numbers.
  try expect(sum == count * (count + 1) / 2, "the journal lost records")
}

/// Throws unless a measurement has done its work.
func expect(_ isSo: Bool, _ problem: String) throws {
  guard isSo else { throw Problem(problem) }
}

/// Uses a result, so that the optimizer does not remove the computation.
@inline(never)
func keep<Value>(_ value: Value) {
  withExtendedLifetime(value) {}
}
