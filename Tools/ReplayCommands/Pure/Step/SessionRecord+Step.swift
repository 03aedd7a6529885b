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
