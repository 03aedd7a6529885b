import SessionCore

/// The host's local data (SYN-5).
extension SessionEngine {
  /// Has the host clear its data, after whatever it is clearing already.
  func clearLocalData(_ reason: LogoutReason) {
    guard let clear = configuration.clearLocalData else { return }
    let before = clearing
    clearings += 1
    let number = clearings
    clearing = runtime.spawn { [weak self] in
      await before?.value
      await clear(reason)
      await self?.cleared(number)
    }
  }

  private func cleared(_ number: Int) {
    if number == clearings { clearing = nil }
    feed(.cleared)
  }

  /// Returns when the host has cleared its data, where it is at it: nobody signs in to what is going.
  func untilCleared() async {
    await clearing?.value
  }
}
