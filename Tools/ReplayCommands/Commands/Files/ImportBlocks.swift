internal import SessionJSON

/// Reads the lines of an export in several threads, and passes them on in order.
struct ImportBlocks {
  /// A line, and its record if it has one and nothing is wrong with it.
  typealias Line = (bytes: ArraySlice<UInt8>, number: Int, record: ImportRecord?)

  private struct Block: Sendable {
    var bytes: [UInt8] = []
    /// The end of each line.
    var ends: [Int] = []
    /// The number of the line before the first.
    var before = 0
  }

  /// The size of a block, in bytes.
  private static let size = 256 * 1024

  private var block = Block()
  private var work = OrderedWork<Block, (Block, [ImportRecord?])> { block in
    var tape = JSONTape()
    var (records, start): ([ImportRecord?], Int) = ([], 0)
    records.reserveCapacity(block.ends.count)
    for end in block.ends {
      records.append(ImportRecord(block.bytes[start..<end], &tape))
      start = end
    }
    return (block, records)
  }

  /// Adds the next line, which has this number.
  mutating func add(
    _ line: ArraySlice<UInt8>, _ number: Int, to take: (Line) throws(ToolError) -> Void
  ) throws(ToolError) {
    if block.ends.isEmpty { block.before = number - 1 }
    block.bytes += line
    block.ends.append(block.bytes.count)
    guard block.bytes.count >= Self.size else { return }
    let whole = block
    block = Block()
    try work.add(whole) { (block, records) throws(ToolError) in try Self.pass(block, records, take)
    }
  }

  /// Passes on the rest of the lines.
  mutating func finish(to take: (Line) throws(ToolError) -> Void) throws(ToolError) {
    try work.finish(with: block) { (block, records) throws(ToolError) in
      try Self.pass(block, records, take)
    }
  }

  private static func pass(
    _ block: Block, _ records: [ImportRecord?], _ take: (Line) throws(ToolError) -> Void
  ) throws(ToolError) {
    var start = 0
    for (index, end) in block.ends.enumerated() {
      try take((block.bytes[start..<end], block.before + index + 1, records[index]))
      start = end
    }
  }
}
