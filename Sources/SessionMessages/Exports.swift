// The messages are a part of SessionKit, which has their English texts.
@_exported public import SessionKit
