/// The role, school and unit in which a user acts, and what they permit.
///
/// A user may hold several contexts, of which one is active.
///
/// - Requirement: STA-5
public struct ActiveContext: Hashable, Sendable {
  /// A role, a school or a unit: an identifier and a display name.
  public struct Named: Hashable, Sendable {
    /// The server's identifier.
    public let id: Identifier
    /// The display name; may be empty.
    public let name: String

    /// Creates a named thing.
    public init(id: Identifier, name: String) {
      self.id = id
      self.name = name
    }
  }

  /// The values, shared by all copies: contexts are copied much more often than they are read.
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

  /// The role in which the user acts.
  public var role: Named { storage.role }
  /// The school or organisation for which the user acts, if any.
  public var school: Named? { storage.school }
  /// The academic unit or team within the school, if any.
  public var unit: Named? { storage.unit }
  /// The permissions, such as `materials:read`; sorted by UTF-8, without duplicates.
  public var permissions: [String] { storage.permissions }

  /// Creates a context; permissions may be in any order and contain duplicates.
  public init(role: Named, school: Named? = nil, unit: Named? = nil, permissions: [String] = []) {
    storage = Storage(
      role: role, school: school, unit: unit,
      permissions: permissions.isInOrder ? permissions : permissions.inOrder())
  }

  /// Creates a context whose permissions are already sorted and without duplicates.
  init(role: Named, school: Named?, unit: Named?, sorted permissions: [String]) {
    storage = Storage(role: role, school: school, unit: unit, permissions: permissions)
  }

  /// Whether the context grants `permission`, compared exactly.
  ///
  /// - Requirement: STA-4
  public func permits(_ permission: String) -> Bool {
    permissions.contains { $0.hasBytes(of: permission) }
  }
}

// Two spellings of a text differ: a server need not treat them as equal.

extension ActiveContext {
  /// Whether both are spelled with the same bytes.
  public static func == (left: ActiveContext, right: ActiveContext) -> Bool {
    if left.storage === right.storage { return true }
    return left.role == right.role && left.school == right.school && left.unit == right.unit
      && left.permissions.elementsEqual(right.permissions) { $0.hasBytes(of: $1) }
  }

  /// Hashes identifiers only: contexts rarely differ in names alone.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(role)
    hasher.combine(school)
    hasher.combine(unit)
    hasher.combine(permissions.count)
  }
}

extension ActiveContext: CustomStringConvertible {
  /// Describes the context as `role teacher (role-1) at North School (school-1), 5th (unit-1), 2
  /// permissions`.
  ///
  /// Permissions are counted, never named.
  public var description: String {
    var text = "role \(role)"
    if let school { text += " at \(school)" }
    if let unit { text += ", \(unit)" }
    return text + ", \(permissions.count) permission\(permissions.count == 1 ? "" : "s")"
  }
}

extension ActiveContext.Named: CustomStringConvertible {
  /// The name followed by the identifier, or the identifier alone.
  public var description: String { name.isEmpty ? "\(id)" : "\(name) (\(id))" }
}

extension ActiveContext: CustomReflectable {
  /// Shows the four values as if they were stored in the struct itself.
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
    left.id == right.id && left.name.hasBytes(of: right.name)
  }

  /// Hashes the identifier only.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(id)
  }
}

extension [String] {
  /// Whether the texts are sorted and without duplicates, as in every context that was decoded.
  fileprivate var isInOrder: Bool {
    guard var last = first else { return true }
    for element in self.dropFirst() {
      guard last.precedes(element) else { return false }
      last = element
    }
    return true
  }

  /// Returns the texts sorted and without duplicates.
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

extension ActiveContext {
  /// Whether a permission with these bytes may stand directly before one with those of the other.
  package static func isInOrder(
    _ permission: UnsafeBufferPointer<UInt8>, before other: UnsafeBufferPointer<UInt8>
  ) -> Bool {
    UnsafeRawBufferPointer(permission).precedes(UnsafeRawBufferPointer(other))
  }
}

extension String {
  /// Whether it is spelled with the same bytes.
  func hasBytes(of other: String) -> Bool {
    let isSame = utf8.withContiguousStorageIfAvailable { mine in
      other.utf8.withContiguousStorageIfAvailable { its in
        UnsafeRawBufferPointer(mine).isSame(as: UnsafeRawBufferPointer(its))
      }
    }
    // A bridged `NSString` does not lend its bytes.
    return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
  }

  /// Compares by bytes: the order of `String` follows Unicode tables, which differ between systems.
  fileprivate func precedes(_ other: String) -> Bool {
    var (mine, its) = (self, other)
    return mine.withUTF8 { mine in
      its.withUTF8 { its in
        UnsafeRawBufferPointer(mine).precedes(UnsafeRawBufferPointer(its))
      }
    }
  }
}
