internal import Foundation

/// The command: it selects figures, measures them and prints the report.
enum Program {
  private static let help = """
    usage: benchmarks [--quick] [--json] [--only NAME] [--folder PATH] [--tool PATH]

    Measures the journal and the session beside their peers, in one process and in rounds that
    alternate, and prints ratios. What is compared with what: Specs/Benchmarks.md.

      --quick        a small workload and few rounds, under a minute; too noisy to judge by
      --json         one JSON object to a line in place of the table
      --only NAME    one group; may be given more than once
      --folder PATH  where files are written; beside the executable if not said
      --tool PATH    sessionreplay; what `swift build -c release` made of it if not said

    groups
    """

  /// Runs the command; returns its exit status.
  ///
  /// The status is 0 even if a goal is missed. It is 1 if a figure could not be measured, and 2 if
  /// an argument is invalid.
  static func run(_ arguments: [String]) -> Int32 {
    if arguments.count == 3, arguments[0] == "--child" { return runChild(arguments) }
    if arguments.count == 3, arguments[0] == "--many" { return runMany(arguments) }
    do {
      let options = try Options(arguments)
      guard !options.wantsHelp else {
        print(help)
        for group in Group.all {
          print(
            "  " + group.name.padding(toLength: 13, withPad: " ", startingAt: 0) + group.summary)
        }
        return 0
      }
      return try measure(options)
    } catch {
      complain("\(error)")
      return error is Options.Misuse ? 2 : 1
    }
  }

  private static func measure(_ options: Options) throws -> Int32 {
    let stage = try Stage(
      folder: options.folder, isQuick: options.isQuick, tool: options.tool)
    var outcome = Group.Outcome()
    var problems: [String] = []
    for group in Group.all where options.only.isEmpty || options.only.contains(group.name) {
      complain("measuring \(group.name): \(group.summary)")
      do {
        let measured = try group.measure(stage)
        outcome.figures += measured.figures
        outcome.skipped += measured.skipped
      } catch {
        problems.append("\(group.name): \(error)")
      }
    }
    try stage.clear()
    let report = Report(outcome: outcome, problems: problems)
    print(options.isJSON ? try report.objects() : report.table)
    return problems.isEmpty ? 0 : 1
  }

  private static func runChild(_ arguments: [String]) -> Int32 {
    do {
      guard let task = Child.Task(rawValue: arguments[1]) else {
        throw Problem("no such task: \(arguments[1])")
      }
      try Child.run(task, arguments[2])
      return 0
    } catch {
      complain("\(error)")
      return 1
    }
  }

  private static func runMany(_ arguments: [String]) -> Int32 {
    do {
      guard let count = Int(arguments[1]) else { throw Problem("no number: \(arguments[1])") }
      try ManyChild.run(count, in: arguments[2])
      return 0
    } catch {
      complain("\(error)")
      return 1
    }
  }

  private static func complain(_ text: String) {
    FileHandle.standardError.write(Data((text + "\n").utf8))
  }
}

/// The options of the command line.
private struct Options {
  struct Misuse: Error, CustomStringConvertible {
    let description: String
  }

  var isQuick = false
  var isJSON = false
  var wantsHelp = false
  var only: [String] = []
  var folder: String
  var tool = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../../../.build/release/sessionreplay").standardized.path

  init(_ arguments: [String]) throws {
    let executable = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().path
    folder = "\(executable)/benchmark-files-\(ProcessInfo.processInfo.processIdentifier)"
    var rest = arguments[...]
    while let word = rest.popFirst() {
      switch word {
      case "--quick": isQuick = true
      case "--json": isJSON = true
      case "--help", "-h": wantsHelp = true
      case "--only":
        guard let name = rest.popFirst(), Group.all.contains(where: { $0.name == name }) else {
          throw Misuse(
            description: "--only takes one of "
              + Group.all.map(\.name).joined(separator: ", "))
        }
        only.append(name)
      case "--folder":
        guard let path = rest.popFirst() else { throw Misuse(description: "--folder takes a path") }
        folder = "\(path)/benchmark-files-\(ProcessInfo.processInfo.processIdentifier)"
      case "--tool":
        guard let path = rest.popFirst() else { throw Misuse(description: "--tool takes a path") }
        tool = path
      default: throw Misuse(description: "no such option: \(word); see --help")
      }
    }
  }
}
