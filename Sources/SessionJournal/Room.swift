// The room of SessionJournal.
