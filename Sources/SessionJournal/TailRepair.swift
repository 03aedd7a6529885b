/// Cuts a tail that does not count, after its bytes are durable in a file of their own.
///
/// Runs under the journal's lock. Interrupted anywhere, it leaves the tail in the journal, and
/// perhaps a copy beside it: running again does the rest.
struct TailRepair {
  private static let chunkSize = 256 * 1024
  private static let namesToTry = 10_000

  let path: String
  let file: any JournalFileHandle
  let fileSystem: any JournalFileSystem

  func cut(_ tail: JournalTail, ending: JournalEnding) throws(JournalError) -> JournalRepair {
    let copy = tail.significantBytes == 0 ? nil : try keepAside(tail)
    try onFile(path) { () throws(SystemFault) in
      try file.truncate(to: tail.offset)
      try file.synchronize()
    }
    return JournalRepair(ending: ending, keptAside: copy)
  }

  private func keepAside(_ tail: JournalTail) throws(JournalError) -> String {
    let (copy, name) = try newFile(for: tail)
    do throws(SystemFault) {
      defer { copy.close() }
      var done: UInt64 = 0
      while done < tail.significantBytes {
        let wanted = Int(min(UInt64(Self.chunkSize), tail.significantBytes - done))
        let bytes = try file.bytes(wanted, at: tail.offset + done)
        guard !bytes.isEmpty else { break }
        try copy.writeAll(bytes, at: done)
        done += UInt64(bytes.count)
      }
      try copy.synchronize()
      try fileSystem.synchronizeFolder(of: path)
    } catch {
      let refusal = error.error(at: name)
      // Half a copy is of no use, and the whole tail is still in the journal.
      try onFile(name) { () throws(SystemFault) in try fileSystem.remove(name) }
      throw refusal
    }
    return name
  }

  private func newFile(for tail: JournalTail) throws(JournalError)
    -> (file: any JournalFileHandle, name: String)
  {
    for number in 0..<Self.namesToTry {
      let name = "\(path).torn-\(tail.sequence)-\(number)"
      do throws(SystemFault) {
        return (try fileSystem.open(name, for: .creatingOnly), name)
      } catch {
        if error.isAlreadyThere { continue }
        if error.isDenied { throw .readOnlyFolder(path: path) }
        throw error.error(at: name)
      }
    }
    throw .io(path: path, operation: "keep aside the tail of", code: 0)
  }
}
