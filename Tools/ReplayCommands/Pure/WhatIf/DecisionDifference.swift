@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON

/// A recorded decision that today's code would make in another way.
struct DecisionDifference: Hashable, Sendable {
  /// The first record of the recorded batch.
  let sequence: UInt64
  let time: Timestamp
  let recorded: [SessionRecord.Content]
  /// Today's decision; `nil` if nothing would be journaled.
  let today: [SessionRecord.Content]?

  /// The recorded decision in words, then today's.
  var words: (recorded: String, today: String) {
    (
      DecisionWords.text(recorded, unlike: today ?? [], at: time),
      today.map { DecisionWords.text($0, unlike: recorded, at: time) } ?? "nothing is journaled"
    )
  }
}

/// Decisions in words.
enum DecisionWords {
  /// Returns the records of a decision; those that `other` has, too, by their names alone.
  static func text(
    _ contents: [SessionRecord.Content], unlike other: [SessionRecord.Content], at time: Timestamp
  ) -> String {
    contents.map { content in
      let name = SessionRecord(sequence: 0, time: time, content: content).name
      return other.contains(content) ? name : "\(name) (\(text(content, at: time)))"
    }.joined(separator: " + ")
  }

  private static func text(_ content: SessionRecord.Content, at time: Timestamp) -> String {
    switch content {
    case .event(let event): EventFormatter.text(event, at: time)
    case .note(let note): NoteFormatter.text(note, at: time)
    case .snapshot: "a snapshot"
    case .unknown(let unknown): "kind \(unknown.kind)"
    }
  }
}

/// What deciding one journal again has resulted in.
struct CorpusResult: Sendable {
  /// The file, as messages name it.
  let name: String
  private(set) var batches = 0
  private(set) var differences: [DecisionDifference] = []
  /// Consecutive batches that cannot be decided again for one reason, by their first sequences.
  struct Gaps: Hashable, Sendable {
    let why: DecisionReplay.Gap
    let first: UInt64
    fileprivate(set) var last: UInt64
    fileprivate(set) var batches = 1
  }

  private(set) var gaps: [Gaps] = []
  /// How many batches cannot be decided again.
  var undecided: Int { gaps.reduce(0) { $0 + $1.batches } }
  /// The policies that the journal records.
  let policies: [PlacedPolicy]

  init(name: String, _ proofs: JournalProofs) {
    self.name = name
    policies = proofs.policies
  }

  /// Takes in a batch and its outcome.
  mutating func take(_ batch: RecordedBatch, _ outcome: DecisionReplay.Outcome) {
    batches += 1
    if case .undecided = outcome {} else { isAdjacent = false }
    switch outcome {
    case .explained: break
    case .differs(let decided):
      differences.append(
        DecisionDifference(
          sequence: batch.first, time: batch.time, recorded: batch.contents, today: decided))
    case .undecided(let gap): take(gap, batch.first)
    }
  }

  private mutating func take(_ gap: DecisionReplay.Gap, _ sequence: UInt64) {
    if let index = gaps.indices.last, gaps[index].why == gap, isAdjacent {
      gaps[index].last = sequence
      gaps[index].batches += 1
    } else {
      gaps.append(Gaps(why: gap, first: sequence, last: sequence))
    }
    isAdjacent = true
  }

  /// Whether the batch before could not be decided either.
  private var isAdjacent = false

  /// How many batches were decided again with the same result.
  var same: Int { batches - differences.count - undecided }

  /// The lines about this journal.
  var text: String {
    var text = "\(name): \(count(same, "decision")) of \(batches) the same"
    if !differences.isEmpty { text += ", \(differences.count) differ" }
    if undecided > 0 { text += ", \(undecided) not decided" }
    text += "\n"
    for difference in differences {
      let words = difference.words
      text += "  @\(difference.sequence) recorded: \(words.recorded)\n"
      text += "  @\(difference.sequence) today:    \(words.today)\n"
    }
    for gap in gaps {
      let place = gap.batches == 1 ? "@\(gap.first)" : "@\(gap.first) to @\(gap.last)"
      text += "  \(place) not decided: \(gap.why.words)\n"
    }
    for placed in policies { text += "  @\(placed.sequence) policy: \(placed.policy)\n" }
    return text
  }

  /// One JSON object, on a line.
  var json: String {
    var json = JSONWriter()
    json.object { json in
      json.field("v", 1)
      json.field("file", name)
      json.field("batches", batches)
      json.field("same", same)
      json.array("differences", differences) { json, difference in
        let words = difference.words
        json.object { json in
          json.field("sequence", difference.sequence)
          json.field("time", difference.time)
          json.field("recorded", words.recorded)
          json.field("today", words.today)
        }
      }
      json.array("undecided", gaps) { json, gap in
        json.object { json in
          json.field("sequence", gap.first)
          json.field("to", gap.last)
          json.field("batches", gap.batches)
          json.field("why", gap.why.rawValue)
        }
      }
      json.array("policy", policies)
    }
    return json.text + "\n"
  }
}

extension DecisionReplay.Gap {
  /// Why the batch cannot be decided again, in words.
  var words: String {
    switch self {
    case .compacted: "a snapshot has replaced the records before it"
    case .noOpening: "no opening that may have written it is in the journal"
    case .noPolicy:
      "no record says the policy of an opening that may have written it. Name it: --recorded-policy"
    case .noInput: "the journal does not prove what led to it"
    case .follows: "an earlier decision of the same opening differs"
    case .unknownRecord: "this version does not know a record of it"
    }
  }
}
