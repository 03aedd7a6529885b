@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// Converts the facts of a line into a record and its bytes.
enum ImportContent {
  /// Reads the content of a line with this class.
  static func read(_ object: inout ImportObject, _ word: String) throws(ImportProblem)
    -> SessionRecord.Content
  {
    let name = try object.text("name")
    let content: SessionRecord.Content = try object.object("facts") {
      (facts) throws(ImportProblem) in try Self.content(named: name, &facts)
    }
    let kind = LineClass.of(content).rawValue
    guard kind == word else {
      throw ImportProblem(.badLine, "\"\(name)\" is of class \(kind), not \(word)")
    }
    return content
  }

  /// Returns the payload of a record, which must mean the same as the line.
  ///
  /// A payload of a newer version is kept as it is. So is one that this version would encode
  /// differently.
  static func payload(of record: SessionRecord, _ payload: [UInt8]?) throws(ImportProblem)
    -> [UInt8]
  {
    let bytes = payload ?? SessionCodec.encode(record.content, at: record.time).payload
    let found: SessionRecord
    do throws(CodecError) {
      found = try SessionCodec.decode(
        sequence: record.sequence, kind: record.content.kind, payload: bytes)
    } catch {
      throw ImportProblem(
        .badLine,
        payload == nil
          ? "no journal can say this: \(error)" : "\"payload\" cannot be read: \(error)")
    }
    guard found.content == record.content, found.time == record.time else {
      throw ImportProblem(.badLine, "\"payload\" says something else than \"time\" and \"facts\"")
    }
    return bytes
  }

  /// Reads the facts of a record with this name.
  static func content(
    named name: String, _ facts: inout ImportObject
  ) throws(ImportProblem) -> SessionRecord.Content {
    if let kind = SessionEvent.Kind.allCases.first(where: { $0.description == name }) {
      return .event(try SessionEvent(kind, from: &facts))
    }
    if let kind = SessionNote.Kind.allCases.first(where: { $0.description == name }) {
      return .note(try SessionNote(kind, from: &facts))
    }
    if name == "snapshot" { return .snapshot(try facts.fold()) }
    guard let kind = unknownKind(name) else {
      let names =
        SessionEvent.Kind.allCases.map(\.description) + SessionNote.Kind.allCases.map(\.description)
      let near = Suggestion.nearest(to: name, in: names)
      throw ImportProblem(
        .badLine, "there is no record named \"\(name.shortened)\"", next: near.map { "\"\($0)\"" })
    }
    let unknown = SessionRecord.Unknown(kind: kind, payload: try facts.bytes("payload"))
    guard try facts.flag("isIgnorable") == unknown.isIgnorable else {
      throw facts.problem("isIgnorable", "is not what kind \(kind) says")
    }
    return .unknown(unknown)
  }

  /// Returns the kind of `unknown(n)`, if this version has no other name for it.
  private static func unknownKind(_ name: String) -> UInt8? {
    guard name.hasPrefix("unknown("), name.hasSuffix(")"),
      let kind = UInt8(name.dropFirst(8).dropLast()), name == "unknown(\(kind))",
      SessionEvent.Kind(rawValue: kind) == nil, SessionNote.Kind(rawValue: kind) == nil,
      kind != 0, kind != SessionRecord.snapshotKind, kind != .max
    else { return nil }
    return kind
  }
}
