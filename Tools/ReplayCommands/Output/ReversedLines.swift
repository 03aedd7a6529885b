/// Lines to be printed in reverse order, held on disk and not in memory.
struct ReversedLines: ~Copyable {
  private static let blockSize = 64 * 1024

  private var file: TemporaryFile
  private var pending: [UInt8] = []

  init() throws(ToolError) {
    file = try TemporaryFile()
  }

  /// Appends the next line; its only line feed is at its end.
  mutating func append(_ line: [UInt8]) throws(ToolError) {
    pending.append(contentsOf: line)
    if pending.count >= Self.blockSize { try flush() }
  }

  /// Prints all lines, the last one first.
  mutating func print(to output: Output) throws(ToolError) {
    try flush()
    // What was read and not yet printed. Its first line may begin in the block before.
    var rest: [UInt8] = []
    var end = file.size
    while end > 0, output.isOpen {
      let start = max(0, end - Self.blockSize)
      rest.insert(contentsOf: try file.read(start..<end), at: 0)
      end = start
      while let feed = rest.dropLast().lastIndex(of: 0x0A) {
        output.write(rest[(feed + 1)...])
        rest.removeSubrange((feed + 1)...)
      }
    }
    output.write(rest)
  }

  private mutating func flush() throws(ToolError) {
    try file.append(pending[...])
    pending.removeAll(keepingCapacity: true)
  }
}
