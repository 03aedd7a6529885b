/// The opening of a journal or change log that wrote a record, and how to find out whether it is
/// alive.
///
/// A process number does not identify a process: two containers may both have a process 1, and
/// numbers are reused. So each opening has a random identity.
///
/// - Requirement: REF-9
@_spi(Internals) public struct ProcessIdentity: Hashable, Sendable {
  /// The values, shared by all copies.
  ///
  /// Most records have no identity. Its values in a record would make each record twice as long.
  private final class Storage: Sendable {
    let opening: Identifier
    let boot: Identifier?
    let namespace: Identifier?
    let start: UInt64
    let lock: Identifier?

    init(
      opening: Identifier, boot: Identifier?, namespace: Identifier?, start: UInt64,
      lock: Identifier?
    ) {
      self.opening = opening
      self.boot = boot
      self.namespace = namespace
      self.start = start
      self.lock = lock
    }
  }

  private let storage: Storage

  /// The random identifier of this opening.
  public var opening: Identifier { storage.opening }
  /// The boot of the system in which it runs; `nil` if the system does not tell.
  public var boot: Identifier? { storage.boot }
  /// The namespace of its process number and start time; `nil` if the system does not tell.
  public var namespace: Identifier? { storage.namespace }
  /// The start of its process, in the system's unit; 0 if unknown.
  public var start: UInt64 { storage.start }
  /// The file in which it holds a lock that ends with the process; `nil` for none.
  public var lock: Identifier? { storage.lock }

  /// Creates an identity.
  public init(
    opening: Identifier, boot: Identifier? = nil, namespace: Identifier? = nil, start: UInt64 = 0,
    lock: Identifier? = nil
  ) {
    storage = Storage(
      opening: opening, boot: boot, namespace: namespace, start: start, lock: lock)
  }

  /// Whether all values are equal.
  public static func == (left: ProcessIdentity, right: ProcessIdentity) -> Bool {
    if left.storage === right.storage { return true }
    return left.opening == right.opening && left.boot == right.boot
      && left.namespace == right.namespace && left.start == right.start && left.lock == right.lock
  }

  /// Hashes the opening only, which is random.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(opening)
  }

  /// Whether both openings are proven to be of one process.
  public func isSameProcess(_ process: UInt32, as other: ProcessIdentity, _ number: UInt32)
    -> Bool
  {
    process == number && isSameBoot(as: other) && namespace != nil
      && namespace == other.namespace && start != 0 && start == other.start
  }

  func isSameBoot(as other: ProcessIdentity) -> Bool { boot != nil && boot == other.boot }
}

@_spi(Internals) extension ProcessIdentity: CustomReflectable {
  /// Shows the values as if they were stored in the struct itself.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "opening": opening as Any, "boot": boot as Any, "namespace": namespace as Any,
        "start": start as Any, "lock": lock as Any,
      ], displayStyle: .struct)
  }
}

/// What an observer knows about the process of another opening.
///
/// The decisions are ``provesGone(_:)`` and ``provesAlive(_:)``; their table is in `Specs/FaultModel.md`.
package struct ProcessEvidence: Hashable, Sendable {
  /// Whether the byte of an opening is locked.
  package enum Lock: Hashable, Sendable {
    /// Some process holds it.
    case held
    /// No process holds it.
    case free
  }

  /// What the system reports for a process number.
  package enum Number: Hashable, Sendable {
    /// No process has it.
    case unused
    /// A process has it, with this start; 0 if the start is unknown.
    case used(start: UInt64)
  }

  /// The boot of the system in which the observer runs.
  package var boot: Identifier?
  /// The namespace in which the observer sees process numbers.
  package var namespace: Identifier?
  /// The lock file that was checked, and the state of the lock; `nil` if it could not be checked.
  package var lock: (file: Identifier, state: Lock)? {
    get { lockFile.flatMap { file in lockState.map { (file, $0) } } }
    set { (lockFile, lockState) = (newValue?.file, newValue?.state) }
  }
  /// What the system reports for the process number; `nil` if it was not asked.
  package var number: Number?

  private var lockFile: Identifier?
  private var lockState: Lock?

  /// Creates evidence that proves nothing.
  package init(boot: Identifier? = nil, namespace: Identifier? = nil) {
    (self.boot, self.namespace) = (boot, namespace)
  }

  /// Whether the process of an opening is proven to be gone.
  ///
  /// `false` means that it is alive or that this is unknown. Its lease is then waited for.
  package func provesGone(_ holder: ProcessIdentity) -> Bool {
    // After another boot nothing is known: two hosts may share the folder.
    guard let boot, boot == holder.boot else { return false }
    if let lock, lock.file == holder.lock { return lock.state == .free }
    // A process number alone proves nothing. Two containers that share a folder do not see each
    // other's processes, and both often have number 1. With `kill(pid, 0)` each took the other for
    // dead and sent its refresh token a second time.
    guard let namespace, namespace == holder.namespace else { return false }
    switch number {
    case .unused?: return true
    case .used(let start)?: return start != 0 && holder.start != 0 && start != holder.start
    case nil: return false
    }
  }

  /// Whether an opening is proven to be alive.
  ///
  /// `false` means that it is gone or that this is unknown.
  package func provesAlive(_ holder: ProcessIdentity) -> Bool {
    guard holder.boot != nil, holder.boot == boot else { return false }
    if let lock, lock.file == holder.lock { return lock.state == .held }
    guard let namespace, namespace == holder.namespace, case .used(let start)? = number else {
      return false
    }
    return start != 0 && start == holder.start
  }
}

/// The version of the app that opened a journal, as the app names it: `2.4.1+318`.
///
/// It has 1 to 64 characters of `A–Z a–z 0–9 . _ + -`. That is enough for Semantic Versioning 2.0.0
/// with build metadata, for a date and for a commit. The library does not interpret it;
/// `sessionreplay stats --by version` groups by it.
public struct AppVersion: Hashable, Sendable {
  private let text: String

  /// Creates a version; nil if the text is not 1 to 64 characters of `A–Z a–z 0–9 . _ + -`.
  public init?(_ text: String) {
    guard (1...64).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed) else {
      return nil
    }
    self.text = text
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    byte.isOfLabel || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
  }
}

extension AppVersion: CustomStringConvertible {
  /// The text of the version.
  public var description: String { text }
}

/// The policy of an opening in words, as `sessionreplay whatif --policy` spells one.
///
/// `attempts=3,refused=clear`. It has 1 to 400 characters of `A–Z a–z 0–9 = , + -`. A word that is
/// left out has the value of `Specs/WhatIf.md`.
///
/// - Requirement: RPL-10
@_spi(Internals) public struct RecordedPolicy: Hashable, Sendable, CustomStringConvertible {
  /// The words, with commas between them.
  public let description: String

  /// Creates a policy from words, known or not; `nil` if the text is too long or has other characters.
  public init?(_ text: String) {
    guard (1...400).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed) else {
      return nil
    }
    description = text
  }

  /// Creates a policy from words of this package.
  init(words: [String]) { description = words.joined(separator: ",") }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    byte.isOfLabel || byte == UInt8(ascii: "=") || byte == UInt8(ascii: ",")
  }
}

extension UInt8 {
  /// Whether this is an ASCII letter or digit, `+` or `-`.
  fileprivate var isOfLabel: Bool {
    switch self {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"):
      true
    default: false
    }
  }
}
