/// What one commit found and did.
public struct JournalTransaction: Equatable, Sendable {
  /// The records that others appended since the last call, in order.
  public let foreign: [JournalRecord]

  /// The records that this call appended, in order.
  public let appended: [JournalRecord]

  /// The cut of a tail that a writer left when it died; usually nil.
  public let repair: JournalRepair?

  /// Creates a transaction from its parts.
  public init(
    foreign: [JournalRecord], appended: [JournalRecord], repair: JournalRepair? = nil
  ) {
    self.foreign = foreign
    self.appended = appended
    self.repair = repair
  }
}

/// Why a transaction appended no batch that is known to be durable, and how far it came.
public enum TransactionError<Value: Sendable, Refusal: Error>: Error, Sendable {
  // Three cases, since a caller must do something else in each. The engine stores a token inside
  // the decision (REF-7). If the append fails then, the server accepts only that token, so the
  // error has to carry it. A captured variable did that before, and a caller could forget it. A
  // refusal returns the records of others too: a refused addition to a change log must still show
  // what other processes have appended.

  /// The journal could not be locked or read, so nothing was decided.
  ///
  /// Nothing was written. The records of others are returned by a later call.
  case unavailable(JournalError)

  /// The decision was a refusal, so nothing was written.
  ///
  /// `foreign` are the records that the decision received. No later call returns them.
  case refused(Refusal, foreign: [JournalRecord])

  /// The decision was made, but its batch could not be appended.
  ///
  /// `value` is the decision's value. No later call returns the records that the decision received.
  ///
  /// If the error is `io`, the batch may be durable nevertheless: the next opening of the journal
  /// either reads it or cuts it. After any other error the batch is not in the journal.
  case appendFailed(JournalError, value: Value)
}

extension TransactionError: Equatable where Value: Equatable, Refusal: Equatable {}

extension TransactionError where Refusal == Never {
  /// The journal's error.
  public var journalError: JournalError {
    switch self {
    case .unavailable(let error), .appendFailed(let error, _): error
    }
  }
}

extension TransactionError: CustomStringConvertible {
  /// The description of the journal's error or of the refusal.
  public var description: String {
    switch self {
    case .unavailable(let error), .appendFailed(let error, _): error.description
    case .refused(let refusal, _): "\(refusal)"
    }
  }
}
