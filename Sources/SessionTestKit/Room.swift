// The room of SessionTestKit.
