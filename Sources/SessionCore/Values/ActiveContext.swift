/// The role that a user acts in, where, and what it permits.
///
/// The user has no role of its own: one user may hold several contexts, one is active.
///
/// - Requirement: STA-5
public struct ActiveContext: Hashable, Sendable {
  /// Something that has an identifier and a name that people read: a role, a school, a unit.
  public struct Named: Hashable, Sendable {
    /// The server's identifier.
    public let id: Identifier
    /// The name for people; may be empty.
    public let name: String

    /// A named thing.
    public init(id: Identifier, name: String) {
      self.id = id
      self.name = name
    }
  }

  /// Its values, shared by all copies: a context goes through events and states much more often than
  /// anybody looks at it.
  private final class Storage: Sendable {
    let role: Named
    let school: Named?
    let unit: Named?
    let permissions: [String]

    init(role: Named, school: Named?, unit: Named?, permissions: [String]) {
      self.role = role
      self.school = school
      self.unit = unit
      self.permissions = permissions
    }
  }

  private let storage: Storage

  /// The role acted in.
  public var role: Named { storage.role }
  /// The school or organisation acted for, where there is one.
  public var school: Named? { storage.school }
  /// The academic unit or team within it, where there is one.
  public var unit: Named? { storage.unit }
  /// What is permitted, such as `materials:read`; sorted by UTF-8, each once.
  public var permissions: [String] { storage.permissions }

  /// A context; permissions may come in any order and more than once.
  public init(role: Named, school: Named? = nil, unit: Named? = nil, permissions: [String] = []) {
    storage = Storage(
      role: role, school: school, unit: unit,
      permissions: permissions.isInOrder ? permissions : permissions.inOrder())
  }

  /// A context whose permissions are in order, each once.
  init(role: Named, school: Named?, unit: Named?, sorted permissions: [String]) {
    storage = Storage(role: role, school: school, unit: unit, permissions: permissions)
  }

  /// Whether the context grants `permission`, compared exactly.
  ///
  /// - Requirement: STA-4
  public func permits(_ permission: String) -> Bool {
    permissions.contains { $0.utf8.elementsEqual(permission.utf8) }
  }
}

// Two spellings of one text are two: a server need not take them for one, and bytes do not.

extension ActiveContext {
  /// Whether both are spelled with the same bytes.
  public static func == (left: ActiveContext, right: ActiveContext) -> Bool {
    if left.storage === right.storage { return true }
    return left.role == right.role && left.school == right.school && left.unit == right.unit
      && left.permissions.elementsEqual(right.permissions) { $0.utf8.elementsEqual($1.utf8) }
  }

  /// Hashes identifiers only: contexts that differ in their words alone are rare.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(role)
    hasher.combine(school)
    hasher.combine(unit)
    hasher.combine(permissions.count)
  }
}

extension ActiveContext: CustomStringConvertible {
  /// `role teacher (role-1) at North School (school-1), 5th (unit-1), 2 permissions`; never says which.
  public var description: String {
    var text = "role \(role)"
    if let school { text += " at \(school)" }
    if let unit { text += ", \(unit)" }
    return text + ", \(permissions.count) permission\(permissions.count == 1 ? "" : "s")"
  }
}

extension ActiveContext.Named: CustomStringConvertible {
  /// The name with the identifier behind it, or the identifier alone.
  public var description: String { name.isEmpty ? "\(id)" : "\(name) (\(id))" }
}

extension ActiveContext: CustomReflectable {
  /// The four values, as if they stood in the struct itself.
  public var customMirror: Mirror {
    Mirror(
      self,
      children: [
        "role": role as Any, "school": school as Any, "unit": unit as Any,
        "permissions": permissions as Any,
      ], displayStyle: .struct)
  }
}

extension ActiveContext.Named {
  /// Whether both are spelled with the same bytes.
  public static func == (left: ActiveContext.Named, right: ActiveContext.Named) -> Bool {
    left.id == right.id && left.name.utf8.elementsEqual(right.name.utf8)
  }

  /// Hashes the identifier, which names the thing.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(id)
  }
}

extension [String] {
  /// Whether each comes before the next, as in every context that was written once.
  fileprivate var isInOrder: Bool {
    guard var last = first else { return true }
    for element in self.dropFirst() {
      guard last.precedes(element) else { return false }
      last = element
    }
    return true
  }

  /// Sorted, each once.
  fileprivate func inOrder() -> [String] {
    var kept: [String] = []
    kept.reserveCapacity(count)
    for element in sorted(by: { $0.precedes($1) }) {
      if let last = kept.last, !last.precedes(element) { continue }
      kept.append(element)
    }
    return kept
  }
}

extension String {
  /// By bytes: `String` orders by Unicode's tables, which differ from system to system.
  fileprivate func precedes(_ other: String) -> Bool {
    utf8.lexicographicallyPrecedes(other.utf8)
  }
}
