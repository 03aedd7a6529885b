internal import SessionJournal

/// A verdict on a file in terms that both readers have.
struct EndingModel: Equatable {
  enum Word {
    case clean
    case torn
    case undetermined
    case damaged
  }

  let word: Word
  var offset = 0
  var sequence: UInt64 = 0
  var bytes = 0
  var flaw: JournalFlaw?

  static let clean = EndingModel(word: .clean)

  init(
    word: Word, offset: Int = 0, sequence: UInt64 = 0, bytes: Int = 0, flaw: JournalFlaw? = nil
  ) {
    self.word = word
    self.offset = offset
    self.sequence = sequence
    self.bytes = bytes
    self.flaw = flaw
  }

  /// Creates the verdict of the library.
  init(_ ending: JournalEnding) {
    switch ending {
    case .clean: self = .clean
    case .torn(let tail): self.init(.torn, tail)
    case .undetermined(let tail): self.init(.undetermined, tail)
    case .damaged(let damage):
      self.init(
        word: .damaged, offset: Int(damage.offset), sequence: damage.sequence, flaw: damage.flaw)
    }
  }

  private init(_ word: Word, _ tail: JournalTail) {
    self.init(
      word: word, offset: Int(tail.offset), sequence: tail.sequence, bytes: Int(tail.bytes),
      flaw: tail.flaw)
  }
}
