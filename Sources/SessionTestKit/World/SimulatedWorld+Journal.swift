extension SimulatedWorld {
  /// Copies the journal at `path` of a simulated disk to a real file, as
  /// `Choices.attach(journal:of:)` does.
  ///
  /// If there is no such file, `failures` says so too.
  public func attach(journal path: String, of disk: SimulatedDisk) {
    if choices.isTracing, disk.contents(of: path) == nil { tellMisuse(disk.misses(path)) }
    choices.attach(journal: path, of: disk)
  }
}
