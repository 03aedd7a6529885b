@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// The transitions of a journal as a Mermaid state diagram (Specs/ReplayFiles.md, "Mermaid").
struct StateDiagram: ExportPicture {
  /// Equal transitions, which are drawn as one arrow.
  private struct Edge: Hashable {
    let from: SessionState.Kind
    let event: SessionEvent.Kind
    /// The reason of the event, as its table names it.
    let reason: String
    let to: SessionState.Kind
  }

  /// The maximum number of different arrows; a journal made to have more gets `other` for the rest.
  private static let mostEdges = 200

  private let journal: String
  private var edges: [Edge: UInt64] = [:]
  /// The arrows in the order in which they first occurred.
  private var order: [Edge] = []
  private var first: SessionState.Kind?
  private var state = SessionState.Kind.unauthenticated
  private var records: UInt64 = 0
  private var times: (first: Timestamp, last: Timestamp)?

  init(journal: String) {
    self.journal = journal
  }

  mutating func begin(_ fold: SessionFold) -> String {
    state = fold.state.kind
    return ""
  }

  mutating func take(_ step: ExportStep) -> String {
    records += 1
    times = (times?.first ?? step.record.time, step.record.time)
    if case .snapshot(let fold) = step.record.content, first == nil { state = fold.state.kind }
    if first == nil { first = state }
    if let event = step.record.event {
      var edge = Edge(
        from: step.before.state.kind, event: event.kind, reason: Self.reason(of: event),
        to: step.after.state.kind)
      if edges[edge] == nil, edges.count >= Self.mostEdges {
        edge = Edge(from: edge.from, event: edge.event, reason: "other", to: edge.to)
      }
      if edges[edge] == nil { order.append(edge) }
      edges[edge, default: 0] += 1
    }
    state = step.after.state.kind
    return ""
  }

  mutating func end() -> String {
    var lines = ["stateDiagram-v2"]
    lines.append("    %% journal \(journal), \(count(records, "record"))")
    lines.append("    [*] --> \(first ?? state)")
    for edge in order {
      let label = edge.reason.isEmpty ? "" : " (\(Self.escaped(edge.reason)))"
      lines.append(
        "    \(edge.from) --> \(edge.to) : \(edge.event) ×\(edges[edge] ?? 0)\(label)")
    }
    lines.append("    note right of \(state)")
    lines.append("        the state at the end")
    if let times {
      lines.append("        \(Self.escaped("\(times.first)")) to")
      lines.append("        \(Self.escaped("\(times.last)"))")
    }
    lines.append("    end note")
    return lines.joined(separator: "\n") + "\n"
  }

  private static func reason(of event: SessionEvent) -> String {
    switch event {
    case .login(let login): login.method.description
    case .refreshSucceeded(let refresh): refresh.trigger.description
    case .refreshFailed(let refresh): refresh.failure.kind.description
    case .contextSwitched(let change): change.trigger.description
    case .sessionExpired(let expiry): expiry.reason.description
    case .logout(let logout): logout.reason.description
    }
  }

  /// Returns the text with characters that Mermaid interprets replaced by their numbers.
  private static func escaped(_ text: String) -> String {
    text.unicodeScalars.reduce(into: "") { text, scalar in
      switch scalar {
      case ":", ";", "#", "\"", "<", ">", "{", "}", "[", "]": text += "#\(scalar.value);"
      default: text.unicodeScalars.append(scalar)
      }
    }
  }
}

/// A record as an export shows it, with the session's state before and after it.
struct ExportStep {
  let record: SessionRecord
  let before: SessionFold
  let after: SessionFold
}

/// Makes one text of a journal's records.
protocol ExportPicture {
  /// Returns the text before the first record; `fold` is the state there.
  mutating func begin(_ fold: SessionFold) -> String

  mutating func take(_ step: ExportStep) -> String

  /// Returns the text after the last record.
  mutating func end() -> String
}
