@_spi(Internals) import SessionCore
import SessionJournal

/// The errors that callers receive, with details that the coordinator does not know.
extension SessionEngine {
  func error(_ problem: CommandFailure, of wish: CommandPayload?) -> SessionError {
    let isSignIn =
      switch wish {
      case .credential: true
      case .adopt, .external, .context, nil: false
      }
    // Only a refresh has no payload. The user entered nothing that a text could ask to correct.
    if wish == nil, case .request(let failure) = problem, failure.isUnexplained {
      return .refreshRefused(failure.status, code: failure.serverCode)
    }
    return error(problem, detail: problems.detail, isSignIn: isSignIn)
  }

  /// Returns why the last sign-in failed, with the details of that time; `nil` unless the activity
  /// is `failed`.
  ///
  /// - Requirement: STA-3
  func shownError(of problem: CommandFailure?) -> SessionError? {
    guard let problem else {
      problems.clearLogin()
      return nil
    }
    if let shown = problems.shownError(of: problem) { return shown }
    let found = error(problem, detail: nil, isSignIn: true)
    problems.show(found, of: problem)
    return found
  }

  private func error(_ problem: CommandFailure, detail: String?, isSignIn: Bool) -> SessionError {
    switch problem {
    case .rejected(let rejection): SessionError(rejection, after: coordinator.endCause)
    case .request(let failure) where failure.kind == .secretsUnavailable:
      problems.reading ?? SessionError(failure, detail: detail, isSignIn: isSignIn)
    case .request(let failure): SessionError(failure, detail: detail, isSignIn: isSignIn)
    case .userNeeded(let need): .userNeeded(need)
    case .webSignIn(let problem): .webSignIn(problem)
    case .unidentified(let failure): SessionError(unidentified: failure, detail: detail)
    case .ended(let state, let cause): SessionError(endedIn: state, by: end(by: cause))
    case .unsettled:
      .notStoredYet(because: problems.unstored ?? unstoredElsewhere ?? .closed)
    case .dropped: .answerDropped(because: problems.unstored ?? .closed)
    case .busy: .signInUnderWay
    case .tooManyAttempts(let wait): .tooManyAttempts(retryAfter: wait)
    case .storage: problems.commit ?? .closed
    case .locked, .newerItems: unreadItems ?? .secretsUnavailable
    case .appLocked: .appLocked
    case .needsPresence: .needsPresence
    case .unusableJournal(.unknownKind(SessionRecord.movedKind, _)): .movedAway(from: log.name)
    case .unusableJournal(let failure):
      .unusableJournal(
        path: log.name, sequence: failure.sequence, problem: failure.description)
    case .closed: .closed
    case .cancelled: .cancelled
    }
  }

  /// Why the stored items cannot be used, if it is not a lock; `nil` if they can, or if it is.
  var unreadItems: SessionError? {
    problems.secrets ?? problems.reading
      ?? (coordinator.isTokenElsewhere ? .secrets(.storedElsewhere(item: .token)) : nil)
      ?? coordinator.soughtItem.map { .secrets(.notFound(item: $0)) }
  }

  /// Why another process cannot store the response to its request; `nil` if none has said so.
  ///
  /// - Requirement: REF-21
  private var unstoredElsewhere: SessionError? {
    guard let open = coordinator.fold.intents.request, let failed = open.unstored else {
      return nil
    }
    let place = "the secret store of process \(open.sent.process)"
    let error: SecretStoreError =
      switch failed.cause {
      case .noRoom: .noSpace(item: failed.item, place: place)
      case .refused: .notWritable(item: failed.item, place: place)
      case .unavailable: .unavailable(item: failed.item, place: place)
      default:
        .failed(
          item: failed.item, place: place, operation: "write", code: Int32(clamping: failed.number))
      }
    return .secrets(error)
  }

  /// Returns why the session of a waiting caller ended.
  ///
  /// `failure` is the coordinator's reason.
  private func end(by failure: RequestFailure?) -> EndCause {
    var cause = coordinator.endCause
    cause.failure = failure ?? cause.failure
    return cause
  }
}

extension RequestFailure {
  /// Whether the server refused the request with a status for wrong input, and no rule of the
  /// backend gives it a meaning.
  fileprivate var isUnexplained: Bool {
    kind == .unexpected && [400, 404, 409, 422].contains(status)
  }
}

/// Why the last work of each kind failed, for the errors that callers receive.
struct EngineProblems: Sendable {
  /// Why the last commit failed; `nil` after one succeeded.
  var commit: SessionError?
  /// The error that prevented the last response from being stored.
  var unstored: SessionError?
  /// Why the stored items may not be used, as of the last read of all.
  ///
  /// They are of a newer version or of another session.
  var secrets: SessionError?
  /// Why an item could not be read last, if it is not a lock; `nil` after a read succeeded.
  var reading: SessionError?
  /// Why the last compaction failed; `nil` after one succeeded.
  var compaction: SessionError?
  /// A detail of the last failed request, for the replies that follow from it.
  var detail: String?
  /// Why the last sign-in failed, and the error that the session shows for it.
  private var login: (problem: CommandFailure, error: SessionError)?

  /// Returns the error that is shown for this failure of a sign-in; `nil` if none is shown yet.
  func shownError(of problem: CommandFailure) -> SessionError? {
    login?.problem == problem ? login?.error : nil
  }

  /// Keeps the error that is shown for a failure of a sign-in.
  mutating func show(_ error: SessionError, of problem: CommandFailure) {
    login = (problem, error)
  }

  /// Forgets the last failure of a sign-in.
  mutating func clearLogin() { login = nil }
}
