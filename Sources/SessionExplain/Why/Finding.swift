@_spi(Internals) package import SessionCore

/// The certainty of a cause or a finding.
package enum Certainty: String, CaseIterable, Sendable, Comparable {
  /// It fits the records, but another named cause fits too, or lost records could contradict it.
  case possible = "possible"
  /// No record contradicts it, and the history that would contain such a record is complete.
  case likely = "likely"
  /// A record states it, or the rules leave no other possibility.
  case proven = "proven"

  private var rank: Int {
    switch self {
    case .possible: 0
    case .likely: 1
    case .proven: 2
    }
  }

  package static func < (left: Certainty, right: Certainty) -> Bool { left.rank < right.rank }
}

/// A value from a record, for a place in a sentence.
package enum Value: Hashable, Sendable {
  /// `tok#6`
  case token(Generation)
  /// `@408`
  case place(UInt64)
  /// Milliseconds: `54 min`
  case span(Int64)
  case time(Timestamp)
  case number(UInt64)
  /// `2 requests`
  case counted(UInt64, String)
  /// The process id.
  case process(UInt32)
  /// The process id and the opening, if another process with the same id is named beside it.
  case opening(UInt32, Identifier)
  /// The text of a server or the journal.
  case word(String)
}

/// A statement that the journal proves, rules out, or makes likely or possible.
package struct Finding: Hashable, Sendable {
  package let what: FindingWord
  package var certainty: Certainty
  package var values: [Value] = []
  /// The records that prove it.
  package var sequences: [UInt64] = []
  /// The records that were searched, if it relies on an absence.
  package var searched: ClosedRange<UInt64>?

  package init(
    _ what: FindingWord, _ certainty: Certainty = .proven, _ values: [Value] = [],
    on sequences: [UInt64] = [], searched: ClosedRange<UInt64>? = nil
  ) {
    self.what = what
    self.certainty = certainty
    self.values = values
    self.sequences = sequences
    self.searched = searched
  }
}

/// A question that the journal does not answer.
package struct Untold: Hashable, Sendable {
  package let what: UntoldWord
  package var values: [Value] = []

  package init(_ what: UntoldWord, _ values: [Value] = []) {
    self.what = what
    self.values = values
  }
}

/// A next step for the reader.
package struct Advice: Hashable, Sendable {
  package let what: AdviceWord
  package var values: [Value] = []

  package init(_ what: AdviceWord, _ values: [Value] = []) {
    self.what = what
    self.values = values
  }
}
