internal import SessionJournal

/// A folder that stands for the journals in it.
enum JournalFolder {
  /// The files, and in place of each folder every `*.journal` in it (not below), sorted by name.
  ///
  /// A folder without one is kept as it is: whoever opens it says so.
  static func expanded(_ files: [JournalFile]) throws(ToolError) -> [JournalFile] {
    var expanded: [JournalFile] = []
    for file in files {
      let found = try journals(in: file)
      expanded += found.isEmpty ? [file] : found
    }
    return expanded
  }

  private static func journals(in file: JournalFile) throws(ToolError) -> [JournalFile] {
    let system = POSIXFileSystem()
    do throws(SystemFault) {
      guard !file.path.isEmpty, try system.status(of: file.path).kind == .folder else { return [] }
    } catch {
      // Whoever opens it says why.
      return []
    }
    let folder = file.path.hasSuffix("/") ? file.path : file.path + "/"
    do throws(SystemFault) {
      return try system.names(beside: folder + ".").filter { $0.hasSuffix(".journal") }.sorted()
        .map {
          JournalFile(
            path: folder + $0, name: (folder + $0).quotedWhereNeeded,
            interruption: file.interruption)
        }
    } catch {
      throw ToolError(
        .inputOutput, error.code == 13 ? .permissionDenied : .inputOutput,
        "The system refused to \(error.operation) \(file.name): \(systemMessage(error.code)) "
          + "(errno \(error.code)).", next: "check the folder's owner and mode")
    }
  }
}
