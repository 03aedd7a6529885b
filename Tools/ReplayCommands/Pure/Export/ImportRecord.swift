@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON

/// A record as its line says it, with its frame's values in the journal.
///
/// The payload means the same as the line.
struct ImportRecord: Equatable, Sendable {
  let sequence: UInt64
  let kind: UInt8
  /// The number of the records of its batch that follow it.
  let remainingInBatch: UInt16
  let payload: [UInt8]

  var isSnapshot: Bool { kind == SessionRecord.snapshotKind }

  /// Reads the line of an event, a note, a snapshot or an entry of a newer version.
  ///
  /// `check` looks at what the lines before allow, before the payload is looked at.
  init(
    _ object: inout ImportObject, _ word: String, _ sequence: UInt64,
    check: (_ left: UInt16, _ isSnapshot: Bool) throws(ImportProblem) -> Void
  ) throws(ImportProblem) {
    let left: UInt16 = try object.number("remainingInBatch")
    let time = try object.time("time")
    let content = try ImportContent.read(&object, word)
    let payload = object.has("payload") ? try object.bytes("payload") : nil
    if object.has("dropped") { _ = try object.flag("dropped") }
    try object.finish()
    try check(left, content.kind == SessionRecord.snapshotKind)
    try self.init(
      SessionRecord(sequence: sequence, time: time, content: content), left, payload)
  }

  init(sequence: UInt64, kind: UInt8, remainingInBatch: UInt16, payload: [UInt8]) {
    self.sequence = sequence
    self.kind = kind
    self.remainingInBatch = remainingInBatch
    self.payload = payload
  }

  private init(_ record: SessionRecord, _ left: UInt16, _ payload: [UInt8]? = nil)
    throws(ImportProblem)
  {
    (sequence, kind, remainingInBatch) = (record.sequence, record.content.kind, left)
    self.payload = try ImportContent.payload(of: record, payload)
  }

  /// Returns the members of a line.
  static func object(_ tape: JSONTape) throws(ImportProblem) -> ImportObject {
    var object = try ImportObject(tape.root)
    let version: UInt64 = try object.number("v")
    guard version == 1 else {
      throw ImportProblem(
        .badLine, "it is of version \(version), and this tool reads version 1",
        next: "a newer version of sessionreplay")
    }
    return object
  }
}
