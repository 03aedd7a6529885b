internal import SessionJournal
internal import Synchronization

/// A journal that several threads read in stretches.
///
/// What is made of the stretches is passed on in the order of the file. Memory is bounded: only a few
/// stretches wait.
struct StretchReading {
  /// What is made of a stretch, and the places at which it begins and ends.
  private struct Stretch<Made: Sendable>: Sendable {
    let first: JournalPlaceMark
    let last: JournalPlaceMark
    let made: Made
  }

  /// The usual length of a stretch in bytes; with one processor, no file is divided.
  ///
  /// If batches are short, one read of 128 KiB has a stretch and the batch at its end.
  static let usualLength: UInt64 = WorkThread.processors > 1 ? 120 << 10 : .max
  /// How many stretches a file must have so that threads are worth it.
  private static let fewest: UInt64 = 4

  /// The length of the longest stretch, in bytes.
  ///
  /// The first one is short, so that its result is there soon, and each is
  /// two times as long as the one before it.
  var length = StretchReading.usualLength
  private static let firstLength: UInt64 = 16 << 10

  /// Passes on what `make` returns for each stretch, until `take` returns `false`.
  ///
  /// `make` visits the records up to an offset. It returns `nil` if the stretch is to be read again by
  /// the caller, in order: for a record that is not as it should be.
  ///
  /// The reader then stands after the last stretch that was passed on. That is also the place before
  /// the first stretch that does not continue the one before it.
  func visit<Made: Sendable>(
    _ reader: inout JournalReader,
    _ make: @escaping @Sendable (inout JournalReader, _ end: UInt64) throws(JournalError) -> Made?,
    take: (Made) -> Bool
  ) {
    guard let end = reader.frozenEnd, end / Self.fewest >= length else { return }
    let stretches = JournalStretches(of: reader)
    let first = StretchReader(stretches.reader(takingBytesOf: &reader))
    let readers = Spares { StretchReader(stretches.reader()) }
    var work = OrderedWork<Range<UInt64>, Stretch<Made>?> { range in
      let reader = range.lowerBound == 0 ? first : readers.take()
      defer { readers.put(reader) }
      do throws(JournalError) {
        return try reader.use { (reader) throws(JournalError) in
          guard try reader.seek(toStretchAt: range.lowerBound) else { return nil }
          let first = reader.mark
          guard let made = try make(&reader, range.upperBound) else { return nil }
          return Stretch(first: first, last: reader.mark, made: made)
        }
      } catch {
        // The caller reads on from there, and meets the same error.
        return nil
      }
    }
    var place = reader.mark
    var goesOn = true
    let accept = { (stretch: Stretch<Made>?) in
      guard goesOn, let stretch, stretch.first == place else {
        goesOn = false
        return
      }
      place = stretch.last
      goesOn = take(stretch.made)
    }
    var range = 0..<min(length, Self.firstLength)
    while goesOn, range.lowerBound < end {
      work.add(range, accept)
      let next = min(length, 2 * (range.upperBound - range.lowerBound))
      range = range.upperBound..<range.upperBound + next
    }
    work.finish(with: nil, accept)
    reader.seek(to: place)
  }
}

/// A reader that one thread uses after another.
private final class StretchReader: Sendable {
  private let reader: Mutex<JournalReader>

  init(_ reader: consuming JournalReader) { self.reader = Mutex(reader) }

  func use<Made: Sendable>(
    _ body: (inout JournalReader) throws(JournalError) -> Made
  ) throws(JournalError) -> Made {
    try reader.withLock { (reader) throws(JournalError) in try body(&reader) }
  }
}
