@_spi(Internals) internal import SessionCore

/// The records as a Swift test that replays them (Specs/ReplayFiles.md, "Swift test").
struct SwiftTest: ExportPicture {
  static let needsBeginning = true

  /// The maximum number of records; a longer test would not be useful.
  static let mostRecords = 2_000
  /// The number of records in one function: the compiler needs more and more time for long ones.
  private static let partSize = 50

  private let name: String
  private var body = ""
  private var parts = 0
  private(set) var records = 0
  private var fold = SessionFold()

  /// Creates a test in a type that is called `name`.
  init(name: String) {
    self.name = name
  }

  mutating func begin(_ fold: SessionFold) -> String {
    self.fold = fold
    return ""
  }

  mutating func take(_ step: ExportStep) -> String {
    defer { fold = step.after }
    records += 1
    guard records <= Self.mostRecords else { return "" }
    if (records - 1) % Self.partSize == 0 {
      parts += 1
      if parts > 1 { body += "  }\n" }
      body += "\n  private func part\(parts)(_ fold: inout SessionFold) throws {\n"
    }
    let (record, after) = (step.record, step.after)
    body += "    // \(record.time), \(record.name)\n"
    body += "    try fold.apply(\(SwiftLiteral.record(record)))\n"
    if record.event != nil || step.before.state.kind != after.state.kind {
      body += "    #expect(fold.state.kind == .\(after.state.kind))\n"
      body += "    #expect(fold.generation == Generation(\(after.generation.number)))\n"
      if case .authenticated(let session) = after.state, session.failures.total > 0 {
        body += "    #expect(failures(of: fold) == \(session.failures.total))\n"
      }
    }
    if step.before.intents.request?.sequence != after.intents.request?.sequence {
      let request = after.intents.request.map { "\($0.sequence)" } ?? "nil"
      body += "    #expect(fold.intents.request?.sequence == \(request))\n"
    }
    return ""
  }

  mutating func end() -> String {
    guard records <= Self.mostRecords else { return "" }
    if parts > 0 { body += "  }\n" }
    var lines = [
      "// swift-format-ignore-file",
      "// Written by: sessionreplay export --format swift --name \(name)",
      "@_spi(Internals) import SessionCore",
      "import Testing",
      "",
      "@Suite(\"\(name)\")",
      "struct \(name) {",
      "  @Test(\"the recorded events are possible and result in the recorded state\")",
      "  func history() throws {",
      "    \(parts == 0 ? "let" : "var") fold = SessionFold()",
    ]
    for part in 0..<parts { lines.append("    try part\(part + 1)(&fold)") }
    lines += [
      "    #expect(fold.state.kind == .\(fold.state.kind))",
      "    #expect(fold.generation == Generation(\(fold.generation.number)))",
      "    #expect(fold.sequence == \(fold.sequence))",
      "    #expect(fold.intents.revocations == [\(revocations)])",
      "  }",
      "",
      "  private func failures(of fold: SessionFold) -> UInt32? {",
      "    guard case .authenticated(let session) = fold.state else { return nil }",
      "    return session.failures.total",
      "  }",
    ]
    return lines.joined(separator: "\n") + "\n" + body + "}\n"
  }

  private var revocations: String {
    fold.intents.revocations.map { "Generation(\($0.number))" }.joined(separator: ", ")
  }
}
