internal import SessionJournal

/// A folder that is given in place of the journals in it.
enum JournalFolder {
  /// Replaces each folder by every `*.journal` in it, sorted by name; subfolders are not searched.
  ///
  /// A folder without a journal is kept, and the command that opens it reports the error.
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
      // The command that opens it reports the error.
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
