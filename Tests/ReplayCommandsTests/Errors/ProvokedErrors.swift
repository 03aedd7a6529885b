import ChildProcesses

/// Command lines that provoke the errors that pages name; each list is of one family of commands.
enum ProvokedErrors {
  /// Errors that need more than a command line: a system that refuses, a signal, another process.
  static let elsewhere = elsewhereInStreams.union(elsewhereInFiles)

  /// By the error's name, the arguments; files are in `folder`.
  static func all(in folder: TemporaryFolder) throws -> [String: [String]] {
    try streams(in: folder).merging(files(in: folder)) { first, _ in first }
  }
}
