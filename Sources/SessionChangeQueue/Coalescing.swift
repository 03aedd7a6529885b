/// The effect of a new change on the pending ones (the table in `Specs/ChangeLog.md`).
///
/// - Requirement: SYN-2
public enum Coalescing: Hashable, Sendable {
  /// The new change is added at the end.
  case appended
  /// The change at this index gets the new content and key, and keeps its operation and index.
  case rewritten(Int)
  /// The change at this index is removed, and the new one is added at the end.
  case superseded(Int)
  /// The change at this index and the new one are both removed.
  case cancelled(Int)
  /// The change at this index is the same, so the new one is removed.
  case repeated(Int)

  /// Returns the effect of `change` after the pending ones.
  ///
  /// It looks back as far as the last change that was sent, or the last request. It is not known
  /// which state a request requires.
  public static func of(_ change: Change, after waiting: [PendingChange]) -> Coalescing {
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
          // At the place of the earlier one, since others may mention the entity from there on. But
          // a change that relies on an entity must not move before that one.
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
        // Only the server knows what depends on an entity that was deleted and created again.
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

  /// Returns whether the entity certainly does not exist when the change at `place` creates it.
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
