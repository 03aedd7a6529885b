@_spi(Internals) internal import SessionCore

/// Selects records by kind and by reason, regardless of their place.
struct RecordFilter: Equatable, Sendable {
  private let kinds: KindFilter?
  private let reasons: ReasonFilter?

  static let options = [
    CommandSyntax.Option(
      name: "kind", value: "KIND,...", values: .kinds,
      help: "Show only these: names of records, or event, note, change, snapshot, unknown"),
    CommandSyntax.Option(
      name: "reason", value: "REASON,...", values: .reasons,
      help: "Show only what ended or failed for one of these, or with a server's code"),
  ]

  init(_ arguments: Arguments) throws(ToolError) {
    if let text = arguments.value("kind") { kinds = try KindFilter(text) } else { kinds = nil }
    if let text = arguments.value("reason") {
      reasons = try ReasonFilter(text)
    } else {
      reasons = nil
    }
  }

  /// Whether it accepts all records.
  var isOpen: Bool { kinds == nil && reasons == nil }

  func includes(_ content: SessionRecord.Content) -> Bool {
    (kinds?.includes(content) ?? true) && (reasons?.includes(content) ?? true)
  }
}

extension Arguments {
  /// Returns the whole number that is an option's value.
  func number(_ option: String, spelled: String, example: String, upTo most: UInt64 = .max)
    throws(ToolError) -> UInt64?
  {
    guard let text = value(option) else { return nil }
    guard let value = UInt64(text), value <= most else {
      throw .usage(
        .badValue,
        "\(spelled) cannot be '\(text.shortened)': it takes a whole number from 0 to \(most).",
        next: "\(spelled) \(example)")
    }
    return value
  }
}
