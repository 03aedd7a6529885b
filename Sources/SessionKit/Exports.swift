// An app imports SessionKit and has the vocabulary of the core with it.
@_exported public import SessionCore
