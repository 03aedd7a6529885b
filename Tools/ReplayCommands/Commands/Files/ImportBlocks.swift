internal import SessionJSON

/// Reads the lines of an export in several threads, and passes them on in order.
struct ImportBlocks {
  /// A line, and its record if it has one and nothing is wrong with it.
  struct Line: Sendable {
    let bytes: ArraySlice<UInt8>
    let number: Int
    let record: ImportRecord?
  }

  private struct Block: Sendable {
    let bytes: [UInt8]
    /// The number of the line before the first.
    let before: Int
  }

  private var work = OrderedWork<Block, [Line]> { block in
    var (exact, tape) = (ExactLines(), JSONTape())
    var (lines, start): ([Line], Int) = ([], 0)
    while start < block.bytes.count {
      let end = block.bytes.lineFeed(from: start) ?? block.bytes.count
      let bytes = block.bytes[start..<end]
      lines.append(
        Line(
          bytes: bytes, number: block.before + lines.count + 1,
          record: bytes.withUnsafeBufferPointer { exact.record($0) }
            ?? ImportRecord(parsing: bytes, &tape)))
      start = end + 1
    }
    return lines
  }

  /// Adds whole lines, which follow the line with this number.
  mutating func add(
    _ lines: [UInt8], after number: Int, to take: (Line) throws(ToolError) -> Void
  ) throws(ToolError) {
    try work.add(Block(bytes: lines, before: number)) { (lines) throws(ToolError) in
      for line in lines { try take(line) }
    }
  }

  /// Passes on the rest of the lines.
  mutating func finish(to take: (Line) throws(ToolError) -> Void) throws(ToolError) {
    try work.finish(with: nil) { (lines) throws(ToolError) in
      for line in lines { try take(line) }
    }
  }
}
