// An app that imports SessionChanges also gets the values of a change log.
@_exported public import SessionChangeQueue
