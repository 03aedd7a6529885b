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
    switch content {
    case .event(.refreshFailed(let refresh)): return refresh.generation
    case .event(let event): return event.announcedToken?.generation
    case .note(let note):
      switch note {
      case .requestSent(let sent): return sent.generation
      case .tokenRecovered(let generation), .revocationPending(let generation): return generation
      case .revocationSettled(let settled): return settled.generation
      case .opened, .closed, .tailCut, .requestEnded, .secretsWiped, .itemUnreadable, .continued,
        .clockSkew, .localDataCleared, .storageFailed, .storageRecovered, .answerDropped,
        .answerUnused:
        return nil
      }
    case .snapshot, .unknown: return nil
    }
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
