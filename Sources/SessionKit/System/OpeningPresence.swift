@_spi(Internals) package import SessionCore
package import SessionJournal
import Synchronization

/// Identifies one opening of a journal, and finds out whether other openings still live.
///
/// It lives until ``end()`` is called or its last reference is released. After that, other openings
/// can prove that it is gone.
///
/// - Requirement: REF-9
package final class OpeningPresence: Sendable {
  /// Creates a presence for the file at a path.
  package typealias Maker =
    @Sendable (_ path: String, _ options: JournalOptions, _ boot: Identifier?) -> OpeningPresence

  /// Returns whether the process of another opening is proven to be gone.
  package typealias Judge = @Sendable (_ other: ProcessIdentity, _ process: UInt32) -> Bool

  /// The identity of this opening; `nil` if its records do not contain one.
  package let identity: ProcessIdentity?
  /// The number of this process.
  package let process: UInt32
  private let lock: AliveFile?
  private let judge: Judge
  private let lives: Judge

  /// Creates a presence whose judgment comes from a closure instead of this system.
  package convenience init(
    _ identity: ProcessIdentity?, process: UInt32 = ProcessStatus.own, isGone: @escaping Judge
  ) {
    self.init(identity, process, nil, isGone) { _, _ in false }
  }

  private init(
    _ identity: ProcessIdentity?, _ process: UInt32, _ lock: AliveFile?, _ judge: @escaping Judge,
    _ lives: @escaping Judge
  ) {
    (self.identity, self.process, self.lock) = (identity, process, lock)
    (self.judge, self.lives) = (judge, lives)
    if let identity { Living.insert(identity.opening) }
  }

  deinit { end() }

  /// Ends the presence: no request of this opening can be on its way any more, so peers need not
  /// wait for it.
  package func end() {
    if let identity { Living.remove(identity.opening) }
    lock?.release()
  }

  /// Returns whether another opening is proven to be gone.
  ///
  /// If it is not, the caller waits for its lease.
  package func isGone(_ other: ProcessIdentity?, _ process: UInt32) -> Bool {
    guard let other, other.opening != identity?.opening else { return false }
    return judge(other, process)
  }

  /// Returns whether another opening is proven to be alive.
  package func isAlive(_ other: ProcessIdentity, _ process: UInt32) -> Bool {
    other.opening != identity?.opening && lives(other, process)
  }

  /// Creates presences in this system, with a lock if the system supports it.
  package static let system: Maker = { path, options, boot in
    make(path, options, boot, isLocked: true)
  }

  /// Creates presences in this system without a lock, as on Apple's systems and network file
  /// systems.
  package static let withoutLock: Maker = { path, options, boot in
    make(path, options, boot, isLocked: false)
  }

  private static func make(
    _ path: String, _ options: JournalOptions, _ boot: Identifier?, isLocked: Bool
  ) -> OpeningPresence {
    var random = SystemRandomNumberGenerator()
    let opening = Identifier(uuidHigh: random.next(), low: random.next())
    guard options.fileSystem is POSIXFileSystem else {
      // The processes of a simulated disk do not run in this system, so nothing is proven of them.
      return OpeningPresence(ProcessIdentity(opening: opening, boot: boot)) { _, _ in false }
    }
    let lock =
      isLocked ? AliveFile.take(beside: path, byte: opening.lockByte, options: options) : nil
    let own = ProcessStatus.own
    let identity = ProcessIdentity(
      opening: opening, boot: boot, namespace: ProcessStatus.namespace,
      start: ProcessStatus.start(of: own), lock: lock.map { Identifier($0.identity) })
    @Sendable func evidence(of other: ProcessIdentity, _ process: UInt32) -> ProcessEvidence {
      var evidence = ProcessEvidence(boot: boot, namespace: identity.namespace)
      if other.lock != nil {
        let asked = AliveFile.ask(beside: path, byte: other.opening.lockByte, options: options)
        evidence.lock = asked.map { (Identifier($0.file), $0.lock == .held ? .held : .free) }
      }
      if other.namespace == identity.namespace { evidence.number = ProcessStatus.number(process) }
      return evidence
    }
    // This process knows all of its own openings.
    return OpeningPresence(identity, own, lock) { other, process in
      identity.isSameProcess(own, as: other, process)
        ? !Living.contains(other.opening) : evidence(of: other, process).provesGone(other)
    } _: { other, process in
      identity.isSameProcess(own, as: other, process)
        ? Living.contains(other.opening) : evidence(of: other, process).provesAlive(other)
    }
  }
}

/// The openings of this process that live.
private enum Living {
  private static let openings = Mutex<Set<Identifier>>([])

  static func insert(_ opening: Identifier) { openings.withLock { _ = $0.insert(opening) } }
  static func remove(_ opening: Identifier) { openings.withLock { _ = $0.remove(opening) } }
  static func contains(_ opening: Identifier) -> Bool {
    openings.withLock { $0.contains(opening) }
  }
}

extension Identifier {
  /// The offset of the byte that this opening locks in the file of living openings: 63 random bits.
  fileprivate var lockByte: UInt64 { uuid.map { ($0.high ^ $0.low) >> 1 } ?? 0 }

  fileprivate init(_ file: FileStatus.Identity) {
    self.init("\(file.device)-\(file.number)")
  }
}
