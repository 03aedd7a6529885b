/// The cut of a torn or undetermined tail, after a copy of its bytes is durable in another file.
///
/// Runs under the journal's lock. If it is interrupted, the tail is still in the journal, perhaps
/// with a copy next to it. Running it again finishes the work.
struct TailRepair {
  private static let chunkSize = 256 * 1024
  private static let namesToTry = 10_000

  /// The most zeros at the end of a tail that are kept; more are room that was never written.
  private static let zerosToKeep: UInt64 = 4096

  let location: JournalLocation
  let file: any JournalFileHandle
  let fileSystem: any JournalFileSystem

  private var path: String { location.given }

  func cut(_ tail: JournalTail, ending: JournalEnding) throws(JournalError) -> JournalRepair {
    let copy = try keepAside(tail)
    try onFile(path) { () throws(SystemFault) in try file.truncate(to: tail.offset) }
    do throws(SystemFault) {
      // A full sync and not one of the data: POSIX lets that leave out a smaller size.
      try file.synchronize()
    } catch {
      // Never `diskFull`: the tail is cut, but perhaps not permanently.
      throw .io(path: path, operation: error.operation, code: error.code)
    }
    return JournalRepair(ending: ending, keptAside: copy)
  }

  private func keepAside(_ tail: JournalTail) throws(JournalError) -> String {
    let (copy, name) = try newFile(for: tail)
    defer { copy.close() }
    do throws(JournalError) {
      try fill(copy, named: name, with: tail)
    } catch {
      // A partial copy is of no use, and the whole tail is still in the journal.
      try onFile(name) { () throws(SystemFault) in try fileSystem.remove(name) }
      throw error
    }
    return name
  }

  private func fill(_ copy: any JournalFileHandle, named name: String, with tail: JournalTail)
    throws(JournalError)
  {
    let zeros = tail.bytes - tail.significantBytes
    let length = zeros <= Self.zerosToKeep ? tail.bytes : tail.significantBytes
    var done: UInt64 = 0
    while done < length {
      let wanted = Int(min(UInt64(Self.chunkSize), length - done))
      let place = done
      let bytes = try onFile(path) { () throws(SystemFault) in
        try file.bytes(wanted, at: tail.offset + place)
      }
      guard !bytes.isEmpty else { break }
      try onFile(name) { () throws(SystemFault) in try copy.writeAll(bytes, at: place) }
      done += UInt64(bytes.count)
    }
    try onFile(name) { () throws(SystemFault) in
      try copy.synchronize()
      try fileSystem.synchronizeFolder(of: location.real)
    }
  }

  private func newFile(for tail: JournalTail) throws(JournalError)
    -> (file: any JournalFileHandle, name: String)
  {
    for number in 0..<Self.namesToTry {
      let name = location.real + FileSuffix.torn.rawValue + "\(tail.sequence)-\(number)"
      do throws(SystemFault) {
        return (try fileSystem.open(name, for: .creatingOnly), name)
      } catch {
        if error.isAlreadyThere { continue }
        if error.isDenied { throw .readOnlyFolder(path: path) }
        throw error.error(at: name)
      }
    }
    throw .io(path: path, operation: "copy the tail of", code: 0)
  }
}

/// What opening a journal found, and what it did about it.
public struct JournalRecovery: Equatable, Sendable {
  /// Whether the file did not exist and was created.
  public let created: Bool

  /// The number and size of the whole records; all of them are durable.
  public let totals: JournalTotals

  /// The cut of the file's end; nil if it ended cleanly, with or without preallocated room.
  public let repair: JournalRepair?

  /// The last sequence that a later frame proves durable.
  package let provenSequence: UInt64
}

/// A tail that was cut back to the last whole batch.
///
/// - Requirement: JRN-2
public struct JournalRepair: Equatable, Sendable {
  /// The ending that was found, with place and size: `torn` or `undetermined`.
  public let ending: JournalEnding

  /// The path of the file that holds the bytes that were cut; its mode is 0600.
  ///
  /// Zeros at the end of the tail are not kept if there are more than 4,096.
  public let keptAside: String

  package init(ending: JournalEnding, keptAside: String) {
    self.ending = ending
    self.keptAside = keptAside
  }
}

/// The end of a journal that no later frame proves durable.
///
/// After a failed sync, the system may keep unwritten data in memory and mark it as written. It
/// reads back, but no later sync writes it. Records appended after it would be lost with it.
/// Writing it again marks it as unwritten, so that the next sync can be trusted.
struct UndeterminedTail: Sendable {
  private static let chunkSize: UInt64 = 256 * 1024

  /// The offset of the first frame that nothing proves durable.
  private var start = UInt64(JournalHeader.size)

  /// The last sequence before that frame; 0 if nothing is proven.
  private(set) var provenSequence: UInt64 = 0

  /// Learns from the next frame of the file.
  @inline(__always)
  mutating func note(_ frame: JournalFrame) {
    guard frame.durableSequence == frame.sequence - 1 else { return }
    (start, provenSequence) = (frame.offset, frame.sequence - 1)
  }

  /// Writes the unproven bytes again, unchanged; false if the disk is full.
  ///
  /// A file system that never writes in place needs room for this.
  func writeAgain(in scanner: borrowing FrameScanner) throws(JournalError) -> Bool {
    do throws(SystemFault) {
      var place = start
      while place < scanner.position.offset {
        let count = min(Self.chunkSize, scanner.position.offset - place)
        let bytes = try scanner.file.bytes(Int(count), at: place)
        guard !bytes.isEmpty else { break }
        try scanner.file.writeAll(bytes, at: place)
        place += UInt64(bytes.count)
      }
      return true
    } catch {
      let error = error.error(at: scanner.path)
      if case .diskFull = error { return false }
      throw error
    }
  }
}
