internal import SessionChangeQueue
@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJournal

/// Why a journal is not good, or not good to its last byte.
enum JournalFault: Equatable, Sendable {
  /// A writer's last commit is incomplete, and was never acknowledged.
  case torn(JournalTail)
  /// A writer's last commit is incomplete, and it is unknown whether it was acknowledged.
  case undetermined(JournalTail)
  /// Bytes that were valid once are no longer valid.
  case damaged(JournalDamage)
  /// The bytes are what was written, but they are no record of their kind.
  case undecodable(JournalPlace, CodecError)
  /// The record is an event that the state before it does not allow.
  case illegal(JournalPlace, SessionRejection)
  /// The record is one of another kind of log, and cannot follow the records before it, for this reason.
  case outOfPlace(JournalPlace, String)
  /// The record is of a kind that only a newer version can fold.
  case unknownKind(JournalPlace, UInt8)
  /// A line of an export cannot be read; its records are those of the lines before it.
  case badLine(JournalPlace, line: Int, String)
  /// The export says that its journal did not end well.
  case exported(JournalPlace, Verdict)

  init?(_ ending: JournalEnding) {
    switch ending {
    case .clean: return nil
    case .torn(let tail): self = .torn(tail)
    case .undetermined(let tail): self = .undetermined(tail)
    case .damaged(let damage): self = .damaged(damage)
    }
  }

  init(_ failure: SessionFold.Failure, at place: JournalPlace) {
    switch failure {
    case .illegal(let rejection, _): self = .illegal(place, rejection)
    case .unknownKind(let kind, _): self = .unknownKind(place, kind)
    // A snapshot is the first record, so only its own content can contradict it.
    case .contradiction: self = .undecodable(place, .impossible(offset: 9))
    }
  }

  /// The verdict of `verify` and `repair` on a journal, as one word.
  enum Verdict: String, CaseIterable, Sendable {
    case good = "good"
    case torn = "torn"
    case undetermined = "undetermined"
    case damaged = "damaged"
    case undecodable = "undecodable"
    case illegal = "illegal"
    case unknownKind = "unknownKind"
  }

  var verdict: Verdict {
    switch self {
    case .torn: .torn
    case .undetermined: .undetermined
    case .damaged: .damaged
    case .undecodable: .undecodable
    case .illegal, .outOfPlace: .illegal
    case .unknownKind: .unknownKind
    case .badLine: .damaged
    case .exported(_, let verdict): verdict
    }
  }

  /// The name of the error that reports it.
  private var errorName: ToolError.Name {
    switch self {
    case .torn: .torn
    case .undetermined: .undetermined
    case .damaged: .damaged
    case .undecodable: .undecodable
    case .illegal, .outOfPlace: .illegal
    case .unknownKind: .unknownKind
    case .badLine: .badLine
    case .exported(_, let verdict): ToolError.Name(rawValue: verdict.rawValue) ?? .damaged
    }
  }

  /// The end of the good prefix.
  var place: JournalPlace {
    switch self {
    case .torn(let tail), .undetermined(let tail):
      JournalPlace(sequence: tail.sequence, offset: tail.offset)
    case .damaged(let damage): JournalPlace(sequence: damage.sequence, offset: damage.offset)
    case .undecodable(let place, _), .illegal(let place, _), .outOfPlace(let place, _),
      .unknownKind(let place, _), .badLine(let place, _, _), .exported(let place, _):
      place
    }
  }

  /// Whether acknowledged records may follow the good prefix.
  var mayHideRecords: Bool {
    switch self {
    case .torn, .exported(_, .torn): false
    case .badLine, .exported: true
    case .undetermined, .damaged, .undecodable, .illegal, .outOfPlace, .unknownKind: true
    }
  }

  /// Whether a command that reads on after damage also reads the records that follow the fault.
  ///
  /// The lines of an export end at its fault, and an event of a newer version leads to an unknown
  /// state.
  var isReadOver: Bool {
    switch self {
    case .damaged, .undecodable, .illegal, .outOfPlace: true
    case .torn, .undetermined, .unknownKind, .badLine, .exported: false
    }
  }

