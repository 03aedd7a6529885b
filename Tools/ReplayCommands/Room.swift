// The room.
