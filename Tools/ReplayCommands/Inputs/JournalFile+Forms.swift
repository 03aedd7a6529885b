internal import SessionExplain
internal import SessionJournal

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The form of a file that has the records of a session, by its first bytes.
enum FileForm {
  case journal
  case export
  case gzip

  /// Determines the form; anything unknown counts as a journal, whose reader reports what it is.
  init(_ bytes: some Collection<UInt8>) {
    if bytes.starts(with: [0x1F, 0x8B]) {
      self = .gzip
    } else if bytes.starts(with: [UInt8(ascii: "{")]) || bytes.starts(with: [0xEF, 0xBB]) {
      // The reader of exports says that a byte order mark has to go.
      self = .export
    } else {
      self = .journal
    }
  }
}

extension JournalFile {
  /// Returns the file as a journal: itself, or an unnamed temporary one with the same records.
  ///
  /// An export is converted. The result has the name that the user gave.
  func readable() throws(ToolError) -> JournalFile {
    guard original == nil else { return self }
    switch form() {
    case .journal: return self
    case .export: return try ExportCopy.journal(of: self, named: path)
    case .gzip: throw isCompressed
    }
  }

  private var isCompressed: ToolError {
    ToolError(
      .damaged, .notAJournal, "\(name) is compressed.",
      next: isStandardInput
        ? "gzip -dc before it" : "gzip -dc \(name) | sessionreplay COMMAND -")
  }

  /// Opens a file as a journal; converts it before if it is none.
  static func reader(of file: inout JournalFile) throws(ToolError) -> JournalReader {
    do throws(ToolError) {
      // No journal begins as a compressed file or an export does.
      return try file.open()
    } catch {
      file = try file.readable()
      return try file.open()
    }
  }

  /// The size of the file in bytes; 0 if the system does not say it.
  var size: UInt64 {
    if let knownStatus { return knownStatus.size }
    do throws(SystemFault) {
      return try POSIXFileSystem().status(of: path).size
    } catch {
      // The command that opens it reports the error.
      return 0
    }
  }

  /// Returns the temporary journal of this file.
  func converted(_ original: ConvertedFile) -> JournalFile {
    var file = self
    file.path = original.openPath
    file.original = original
    if original.isRedacted { file.redactor = redactor.keepingPseudonyms }
    return file
  }

  /// Rejects a file that is not itself a journal, for a command that needs the journal's own bytes.
  func requireJournal(for command: String) throws(ToolError) {
    switch form() {
    case .journal: return
    case .export:
      throw ToolError(
        .damaged, .notAJournal, "\(name) is an export, and '\(command)' needs the journal itself.",
        next: isStandardInput
          ? "the journal itself" : "sessionreplay import \(name) -o OUT, and then that file")
    case .gzip: throw isCompressed
    }
  }

  /// Rejects a file that is compressed or a journal, for a command that reads lines.
  func requireLines() throws(ToolError) {
    switch form() {
    case .export: return
    case .journal:
      guard hasHeader else { return }
      throw ToolError(
        .damaged, .badLine, "\(name) is a journal, and not the lines of an export.",
        consequence: "Nothing was imported.",
        next: "the file that sessionreplay export wrote")
    case .gzip: throw isCompressed
    }
  }

  private var hasHeader: Bool {
    do throws(ToolError) {
      _ = try header()
      return true
    } catch {
      return false
    }
  }

  private func form() -> FileForm {
    guard !path.isEmpty, !path.utf8.contains(0) else { return .journal }
    // The open must not wait for a process that writes to a pipe.
    let descriptor = opened(path)
    guard descriptor >= 0 else { return .journal }
    defer { close(descriptor) }
    var first: (UInt8, UInt8) = (0, 0)
    let count = withUnsafeMutableBytes(of: &first) { pread(descriptor, $0.baseAddress, 2, 0) }
    // What cannot be read is reported by the reader of journals.
    return FileForm([first.0, first.1].prefix(max(0, count)))
  }
}

private func opened(_ path: String) -> Int32 {
  openDescriptor(path, O_RDONLY | O_NOCTTY | O_NONBLOCK)
}
