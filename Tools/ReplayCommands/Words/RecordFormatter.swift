internal import SessionChangeQueue
@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// Formats a record as one line of a timeline.
struct RecordFormatter {
  let zone: TimeZoneChoice
  let style: Style

  /// Returns `    7  2026-11-21 14:00:05.205Z  refreshSucceeded     tok#2 lives 2.0 s, as
  /// scheduled`.
  ///
  /// With `delta`, a column before the time shows the time since another record.
  func line(_ record: SessionRecord, delta: (text: String, isBack: Bool)? = nil) -> String {
    var start = String(record.sequence).leftPadded(to: 5)
    if let delta { start += "  " + (delta.isBack ? style.red(delta.text) : delta.text) }
    start += "  \(zone.text(record.time))"
    switch record.content {
    case .event(let event):
      let name = color(event.kind, event.kind.description.padded(to: 19))
      return "\(start)  \(name)  \(EventFormatter.text(event, at: record.time))"
    case .note(let note):
      let name = "(\(note.kind))".padded(to: 19)
      return style.dim("\(start)  \(name)  \(NoteFormatter.text(note, at: record.time))")
    case .snapshot(let fold):
      let text = SnapshotFormatter.text(fold, through: record.sequence)
      return "\(start)  \(style.bold("snapshot".padded(to: 19)))  \(text)"
    case .unknown(let unknown):
      if let change = record.change {
        return "\(start)  \(change.name.padded(to: 19))  \(ChangeFormatter.text(change))"
      }
      let text = "\(record.name.padded(to: 19))  \(Self.text(unknown))"
      return unknown.isIgnorable ? style.dim("\(start)  \(text)") : "\(start)  \(text)"
    }
  }

  private func color(_ kind: SessionEvent.Kind, _ text: String) -> String {
    switch kind {
    case .login: style.green(text)
    case .refreshSucceeded, .contextSwitched: style.bold(text)
    case .refreshFailed: style.yellow(text)
    case .sessionExpired, .logout: style.red(text)
    }
  }

  private static func text(_ unknown: SessionRecord.Unknown) -> String {
    let shown = unknown.payload.prefix(24).hexadecimal
    return "\(count(unknown.payload.count, "byte"))"
      + (shown.isEmpty ? "" : " \(shown)\(unknown.payload.count > 24 ? "…" : "")")
      + ", from a newer version"
  }
}

extension Sequence<UInt8> {
  var hexadecimal: String {
    var text = ""
    for byte in self { text += (byte < 16 ? "0" : "") + String(byte, radix: 16) }
    return text
  }
}