  var code: ExitCode {
    switch self {
    case .torn, .undetermined, .exported(_, .torn), .exported(_, .undetermined): .tail
    case .badLine, .exported: .damaged
    case .damaged, .undecodable, .illegal, .outOfPlace, .unknownKind: .damaged
    }
  }

  /// Returns one sentence about the file with this name: what is wrong, and at which place.
  func message(_ name: String) -> String {
    let spot = "at byte \(place.offset.grouped) (seq \(place.sequence))"
    switch self {
    case .torn(let tail):
      return "\(name) ends with an unfinished commit \(spot): \(tail.flaw.explanation). "
        + "Its \(count(tail.bytes, "byte")) never counted."
    case .undetermined(let tail):
      return "\(name) ends with a commit \(spot) that cannot be read: \(tail.flaw.explanation). "
        + "Nothing says whether its \(count(tail.bytes, "byte")) had been acknowledged."
    case .damaged(let damage):
      return "\(name) is damaged \(spot): \(damage.flaw.explanation)."
    case .undecodable(_, let error):
      return "\(name) holds a record that cannot be read \(spot): \(error)."
    case .illegal(_, let rejection):
      return "\(name) holds an impossible event \(spot): \(rejection)."
    case .outOfPlace(_, let rejection):
      return "\(name) holds a record that cannot follow \(spot): \(rejection)."
    case .unknownKind(_, SessionRecord.movedKind):
      return "\(name) ends \(spot): the session was moved to another place, where it goes on."
    case .unknownKind(_, let kind):
      return "\(name) holds an event of kind \(kind) \(spot), which a newer version wrote: "
        + "the state after it is not known."
    case .badLine(let place, let line, let problem):
      return "\(name), line \(line) (seq \(place.sequence)): \(problem)."
    case .exported(let place, let verdict):
      return "\(name) says that its journal ended so after seq \(place.sequence - 1): "
        + "\(verdict.rawValue)."
    }
  }

  /// Whether records come before the fault; without any, `repair` has nothing to keep.
  ///
  /// It cannot repair an export.
  var hasGoodRecords: Bool {
    switch self {
    case .badLine, .exported: false
    default: place.offset > UInt64(JournalHeader.size)
    }
  }

  /// Returns the next step after a reading command met the fault.
  ///
  /// `hasReadOn` is true if the command also read what follows the fault.
  func next(_ name: String, hasReadOn: Bool = false) -> String {
    switch self {
    case .badLine: return "export again, or use a copy of the file"
    case .exported: return "look at the journal that was exported"
    case .torn, .undetermined:
      return
        "look again if an app is writing to it; else the app that opens it next cuts the tail off "
        + "and keeps it aside"
    case .damaged, .undecodable, .illegal, .outOfPlace:
      let isFile = name != "standard input"
      var steps: [String] = []
      if !hasReadOn {
        steps.append(
          isFile
            ? "sessionreplay timeline \(name), for what can be read after it"
            : "sessionreplay timeline -, on the same input")
      }
      if isFile, hasGoodRecords {
        steps.append("sessionreplay repair \(name) -o OUT, for a good file")
      }
      return steps.isEmpty ? "a copy of the file" : steps.joined(separator: "; or ")
    case .unknownKind(_, SessionRecord.movedKind): return "look at the journal of the new place"
    case .unknownKind: return "a newer version of sessionreplay"
    }
  }

  /// Returns the error of a command, which says what the command showed nevertheless.
  func error(_ name: String, consequence: String, next: String? = nil) -> ToolError {
    ToolError(
      code, errorName, message(name), consequence: consequence, next: next ?? self.next(name),
      place: place)
  }
}

extension JournalFault? {
  /// `good` if there is no fault.
  var verdict: JournalFault.Verdict { self?.verdict ?? .good }
}
