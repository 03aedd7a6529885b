extension SimulatedWorld {
  /// Puts the journal at `path` of a simulated disk into a file that people can inspect, as
  /// `Choices.attach(journal:of:)` does.
  public func attach(journal path: String, of disk: SimulatedDisk) {
    choices.attach(journal: path, of: disk)
  }
}
