// An app imports SessionChanges and has the values of a change log with it.
@_exported public import SessionChangeQueue
