internal import CPeers
internal import Foundation
@_spi(Internals) internal import SessionCore
internal import SessionJournal

extension Group {
  /// From the file to the state at its end, every byte verified.
  static let fold = Group(name: "fold", summary: "read + verify + fold to the final state") {
    stage in
    let path = try stage.journal.get()
    let content = try bytes(of: path)
    let count = stage.eventCount
    // JSON takes so long that it gets a part of the workload.
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
        "fold.crc", "journal", to: "CRC32C", in: rates, goal: .atLeast(0.3), unit: "events/s"),
      try .comparing(
        "fold.json", "journal", to: "JSONDecoder", in: rates, goal: .atLeast(250),
        unit: "events/s"),
    ])
  }

  /// Every record as the Swift value that an app sees.
  static let values = Group(name: "values", summary: "read every event as a full Swift value") {
    stage in
    let path = try stage.journal.get()
    let count = stage.eventCount
    let records = stage.records
    let lines = try JSONLines(records.prefix(stage.pick(2000, 20_000)))
    let messages = try records.prefix(stage.pick(20_000, 200_000)).map(MessageRecord.bytes)
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
      Contest.Contender(name: "swift-protobuf") {
        try .timing(messages.count) {
          var sum: UInt64 = 0
          for message in messages { sum &+= try MessageRecord.read(message) }
          keep(sum)
        }
      },
    ]
    let rates = try Contest(contenders: contenders).rates(rounds: stage.pick(5, 15))
    return Outcome(figures: [
      try .comparing(
        "values.json", "journal", to: "JSONDecoder", in: rates, goal: .atLeast(70),
        unit: "events/s"),
      try .comparing(
        "values.memory", "journal", to: "fold in memory", in: rates, goal: .atLeast(0.5),
        unit: "events/s"),
      try .comparing(
        "values.protobuf", "journal", to: "swift-protobuf", in: rates, goal: .atLeast(6),
        unit: "events/s"),
    ])
  }

  /// How much of the disk an event takes.
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

/// Records as lines of JSON, in memory and already apart.
struct JSONLines {
  private let lines: [Data]

  init(_ records: ArraySlice<SessionRecord>) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    lines = try records.map { try encoder.encode(JSONRecord($0)) }
  }

  var count: Int { lines.count }

  /// What they take on file, line feeds included.
  var bytes: Int { lines.reduce(lines.count) { $0 + $1.count } }

  func decode(_ body: (JSONRecord) throws -> Void) throws {
    let decoder = JSONDecoder()
    for line in lines { try body(try decoder.decode(JSONRecord.self, from: line)) }
  }
}

/// Reads and verifies a journal of the workload, and folds it.
func foldJournal(_ path: String, _ count: Int) throws {
  try expect(try foldWhole(path) == count, "the journal lost records")
}

/// Reads, verifies and folds a journal; the last sequence.
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

/// Reads and verifies a journal of the workload, and makes a value of each record.
func decodeJournal(_ path: String, _ count: Int) throws {
  var seen = 0
  var failure: (any Error)?
  var reader = try JournalReader(path: path)
  var decoder = SessionDecoder()
  try reader.visit { frame, payload in
    do throws(CodecError) {
      let record = try decoder.decode(
        sequence: frame.sequence, kind: frame.kind, payload: payload)
      if case .event = record.content { seen += 1 }
      return true
    } catch {
      failure = error
      return false
    }
  }
  if let failure { throw failure }
  try expect(seen == count, "the journal lost records")
}

/// A measurement that did not do its work is none.
func expect(_ isSo: Bool, _ problem: String) throws {
  guard isSo else { throw Problem(problem) }
}

/// Takes a result, so that no optimiser leaves out what led to it.
@inline(never)
func keep<Value>(_ value: Value) {
  withExtendedLifetime(value) {}
}
