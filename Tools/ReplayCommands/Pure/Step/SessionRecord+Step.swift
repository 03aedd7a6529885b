internal import SessionChangeQueue
@_spi(Internals) internal import SessionCore
internal import SessionExplain

extension SessionRecord {
  /// Whether it ends a session.
  var isEnd: Bool {
    switch event {
    case .sessionExpired?, .logout?: true
    case .login?, .refreshSucceeded?, .refreshFailed?, .contextSwitched?, nil: false
    }
  }

  /// The generation of the token that it is about.
  var generation: Generation? {
    var search = GenerationSearch()
    switch content {
    case .event(let event): event.visit(&search)
    case .note(let note): note.visit(&search)
    case .snapshot, .unknown: break
    }
    return search.found
  }

  /// The sequence of the request that it ended.
  var answeredRequest: UInt64? {
    let request: UInt64
    switch content {
    case .event(.refreshSucceeded(let refresh)): request = refresh.request
    case .event(.refreshFailed(let refresh)): request = refresh.request
    case .event(.contextSwitched(let change)): request = change.request
    case .note(.requestEnded(let ended)): request = ended.request
    case .note(.answerUnused(let number)): request = number
    case .event, .note, .snapshot, .unknown: return nil
    }
    return request == 0 ? nil : request
  }

  /// Whether it is a request.
  var isRequest: Bool {
    if case .note(.requestSent) = content { true } else { false }
  }

  /// Its name in a list; notes are in parentheses.
  var label: String {
    if case .note = content { "(\(name))" } else { change?.name ?? name }
  }

  /// Its content on one line.
  var words: String {
    switch content {
    case .event(let event): EventFormatter.text(event, at: time)
    case .note(let note): NoteFormatter.text(note, at: time)
    case .snapshot(let fold): SnapshotFormatter.text(fold, through: sequence)
    case .unknown(let unknown):
      change.map(ChangeFormatter.text)
        ?? "\(count(unknown.payload.count, "byte")), from a newer version"
    }
  }

  /// The text in which a search looks.
  var searchText: String { "@\(sequence) \(label) \(words)".lowercased() }

  /// The style of its name.
  var role: ScreenRole {
    switch content {
    case .note: .dim
    case .snapshot: .bold
    case .unknown(let unknown): unknown.isIgnorable ? .dim : .plain
    case .event(let event):
      switch event {
      case .login: .good
      case .refreshSucceeded, .contextSwitched: .bold
      case .refreshFailed: .warn
      case .sessionExpired, .logout: .bad
      }
    }
  }
}

/// Looks for the first field that names a token.
private struct GenerationSearch: FieldSearch {
  private(set) var found: Generation?

  mutating func visit(_: FieldName, generation: Generation) { found = found ?? generation }
  mutating func visit(_: FieldName, token: TokenMetadata?) { found = found ?? token?.generation }
}

/// One line about a state.
struct StateField: Equatable, Sendable {
  let name: String
  let value: String

  /// Returns the lines about a state, always the same ones in the same order.
  ///
  /// Times are shown without their day if that is the day of `time`.
  static func all(of fold: SessionFold, at time: Timestamp, zone: TimeZoneChoice) -> [StateField] {
    let moment = { (moment: Timestamp) in zone.text(moment, on: time) }
    let state = StateDescription(fold)
    return [
      StateField(name: "state", value: state.kind.description),
      StateField(name: "user", value: state.user.map(EventFormatter.short) ?? nothing),
      StateField(name: "signed in", value: state.method?.phrase ?? nothing),
      StateField(name: "since", value: state.since.map(moment) ?? nothing),
      StateField(name: "reason", value: state.reason.map(EventFormatter.reason) ?? nothing),
      StateField(name: "context", value: state.context.map(EventFormatter.context) ?? nothing),
      StateField(
        name: "token", value: state.token.map(EventFormatter.token) ?? newest(state.newest)),
      StateField(name: "expires", value: (state.token?.expiresAt).map(moment) ?? nothing),
      StateField(name: "failures", value: state.failures.map(text) ?? nothing),
      StateField(name: "request", value: state.intents.request.map(text) ?? nothing),
      StateField(
        name: "to revoke",
        value: state.intents.revocations.isEmpty
          ? nothing : state.intents.revocations.map(\.description).joined(separator: ", ")),
    ]
  }

  private static let nothing = "–"

  private static func newest(_ generation: Generation) -> String {
    generation == .none ? nothing : "none, the newest was \(generation)"
  }

  private static func text(_ failures: SessionState.RefreshFailures) -> String {
    guard failures.total > 0 else { return "none" }
    let last = failures.last.map { ", " + FailureFormatter.text($0) } ?? ""
    return "\(failures.total.grouped), \(failures.answered.grouped) answered\(last)"
  }

  private static func text(_ request: OpenIntents.Request) -> String {
    "\(NoteFormatter.request(request.sent.kind)) @\(request.sequence) with \(request.sent.generation)"
  }
}
