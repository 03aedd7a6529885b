/// The last records of a pass, as long as they fit into memory.
struct LastEntries {
  /// The maximum number of records.
  static let most: UInt64 = 20_000
  /// The maximum size of their payloads, in bytes.
  private static let mostBytes = 8 * 1024 * 1024

  private let number: Int
  private var entries: [JournalEntry] = []
  private var oldest = 0
  private var bytes = 0

  /// Whether it holds all requested records; if not, the caller must read them in another way.
  private(set) var isWhole = true

  init(_ number: Int) {
    self.number = number
  }

  /// The records, first to last.
  var inOrder: [JournalEntry] { Array(entries[oldest...] + entries[..<oldest]) }

  mutating func take(_ entry: JournalEntry) {
    guard isWhole, number > 0 else { return }
    bytes += Int(entry.size)
    if entries.count < number {
      entries.append(entry)
    } else {
      bytes -= Int(entries[oldest].size)
      entries[oldest] = entry
      oldest = (oldest + 1) % number
    }
    guard bytes > Self.mostBytes else { return }
    isWhole = false
    entries = []
    oldest = 0
  }
}
