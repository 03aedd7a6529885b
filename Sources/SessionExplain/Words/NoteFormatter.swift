@_spi(Internals) package import SessionCore

/// A formatter of notes for people.
package enum NoteFormatter {
  package static func text(_ note: SessionNote, at time: Timestamp) -> String {
    switch note {
    case .opened(let opened):
      return EventFormatter.join([
        "by process \(opened.process)", opened.app.map { "app \($0)" },
        opened.platform.map { "on \($0)" },
      ])
    case .closed:
      return "in good order"
    case .tailCut(let cut):
      return "\(count(cut.bytes, "byte")) cut off, "
        + (cut.isUndetermined ? "perhaps acknowledged" : "never acknowledged")
    case .requestSent(let sent):
      let wait = sent.deadline.milliseconds(since: time)
      return EventFormatter.join([
        "\(request(sent.kind)) with \(sent.generation)",
        sent.kind == .refresh ? sent.trigger.phrase : nil,
        EventFormatter.attempt(sent.attempt), "by process \(sent.process)",
        "others wait \(DurationFormatter.text(milliseconds: max(0, wait)))",
      ])
    case .requestEnded(let ended):
      return "@\(ended.request) failed: \(FailureFormatter.text(ended.failure))"
    case .tokenRecovered(let generation):
      return "\(generation) was stored before a crash, its event follows"
    case .revocationPending(let generation):
      return "the revocation of \(generation) waits to be sent"
    case .revocationSettled(let settled):
      return "\(settled.generation) \(outcome(settled))"
        + (settled.status == 0 ? "" : " (\(settled.status))")
    case .secretsWiped(let cause):
      return self.cause(cause)
    case .itemUnreadable(let item):
      return "the stored \(item) cannot be read"
    case .continued(let link):
      return continuation(link)
    case .clockSkew(let milliseconds):
      let skew = DurationFormatter.text(milliseconds: Int64(clamping: milliseconds.magnitude))
      return
        "this device's time is \(skew) \(milliseconds < 0 ? "behind" : "ahead of") the server's"
    case .deviceClockUsed(let generation):
      return "this device's clock measured the lifetime of \(generation): the response had no Date"
    case .userNeeded(let needed):
      return EventFormatter.join([
        needed.isOfCall
          ? "for a call with \(needed.generation)" : "to refresh \(needed.generation)",
        FailureFormatter.text(needed.failure), needed.demand.map { "asks for \($0)" },
      ])
    case .refreshTokenLife(let life):
      return "the server keeps the refresh token of \(life.generation) for "
        + DurationFormatter.text(milliseconds: life.milliseconds)
    case .locked(let reason): return "no token is given: \(self.reason(reason))"
    case .unlocked: return "tokens are given again"
    case .tokensBound(let bound):
      return
        "the server bound \(bound.generation) to the key \(bound.thumbprint.description.printable)"
    case .localDataCleared:
      return "the app has cleared its data"
    case .moved:
      return "the session was moved here from another place"
    case .storageFailed(let failed):
      return storage(failed)
    case .storageRecovered(let recovered):
      return "the secret store can \(operation(recovered.operation)) the \(recovered.item) again"
    case .answerDropped(let dropped):
      return "the response to @\(dropped.request) could not be stored: \(obstacle(dropped.cause))"
    case .answerUnused(let request):
      return "the token in the response to @\(request) is not used: another one came first"
    }
  }

  static func reason(_ reason: SessionNote.LockReason) -> String {
    switch reason {
    case .user: "the app locked it"
    case .unused: "it was unused for too long"
    case .launch: "the app was opened"
    default: "reason \(reason)"
    }
  }

  /// Returns the text of a failure of the secret store, with its cause.
  package static func storage(_ failed: SessionNote.StorageFailed) -> String {
    let number =
      switch failed.number {
      case 0: ""
      case ..<0: ", status \(failed.number)"
      default: ", errno \(failed.number)"
      }
    return
      "the secret store could not \(operation(failed.operation)) the \(failed.item): "
      + obstacle(failed.cause) + number
  }

  private static func operation(_ operation: StorageOperation) -> String {
    switch operation {
    case .setAside: "set aside"
    case .reserve: "reserve room for"
    case .read, .write, .remove, .find: operation.description
    default: "do operation \(operation) with"
    }
  }

  /// Returns the text of the cause that prevented storing or reading.
  package static func obstacle(_ cause: StorageCause) -> String {
    switch cause {
    case .noRoom: "there was no room on the disk"
    case .refused: "access was refused"
    case .busy: "another process held the journal's lock"
    case .replaced: "the file was gone, or another one was in its place"
    case .unusable: "what is stored there cannot be used"
    case .failed: "the system failed"
    case .unavailable: "locked, or access refused"
    case .newerVersion: "a newer version wrote it"
    case .obstructed: "something else is in its place"
    case .tooLarge: "too large"
    case .missing: "not found"
    case .ownerMissing: "it is another journal's, which was not found"
    case .ownerUnreadable: "it is another journal's, which cannot be read"
    default: "cause \(cause)"
    }
  }

  package static func request(_ kind: RequestKind) -> String {
    switch kind {
    case .refresh: "refresh"
    case .switchContext: "context switch"
    default: "request \(kind)"
    }
  }

  private static func outcome(_ settled: SessionNote.RevocationSettled) -> String {
    switch settled.outcome {
    case .revoked: "revoked"
    case .notOffered: "not revoked, the backend does not offer it"
    case .failed: "not revoked yet"
    case .abandoned where settled.status > 0:
      "not revoked, the server refused it with \(settled.status), and it is not tried again"
    case .abandoned: "not revoked, what it needs is gone"
    case .alreadyInvalid: "nothing left to revoke, the server refused the token"
    default: "outcome \(settled.outcome)"
    }
  }

  private static func continuation(_ link: SessionNote.Continued) -> String {
    let journal = link.journal.map { "journal \($0)" } ?? "a file"
    let end = link.sequence == 0 ? "" : ", read to seq \(link.sequence)"
    return switch link.cause {
    case .damaged: "goes on from \(journal), damaged and set aside\(end)"
    case .newerVersion: "goes on from \(journal), of a newer version and set aside\(end)"
    case .notAJournal: "goes on from \(journal) that is no journal and was set aside"
    case .lost: "goes on from \(journal), of which only the secrets were found"
    default: "goes on from \(journal), cause \(link.cause)\(end)"
    }
  }

  private static func cause(_ cause: SessionNote.WipeCause) -> String {
    switch cause {
    case .signedOut: "left over from a logout"
    case .otherJournal: "of another journal"
    case .unreadable: "unreadable, and no user is signed in"
    default: "cause \(cause)"
    }
  }
}
