package import SessionChanges
@_spi(Internals) import SessionCore
import SessionKit

/// The words for change logs.
extension ScenarioWords {
  /// Returns the kind and the words of a record; `nil` for a snapshot, which contains nothing new.
  package static func of(_ record: ChangeRecord) -> (kind: String, words: Words)? {
    guard case .event(let event) = record.content else { return nil }
    switch event {
    case .added(let added):
      return (
        "added",
        [
          "key": "\(added.change.key)", "user": "\(added.user)", "what": what(added.change),
        ]
      )
    case .sent(let sent): return ("sent", ["key": "\(sent.key)"])
    case .acknowledged(let key): return ("acknowledged", ["key": "\(key)"])
    case .postponed(let postponed):
      return (
        "postponed",
        [
          "key": "\(postponed.key)", "counted": yes(postponed.isCounted),
          "retry": duration(postponed.retryAt.milliseconds(since: record.time)),
          "reason": postponed.reason,
        ]
      )
    case .givenUp(let end):
      return ("givenUp", ["key": "\(end.key)", "cause": "\(end.cause)", "reason": end.reason])
    case .discarded(let discarded):
      return (
        "discarded",
        ["key": discarded.key.map { "\($0)" } ?? "none", "cause": "\(discarded.cause)"]
      )
    case .scopeChecked(let check):
      return (
        "scopeChecked",
        [
          "scope": check.scope.isEmpty ? "none" : check.scope,
          "changed": "\(check.statusChangedAt)",
        ]
      )
    case .addedBy(let signIn): return ("addedBy", ["token": "\(signIn.generation.number)"])
    case .leaving(let leaving):
      return ("leaving", ["wait": duration(leaving.until.milliseconds(since: record.time))])
    case .signInEnded(let signIn):
      return ("signInEnded", ["token": "\(signIn.generation.number)"])
    case .retried(let key): return ("retried", ["key": "\(key)"])
    }
  }

  /// Returns the change in words: `create task/5f1c`, `POST /notes`.
  private static func what(_ change: Change) -> String {
    switch change {
    case .create(let edit): "create \(edit.entity.path)"
    case .update(let edit): "update \(edit.entity.path)"
    case .delete(let deletion): "delete \(deletion.entity.path)"
    case .request(let request): "\(request.method) \(request.pathWithoutQuery)"
    }
  }

  /// Returns the words for the result of sending, at a time.
  static func of(_ drained: DrainResult, at moment: ClockReading) -> Words {
    let (ending, until): (String, Timestamp?) =
      switch drained.ending {
      case .empty: ("empty", nil)
      case .gateClosed: ("gateClosed", nil)
      case .waits(let until): ("waits", until)
      case .leasedElsewhere(let until): ("heldByOthers", until)
      case .cancelled: ("cancelled", nil)
      }
    return [
      "sent": "\(drained.acknowledged)", "givenUp": "\(drained.givenUp)", "ending": ending,
      "wait": until.map { duration($0.milliseconds(since: moment.time)) } ?? "none",
    ]
  }

  static func of(_ error: ChangeLogError) -> Words {
    switch error {
    case .othersChanges(let count), .full(let count, _): ["count": "\(count)"]
    default: [:]
    }
  }

  /// Returns the name of an error.
  package static func name(_ error: ChangeLogError) -> String {
    switch error {
    case .sessionExpired: "sessionExpired"
    case .notSignedIn: "notSignedIn"
    case .othersChanges: "othersChanges"
    case .full: "full"
    case .contentTooLong: "contentTooLong"
    case .notKnown: "notKnown"
    case .keyInUse: "keyInUse"
    case .givenUp: "givenUp"
    case .loggingOut: "loggingOut"
    case .signInEnded: "signInEnded"
    case .unknownKey: "unknownKey"
    case .drainUnderWay: "drainUnderWay"
    case .notAChangeLog: "notAChangeLog"
    case .newerVersion: "newerVersion"
    case .unusable: "unusable"
    case .journal: "journal"
    }
  }
}
