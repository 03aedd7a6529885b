/// What a new change does to those that wait already (the table in `Specs/ChangeLog.md`).
///
/// - Requirement: SYN-2
public enum Coalescing: Hashable, Sendable {
  /// It stands behind all others.
  case appended
  /// The change at this place gets the new content and the new key, and keeps operation and place.
  case rewritten(Int)
  /// The change at this place goes, and the new one stands behind all others.
  case superseded(Int)
  /// The change at this place goes, and the new one with it.
  case cancelled(Int)
  /// The change at this place says it already: the new one goes.
  case repeated(Int)

  /// What `change` does behind those that wait.
  ///
  /// Looks back to what was sent, and to the last request: what that was meant to find is not known.
  public static func of(_ change: Change, behind waiting: [PendingChange]) -> Coalescing {
    guard let entity = change.entity else { return .appended }
    var mentionsMoved = false
    var isMentioned = false
    var deletesBetween = false
    for place in waiting.indices.reversed() {
      let other = waiting[place].change
      guard waiting[place].sent == nil, !waiting[place].isRetried,
        let otherEntity = other.entity
      else {
        return .appended
      }
      if otherEntity == entity {
        switch (other, change) {
        case (.create, .update), (.update, .update), (.create, .create):
          return mentionsMoved ? .appended : .rewritten(place)
        case (.create, .delete):
          if isNew(entity, before: place, in: waiting) {
            return isMentioned ? .appended : .cancelled(place)
          }
          return deletesBetween ? .appended : .superseded(place)
        case (.update, .delete):
          return deletesBetween ? .appended : .superseded(place)
        case (.delete, .delete):
          return .repeated(place)
        case (.delete, .create), (.delete, .update), (.update, .create), (.request, _),
          (_, .request):
          return .appended
        }
      }
      if other.operation != .update, change.mentions.contains(otherEntity) { mentionsMoved = true }
      if other.operation == .delete { deletesBetween = true }
      if other.mentions.contains(entity) { isMentioned = true }
    }
    return .appended
  }

  /// Whether the entity certainly does not exist where the change at `place` creates it.
  private static func isNew(
    _ entity: EntityReference, before place: Int, in waiting: [PendingChange]
  ) -> Bool {
    for item in waiting[..<place].reversed() {
      guard item.change.entity == entity else { continue }
      return item.change.operation == .delete
    }
    return true
  }
}
