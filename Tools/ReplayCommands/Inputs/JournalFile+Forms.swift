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
  /// A compressed file is decompressed, and an export is converted. The result has the name that
  /// the user gave.
  func readable() throws(ToolError) -> JournalFile {
    guard original == nil else { return self }
    switch form() {
    case .journal: return self
    case .export: return try ExportCopy.journal(of: self, named: path)
    case .gzip:
      let copy = try Decompression.copy(of: self)
      switch FileForm(try copy.read(0..<min(2, copy.size))) {
      case .journal:
        return converted(
          ConvertedFile(path: path, copy: copy, isRedacted: false, fault: nil))
      case .export:
        var text = self
        text.path = "/dev/fd/\(copy.descriptor)"
        let journal = try ExportCopy.journal(of: text, named: path)
        // The lines are needed up to here.
        _ = consume copy
        return journal
      case .gzip:
        throw ToolError(
          .damaged, .badGzip, "\(name) is compressed twice.",
          next: "decompress it once: gzip -d")
      }
    }
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

  /// The size of what a command reads, in bytes; 0 if the system does not say it.
  ///
  /// A compressed file states it in its last four bytes, below 4 GiB and for its last part.
  var statedSize: UInt64 {
    let size = self.size
    guard size >= 18, form() == .gzip else { return size }
    let descriptor = opened(path)
    guard descriptor >= 0 else { return size }
    defer { close(descriptor) }
    var last: UInt32 = 0
    let count = withUnsafeMutableBytes(of: &last) {
      pread(descriptor, $0.baseAddress, 4, off_t(size - 4))
    }
    return count == 4 ? max(size, UInt64(UInt32(littleEndian: last))) : size
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
    case .gzip:
      throw ToolError(
        .damaged, .notAJournal,
        "\(name) is compressed, and '\(command)' needs the journal itself.",
        next: isStandardInput ? "gzip -dc before it" : "gzip -dk \(name), and then that file")
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
    case .gzip:
      throw ToolError(
        .damaged, .badLine, "\(name) is compressed, and 'import' needs the lines themselves.",
        consequence: "Nothing was imported.",
        next: isStandardInput ? "gzip -dc before it" : "gzip -dk \(name), and then that file")
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
