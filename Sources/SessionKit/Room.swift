// The room of SessionKit.
