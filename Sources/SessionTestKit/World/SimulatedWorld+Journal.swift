extension SimulatedWorld {
  /// Puts the journal at `path` of a simulated disk into a file that people can inspect, as
  /// `Choices.attach(journal:of:)` does; that there is no such file stands in `failures` too.
  public func attach(journal path: String, of disk: SimulatedDisk) {
    if choices.isTracing, disk.contents(of: path) == nil { tellMisuse(disk.misses(path)) }
    choices.attach(journal: path, of: disk)
  }
}
