import SessionCore

extension SessionConfiguration {
  /// Has a logout ask for the changes that wait in `log`, and discards them after it (OUT-3).
  ///
  /// What `pendingChanges` counted before counts too, and what `clearLocalData` cleared is cleared behind
  /// the changes. Every logout discards them, whoever it was by: one by the user throws
  /// `pendingChanges` first unless it may discard them. An expiry keeps them.
  ///
  /// When the status of each user last changed is kept in the log too, in a scope of its own
  /// (``ChangeLog/scope(of:)``), and outlives the clearing (SYN-4): what `statusChanged` did before is done
  /// first, and what `knownStatus` knew counts where it is newer.
  public mutating func settle(_ log: ChangeLog) {
    let (count, clear) = (pendingChanges, clearLocalData)
    pendingChanges = {
      let others = await count?() ?? 0
      do throws(ChangeLogError) {
        return try await log.pendingCount() + others
      } catch {
        // What was there at the last look: nothing is lost by asking the user once too often.
        return log.queue.pending.count + others
      }
    }
    clearLocalData = { reason in
      await log.clear()
      await clear?(reason)
    }
    let (known, tell) = (knownStatus, statusChanged)
    knownStatus = { user in
      let times = [await known?(user), log.statusChangedAt(scope: ChangeLog.scope(of: user))]
      return times.compactMap(\.self).max()
    }
    statusChanged = { change in
      await tell?(change)
      await log.keep(change)
    }
  }
}
