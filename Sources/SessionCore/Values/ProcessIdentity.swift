/// Which opening of a journal or change log wrote a record, and what is needed to ask whether it lives.
///
/// A process number does not identify a process: two containers may both have a process 1, and a number
/// is used again. Each opening therefore has a random identity.
///
/// - Requirement: REF-9
@_spi(Internals) public struct ProcessIdentity: Hashable, Sendable {
  /// The random identifier of this opening.
  public let opening: Identifier
  /// Which start of the system it runs in; `nil` if the system does not say.
  public let boot: Identifier?
  /// In which namespace its process number and start time count; `nil` if the system does not say.
  public let namespace: Identifier?
  /// When its process started, as the system counts it; 0 if that is not known.
  public let start: UInt64
  /// The file in which it holds a lock that the kernel releases with the process; `nil` for none.
  public let lock: Identifier?

  /// An identity.
  public init(
    opening: Identifier, boot: Identifier? = nil, namespace: Identifier? = nil, start: UInt64 = 0,
    lock: Identifier? = nil
  ) {
    self.opening = opening
    self.boot = boot
    self.namespace = namespace
    self.start = start
    self.lock = lock
  }

  /// Whether both were opened by one process, as far as that is proven.
  public func isSameProcess(_ process: UInt32, as other: ProcessIdentity, _ number: UInt32)
    -> Bool
  {
    process == number && isSameBoot(as: other) && namespace != nil
      && namespace == other.namespace && start != 0 && start == other.start
  }

  func isSameBoot(as other: ProcessIdentity) -> Bool { boot != nil && boot == other.boot }
}

/// What an observer found out about the process of another opening.
///
/// The decision is ``provesGone(_:)``; its table is in `Specs/FaultModel.md`.
package struct ProcessEvidence: Hashable, Sendable {
  /// Whether the byte of an opening is locked.
  package enum Lock: Hashable, Sendable {
    /// Some process holds it.
    case held
    /// No process holds it.
    case free
  }

  /// What the system says of a process number.
  package enum Number: Hashable, Sendable {
    /// No process has it.
    case unused
    /// A process has it, which started then; 0 if the start is not known.
    case used(start: UInt64)
  }

  /// Which start of the system the observer runs in.
  package var boot: Identifier?
  /// In which namespace the observer sees process numbers.
  package var namespace: Identifier?
  /// The lock file that was asked, and what it said; `nil` if it could not be asked.
  package var lock: (file: Identifier, state: Lock)? {
    get { lockFile.flatMap { file in lockState.map { (file, $0) } } }
    set { (lockFile, lockState) = (newValue?.file, newValue?.state) }
  }
  /// What the system says of the process number; `nil` if it was not asked.
  package var number: Number?

  private var lockFile: Identifier?
  private var lockState: Lock?

  /// Evidence of nothing.
  package init(boot: Identifier? = nil, namespace: Identifier? = nil) {
    (self.boot, self.namespace) = (boot, namespace)
  }

  /// Whether the process of an opening is proven to be gone.
  ///
  /// `false` means that it lives or that this is not known: its lease is waited for.
  package func provesGone(_ holder: ProcessIdentity) -> Bool {
    // Of another start of the system nothing is known: a shared folder may belong to two hosts.
    guard let boot, boot == holder.boot else { return false }
    if let lock, lock.file == holder.lock { return lock.state == .free }
    guard let namespace, namespace == holder.namespace else { return false }
    switch number {
    case .unused?: return true
    case .used(let start)?: return start != 0 && holder.start != 0 && start != holder.start
    case nil: return false
    }
  }
}
