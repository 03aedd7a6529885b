package import SessionJournal
internal import Synchronization

extension JournalOptions {
  /// Returns these options on a simulated disk, in a new process.
  ///
  /// - Requirement: TST-2
  package func on(_ disk: SimulatedDisk) -> JournalOptions {
    on(disk.process())
  }

  /// Returns these options in a process of a simulated disk.
  ///
  /// A journal that they create is the same in every run, since its id and salt are made from a
  /// counter. No space is preallocated, so that a file ends with its last batch.
  package func on(_ process: SimulatedProcess) -> JournalOptions {
    var options = self
    options.fileSystem = process
    options.room = .none
    let number = process.disk.state.withLock { state in
      state.births += 1
      return state.births
    }
    options.birth = JournalOptions.Birth(
      identifier: JournalIdentifier(high: 0x4000, low: 1 << 63 | number),
      salt: 0x9E37_79B9_7F4A_7C15 &* number)
    return options
  }

  /// Returns the default options on a simulated disk, in a new process.
  package static func on(_ disk: SimulatedDisk) -> JournalOptions {
    JournalOptions().on(disk)
  }

  /// Returns the default options in a process of a simulated disk.
  package static func on(_ process: SimulatedProcess) -> JournalOptions {
    JournalOptions().on(process)
  }
}

extension JournalReader {
  /// Opens the journal at `path` of a simulated disk, in a new process.
  ///
  /// It throws the same errors as `init(path:)`.
  package init(path: String, on disk: SimulatedDisk) throws(JournalError) {
    try self.init(path: path, fileSystem: disk.process())
  }
}
