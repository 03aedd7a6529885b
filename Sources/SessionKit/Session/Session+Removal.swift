import Foundation
@_spi(Internals) import SessionCore
import SessionJournal

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension Session {
  /// What a removal of a session's files found.
  package enum Removal: Hashable, Sendable {
    /// The journal, the stored items and the empty directory are gone.
    case removed
    /// A user is logged in, so nothing was removed.
    case loggedIn
    /// The server was not told of an end yet, the journal cannot be read, or the session has not moved from
    /// its former place. Nothing was removed.
    case pending
  }

  /// Removes the journal and the stored items of a session that has ended, and its directory if nothing
  /// else is in it.
  ///
  /// If it is interrupted, call it again. A log that is no file stays, and only its items are removed.
  ///
  /// - Requirement: ACC-1, JRN-1
  package static func remove(_ configuration: SessionConfiguration) async throws(SessionError)
    -> Removal
  {
    let (place, secrets) = (configuration.file, configuration.secrets)
    let isFile = configuration.place.file != nil
    try configuration.place.check()
    return try await configuration.runtime().result(within: configuration.place.deadline) {
      () throws(SessionError) in
      guard try !SessionMove.isAtFormerPlace(configuration) else { return .pending }
      if isFile {
        // Another process may log in until its journal is gone. It stores a token only under the lock
        // and only if its journal is there, so the state is read under the lock.
        var found = Removal.removed
        do throws(JournalError) {
          try Journal.delete(at: place.path, options: place.options) {
            found = state(of: place)
            return found == .removed
          }
        } catch .missing, .folderMissing {
          // An earlier call was interrupted.
        } catch {
          throw .journal(error)
        }
        guard found == .removed else { return found }
      }
      for item in SecretItem.all {
        do throws(SecretStoreError) {
          try secrets.remove(item)
          try secrets.removeSetAside(item)
        } catch {
          throw .secrets(error)
        }
      }
      if let directory = place.directory {
        // What the app keeps there is the app's, and keeps the directory.
        rmdir(FilePlace.path(of: directory))
      }
      return .removed
    }
  }

  /// Whether the journal allows its removal.
  private static func state(of place: FilePlace) -> Removal {
    var payloads = PayloadFold()
    do {
      var reader = try JournalReader(path: place.path, fileSystem: place.options.fileSystem)
      while let record = try reader.next() {
        _ = try payloads.apply(
          sequence: record.sequence, kind: record.kind, payload: record.payload.span.bytes)
      }
      let fold = try payloads.fold()
      guard fold.state.kind == .unauthenticated else { return .loggedIn }
      return fold.intents.revocations.isEmpty ? .removed : .pending
    } catch {
      // Nothing proves that its session has ended.
      return .pending
    }
  }
}

extension SecretItem {
  /// All items that a session stores.
  static var all: [SecretItem] {
    words.indices.map { SecretItem(rawValue: UInt8($0)) }
  }
}

extension Session {
  /// Whether this object was closed.
  package var isClosed: Bool { engine.states.isFinished }
}
