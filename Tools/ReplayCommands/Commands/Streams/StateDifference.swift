@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON

/// The records between two states, as far as they are shown.
struct RecordsBetween {
  /// The maximum number of records in the text, and in JSON.
  static let (shown, listed) = (20, 1000)

  private(set) var entries: [JournalEntry] = []
  private(set) var sequences: [UInt64] = []
  private(set) var count: UInt64 = 0

  mutating func take(_ entry: JournalEntry) {
    count += 1
    if entries.count < Self.shown { entries.append(entry) }
    if sequences.count < Self.listed { sequences.append(entry.record.sequence) }
  }
}

/// The difference between two states of one journal, and the records that caused it.
struct StateDifference {
  /// A field with its values in both states.
  struct Field {
    let name: String
    let before: StateDescription.Value
    let after: StateDescription.Value

    var isChanged: Bool { before != after }
  }

  let from: StateSnapshot
  let to: StateSnapshot
  let fields: [Field]
  let between: RecordsBetween

  init(from: StateSnapshot, to: StateSnapshot, between: RecordsBetween) {
    self.from = from
    self.to = to
    self.between = between
    let rows = zip(StateDescription(from.fold).rows, StateDescription(to.fold).rows)
    fields = rows.compactMap { before, after in
      let isAbsent = before.value == .none && after.value == .none
      guard !(isAbsent && before.isOptional) else { return nil }
      return Field(name: before.path, before: before.value, after: after.value)
    }
  }

  var isNone: Bool { !fields.contains(where: \.isChanged) }

  func text(showsAll: Bool, zone: TimeZoneChoice, style: Style) -> String {
    let (before, after) = (from.fold.state.kind.description, to.fold.state.kind.description)
    var text = style.bold("@\(from.fold.sequence) → @\(to.fold.sequence)")
    text += before == after ? "  \(after)\n" : "  \(before) → \(after)\n"
    let shown = fields.filter { showsAll || $0.isChanged }
    let width = shown.map(\.name.count).max() ?? 0
    for field in shown {
      let name = field.name.padded(to: width)
      guard field.isChanged else {
        text += "  \(name)  \(field.after.text(zone))\n"
        continue
      }
      // A field that appeared or disappeared has one line only.
      if field.before != .none {
        text += style.red("- \(name)  \(field.before.text(zone))") + "\n"
      }
      if field.after != .none {
        text += style.green("+ \(name)  \(field.after.text(zone))") + "\n"
      }
    }
    if isNone { text += "Nothing of the state differs.\n" }
    guard between.count > 0 else { return text }
    let words = RecordFormatter(zone: zone, style: style)
    text += "\n" + between.entries.map { words.line($0.record) + "\n" }.joined()
    let more = between.count - UInt64(between.entries.count)
    if more > 0 { text += "and \(count(more, "more record"))\n" }
    return text
  }

  func json(showsAll: Bool) -> String {
    var json = JSONWriter()
    json.object { json in
      json.field("v", 1)
      let ends: [(StaticString, StateSnapshot)] = [("from", from), ("to", to)]
      for (name, snapshot) in ends {
        json.object(name) { json in
          json.field("sequence", snapshot.fold.sequence)
          json.field("time", snapshot.time)
          json.field("state", snapshot.fold.state.kind.description)
        }
      }
      json.field("records", between.count)
      json.array("changes", fields.filter { showsAll || $0.isChanged }) { json, field in
        json.object { json in
          json.field("field", field.name)
          json.field("before", field.before)
          json.field("after", field.after)
        }
      }
      json.array("between", between.sequences) { $0.value($1) }
    }
    json.endLine()
    return json.text
  }
}
