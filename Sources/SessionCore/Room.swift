// The room of SessionCore.
