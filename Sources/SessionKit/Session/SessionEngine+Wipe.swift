import SessionCore
import SessionJournal

/// What goes of a session that has ended, and what is kept to tell the server of it.
///
/// Both under the journal's lock: items are changed by whoever knows the journal as it is. Others'
/// records that are met there are told before anything else is decided.
extension SessionEngine {
  /// Removes items: what another process signed in to is not touched.
  func perform(_ wipe: SessionEffect.Wipe) {
    let held = token
    if case .nothing = wipe {} else { token = nil }
    if let generation = wipe.keptRevocation, let held, held.generation == generation {
      departing[generation] = held
    }
    var others: [SessionRecord] = []
    var isDone = true
    do throws(JournalError) {
      _ = try journal.transact { foreign in
        others = unknown(foreign)
        guard others.isEmpty else { return [] }
        keepRevocations(wipe.keptRevocation)
        do throws(SessionError) { try vault.wipe(wipe) } catch { isDone = false }
        return []
      }
    } catch {
      isDone = false
    }
    guard others.isEmpty else {
      token = held
      // Whatever follows in the list of effects is decided without them.
      met = others
      return inbox.insert(.wiped(.overtaken([])), at: 0)
    }
    inbox.append(.wiped(isDone ? .done : .failed))
  }

  /// Stores what revoking the ended sessions' tokens needs, before the token item goes: that of this
  /// generation, and what could not be stored before.
  private func keepRevocations(_ generation: Generation?) {
    do throws(SecretStoreError) {
      if let generation, departing[generation] == nil, let stored = try vault.token(),
        stored.generation == generation
      {
        departing[generation] = stored
      }
    } catch {
      // Nobody here has seen it: it stays where it is, as the wipe will find.
    }
    for (generation, token) in departing {
      do throws(SessionError) {
        try vault.keepRevocation(of: token)
        departing[generation] = nil
      } catch {
        // The secrets must go all the same: the server is told from memory, while this process lives.
      }
    }
  }

  /// Removes what a revocation needed.
  func forgetRevocation(of generation: Generation) {
    departing[generation] = nil
    do throws(JournalError) {
      _ = try journal.transact { foreign in
        met = unknown(foreign)
        do throws(SessionError) { try vault.forgetRevocation(of: generation) } catch {
          // It stays where it is, of no use to anybody, and is removed at the next open.
        }
        return []
      }
    } catch {
      // The same.
    }
  }
}
