@_spi(Internals) package import SessionCore
package import SessionJournal
import Synchronization

/// One opening of a journal: its identity, and what it can find out about others.
///
/// It lives until ``end()`` or the last reference is gone; from then on other openings may prove that
/// it is gone.
///
/// - Requirement: REF-9
package final class OpeningPresence: Sendable {
  /// How a presence is made for the file at a path.
  package typealias Maker =
    @Sendable (_ path: String, _ options: Journal.Options, _ boot: Identifier?) -> OpeningPresence

  /// Whether the process of another opening is proven to be gone.
  package typealias Judge = @Sendable (_ other: ProcessIdentity, _ process: UInt32) -> Bool

  /// Which opening it is; `nil` if its records do not say.
  package let identity: ProcessIdentity?
  /// The process's number.
  package let process: UInt32
  private let lock: AliveFile?
  private let judge: Judge

  /// A presence that another world knows of, not this system.
  package convenience init(
    _ identity: ProcessIdentity?, process: UInt32 = ProcessStatus.own, isGone: @escaping Judge
  ) {
    self.init(identity, process, nil, isGone)
  }

  private init(
    _ identity: ProcessIdentity?, _ process: UInt32, _ lock: AliveFile?, _ judge: @escaping Judge
  ) {
    (self.identity, self.process, self.lock, self.judge) = (identity, process, lock, judge)
    if let identity { Living.insert(identity.opening) }
  }

  deinit { end() }

  /// No request of this opening can be on its way any more: others need not wait for it.
  package func end() {
    if let identity { Living.remove(identity.opening) }
    lock?.release()
  }

  /// Whether another opening is proven to be gone; if not, its lease is waited for.
  package func isGone(_ other: ProcessIdentity?, _ process: UInt32) -> Bool {
    guard let other, other.opening != identity?.opening else { return false }
    return judge(other, process)
  }

  /// Presences in this system, with a lock where there is one.
  package static let system: Maker = { path, options, boot in
    make(path, options, boot, isLocked: true)
  }

  /// Presences in this system without a lock, as on Apple's systems and network file systems.
  package static let withoutLock: Maker = { path, options, boot in
    make(path, options, boot, isLocked: false)
  }

  private static func make(
    _ path: String, _ options: Journal.Options, _ boot: Identifier?, isLocked: Bool
  ) -> OpeningPresence {
    var random = SystemRandomNumberGenerator()
    let opening = Identifier(uuidHigh: random.next(), low: random.next())
    guard options.fileSystem is POSIXFileSystem else {
      // The processes of a simulated disk are none of this system: of them nothing is proven.
      return OpeningPresence(ProcessIdentity(opening: opening, boot: boot)) { _, _ in false }
    }
    let lock =
      isLocked ? AliveFile.take(beside: path, byte: opening.lockByte, options: options) : nil
    let own = ProcessStatus.own
    let identity = ProcessIdentity(
      opening: opening, boot: boot, namespace: ProcessStatus.namespace,
      start: ProcessStatus.start(of: own), lock: lock.map { Identifier($0.identity) })
    return OpeningPresence(identity, own, lock) { other, process in
      // Of its own process this one knows everything.
      if identity.isSameProcess(own, as: other, process) { return !Living.contains(other.opening) }
      var evidence = ProcessEvidence(boot: boot, namespace: identity.namespace)
      if other.lock != nil {
        let asked = AliveFile.ask(beside: path, byte: other.opening.lockByte, options: options)
        evidence.lock = asked.map { (Identifier($0.file), $0.lock == .held ? .held : .free) }
      }
      if other.namespace == identity.namespace { evidence.number = ProcessStatus.number(process) }
      return evidence.provesGone(other)
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
  /// The byte of the file of living openings that this opening locks: 63 random bits.
  fileprivate var lockByte: UInt64 { uuid.map { ($0.high ^ $0.low) >> 1 } ?? 0 }

  fileprivate init(_ file: FileStatus.Identity) {
    self.init("\(file.device)-\(file.number)")
  }
}
