internal import Foundation
internal import SessionKit

extension Group {
  /// The memory that a long history leaves; each value comes from a process of its own.
  static let memory = Group(name: "memory", summary: "memory of a store and of a reader") { stage in
    let long = try stage.journal.get()
    let tenth = try stage.writeJournal(stage.eventCount / 10)
    let short = try stage.writeJournal(10)
    var values: [String: [Double]] = [:]
    for _ in 0..<stage.pick(3, 5) {
      for (task, path) in [
        (Child.Task.store, long), (.store, short), (.read, long), (.read, tenth),
      ] {
        // A session writes to its journal, so each gets a copy.
        let copy = stage.path("past.journal")
        try FileManager.default.copyItem(atPath: path, toPath: copy)
        values["\(task) \(path)", default: []].append(try Child.measure(task, copy))
        try FileManager.default.removeItem(atPath: copy)
      }
    }
    func figure(
      _ name: String, _ task: Child.Task, _ path: String, _ other: String, against: String,
      goal: Double
    ) throws -> Figure {
      guard let mine = values["\(task) \(path)"], let its = values["\(task) \(other)"] else {
        throw Problem("\(name) was not measured")
      }
      return Figure(
        name: name, against: against, goal: .atMost(goal),
        ratio: Samples(zip(mine, its).map { ($0 - $1) / 1024 }), value: Samples(mine).median,
        againstValue: Samples(its).median, unit: "KiB; MiB more")
    }
    return Outcome(figures: [
      try figure(
        "memory.store", .store, long, short, against: "10 events in its past", goal: 1),
      try figure(
        "memory.read", .read, long, tenth, against: "a tenth of the file", goal: 0.25),
    ])
  }
}

/// A child process that performs one task and prints its memory.
enum Child {
  enum Task: String {
    /// Opens a session; prints the private memory while it is open.
    case store
    /// Reads and folds a journal; prints the peak memory.
    case read
  }

  /// Runs the task in a child process; returns KiB.
  static func measure(_ task: Task, _ path: String) throws -> Double {
    let process = Process()
    process.executableURL = URL(filePath: CommandLine.arguments[0])
    process.arguments = ["--child", task.rawValue, path]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    let text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    guard process.terminationStatus == 0, let value = Double(text) else {
      throw Problem("the child for \(task) ended with \(process.terminationStatus): \(text)")
    }
    return value
  }

  /// Performs the task and prints KiB.
  static func run(_ task: Task, _ path: String) throws {
    switch task {
    case .store:
      let session = try blocking { try await Visitor.opened(VisitorPlace(journal: path)) }
      print(try statusField("RssAnon"))
      try blocking { try await session.close() }
    case .read:
      let count = try foldWhole(path)
      try expect(count > 0, "nothing was read")
      print(try statusField("VmHWM"))
    }
  }

  /// Returns a number of the system's status of this process.
  static func statusField(_ name: String) throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    for line in status.split(separator: "\n") where line.hasPrefix(name + ":") {
      let words = line.split(whereSeparator: \.isWhitespace)
      if words.count > 1, let value = Int(words[1]) { return value }
    }
    throw Problem("the system does not tell \(name)")
  }
}
