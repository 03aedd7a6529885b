// An app that imports SessionAccounts also gets the sessions.
@_exported public import SessionKit
