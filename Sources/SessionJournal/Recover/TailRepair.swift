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
