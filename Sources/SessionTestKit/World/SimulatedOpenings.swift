@_spi(Internals) import SessionCore
package import SessionKit
import Synchronization

/// The openings of journals and change logs by the processes of a simulated world, and which of these
/// processes still live.
///
/// An opening is named by its number, so that the same run writes the same bytes.
///
/// - Requirement: REF-9
package final class SimulatedOpenings: Sendable {
  private let lives = Mutex<[Identifier: @Sendable () -> Bool]>([:])

  package init() {}

  /// An opening by a process, with an identity of its own.
  func begin(isAlive: @escaping @Sendable () -> Bool) -> Identifier {
    lives.withLock { lives in
      let opening = Identifier("opening-\(lives.count + 1)")
      lives[opening] = isAlive
      return opening
    }
  }

  /// Whether the process of an opening is proven to be gone.
  func isGone(_ opening: Identifier) -> Bool {
    let isAlive = lives.withLock { $0[opening] }
    return isAlive.map { !$0() } ?? false
  }

  /// How the session of a process is distinguished from others.
  ///
  /// If deaths are not proven, only the lease of a request says that its process is not waited for.
  package func presence(
    number: UInt32, provingDeaths: Bool, isAlive: @escaping @Sendable () -> Bool
  ) -> OpeningPresence.Maker {
    { [self] _, _, boot in
      let identity = ProcessIdentity(opening: begin(isAlive: isAlive), boot: boot)
      return OpeningPresence(identity, process: number) { [self] other, _ in
        provingDeaths && isGone(other.opening)
      }
    }
  }
}
