@_spi(Internals) package import SessionCore

/// How surely something is so.
package enum Certainty: String, CaseIterable, Sendable, Comparable {
  /// It fits, and so does at least one other thing that is named beside it; or records are lost that
  /// could speak against it.
  case possible = "possible"
  /// Everything that a record could show against it is absent, and the history that would show it is whole.
  case likely = "likely"
  /// A record says so, or the rules leave nothing else.
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

/// What a record says, in a place of a sentence.
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
  /// The system's number of a process.
  case process(UInt32)
  /// The same, and the opening where another one of that number stands beside it.
  case opening(UInt32, Identifier)
  /// What a server or the journal calls it.
  case word(String)
}

/// Something that the journal shows, rules out, or makes likely.
package struct Finding: Hashable, Sendable {
  package let what: FindingWord
  package var certainty: Certainty
  package var values: [Value] = []
  /// The records that it rests on.
  package var sequences: [UInt64] = []
  /// Where it rests on an absence: the records that were searched.
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

/// What the journal does not tell.
package struct Untold: Hashable, Sendable {
  package let what: UntoldWord
  package var values: [Value] = []

  package init(_ what: UntoldWord, _ values: [Value] = []) {
    self.what = what
    self.values = values
  }
}

/// What to do next.
package struct Advice: Hashable, Sendable {
  package let what: AdviceWord
  package var values: [Value] = []

  package init(_ what: AdviceWord, _ values: [Value] = []) {
    self.what = what
    self.values = values
  }
}
